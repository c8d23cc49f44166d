package evaluate

import (
	"encoding/json"
	"fmt"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"github.com/plrank/plrank/cmd/internal/cli"
	"github.com/plrank/plrank/cmd/internal/commandtest"
	"github.com/plrank/plrank/ranker"
	"github.com/plrank/plrank/train"
)

// Measuring says how many queries the model was trained on, in whatever format they come, and
// training says which queries two splits share.
func TestEvaluationOnTrainingDataIsSaid(t *testing.T) {
	t.Parallel()
	data := fold(t)
	_, model := fit.Trained(t, data)
	file := func(name, text string) string {
		path := filepath.Join(t.TempDir(), name)
		write(t, path, text)
		return path
	}
	// The first queries of the training split, with other ids and labels, and another query.
	var letor, separated strings.Builder
	separated.WriteString("label,qid,a,b,c,d\n")
	seen := 0
	for line := range strings.Lines(read(t, filepath.Join(data, "train.txt"))) {
		var label, q, a, d int
		var b string
		if _, err := fmt.Sscanf(line, "%d qid:%d 1:%d 2:%s 4:%d", &label, &q, &a, &b, &d); err != nil {
			t.Fatal(err)
		}
		if q > 7 {
			break
		}
		seen = q
		if q == 7 {
			b = "0.5" + b[2:]
		}
		fmt.Fprintf(&letor, "%d qid:%d 4:%d 2:%s 1:%d\n", 2-label, 100-q, d, b, a)
		fmt.Fprintf(&separated, "%d,x%d,%d,%s,,%d\n", label, q, a, b, d)
	}
	if seen != 7 {
		t.Fatalf("%d queries", seen)
	}
	for _, path := range []string{file("seen.txt", letor.String()), file("seen.csv", separated.String())} {
		stdout, stderr := must(t, "-model", model, "-data", path, "-json")
		if want := path + ": 6 of 7 queries were trained on"; !strings.Contains(stderr, want) || !strings.Contains(stdout, `"trainedOn": 6`) {
			t.Errorf("%s\n%s\nwant %q", stdout, stderr, want)
		}
	}
	if _, stderr := must(t, "-model", model, "-data", filepath.Join(data, "test.txt")); strings.Contains(stderr, "trained on") {
		t.Errorf("of a test file: %s", stderr)
	}
	m, err := ranker.Open(model)
	if err != nil {
		t.Fatal(err)
	}
	if _, stderr := must(t, "-model", model, "-data", data); !strings.Contains(stderr, "train.txt: 30 of 30 queries") || !strings.Contains(stderr, "version "+m.Digest()) {
		t.Errorf("of a folder: %s", stderr)
	}
	write(t, filepath.Join(data, "test.txt"), letor.String())
	_, stderr := fit.Quick(t, "-data", data)
	if want := "test.txt: 6 of 7 queries have the same documents as queries of the training split"; !strings.Contains(stderr, want) {
		t.Errorf("%s\nwant %q", stderr, want)
	}
}

// A saved model is measured to be what its run reported, on a folder and on a file.
func TestMeasuresAreThoseOfTheRun(t *testing.T) {
	t.Parallel()
	data, out, model := fit.Shared(t)
	var result cli.RunSummary
	if err := json.Unmarshal([]byte(read(t, filepath.Join(out, "result.json"))), &result); err != nil {
		t.Fatal(err)
	}
	stdout, _ := must(t, "-model", model, "-data", data, "-json")
	var report train.Report
	if err := json.Unmarshal([]byte(stdout), &report); err != nil {
		t.Fatal(err)
	}
	for i, split := range []string{"train", "vali", "test"} {
		is := report.Splits[i]
		if is.Name != split || len(result.Metrics[split]) != len(report.Metrics) {
			t.Fatalf("%s: %v", is.Name, result.Metrics)
		}
		for _, m := range report.Metrics {
			if a, b := is.Value(1, m), float64(result.Metrics[split][m]); a != b {
				t.Errorf("%s %s: %v, in result.json %v", split, m, a, b)
			}
		}
	}
	stdout, _ = must(t, "-model", model, "-data", filepath.Join(data, "test.txt"), "-report", "map")
	for _, want := range []string{"\ndata: 10 queries", "map", "  random order   model\n"} {
		if !strings.Contains(stdout, want) {
			t.Errorf("no %q in\n%s", want, stdout)
		}
	}
	for _, c := range []struct{ args, want string }{
		{"-epochs 3", "there is no flag -epochs"},
		{"-weight-column w", "there is no flag -weight-column"},
		{"-normalize", "there is no flag -normalize"}, // a metric is not a value of the loss
		{"-metric ndgc@5", "did you mean ndcg?"},
		{"-importance -plot x.txt", ".svg, .png or .pdf"},
		{"-plot x.svg", "-plot needs -importance"},
	} {
		status, _, stderr := call(append([]string{"-model", model, "-data", data}, strings.Fields(c.args)...)...)
		if status != 2 || !strings.Contains(stderr, c.want) || strings.Contains(stderr, "evaluate: evaluate:") {
			t.Errorf("%s: %d, %s", c.args, status, stderr)
		}
	}
}

func TestNoiseIsTheLeastImportant(t *testing.T) {
	t.Parallel()
	data := fold(t) // the label is the sum of features 1 and 4; 2 is noise
	_, model := fit.Trained(t, data, "-epochs", "10", "-hidden", "8")
	plot := filepath.Join(t.TempDir(), "importance.svg")
	stdout, stderr := must(t, "-model", model, "-data", data, "-importance", "-plot", plot)
	at := strings.Index(stdout, "permutations\n")                         // the end of the heading
	if at < 0 || !strings.Contains(stdout, "how much worse ndcg@10 is") { // not its expectation
		t.Fatal(stdout)
	}
	lines := strings.Split(strings.TrimSpace(stdout[at:]), "\n")
	if len(lines) != 2+3 || !strings.HasPrefix(strings.TrimSpace(lines[4]), "2 ") {
		t.Errorf("%q", lines)
	}
	if !strings.Contains(stderr, "vali.txt") {
		t.Errorf("%s: want the validation split", stderr)
	}
	if svg := read(t, plot); !strings.Contains(svg, ">Permutation importance<") || !strings.Contains(svg, ">4<") || !regexp.MustCompile(`>0(\.0+)?</text>`).MatchString(svg) {
		t.Error(svg)
	}
	if status, _, stderr := call("-model", model, "-data", data, "-importance", "-plot", plot); status != 1 || !strings.Contains(stderr, "exists") {
		t.Errorf("the plot was overwritten: %d, %s", status, stderr)
	}
}

// All folds have the highest grade of all their data, and a model is measured by its own.
func TestHighestGradeIsOfAllFolds(t *testing.T) {
	t.Parallel()
	data := commandtest.Folds(t, 2)
	for _, split := range []string{"train", "vali", "test"} {
		path := filepath.Join(data, "Fold2", split+".txt")
		text := "\n" + read(t, path)
		write(t, path, strings.ReplaceAll(text, "\n2 ", "\n1 ")[1:])
	}
	out := filepath.Join(t.TempDir(), "run")
	fit.Quick(t, "-data", data, "-folds", "all", "-out", out, "-report", "err@10")
	second := filepath.Join(out, "fold2", "model.npz")
	model, err := ranker.Open(second)
	if err != nil {
		t.Fatal(err)
	}
	if model.File().Grade != 2 {
		t.Errorf("the model of the second fold has the highest grade %v, want 2", model.File().Grade)
	}
	var summary cli.FoldsSummary
	if err := json.Unmarshal([]byte(read(t, filepath.Join(out, "summary.json"))), &summary); err != nil {
		t.Fatal(err)
	}
	want := fmt.Sprintf("%.4f", summary.Metrics["test"]["err@10"].Values[1])
	test := filepath.Join(data, "Fold2", "test.txt")
	status, stdout, stderr := call("-model", second, "-data", test, "-report", "err@10")
	if status != 0 || !strings.Contains(stdout, want) || !strings.Contains(stdout, "The highest grade is 2.") || strings.Contains(stderr, "grade") {
		t.Errorf("%d, %s, %q, want err@10 %s as in training", status, stdout, stderr, want)
	}
	high := filepath.Join(t.TempDir(), "high.txt")
	write(t, high, "3 qid:1 1:1 2:0.5 4:1\n0 qid:1 1:0 2:0.5 4:1\n")
	if status, _, stderr := call("-model", second, "-data", high, "-report", "err@10"); status != 1 || !strings.Contains(stderr, "label 3 is above 2, the highest grade") {
		t.Errorf("a label above: %d, %q", status, stderr)
	}
	if status, _, stderr := call("-model", second, "-data", high, "-report", "err@10", "-highest-grade", "3"); status != 0 {
		t.Errorf("with -highest-grade: %d, %q", status, stderr)
	}
	// A file of an older version: the highest grade of the data, and a warning.
	old := *model.File()
	old.Grade = 0
	path := filepath.Join(t.TempDir(), "old.npz")
	if err := old.Save(path); err != nil {
		t.Fatal(err)
	}
	status, stdout, stderr = call("-model", path, "-data", test, "-report", "err@10")
	if status != 0 || !strings.Contains(stdout, "The highest grade is 1.") || !strings.Contains(stderr, "does not say the highest grade") {
		t.Errorf("an older file: %d, %s, %q", status, stdout, stderr)
	}
	if _, _, stderr := call("-model", path, "-data", test); strings.Contains(stderr, "grade") {
		t.Errorf("a warning where nothing goes by the grade: %q", stderr)
	}
}

// A picture that cannot be drawn is a warning: the numbers are complete.
func TestPictureThatFailsIsAWarning(t *testing.T) {
	t.Parallel()
	data, _, model := fit.Shared(t)
	picture := filepath.Join(t.TempDir(), "none", "importance.svg")
	stdout, stderr := must(t, "-model", model, "-data", data, "-importance", "-plot", picture)
	if !strings.Contains(stderr, "warning: ") || !strings.Contains(stderr, picture) || !strings.Contains(stdout, "standard deviation") {
		t.Errorf("%s%s", stdout, stderr)
	}
}

// A model file does not say by which loss it was trained.
func TestLossIsNotAMetricOfAModelFile(t *testing.T) {
	t.Parallel()
	for _, args := range [][]string{{"-metric", "loss"}, {"-metric", "ndcg@5-0.1*loss"}, {"-report", "map,loss"}} {
		if status, _, stderr := call(append([]string{"-model", "m.npz", "-data", "d.txt"}, args...)...); status != 2 || !strings.Contains(stderr, "does not say its loss") {
			t.Errorf("%v of a model: %d, %q", args, status, stderr)
		}
	}
}

// A single file is read once, and its oddities are told once, whether it is cached or not.
func TestSingleFileIsReadOnce(t *testing.T) {
	folder := t.TempDir()
	csv, out := filepath.Join(folder, "f.csv"), filepath.Join(folder, "run")
	write(t, csv, "label,relevance,qid,x\n1,1,a,2\n0,0,a,1\n1,1,b,2\n0,0,b,3\n0,0,a,4\n,,b,5\n")
	fit.Must(t, "-data", csv, "-out", out, "-epochs", "1", "-cache", "off")
	for _, cache := range []string{"off", folder, folder} {
		status, _, stderr := call("-model", filepath.Join(out, "model.npz"), "-data", csv, "-cache", cache)
		for _, warning := range []string{"as if they were the label", "queries are not contiguous", "1 documents without a label", "were trained on"} {
			if n := strings.Count(stderr, warning); status != 0 || n != 1 {
				t.Errorf("-cache %s: %d, %q %d times in\n%s", cache, status, warning, n, stderr)
			}
		}
	}
}

// Splits and gains of a forest are beside permutation importance: those that plrank describe prints of the model.
func TestImportancesOfForestsHaveSplitsAndGains(t *testing.T) {
	t.Parallel()
	const shop = "../../../../forest/foreign/testdata/shop/"
	stdout, _ := must(t, "-model", shop+"lightgbm.txt", "-data", shop+"shop.csv", "-importance")
	for _, line := range []string{`price .* 11 +0\.4158`, `stars .* 8 +0\.3825`, `brand .* 5 +0\.2017`} {
		if !regexp.MustCompile(line).MatchString(stdout) {
			t.Errorf("no %s in\n%s", line, stdout)
		}
	}
}
