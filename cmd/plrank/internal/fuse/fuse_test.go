package fuse

import (
	"encoding/json"
	"fmt"
	"math"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/plrank/plrank/cmd/internal/commandtest"
	"github.com/plrank/plrank/fusion"
	"github.com/plrank/plrank/metrics"
	"github.com/plrank/plrank/ranker"
)

func TestMain(m *testing.M) { commandtest.Main(m) }

var (
	call = commandtest.Command(Run).Call
	must = commandtest.Command(Run).Must
)

// found is what -json prints.
func found(t *testing.T, args ...string) (f findings, stderr string) {
	t.Helper()
	stdout, stderr := must(t, append(args, "-json")...)
	if err := json.Unmarshal([]byte(stdout), &f); err != nil {
		t.Fatal(err)
	}
	return f, stderr
}

func (f findings) value(t *testing.T, name string) method {
	t.Helper()
	for _, m := range f.Methods {
		if m.Name == name {
			return m
		}
	}
	t.Fatalf("no method %s in %+v", name, f)
	return method{}
}

func file(t *testing.T, name, text string) string {
	t.Helper()
	path := filepath.Join(t.TempDir(), name)
	commandtest.Write(t, path, text)
	return path
}

// small is a collection of four equal queries: run a has x y z, run b has z w x.
func small(t *testing.T) (a, b, qrels string) {
	t.Helper()
	var runA, runB, judged strings.Builder
	for q := range 4 {
		fmt.Fprintf(&runA, "%d Q0 x 1 10 a\n%[1]d Q0 y 2 4 a\n%[1]d Q0 z 3 2 a\n", q)
		fmt.Fprintf(&runB, "%d,z,.9\n%[1]d,w,.8\n%[1]d,x,.5\n", q)
		fmt.Fprintf(&judged, "%d 0 z 1\n%[1]d 0 v 1\n%[1]d 0 x 0\n", q)
	}
	return file(t, "a.run", runA.String()), file(t, "b.csv", runB.String()), file(t, "qrels", judged.String())
}

// All values by hand. z and v are relevant, and v is in no run, so that reciprocal rank is the one of z. Its scores by RRF are 1/63 + 1/61,
// those of x the same. By CombSUM, z has 0 + 1, x 1 + 0, w 0 + .75, y .25 + 0, and by CombMNZ, z and x count twice.
func TestMethodsByHand(t *testing.T) {
	a, b, qrels := small(t)
	f, stderr := found(t, a, b, "-qrels", qrels, "-metric", "mrr@10")
	// With documents of equal scores in random order, z is first or second.
	for name, want := range map[string]float64{"run " + a: 1. / 3, "run " + b: 1, "rrf(60)": 0.75, "rrf(tuned)": 0.75, "combsum": 0.75, "combmnz": 0.75, "learned": 1} {
		if m := f.value(t, name); math.Abs(m.Mean-want) > 1e-12 || m.Low != m.Mean || math.Abs(m.Difference.Mean-(want-0.75)) > 1e-12 {
			t.Errorf("%s: %+v, want %v", name, m, want)
		}
	}
	if f.Queries != 4 || f.Folds != 4 || f.Weights[b] < f.Weights[a] || math.Abs(f.Weights[a]+f.Weights[b]-1) > 1e-9 || stderr != "" {
		t.Errorf("%+v, %s", f, stderr)
	}
	// A k that makes no difference stays 60, and the queries of the fold that is held out, here the last, do not count.
	better := func(a, b float64) bool { return a > b || math.IsNaN(b) }
	for k, values := range map[float64][][]float64{60: {{1, 2, 0}, {2, 1, 9}}, 1: {{1, 2, 9}, {2, 2, 0}}} {
		if got := tuned(values, []int{0, 1, 2}, 2, better); got != k {
			t.Errorf("the tuned k is %v, want %v", got, k)
		}
	}
	q := &fusion.Query{Scores: [][]float64{{10, 4, 2, math.NaN()}, {.5, math.NaN(), .9, .8}}, Gains: make([]float64, 4)}
	for d, want := range []float64{1, 0.125, 1, 0.375} { // half of CombSUM, times the number of runs
		if got := combMNZ(q); math.Abs(got[d]-want) > 1e-12 {
			t.Errorf("CombMNZ %v, want %v of document %d", got, want, d)
		}
	}
}

// By hand: of the documents x with the label 1 and z with 2, run a has x first.
func TestGainIsOfGrades(t *testing.T) {
	a, b, _ := small(t)
	var judged strings.Builder
	for q := range 4 {
		fmt.Fprintf(&judged, "%d 0 z 2\n%[1]d 0 x 1\n", q)
	}
	qrels := file(t, "qrels", judged.String())
	for gain, high := range map[string]float64{"exp2": 3, "linear": 2} {
		f, _ := found(t, a, b, "-qrels", qrels, "-gain", gain)
		want := (1 + high/2) / (high + 1/math.Log2(3)) // z is at rank 3, with the discount 1/2
		if m := f.value(t, "run "+a); math.Abs(m.Mean-want) > 1e-12 {
			t.Errorf("-gain %s: %v, want %v", gain, m.Mean, want)
		}
	}
}

func TestQueriesMayHaveNoGain(t *testing.T) {
	d := &data{queries: []*fusion.Query{{Gains: make([]float64, 2)}}, labels: [][]float32{{0.5, 0}}, cutoff: 10}
	if err := d.scale(metrics.BinaryGain); err != nil || d.queries[0].Gains[0] != 0 {
		t.Errorf("%v, %v, want 0", d.queries[0].Gains, err)
	}
	if err := d.scale(metrics.LinearGain); err != nil || d.queries[0].Gains[0] != 1 {
		t.Errorf("%v, %v, want 1", d.queries[0].Gains, err)
	}
}

// kinds is a collection of 24 queries. For the queries of one word run a has the relevant document first, for others run b has.
func kinds(t *testing.T) (a, b, qrels, kinds string) {
	t.Helper()
	var runs [2]strings.Builder
	var judged, words strings.Builder
	for q := range 24 {
		for run := range runs {
			first := (q + run) % 2 * (1 + q%3) // of the relevant document
			for rank, document := range slices.Insert([]string{"x", "y", "z"}, first, "relevant") {
				fmt.Fprintf(&runs[run], "%d,%s,%d\n", q, document, 9-rank)
			}
		}
		fmt.Fprintf(&judged, "%d 0 relevant 1\n", q)
		fmt.Fprintf(&words, "%d,%d\n", q, 1+q%2*(2+q/2))
	}
	return file(t, "a.csv", runs[0].String()), file(t, "b.csv", runs[1].String()), file(t, "qrels", judged.String()),
		file(t, "kinds.csv", "query,words\n"+words.String())
}

// Numbers become two kinds with weights of their own, by which every query that is held out has its document first.
func TestKindsAreWeighedApart(t *testing.T) {
	a, b, qrels, words := kinds(t)
	f, stderr := found(t, a, b, "-qrels", qrels, "-kinds", words)
	if m := f.value(t, "learned by kind"); m.Mean < 1-1e-12 || m.Mean < f.value(t, "learned").Mean+.1 || stderr != "" {
		t.Errorf("%+v, %s", f, stderr)
	}
	if one, more := f.Kinds["≤ 1"], f.Kinds["> 1"]; len(f.Kinds) != 2 || one[a] < .6 || more[b] < .6 {
		t.Errorf("the weights are %v", f.Kinds)
	}
	stdout, _ := must(t, a, b, "-qrels", qrels, "-kinds", words)
	if !strings.Contains(stdout, "> 1") || !strings.Contains(stdout, "No engine knows kinds of queries") {
		t.Error(stdout)
	}
	all := commandtest.Read(t, words)
	_, stderr = found(t, a, b, "-qrels", qrels, "-kinds", file(t, "short.csv", "0,x\n1,y\n2,x\n"))
	if !strings.Contains(stderr, "short.csv lacks 21 of the 24 judged queries: they are a kind of their own") {
		t.Error(stderr)
	}
	for text, want := range map[string]string{
		"0,x\n1,x,y\n": "record on line 2: wrong number of fields: want a query and its kind", all + "0,1\n": `kinds.csv:26: query "0", kind "1": want one kind`,
		"9,\n": `kinds.csv:1: query "9", kind ""`, "77,x\n": "the judged queries are of 1 kinds: want 2 to 8", strings.ReplaceAll(all, ",", ",w"): "are of 13 kinds",
	} {
		if status, _, stderr := call(a, b, "-qrels", qrels, "-kinds", file(t, "kinds.csv", text)); status != 1 || !strings.Contains(stderr, want) {
			t.Errorf("%q: %d, %s, want %s", text, status, stderr, want)
		}
	}
}

func TestWarningsSayWhatIsLeftOut(t *testing.T) {
	a, b, qrels := small(t)
	more := file(t, "more", commandtest.Read(t, qrels)+"8 0 x 1\n9 0 x 1\n7 0 x 0\n")
	a = file(t, "a.run", commandtest.Read(t, a)+"9 Q0 x 1 1 a\n5 Q0 x 1 1 a\n7 Q0 x 1 1 a\n")
	f, stderr := found(t, a, b, "-qrels", more)
	for _, want := range []string{b + " lacks 3 of the 7 judged queries: other runs alone rank these", a + ": 1 of the 7 queries have no judgements",
		"1 of the 7 judged queries are in no run: they are left out", "1 judged queries have no relevant document: they are left out"} {
		if !strings.Contains(stderr, want) {
			t.Errorf("no %q in %s", want, stderr)
		}
	}
	if f.Queries != 5 || f.value(t, "run "+b).Mean >= f.value(t, "rrf(60)").Mean {
		t.Errorf("%+v", f)
	}
}

func TestMistakesAreUsageErrors(t *testing.T) {
	a, b, qrels := small(t)
	one := file(t, "one", "1 0 z 1\n")
	for _, c := range []struct {
		args   string
		status int
		want   string
	}{
		{a + " -qrels " + qrels, 2, "want two or more runs"},
		{a + " " + b, 2, "-qrels must name a file"},
		{a + " " + a + " -qrels " + qrels, 1, "is named twice"},
		{a + " " + b + " -qrels " + qrels + " -metric ndgc@10", 2, "did you mean ndcg"},
		{a + " " + b + " -qrels " + qrels + " -metric disparity", 2, "want a metric of a ranking"},
		{a + " " + b + " -qrels " + qrels + " -folds 2", 2, "want 3 to 20"},
		{a + " " + b + " -qrels " + one, 1, "1 queries have a relevant document and are in a run: want 3 or more"},
		{a + " " + qrels + " -qrels " + qrels, 1, "4 words: want a score on every line"},
		{a + " " + b + " -qrels " + qrels + " -out " + a, 1, "exists"},
	} {
		if status, stdout, stderr := call(strings.Fields(c.args)...); status != c.status || !strings.Contains(stderr, c.want) || stdout != "" {
			t.Errorf("%s: %d, %s%s; want %d, %q", c.args, status, stdout, stderr, c.status, c.want)
		}
	}
}

// The model scores documents by the weights: its features are the normalised scores of the runs.
func TestModelHasTheWeights(t *testing.T) {
	a, b, qrels := small(t)
	path := filepath.Join(t.TempDir(), "model.npz")
	f, _ := found(t, a, b, "-qrels", qrels, "-out", path)
	m, err := ranker.Open(path)
	if err != nil {
		t.Fatal(err)
	}
	scores, err := m.Score(nil, []float32{1, 0, 0, 1, 1, 1})
	if err != nil {
		t.Fatal(err)
	}
	for d, want := range []float64{f.Weights[a], f.Weights[b], 1} {
		if math.Abs(scores[d]-want) > 1e-6 {
			t.Errorf("document %d has %v, want %v", d, scores[d], want)
		}
	}
	if names := m.FeatureNames(); names[1] != string(f.Form)+"("+b+")" {
		t.Errorf("features %q", names)
	}
}

// What is pasted is JSON but for the placeholders, and weights add up to 1.
func TestEnginesTakeTheWeights(t *testing.T) {
	for _, e := range engines {
		for form, called := range e.forms {
			w := fusion.Weights{Form: form, K: 19.6, Runs: []float64{0.3334, 0.6666}}
			text := e.paste(called, w, []string{"x/bm25.run", "dense.run"})
			for _, want := range []string{"0.667", called} {
				if want == "rrf" || strings.Contains(text, want) {
					continue
				}
				t.Errorf("%s: no %s in %s", e.name, want, text)
			}
			if e.name == "Vespa" || e.name == "Weaviate" {
				continue
			}
			body := text[strings.Index(text, "{"):]
			for _, run := range []string{"x/bm25.run", "dense.run"} {
				body = strings.ReplaceAll(body, "{…"+run+"…}", "{}")
			}
			if !json.Valid([]byte(body)) {
				t.Errorf("%s: %s", e.name, text)
			}
			if form == fusion.Reciprocal && !strings.Contains(text, `"rank_constant": 20`) {
				t.Errorf("%s: %s", e.name, text)
			}
		}
	}
	if texts := strings.Join(decimals([]float64{1. / 3, 1. / 3, 1. / 3}), " "); texts != "0.333 0.334 0.333" {
		t.Error(texts)
	}
}

// Passages of MS MARCO: the learned weights are at least as good by cross-validation as the best run, and as RRF tuned on all queries.
func TestLearnedIsAheadOnPassages(t *testing.T) {
	dir := filepath.Join("..", "..", "..", "..", "..", "shared", "data", "hybrid")
	if _, err := os.Stat(dir); err != nil {
		t.Skip("the shared collection is not there")
	}
	args := []string{"-qrels", filepath.Join(dir, "qrels.txt")}
	for _, run := range []string{"bm25.run", "lsa.run", "minilm.run"} {
		args = append(args, filepath.Join(dir, run))
	}
	f, _ := found(t, args...)
	learned := f.value(t, "learned").Mean
	for _, m := range f.Methods {
		if m.Mean > learned {
			t.Errorf("%s has %v, learned weights %v", m.Name, m.Mean, learned)
		}
	}
	if !strings.HasPrefix(f.Advice, "Use the learned weights") || f.value(t, "learned").Difference.Low <= 0 {
		t.Errorf("%+v", f)
	}
}

// With four queries nothing is certain about learned weights that rank as RRF does.
func TestAdviceKeepsRRF(t *testing.T) {
	a, _, qrels := small(t)
	b := file(t, "b.run", commandtest.Read(t, a))
	stdout, _ := must(t, a, b, "-qrels", qrels)
	for _, want := range []string{"Keep rrf(60): on these 4 queries", "score-ranker-processor", `"rank_window_size"`, "global-phase", "alpha=0.5", "Qdrant"} {
		if !strings.Contains(stdout, want) {
			t.Errorf("no %q in %s", want, stdout)
		}
	}
}
