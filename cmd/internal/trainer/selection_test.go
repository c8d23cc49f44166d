package trainer

import (
	"encoding/json"
	"fmt"
	"math/rand/v2"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/plrank/plrank/cmd/internal/cli"
	"github.com/plrank/plrank/train"
)

// brands writes a CSV file of queries of documents of two brands; the labels prefer
// one. Every third query has no label above 0.
func brands(t *testing.T, queries int) string {
	t.Helper()
	rng := rand.New(rand.NewPCG(1, 1))
	var text strings.Builder
	text.WriteString("label,qid,price,size,brand\n")
	for q := range queries {
		for d := range 6 {
			brand, price := "a", rng.Float64()
			if d%2 == 0 {
				brand, price = "b", price+0.5
			}
			label := 0
			if q%3 > 0 && price > 0.7 {
				label = 1
			}
			fmt.Fprintf(&text, "%d,%d,%.3f,%.3f,%s\n", label, q, price, rng.Float64(), brand)
		}
	}
	path := filepath.Join(t.TempDir(), "shop.csv")
	write(t, path, text.String())
	return path
}

// The best epoch of a sum of losses, or of one of fairness, is the one of the lowest loss on
// the validation split, unless a metric is named; the choice is said, and kept.
func TestSumOfLossesIsValidatedByTheLoss(t *testing.T) {
	t.Parallel()
	data := []string{"-data", brands(t, 24), "-group-column", "brand", "-epochs", "3", "-scorer", "mlp", "-hidden", "4", "-members", "1", "-samples", "5"}
	for _, test := range []struct {
		args   []string
		metric string
	}{
		{[]string{"-loss", "plrank-exact+10*group-exposure"}, "loss"},
		{[]string{"-loss", "group-exposure", "-preset", "paper"}, "loss"},
		{[]string{"-loss", "plrank-exact+10*group-exposure", "-metric", "expected-ndcg@10"}, "expected-ndcg@10"},
		{[]string{"-loss", "plrank-exact+10*group-exposure", "-metric", "expected-ndcg@10 + 0.5*exposure-ratio"}, "expected-ndcg@10+0.5*exposure-ratio"},
		{[]string{"-loss", "plrank2"}, "expected-ndcg@10"},
	} {
		out := filepath.Join(t.TempDir(), "run")
		status, stdout, stderr := call(slices.Concat(data, test.args, []string{"-out", out})...)
		if status != 0 || !strings.Contains(stderr, "of the best "+test.metric) {
			t.Fatalf("%v: %d, %q", test.args, status, stderr)
		}
		var config train.Config
		var result cli.RunSummary
		if err := json.Unmarshal([]byte(read(t, filepath.Join(out, "config.json"))), &config); err != nil || config.Metric != test.metric {
			t.Errorf("%v: config.json has the metric %q (%v), want %q", test.args, config.Metric, err, test.metric)
		}
		if err := json.Unmarshal([]byte(read(t, filepath.Join(out, "result.json"))), &result); err != nil {
			t.Fatal(err)
		}
		best, lowest := train.Epoch{}, test.metric == "loss"
		for line := range strings.Lines(read(t, filepath.Join(out, "metrics.jsonl"))) {
			var e train.Epoch
			if err := json.Unmarshal([]byte(line), &e); err != nil {
				t.Fatal(err)
			}
			value, ok := e.Vali[test.metric]
			if was := best.Vali[test.metric]; !ok || best.Vali == nil || value != was && (value < was) == lowest {
				best = e
			}
		}
		if result.BestEpoch != best.Epoch {
			t.Errorf("%v: the best epoch is %d, want %d by %s", test.args, result.BestEpoch, best.Epoch, test.metric)
		}
		if !strings.Contains(stdout, test.metric) {
			t.Errorf("%v: the tables lack %s", test.args, test.metric)
		}
	}
}

// Training queries that are left out are counted where the loss needs their labels.
func TestLeftOutQueriesAreSaid(t *testing.T) {
	t.Parallel()
	data := brands(t, 30)
	for loss, left := range map[string]bool{"plrank-exact": true, "plrank-exact+group-exposure": false} {
		_, stderr := callQuick(t, "-data", data, "-vali", data, "-group-column", "brand", "-loss", loss)
		if got := strings.Contains(stderr, "30 training queries, 10 without a relevant document left out"); got != left {
			t.Errorf("%s: %q", loss, stderr)
		}
	}
}

// With a cosine schedule a run goes on for more epochs, and says by which rates.
func TestCosineGoesOnForMoreEpochs(t *testing.T) {
	t.Parallel()
	out := filepath.Join(t.TempDir(), "run")
	callQuick(t, "-data", fold(t), "-schedule", "cosine", "-out", out)
	status, _, stderr := call("-resume", "-out", out, "-epochs", "3")
	if status != 0 || !strings.Contains(stderr, "the learning rate goes on by the cosine schedule of 3 epochs; until now it was the schedule of 1") {
		t.Errorf("%d, %q", status, stderr)
	}
	if lines := strings.Count(read(t, filepath.Join(out, "metrics.jsonl")), "\n"); lines != 3 {
		t.Errorf("%d epochs, want 3", lines)
	}
}
