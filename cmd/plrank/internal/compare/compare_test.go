package compare

import (
	"encoding/json"
	"fmt"
	"math"
	"path/filepath"
	"strings"
	"testing"

	"github.com/plrank/plrank/cmd/internal/commandtest"
	"github.com/plrank/plrank/cmd/internal/trainer"
	"github.com/plrank/plrank/cmd/plrank/internal/evaluate"
	"github.com/plrank/plrank/cmd/plrank/internal/score"
	"github.com/plrank/plrank/ranker"
	"github.com/plrank/plrank/train"
)

func TestMain(m *testing.M) { commandtest.Main(m) }

var (
	fit   = commandtest.Command(trainer.Run)
	call  = commandtest.Command(Run).Call
	must  = commandtest.Command(Run).Must
	write = commandtest.Write
)

// found is what -json prints.
func found(t *testing.T, args ...string) findings {
	t.Helper()
	stdout, _ := must(t, append(args, "-json")...)
	var f findings
	if err := json.Unmarshal([]byte(stdout), &f); err != nil {
		t.Fatal(err)
	}
	return f
}

// path is a new file with a text.
func path(t *testing.T, text string) string {
	t.Helper()
	name := filepath.Join(t.TempDir(), "file")
	write(t, name, text)
	return name
}

func near[T ~float64](a T, b, tolerance float64) bool { return math.Abs(float64(a)-b) <= tolerance }

// Extra hours of sleep with two drugs, ?sleep in R, and the mean of both. The p-values of the first
// pair agree with R and SciPy, see TestPairedTestsAgreeWithSciPy of package metrics.
func TestValuesByQueryAreCompared(t *testing.T) {
	t.Parallel()
	first := []float64{0.7, -1.6, -0.2, -1.2, -0.1, 3.4, 3.7, 0.8, 0.0, 2.0}
	second := []float64{1.9, 0.8, 1.1, 0.1, -0.1, 4.4, 5.5, 1.6, 4.6, 3.4}
	dir := t.TempDir()
	files := []string{filepath.Join(dir, "one.csv"), filepath.Join(dir, "two"), filepath.Join(dir, "mean.csv")}
	texts := []string{"query,metric,value\nonly here,hours,3\n", "runid\tall\tx\n", "query,metric,value\r\n"}
	for i, a := range first {
		texts[0] += fmt.Sprintf("q%d,hours,%v\nq%[1]d,other,1\n", i, a)
		texts[1] += fmt.Sprintf("hours\tq%d\t%v\nother\tq%[1]d\t0\n", i, second[i])
		texts[2] += fmt.Sprintf("q%d,hours,%v\r\nq%[1]d,third,1\r\n", i, (a+second[i])/2)
	}
	texts[1] += "hours\tall\t99\n"
	for i, text := range texts {
		write(t, files[i], text)
	}
	if f := found(t, path(t, "num_ret 1 5\nmap 1 .5\nnum_ret 2 5\nmap 2 .7\n"), path(t, "num_ret 1 5\nmap 1 .4\nnum_ret 2 5\nmap 2 .7\n")); f.Metric != "map" {
		t.Errorf("compared by %s", f.Metric)
	}
	f := found(t, files...)
	if f.Metric != "hours" || f.Queries != 10 || len(f.Runs) != 3 || len(f.Pairs) != 3 || len(f.Runs[0].Means) != 1 {
		t.Fatalf("%+v", f)
	}
	for i, want := range []float64{0.75, 2.33, 1.54} {
		if !near(f.Runs[i].Means["hours"], want, 1e-12) || f.Runs[i].File != files[i] {
			t.Errorf("%+v, want %v", f.Runs[i], want)
		}
	}
	// All pairs have the same differences, or half of them, so that Holm's factor is 3 for all.
	for i, p := range f.Pairs {
		if !near(p.T.P, 0.002832890197384273, 1e-10) || !near(p.Randomization.P, 0.00390625, 1e-12) ||
			!near(p.T.Holm, 3*0.002832890197384273, 1e-10) || !near(p.Randomization.Holm, 3*0.00390625, 1e-12) {
			t.Errorf("%+v", p)
		}
		wins, losses := []int{0, 0, 9}[i], []int{9, 9, 0}[i]
		if p.Wins != wins || p.Ties != 1 || p.Losses != losses || len(p.Most) != shownQueries || p.Most[0].ID != "q8" {
			t.Errorf("%+v", p)
		}
		if want := []float64{-1.58, -0.79, 0.79}[i]; !near(p.Difference, want, 1e-12) || !(p.Low < p.Difference && p.Difference < p.High) || (p.Low < 0) != (p.High < 0) {
			t.Errorf("%+v, want %v", p, want)
		}
	}
	stdout, stderr := must(t, append([]string{"-metric", "hours"}, files...)...)
	for _, want := range []string{"A: " + files[0], "0.0028  0.0085  0.0039  0.0117  0/1/9\n", "-1.5800", "differences of hours, 10 queries\n", "q8   0.0000  4.6000  -4.6000\n"} {
		if !strings.Contains(stdout, want) {
			t.Errorf("no %q in\n%s", want, stdout)
		}
	}
	if !strings.Contains(stderr, "1 of 11 queries do not have hours in all files") {
		t.Error(stderr)
	}
	// If less is better, the file with less wins.
	for i, path := range files {
		write(t, path, strings.ReplaceAll(texts[i], "hours", "arp"))
	}
	if f := found(t, files[0], files[1]); !f.LowerIsBetter || f.Pairs[0].Wins != 9 || f.Pairs[0].Losses != 0 {
		t.Errorf("%+v", f)
	}
}

// Models, their scores, runs and values by query of the same model differ in nothing, and have the
// means that evaluate prints.
func TestFormsOfOneModelAreEqual(t *testing.T) {
	t.Parallel()
	data, _, model := fit.Shared(t)
	_, other := fit.Trained(t, data, "-seed", "3")
	dir := t.TempDir()
	test, path := filepath.Join(data, "test.txt"), func(name string) string { return filepath.Join(dir, name) }
	commandtest.Command(score.Run).Must(t, "-model", model, "-data", test, "-out", path("scores"), "-run", path("run"), "-qrels", path("qrels"))
	stdout, _ := commandtest.Command(evaluate.Run).Must(t, "-model", model, "-data", test, "-per-query", path("values.csv"), "-json")
	var report train.Report
	if err := json.Unmarshal([]byte(stdout), &report); err != nil {
		t.Fatal(err)
	}
	f := found(t, model, path("scores"), path("run"), path("values.csv"), "-data", test)
	if len(f.Pairs) != 6 || f.Queries != report.Splits[0].Relevant {
		t.Fatalf("%+v", f)
	}
	for _, p := range f.Pairs {
		if p.T.P != 1 || p.Randomization.P != 1 || p.Ties != f.Queries {
			t.Errorf("%+v", p)
		}
	}
	for _, r := range f.Runs {
		for metric, v := range r.Means {
			if want := report.Splits[0].Value(1, metric); !near(v, want, 1e-12) {
				t.Errorf("%s: %s %v, want %v", r.File, metric, v, want)
			}
		}
	}
	// Expected metrics where they are asked for; of a folder, the test split.
	if f := found(t, model, path("scores"), "-metric", "expected-ndcg@5", "-data", test); f.Metric != "expected-ndcg@5" || !near(f.Pairs[0].Difference, 0, 1e-6) {
		t.Errorf("%+v", f)
	}
	two := found(t, "-data", data, model, other)
	if a, b := two.Runs[0].Means["expected-ndcg@10"], report.Splits[0].Value(1, "expected-ndcg@10"); !near(a, b, 1e-12) {
		t.Errorf("of a folder %v, of its test split %v", a, b)
	}
	if two.Pairs[0].Ties == two.Queries {
		t.Errorf("two models are one: %+v", two)
	}
	if f := found(t, model, path("scores"), "-metric", "P@3", "-data", test); f.Metric != "precision@3" || f.Pairs[0].Ties != 10 {
		t.Errorf("%+v", f)
	}
	if f := found(t, path("run"), path("run"), "-qrels", path("qrels")); f.Pairs[0].Ties != f.Queries || f.Metric != "ndcg@10" {
		t.Errorf("%+v", f)
	}
	if stdout, _ := must(t, path("run"), path("run"), "-qrels", path("qrels")); strings.Contains(stdout, "differ most") {
		t.Errorf("no query differs:\n%s", stdout)
	}
}

// Of trec_eval -q -m all_trec, the measures whose values are texts are left out, with one warning for all files.
func TestTextMeasuresOfTrecEvalAreLeftOut(t *testing.T) {
	t.Parallel()
	text := func(m1, m2 string) string {
		return path(t, "num_ret               \t1\t2\nmap                   \t1\t"+m1+"\nrelstring             \t1\t'10'\n"+
			"num_ret               \t2\t2\nmap                   \t2\t"+m2+"\nrelstring             \t2\t'-.'\nrunid                 \tall\tmine\nmap                   \tall\t0.5\n")
	}
	stdout, stderr := must(t, text("1.0000", "0.5000"), text("0.5000", "0.2500"))
	if want := "warning: measures whose values are texts are left out: relstring\n"; stderr != want || !strings.Contains(stdout, "differences of map, 2 queries") || strings.Contains(stdout, "relstring") {
		t.Errorf("%s%s, want %s", stdout, stderr, want)
	}
}

func TestThresholdOfRelevanceIsAWarning(t *testing.T) {
	t.Parallel()
	scores, data := path(t, "2\n1\n2\n1\n"), path(t, "1 qid:1 1:1\n0.5 qid:1 1:2\n1 qid:2 1:2\n0 qid:2 1:1\n")
	_, stderr := must(t, scores, scores, "-data", data, "-metric", "map")
	if want := "warning: 1 of the 4 documents have labels between 0 and 1: they are not relevant to map, where relevance begins at label 1\n"; strings.Count(stderr, want) != 1 {
		t.Errorf("%s, want once %s", stderr, want)
	}
}

// A comment of three words does not make values by query of a run.
func TestRunMayBeginWithComment(t *testing.T) {
	t.Parallel()
	run := path(t, "# by bm25\n1 Q0 a 1 2 t\n1 Q0 b 2 1 t\n2 Q0 a 1 1 t\n")
	if f := found(t, run, run, "-qrels", path(t, "# my judgements\n1 0 a 1\n2 0 a 1\n")); f.Queries != 2 || f.Pairs[0].Ties != 2 {
		t.Errorf("%+v", f)
	}
}

func TestFilesThatCannotBeComparedAreRefused(t *testing.T) {
	t.Parallel()
	data, _, model := fit.Shared(t)
	opened, err := ranker.Open(model)
	if err != nil {
		t.Fatal(err)
	}
	dir := t.TempDir()
	path := func(name, text string) string {
		write(t, filepath.Join(dir, name), text)
		return filepath.Join(dir, name)
	}
	file := *opened.File()
	file.Gain = "linear"
	linear := filepath.Join(dir, "linear.npz")
	if err := file.Save(linear); err != nil {
		t.Fatal(err)
	}
	a, b := path("a.csv", "query,metric,value\n1,map,0.5\n2,map,1\n"), path("b.csv", "query,metric,value\n1,p@5,0.5\n2,p@5,1\n")
	one := path("one.csv", "query,metric,value\n2,map,0.5\n")
	scores := path("scores", "1\n2\n")
	test := filepath.Join(data, "test.txt")
	for _, c := range []struct {
		args   string
		status int
		want   string
	}{
		{a, 2, "want two or more files"},
		{strings.Repeat(a+" ", 27), 2, "27 files: want 26 at most"},
		{a + " " + b, 1, "no metric is in all files: " + a + " has map"},
		{a + " " + a + " -metric nap", 1, `not all files have the metric "nap": want one of map (did you mean map?)`},
		{a + " " + one, 1, "compare: queries that have map in all files: 1: want two or more of the same ids\n"},
		{a + " " + model, 2, "-data must name labelled documents"},
		{a + " " + scores, 2, "-data must name labelled documents"},
		{a + " " + model + " -qrels q", 2, "is a model, which needs the features of -data"},
		{a + " " + a + " -data " + test, 2, "all files have values by query"},
		{a + " " + filepath.Join(dir, "none"), 1, "none"},
		{a + " " + path("bad.csv", "query,metric,value\n1,map,x\n"), 1, `bad.csv:2: "x" is not the value`},
		{model + " " + linear + " -data " + test, 2, "-gain must say by which"},
		{model + " " + linear + " -gain exp2 -data " + test, 0, ""},
		{model + " " + scores + " -data " + test, 1, "2 scores, but"},
		{model + " " + scores + " -data " + data, 1, "scores are of the documents of one file"},
		{model + " " + model + " -metric nap -data " + test, 2, `unknown metric "nap"`},
		{model + " " + model + " -metric ndcg@5-2*disparity -data " + test, 2, `-metric: want one metric: metrics: "ndcg@5-2*disparity" is not a metric's name`},
		{a + " " + a + " -gain linear", 2, "-gain has no effect without -data or -qrels"},
	} {
		status, stdout, stderr := call(strings.Fields(c.args)...)
		if status != c.status || !strings.Contains(stderr, c.want) || (status != 0 && stdout != "") {
			t.Errorf("%s: %d, %s%s; want %d, %q", c.args, status, stdout, stderr, c.status, c.want)
		}
	}
}

// An error about a label names its file and line, whatever order the documents have in the files that are compared.
func TestErrorsOfLabelsNameFileAndLine(t *testing.T) {
	t.Parallel()
	data, qrels := path(t, "0 qid:1 1:1 # docid = a\n1 qid:1 1:2 # docid = b\n# a comment\n-1 qid:2 1:1\n0 qid:2 1:1 # docid = d\n3 qid:2 1:2 # docid = c\n"), path(t, "2 0 c 3\n2 0 d 0\n\n1 0 b 1\n1 0 a 0\n")
	scores := path(t, "1\n2\n3\n4\n5\n")
	run := path(t, "1 Q0 b 1 2 x\n1 Q0 a 2 1 x\n2 Q0 e 1 3 x\n2 Q0 d 2 2 x\n2 Q0 c 3 1 x\n")
	for _, c := range []struct {
		args []string
		want string
	}{
		{[]string{scores, scores, "-data", data}, data + ":6: label 3 is above 2"},
		{[]string{run, run, "-data", data}, data + ":6: label 3 is above 2"},
		{[]string{run, run, "-qrels", qrels}, qrels + ":1: label 3 is above 2"},
		{[]string{run, run, "-qrels", path(t, "1 0 a 1\n\n1 0 b x\n")}, `:3: "x" is not a label`},
	} {
		status, stdout, stderr := call(append(c.args, "-metric", "err@10", "-highest-grade", "2")...)
		if status != 1 || stdout != "" || !strings.Contains(stderr, c.want) {
			t.Errorf("%q: %d, %s%s, want %q", c.args, status, stdout, stderr, c.want)
		}
	}
}

// What is odd about the data is told once, however many files are compared on them.
func TestWarningsOfTheDataAreToldOnce(t *testing.T) {
	t.Parallel()
	table := "label,qid,x,title,\n"
	for q := range 20 {
		for d := range 4 {
			table += fmt.Sprintf("%d,%d,%d,lamp,%d\n", d%2, q, (q*7+d*3)%11, d)
		}
	}
	data := path(t, table)
	_, model := fit.Trained(t, data)
	scores := path(t, strings.Repeat("1\n2\n", 40))
	_, stderr := must(t, model, model, scores, scores, "-data", data)
	for _, warning := range []string{"columns of text were left out: title", "columns without a name"} {
		if n := strings.Count(stderr, warning); n != 1 {
			t.Errorf("%d times %q in\n%s", n, warning, stderr)
		}
	}
	if n := strings.Count(stderr, "model "+model); n != 2 {
		t.Errorf("%d models in\n%s", n, stderr)
	}
}

// Models that were trained on labels of different columns are not compared on both, and scores compared with a model have its label.
func TestAllAreComparedOnOneLabel(t *testing.T) {
	dir := t.TempDir()
	data := filepath.Join(dir, "data.csv")
	var text strings.Builder
	text.WriteString("search,rating,clicks,price\n")
	for i := range 120 {
		fmt.Fprintf(&text, "s%d,%d,%d,%v\n", i/6, i%5, i*37%100/40, float64(i*37%100)/7)
	}
	write(t, data, text.String())
	var models []string
	for _, label := range []string{"clicks", "rating"} {
		run := filepath.Join(dir, label)
		fit.Must(t, "-data", data, "-query-column", "search", "-label-column", label, "-features", "price", "-epochs", "1", "-cache", "off", "-out", run)
		models = append(models, filepath.Join(run, "model.npz"))
	}
	if status, _, stderr := call(models[0], models[1], "-data", data, "-cache", "off"); status != 1 || !strings.Contains(stderr, `the models were trained on different labels, "clicks" and "rating": -label-column must name`) {
		t.Errorf("%d, %s", status, stderr)
	}
	must(t, models[0], models[1], "-data", data, "-cache", "off", "-label-column", "clicks")
	scores := filepath.Join(dir, "scores")
	commandtest.Command(score.Run).Must(t, "-model", models[0], "-data", data, "-out", scores)
	for _, files := range [][]string{{models[0], scores}, {scores, models[0]}} {
		f := found(t, append(files, "-data", data, "-cache", "off")...)
		if d := f.Pairs[0]; d.Difference != 0 {
			t.Errorf("%q: a model and its own scores differ by %v", files, d.Difference)
		}
	}
}
