package clicks

import (
	"fmt"
	"math/rand/v2"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"github.com/plrank/plrank/cmd/internal/commandtest"
	"github.com/plrank/plrank/ranker"
)

// A model of words has seen the queries of a log of its own data, by the ids of features and by their names, whatever words of the
// log it does not know. Notes and reasons name sparse features.
func TestLogsOfWordsSayWhatIsNotUsed(t *testing.T) {
	dir := t.TempDir()
	data, log, named := filepath.Join(dir, "data.txt"), filepath.Join(dir, "log.jsonl"), filepath.Join(dir, "named.jsonl")
	model, namedModel := filepath.Join(dir, "m", "model.npz"), filepath.Join(dir, "named.npz")
	random := rand.New(rand.NewPCG(1, 2))
	var text strings.Builder
	for row := range 2100 { // 80 MB as a matrix
		first := 1 + 5*row
		fmt.Fprintf(&text, "%d qid:%d %d:1 %d:%.3f %d:2\n", row%2, row/5, first, first+1, random.Float64(), first+2+random.IntN(3))
	}
	write(t, data, text.String())
	fit.Must(t, "-data", data, "-vali", data, "-epochs", "1", "-scorer", "forest", "-trees", "2", "-members", "1", "-out", filepath.Join(dir, "m"))
	must(t, "simulate", "-data", data, "-cutoff", "3", "-n", "300", "-out", log)
	bias := filepath.Join(dir, "bias.json")
	if _, stderr := must(t, "bias", log, "-out", bias); strings.Contains(stderr, "regression") {
		t.Error(stderr)
	}
	m, err := ranker.Open(model)
	if err != nil {
		t.Fatal(err)
	}
	f := *m.File()
	for _, id := range f.FeatureIDs {
		f.FeatureNames = append(f.FeatureNames, fmt.Sprintf("w%d", id))
	}
	if err := f.Save(namedModel); err != nil {
		t.Fatal(err)
	}
	content := strings.ReplaceAll(commandtest.Read(t, log), `"features_by":"id"`, `"features_by":"name"`)
	write(t, named, regexp.MustCompile(`"(\d+)":`).ReplaceAllString(regexp.MustCompile(`\{("\d+":)`).ReplaceAllString(content, `{"unknown":7,$1`), `"w$1":`))
	for _, args := range [][]string{{log, model}, {named, namedModel}} {
		_, stderr := must(t, append([]string{"evaluate", "-resamples", "100"}, args...)...)
		if n := regexp.MustCompile(`: (\d+) of (\d+) queries were trained on`).FindStringSubmatch(stderr); n == nil || n[1] != n[2] {
			t.Errorf("%v: %s", args, stderr)
		}
		for want, args := range map[string][]string{
			"em: its regression leaves out the features": {"bias", "-method", "em", args[0]},
			"dr: its regression leaves out the features": {"evaluate", "-resamples", "100", "-bias", bias, args[0], args[1]},
		} {
			if _, stderr := must(t, args...); strings.Count(stderr, want) != 1 {
				t.Errorf("%v: %s", args, stderr)
			}
		}
		if status, _, stderr := call("drift", "-model", args[1], args[0]); status != 1 || !strings.Contains(stderr, "sparse features is not watched") {
			t.Errorf("%d, %s", status, stderr)
		}
	}
}
