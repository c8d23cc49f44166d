package trainer

import (
	"encoding/json"
	"fmt"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"github.com/plrank/plrank/cmd/internal/cli"
)

// A line an epoch would hide all others; -quiet leaves warnings and the metrics.
func TestLogIsShortHoweverManyEpochs(t *testing.T) {
	t.Parallel()
	args := []string{"-data", fold(t), "-scorer", "mlp", "-hidden", "4", "-members", "1", "-epochs", "100", "-leaves", "4"}
	status, stdout, stderr := call(args...)
	if n := len(regexp.MustCompile(`(?m)^epoch`).FindAllString(stderr, -1)); status != 0 || n != 11 || strings.Count(stdout+stderr, "\n") > 60 {
		t.Errorf("status %d, %d epochs\n%s%s", status, n, stdout, stderr)
	}
	status, quiet, stderr := call(append(args, "-quiet")...)
	if status != 0 || quiet != stdout || !regexp.MustCompile(`^(warning: .*\n)+$`).MatchString(stderr) {
		t.Errorf("status %d, other metrics: %t\n%s", status, quiet != stdout, stderr)
	}
}

// A leak is named before the training by its name, and after it by what it is worth, also on the page.
func TestLeaksAreNamed(t *testing.T) {
	t.Parallel()
	csv, out := filepath.Join(t.TempDir(), "shop.csv"), filepath.Join(t.TempDir(), "run")
	var text strings.Builder
	text.WriteString("label,qid,price,clicked\n")
	for i := range 200 {
		fmt.Fprintf(&text, "%d,%d,%d,%d\n", i%3/2, i/10, i*7919%1009, i%3/2)
	}
	write(t, csv, text.String())
	_, stderr := must(t, "-data", csv, "-out", out, "-epochs", "2", "-scorer", "mlp", "-metric", "ndcg@5")
	page := read(t, filepath.Join(out, "report.html"))
	for _, want := range []string{"a possible leak: clicked", "feature clicked, descending alone has ndcg@5 1.0000 on the validation split"} {
		if strings.Count(stderr, want) != 1 || !strings.Contains(page, want) {
			t.Errorf("no %q, or twice, in\n%s\n%t", want, stderr, strings.Contains(page, want))
		}
	}
}

// A validation or test split in which every ranking is the best one says so, as a training split does.
func TestSplitsOfEqualLabelsAreNamed(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	split := func(name, rows string) string {
		path := filepath.Join(dir, name)
		write(t, path, "label,qid,price\n"+rows)
		return path
	}
	_, stderr := must(t, "-data", split("train.csv", "0,1,2\n1,1,3\n0,2,1\n1,2,5\n"), "-vali", split("vali.csv", "1,3,2\n1,3,3\n"),
		"-test", split("test.csv", "1,4,2\n1,4,3\n"), "-epochs", "1", "-scorer", "mlp")
	for name, want := range map[string]int{"train": 0, "vali": 1, "test": 1} {
		if n := strings.Count(stderr, name+".csv: no query has documents of two labels"); n != want {
			t.Errorf("%s: %d warnings, want %d\n%s", name, n, want, stderr)
		}
	}
}

// A query whose loss overflows, though its scores do not, stops the run, which says what to do about it; with
// -on-nan skip the same run goes on, and counts the batches.
func TestOnNaN(t *testing.T) {
	t.Parallel()
	data := fold(t)
	path := filepath.Join(data, "train.txt")
	write(t, path, read(t, path)+"2 qid:up 2:3e38\n0 qid:up 2:-3e38\n")
	out := filepath.Join(t.TempDir(), "run")
	status, _, stderr := call("-data", data, "-out", out, "-transform", "none", "-scorer", "mlp", "-hidden", "", "-members", "1", "-loss", "softmax", "-lr", "0.001", "-epochs", "2", "-batch", "1")
	if status != 1 || !strings.Contains(stderr, ", query up of ") || !strings.HasSuffix(stderr, "(-on-nan skip leaves such batches out)\n") {
		t.Fatalf("status %d\n%s", status, stderr)
	}
	if _, _, stderr := call("-data", data, "-lr", "1e30", "-scorer", "mlp", "-hidden", "4", "-members", "1", "-epochs", "2"); !strings.Contains(stderr, ": ops: ") || strings.Contains(stderr, "op.Do()") {
		t.Errorf("an op's error with words of the machine: %s", stderr)
	}
	status, _, stderr = call("-resume", "-out", out, "-on-nan", "skip")
	if status != 0 || strings.Count(stderr, "warning: a batch was skipped: ") != 1 || !strings.Contains(stderr, "; skipped batches: 2; ") {
		t.Fatalf("status %d\n%s", status, stderr)
	}
	var result cli.RunSummary
	if err := json.Unmarshal([]byte(read(t, filepath.Join(out, "result.json"))), &result); err != nil || result.Skipped != 2 {
		t.Errorf("result %+v, %v", result, err)
	}
	for i, line := range strings.Split(strings.TrimSpace(read(t, filepath.Join(out, "metrics.jsonl"))), "\n") {
		if !strings.Contains(line, `"skipped":1,`) {
			t.Errorf("epoch %d: %s", i+1, line)
		}
	}
}
