package evaluate

import (
	"encoding/json"
	"fmt"
	"math"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/plrank/plrank/cmd/internal/cli"
	"github.com/plrank/plrank/cmd/internal/commandtest"
	"github.com/plrank/plrank/cmd/plrank/internal/score"
	"github.com/plrank/plrank/metrics"
	"github.com/plrank/plrank/train"
)

// Scores of a model, one a line or as a TREC run with judgements, are measured as the model is, but
// for expected metrics; and the table has the means of the values by query.
func TestScoresAreMeasuredAsTheirModel(t *testing.T) {
	t.Parallel()
	data, _, model := fit.Shared(t)
	dir := t.TempDir()
	test, path := filepath.Join(data, "test.txt"), func(name string) string { return filepath.Join(dir, name) }
	commandtest.Command(score.Run).Must(t, "-model", model, "-data", test, "-out", path("scores"), "-run", path("run"), "-qrels", path("qrels"))
	parsed := func(stdout string) train.SplitReport {
		var r train.Report
		if err := json.Unmarshal([]byte(stdout), &r); err != nil {
			t.Fatal(err)
		}
		return r.Splits[len(r.Splits)-1]
	}
	stdout, _ := must(t, "-model", model, "-data", test, "-subtopics", path("qrels"), "-report", "map,alpha-ndcg@5", "-json", "-per-query", path("model.csv"))
	want := parsed(stdout)
	for name, args := range map[string][]string{
		"lines": {"-scores", path("scores"), "-data", test, "-subtopics", path("qrels")},
		"ids":   {"-scores", path("run"), "-data", test, "-subtopics", path("qrels")},
		"qrels": {"-scores", path("run"), "-qrels", path("qrels")},
	} {
		stdout, stderr := must(t, append(args, "-report", "map,alpha-ndcg@5", "-json", "-per-query", path(name+".csv"))...)
		got := parsed(stdout)
		for _, metric := range []string{"dcg@5", "ndcg@5", "ndcg@10", "map", "alpha-ndcg@5"} {
			if a, b := got.Value(1, metric), want.Value(1, metric); math.Abs(a-b) > 1e-12 || b == 0 {
				t.Errorf("%s: %s %v, of the model %v", name, metric, a, b)
			}
		}
		if _, ok := got.Rows[1]["expected-ndcg@5"]; ok || got.Rankers[1] != "scores" || stderr != "" {
			t.Errorf("%s: %v, %q", name, got, stderr)
		}
		table, err := cli.ReadPerQuery(name, strings.NewReader(read(t, path(name+".csv"))))
		if err != nil {
			t.Fatal(err)
		}
		for _, metric := range table.Metrics {
			values, queries := table.Column(metric)
			if mean := metrics.Mean(values, metrics.LabelFreeSkip); len(queries) != got.Queries || math.Abs(mean-got.Value(1, metric)) > 1e-15 {
				t.Errorf("%s: the mean of %s is %v, want %v", name, metric, mean, got.Value(1, metric))
			}
		}
	}
	// Expected metrics agree with the model if they are asked for.
	stdout, _ = must(t, "-scores", path("scores"), "-data", test, "-report", "expected-ndcg@5", "-json")
	if a, b := parsed(stdout).Value(1, "expected-ndcg@5"), want.Value(1, "expected-ndcg@5"); math.Abs(a-b) > 1e-6 { // of float32 scores
		t.Errorf("expected %v, of the model %v", a, b)
	}
	// Of a folder, the values are of the test split.
	must(t, "-model", model, "-data", data, "-subtopics", path("qrels"), "-report", "map,alpha-ndcg@5", "-per-query", path("folder.csv"))
	if read(t, path("folder.csv")) != read(t, path("model.csv")) {
		t.Error("the values of a folder differ from its test split")
	}
	if status, _, stderr := call("-scores", path("scores"), "-data", test, "-per-query", path("folder.csv")); status != 1 || !strings.Contains(stderr, "exists") {
		t.Errorf("overwritten: %d, %s", status, stderr)
	}
}

// trecEvalFlags make measures agree with trec_eval.
var trecEvalFlags = []string{"-gain", "linear", "-convention", "zero", "-ties", "order"}

// trecEvalNames are the names of trec_eval for measures.
var trecEvalNames = map[string]string{
	"map": "map", "mrr": "recip_rank", "ndcg": "ndcg", "ndcg@3": "ndcg_cut_3", "ndcg@5": "ndcg_cut_5",
	"precision@1": "P_1", "precision@5": "P_5", "recall@2": "recall_2", "recall@5": "recall_5", "hits@1": "success_1", "hits@5": "success_5",
}

// asTrecEval measures a run, and is the lines by query and on all with the names of trec_eval.
func asTrecEval(t *testing.T, run, qrels string) (lines []string) {
	t.Helper()
	out := filepath.Join(t.TempDir(), "run.trec")
	must(t, append([]string{"-scores", run, "-qrels", qrels, "-per-query", out, "-report", "map,mrr,ndcg,ndcg@3,p@1,p@5,recall@2,recall@5,hits@1,hits@5"}, trecEvalFlags...)...)
	for line := range strings.Lines(read(t, out)) {
		f := strings.Fields(line)
		if name := trecEvalNames[f[0]]; name != "" {
			lines = append(lines, fmt.Sprintf("%-22s\t%s\t%s", name, f[1], f[2]))
		}
	}
	slices.Sort(lines)
	return lines
}

// What trec_eval 10.0-rc3 prints for these files. Documents of equal scores stand by descending id, but not those that
// only float32 makes equal; query 2 has no relevant document; judged documents are missing, and found ones are not judged.
func TestMeasuresAreThoseOfTrecEval(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	run, qrels := filepath.Join(dir, "run"), filepath.Join(dir, "qrels")
	write(t, qrels, "1 0 a 2\n1 0 b 0\n1 0 c 1\n1 0 u 1\n2 0 x 0\n2 0 y 0\n3 0 p 1\n3 0 n -1\n4 0 z 1\n")
	write(t, run, "1 Q0 c 1 1 t\n1 Q0 a 2 1 t\n1 Q0 b 3 1 t\n1 Q0 d 4 3 t\n2 Q0 x 1 1 t\n2 Q0 y 1 2 t\n3 Q0 p 1 1.00000001 t\n3 Q0 n 1 2 t\n3 Q0 q 1 1 t\n")
	want := map[string][]float64{ // of queries 1, 2, 3
		"map": {0.3333, 0, 0.5}, "recip_rank": {0.5, 0, 0.5}, "P_1": {0, 0, 0}, "P_5": {0.4, 0, 0.2},
		"recall_2": {0.3333, 0, 1}, "recall_5": {0.6667, 0, 1}, "ndcg": {0.4766, 0, 0.6309}, "ndcg_cut_3": {0.2015, 0, 0.6309},
		"ndcg_cut_5": {0.4766, 0, 0.6309}, "success_1": {0, 0, 0}, "success_5": {1, 0, 1},
	}
	all := map[string]string{"map": "0.2778", "recip_rank": "0.3333", "P_1": "0.0000", "P_5": "0.2000", "recall_2": "0.4444",
		"recall_5": "0.5556", "ndcg": "0.3692", "ndcg_cut_3": "0.2775", "ndcg_cut_5": "0.3692", "success_1": "0.0000", "success_5": "0.6667"}
	var lines []string
	for name, values := range want {
		for q, v := range values {
			lines = append(lines, fmt.Sprintf("%-22s\t%d\t%6.4f", name, q+1, v))
		}
		lines = append(lines, fmt.Sprintf("%-22s\tall\t%s", name, all[name]))
	}
	slices.Sort(lines)
	if got := asTrecEval(t, run, qrels); !slices.Equal(got, lines) {
		t.Errorf("%s\nwant\n%s", strings.Join(got, "\n"), strings.Join(lines, "\n"))
	}
	_, stderr := must(t, "-scores", run, "-qrels", qrels)
	if !strings.Contains(stderr, "1 of the 4 judged queries are not in the run") {
		t.Error(stderr)
	}
	if status, _, stderr := call("-scores", run, "-qrels", qrels, "-report", "expected-ndcg@5"); status != 1 || !strings.Contains(stderr, "some are unranked") {
		t.Errorf("%d, %s", status, stderr)
	}
}

// What trec_eval 10.0-rc3 prints: its scores are doubles, and lines that begin with # are comments.
func TestScoresAreDoublesAsInTrecEval(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	run, qrels := filepath.Join(dir, "run"), filepath.Join(dir, "qrels")
	write(t, qrels, "1 0 a 1\n1 0 b 0\n1 0 c 0\n2 0 a 1\n2 0 b 0\n3 0 a 1\n3 0 b 0\n# 1 0 z 1\n4 0 a 1\n4 0 b 0\n5 0 a 1\n5 0 b 0\n")
	write(t, run, "# a run\n1 Q0 a 1 99999999 t\n1 Q0 b 2 99999998 t\n2 Q0 a 1 1e-50 t\n \t# more\n2 Q0 b 2 1e-60 t\n3 Q0 a 1 1e300 t\n3 Q0 b 2 1e299 t\n"+
		"4 Q0 a 1 -1e300 t\n4 Q0 b 1 -1e299 t\n5 Q0 a 1 7 t\n5 Q0 b 1 7 t\n#1 Q0 c 1 1e301 t\n")
	var got []string
	for _, line := range asTrecEval(t, run, qrels) {
		if f := strings.Fields(line); f[0] == "recip_rank" {
			got = append(got, f[1]+" "+f[2])
		}
	}
	if want := []string{"1 1.0000", "2 1.0000", "3 1.0000", "4 0.5000", "5 0.5000", "all 0.8000"}; !slices.Equal(got, want) {
		t.Errorf("recip_rank is %q, want %q", got, want)
	}
}

// Where labels are between 0 and 1, what is printed names the metrics to which they are not relevant; where none is, it does not.
func TestThresholdOfRelevanceIsSaid(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	path := func(name, text string) string {
		write(t, filepath.Join(dir, name), text)
		return filepath.Join(dir, name)
	}
	scores := path("scores", "1\n2\n3\n4\n")
	for _, c := range []struct {
		name, labels, flags, head, threshold string
	}{
		{"fractions", "0.7 0 0.3 0.2", "-report map,p@1,ndcg@5", "2 queries (2 with a document of a gain above 0), 4 documents\n", "3 of the 4 documents have labels between 0 and 1: they are not relevant to map, precision@1, where relevance begins at label 1\n"},
		{"mixed", "0.5 1 2 0", "-report map", "2 queries (2 with a document of a gain above 0), 4 documents\n", "1 of the 4 documents have labels between 0 and 1: they are not relevant to map,"},
		{"binary", "0.7 0 0.3 0.2", "-gain binary", "2 queries (0 with a document of a gain above 0), 4 documents\n", "3 of the 4 documents have labels between 0 and 1: they are not relevant to dcg@10, ndcg@5, ndcg@10,"},
		{"gains", "0.7 0 0.3 0.2", "", "2 queries (2 with a document of a gain above 0), 4 documents\n", ""},
		{"grades", "1 0 1.5 2", "-report map", "2 queries (2 with a relevant document), 4 documents\n", ""},
	} {
		var data strings.Builder
		for i, label := range strings.Fields(c.labels) {
			fmt.Fprintf(&data, "%s qid:%d 1:%d\n", label, i/2, i)
		}
		args := append([]string{"-scores", scores, "-data", path(c.name, data.String())}, strings.Fields(c.flags)...)
		stdout, _ := must(t, args...)
		words := func(text string) string { return strings.Join(strings.Fields(text), " ") } // however lines are broken
		if !strings.Contains(words(stdout), words(c.head+c.threshold)) || strings.Contains(stdout, "between 0 and 1") != (c.threshold != "") {
			t.Errorf("%s: %s, want %s%s", c.name, stdout, c.head, c.threshold)
		}
	}
}

func TestScoresThatCannotBeMeasuredAreRefused(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	path := func(name, text string) string {
		write(t, filepath.Join(dir, name), text)
		return filepath.Join(dir, name)
	}
	data, scores := path("data.txt", "1 qid:1 1:1\n0 qid:1 1:2\n"), path("scores", "1\n2\n")
	svm := path("svm.txt", "1 qid:1 1:1\n-1 qid:1 1:2\n")
	blank := path("blank.csv", "label,query,f\n1,a b,1\n0,a b,2\n")
	for _, c := range []struct {
		args   string
		status int
		want   string
	}{
		{"-scores " + scores, 2, "-scores needs labels"},
		{"-scores " + scores + " -model m.npz -data " + data, 2, "exclude each other"},
		{"-scores " + scores + " -qrels q -data " + data, 2, "-data and -qrels exclude each other"},
		{"-model m.npz -qrels q", 2, "-model and -data are both needed"},
		{"-model m.npz -qrels q -data " + data, 2, "-qrels is for a TREC run"},
		{"-scores " + scores + " -base-column 1 -data " + data, 2, "-base-column has no effect with -scores"},
		{"-scores " + scores + " -vali " + data + " -data " + data, 2, "-vali has no effect with -scores"},
		{"-scores " + scores + " -qrels q -label-column l", 2, "-label-column has no effect with -qrels"},
		{"-scores " + scores + " -importance -data " + data, 2, "-importance needs -model"},
		{"-scores " + scores + " -per-query - -json -data " + data, 2, "-per-query -: want the name of a new file"},
		{"-scores " + scores + " -data " + dir, 1, "scores are of the documents of one file"},
		{"-scores " + path("one", "1\n") + " -data " + data, 1, "1 scores, but"},
		{"-scores " + scores + " -data " + svm, 1, "(-minus-one irrelevant, or -minus-one unlabelled)"},
		{"-scores " + scores + " -minus-one irrelevant -data " + svm, 0, ""},
		{"-scores " + scores + " -per-query " + filepath.Join(dir, "x.trec") + " -data " + blank, 1, `query "a b"`},
	} {
		status, stdout, stderr := call(strings.Fields(c.args)...)
		if status != c.status || !strings.Contains(stderr, c.want) || (status != 0 && stdout != "") {
			t.Errorf("%s: %d, %s%s; want %d, %q", c.args, status, stdout, stderr, c.status, c.want)
		}
	}
	if found, _ := filepath.Glob(filepath.Join(dir, "*x.trec*")); found != nil {
		t.Errorf("left: %v", found)
	}
}

// ERR takes no label above 31 whatever the gain, which is said at once, and not after -gain linear.
func TestHighLabelsOfERRHaveOneError(t *testing.T) {
	t.Parallel()
	folder := t.TempDir()
	data, scores := filepath.Join(folder, "d.txt"), filepath.Join(folder, "s.txt")
	write(t, data, "32 qid:1 1:1\n0 qid:1 1:0\n")
	write(t, scores, "1\n0\n")
	for _, c := range []struct {
		args string
		want string // "": it works
	}{
		{"-metric err@5", "label 32 is too high for err"},
		{"-metric err@5 -gain linear", "label 32 is too high for err"},
		{"-metric ndcg@5", `use the gain "linear"`},
		{"-metric ndcg@5 -gain linear", ""},
	} {
		status, _, stderr := call(append([]string{"-scores", scores, "-data", data}, strings.Fields(c.args)...)...)
		if (status == 0) != (c.want == "") || !strings.Contains(stderr, c.want) || strings.Contains(stderr, "linear") && strings.Contains(c.args, "err") {
			t.Errorf("%s: %d, %s", c.args, status, stderr)
		}
	}
}
