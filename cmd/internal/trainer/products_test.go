package trainer

import (
	"fmt"
	"math/rand/v2"
	"path/filepath"
	"strings"
	"testing"

	"github.com/plrank/plrank/ranker"
)

// Validation chooses the products of vectors that no flag names. A run goes on with its choice, and all models begin with
// the products of the first.
func TestProductsOfVectorsAreChosen(t *testing.T) {
	t.Parallel()
	rng := rand.New(rand.NewPCG(3, 0))
	text := "qid,label,x,q,d\n"
	for i := range 200 * 8 {
		q := rand.New(rand.NewPCG(uint64(i/8), 0))
		a, b := q.NormFloat64(), q.NormFloat64()
		c, d := rng.NormFloat64(), rng.NormFloat64()
		label := 0
		if a*d-b*c > .5 { // the angle is a right one
			label = 1
		}
		text += fmt.Sprintf("%d,%d,%g,%g %g,[%g %g]\n", i/8, label, rng.NormFloat64(), a, b, c, d)
	}
	data, out := filepath.Join(t.TempDir(), "f.csv"), filepath.Join(t.TempDir(), "run")
	write(t, data, text)
	args := []string{"-data", data, "-vector", "q,d", "-scorer", "mlp", "-transform", "standard", "-hidden", "4", "-members", "1", "-loss", "softmax"}
	status, _, stderr := call(append(args, "-epochs", "2", "-out", out)...)
	if status != 0 || !strings.Contains(stderr, "features made of vectors: cosine(q,d), dot(q,d), bilinear(q,d,2)\n") ||
		!strings.Contains(stderr, "validation loss of linear models by products of vectors: cosine(q,d), dot(q,d): ") {
		t.Fatal(status, stderr)
	}
	m, err := ranker.Open(filepath.Join(out, "model.npz"))
	if err != nil {
		t.Fatal(err)
	}
	if p := m.Products(); len(p) != 3 || p[2].Left == nil {
		t.Errorf("products %v", p)
	}
	if status, _, stderr := call("-resume", "-out", out, "-epochs", "3"); status != 0 {
		t.Errorf("going on: %d, %s", status, stderr)
	}
	// A network learns what a flag names, and a plan of several has it as a feature.
	for name, flags := range map[string][]string{
		"network": {"-scorer", "mlp", "-transform", "standard+bilinear(q,d,2)", "-loss", "softmax", "-metric", "ndcg@10"},
		"plan":    {"-transform", "bilinear(q,d,2)"},
	} {
		out := filepath.Join(t.TempDir(), name)
		if status, _, stderr := call(append(flags, "-data", data, "-vector", "q,d", "-epochs", "2", "-out", out)...); status != 0 {
			t.Fatal(name, status, stderr)
		}
		m, err := ranker.Open(filepath.Join(out, "model.npz"))
		if err != nil || m.Products()[0].Left == nil {
			t.Errorf("%s: error %v", name, err)
		}
		if status, _, stderr := call("-resume", "-out", out, "-epochs", "3"); status != 0 {
			t.Errorf("%s: going on: %d, %s", name, status, stderr)
		}
		if page := read(t, filepath.Join(out, "report.html")); !strings.Contains(page, "bilinear(q,d,2)") {
			t.Errorf("%s: no bilinear product on the page", name)
		}
	}
	if status, _, stderr := call(append(args, "-epochs", "1", "-init-model", filepath.Join(out, "model.npz"))...); status != 0 ||
		strings.Contains(stderr, "validation loss of linear models") {
		t.Errorf("beginning with a model: %d, %s", status, stderr)
	}
}
