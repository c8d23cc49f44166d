package mix

import (
	"math"
	"path/filepath"
	"strings"
	"testing"

	"github.com/plrank/plrank/cmd/internal/commandtest"
	"github.com/plrank/plrank/internal/testkit"
	"github.com/plrank/plrank/ranker"
)

var call = commandtest.Command(Run).Call

func TestMain(m *testing.M) { commandtest.Main(m) }

// Each feature alone leaves documents tied, and both in equal shares do, too: only the shares ¾ and ¼ rank all by label.
func TestMixtureHasTheBestSharesOfValidation(t *testing.T) {
	dir := t.TempDir()
	path := func(name string) string { return filepath.Join(dir, name) }
	testkit.LinearModel(t, path("a.npz"), 1, 0, 0)
	testkit.LinearModel(t, path("b.npz"), 0, 3, 0)
	commandtest.Write(t, path("d.txt"), "0 qid:1 1:0 5:0\n1 qid:1 1:0 5:1\n2 qid:1 1:1 5:0\n3 qid:1 1:1 5:1\n")
	arguments := []string{path("a.npz"), path("b.npz"), "-data", path("d.txt"), "-out", path("m.npz")}
	status, _, stderr := call(arguments...)
	if status != 0 || !strings.Contains(stderr, "0.75 "+path("a.npz")+"\n0.25 "+path("b.npz")) {
		t.Fatal(status, stderr)
	}
	m, err := ranker.Open(path("m.npz"))
	if err != nil {
		t.Fatal(err)
	}
	// Deviations within the query are ½ and 3/2, and their mean is 1.
	weights, parts, err := m.Parts()
	if err != nil || len(parts) != 2 || math.Abs(weights[0]-1.5) > 1e-6 || math.Abs(weights[1]-1./6) > 1e-6 {
		t.Error(weights, err)
	}
	if status, _, stderr := call(arguments...); status != 1 || !strings.Contains(stderr, "exists") {
		t.Error("an existing file:", status, stderr)
	}
	if status, _, stderr := call(path("a.npz"), "-data", path("d.txt"), "-out", path("x.npz")); status != 2 || !strings.Contains(stderr, "1 models: want two or more") {
		t.Error(status, stderr)
	}
}
