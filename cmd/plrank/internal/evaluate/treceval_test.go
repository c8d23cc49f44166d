//go:build pytreceval

package evaluate

import (
	"cmp"
	"fmt"
	"math/rand/v2"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"
)

// trec_eval's own code, by pytrec_eval, prints the same digits of random runs with many ties,
// missing and unjudged documents, and queries that only one of the files has. The Python of
// PLRANK_PYTHON, or python3, must have pytrec-eval-terrier.
func TestTrecEvalPrintsTheSameDigits(t *testing.T) {
	script := `
import sys, pytrec_eval
with open(sys.argv[1]) as f: run = pytrec_eval.parse_run(f)
with open(sys.argv[2]) as f: qrels = pytrec_eval.parse_qrel(f)
of = {"map", "ndcg", "ndcg_cut.3,5", "P.1,5", "recall.2,5", "recip_rank", "success.1,5"}
values = pytrec_eval.RelevanceEvaluator(qrels, of).evaluate(run)
for q in values:
    for m, v in values[q].items():
        print("%-22s\t%s\t%6.4f" % (m, q, v))
for m in next(iter(values.values())):
    print("%-22s\tall\t%6.4f" % (m, pytrec_eval.compute_aggregated_measure(m, [v[m] for v in values.values()])))
`
	rng := rand.New(rand.NewPCG(1, 2))
	for i := range 5 {
		var run, qrels strings.Builder
		for q := range 60 {
			for d := range 5 + rng.IntN(40) {
				id := fmt.Sprintf("d%x", d*7919%101)
				if rng.IntN(3) > 0 && q%9 != 1 {
					fmt.Fprintf(&qrels, "q%d 0 %s %d\n", q, id, max(-1, rng.IntN(8)-4))
				}
				score := float32(rng.IntN(6)) // that package has float32
				if rng.IntN(2) > 0 {
					score = float32(rng.NormFloat64())
				}
				if rng.IntN(4) > 0 && q%9 != 2 {
					fmt.Fprintf(&run, "q%d Q0 %s %d %v t\n", q, id, d, score)
				}
			}
		}
		dir := t.TempDir()
		paths := []string{filepath.Join(dir, "run"), filepath.Join(dir, "qrels")}
		write(t, paths[0], run.String())
		write(t, paths[1], qrels.String())
		out, err := exec.Command(cmp.Or(os.Getenv("PLRANK_PYTHON"), "python3"), "-c", script, paths[0], paths[1]).CombinedOutput()
		if err != nil {
			t.Fatalf("%v: %s(pip install pytrec-eval-terrier, or name another Python in PLRANK_PYTHON)", err, out)
		}
		want := strings.Split(strings.TrimSpace(string(out)), "\n")
		slices.Sort(want)
		got := asTrecEval(t, paths[0], paths[1])
		if len(got) < 40*len(trecEvalNames) || len(got) != len(want) {
			t.Fatalf("%d lines, want %d", len(got), len(want))
		}
		for k := range got {
			if got[k] != want[k] {
				t.Errorf("files %d: %s, of trec_eval %s", i, got[k], want[k])
			}
		}
	}
}
