package train

import (
	"slices"
	"strings"
	"testing"

	"github.com/plrank/plrank/datasets"
	"github.com/plrank/plrank/ranker"
)

// trainedOn is how many queries of d a model says that it was trained on.
func trainedOn(t *testing.T, m *ranker.Model, d *datasets.Dataset) int {
	t.Helper()
	return d.CountSeen(m.Seen)
}

// Models know what they were trained on, and what the model was that they began with; a report
// on other data says how much of that is among them.
func TestModelsKnowTheirTrainingQueries(t *testing.T) {
	t.Parallel()
	s := small()
	tr := mustNew(t, busy("adam"), s)
	r := mustRun(t, tr, Hooks{}).Model
	if n := trainedOn(t, r, s.Train); n != s.Train.Queries() {
		t.Errorf("%d of %d training queries", n, s.Train.Queries())
	}
	if n := trainedOn(t, r, s.Vali) + trainedOn(t, r, s.Test); n != 0 || tr.Warnings() != nil {
		t.Errorf("%d queries of the other splits, warnings %v", n, tr.Warnings())
	}
	report, err := Evaluate(busy("adam").Plain(), Custom{}, r, Split{"a", s.Train.Select([]int{3, 4})}, Split{"b", s.Test})
	if err != nil || report.Splits[0].TrainedOn != 2 || report.Splits[1].TrainedOn != 0 || report.Model != r.Digest() {
		t.Errorf("report %+v, error %v", report, err)
	}
	// A model that goes on with other queries was trained on all of them.
	next := *s
	next.Train, next.Vali = s.Test, s.Train
	c := busy("adam")
	c.Epochs = 1
	on, err := New(c.Plain(), Custom{Initial: r}, &next)
	if err != nil {
		t.Fatal(err)
	}
	if want := "train: 32 of 32 queries have the same documents as training queries of the initial model: "; !slices.ContainsFunc(on.Warnings(), func(w string) bool { return strings.HasPrefix(w, want) }) {
		t.Errorf("validation on queries of the initial model: %q", on.Warnings())
	}
	best, err := on.Best()
	if err != nil {
		t.Fatal(err)
	}
	for _, d := range []*datasets.Dataset{s.Train, s.Test} {
		if n := trainedOn(t, best, d); n != d.Queries() {
			t.Errorf("%d of %d queries of %s", n, d.Queries(), d.Name)
		}
	}
}

// Splits that share queries are warned of, under whatever names and labels.
func TestSharedQueriesAreWarnedOf(t *testing.T) {
	s := small()
	some := s.Train.Select([]int{1, 5, 7})
	some.Name, some.QueryIDs = "some", []string{"x", "y", "z"}
	slices.Reverse(some.Labels)
	tr := mustNew(t, busy("adam"), &datasets.Splits{Train: s.Train, Vali: s.Vali, Test: some})
	want := "some: 3 of 3 queries have the same documents as queries of the training split"
	if w := tr.Warnings(); len(w) != 1 || !strings.HasPrefix(w[0], want) {
		t.Errorf("warnings %q, want %q", w, want)
	}
	tr = mustNew(t, busy("adam"), &datasets.Splits{Train: s.Train, Vali: s.Vali, Test: s.Vali})
	want = "vali: 12 of 12 queries have the same documents as queries of the validation split"
	if w := tr.Warnings(); len(w) != 1 || !strings.HasPrefix(w[0], want) {
		t.Errorf("warnings %q, want %q", w, want)
	}
	tr = mustNew(t, busy("adam"), &datasets.Splits{Train: s.Train, Vali: s.Train})
	if w := tr.Warnings(); len(w) != 1 || !strings.Contains(w[0], "32 of 32 queries") {
		t.Errorf("warnings %q", w)
	}
}

// numbered are queries of documents that have a feature of their own, and two that are the same in a query: the query's
// number, and 1.
func numbered(name string, ids []string, number float32, documents ...int) *datasets.Dataset {
	d := &datasets.Dataset{Name: name, QueryIDs: ids, FeatureIDs: []int{1, 2, 3}, FeatureNames: []string{"own", "of the query", "one"}, Offsets: []int{0}}
	for q, n := range documents {
		for r := range n {
			d.Features = append(d.Features, float32(r), number+float32(q), 1)
			d.Labels = append(d.Labels, float32(r%2))
		}
		d.Offsets = append(d.Offsets, len(d.Labels))
	}
	return d
}

// Features that are constant are named in a warning, and those of the query tell queries apart that share all others.
// Queries of one document count, too.
func TestQueriesAreKnownByAllTheirFeatures(t *testing.T) {
	train := numbered("train", []string{"a", "b", "c", "d"}, 10, 3, 3, 1, 1)
	vali := numbered("vali", []string{"e", "f"}, 20, 3, 3)
	other := numbered("other", []string{"a", "b", "x", "y"}, 30, 3, 3, 1, 1)
	tr := mustNew(t, busy("adam"), &datasets.Splits{Train: train, Vali: vali, Test: other})
	want := []string{"train: 1 of the 3 features are constant in the training data, and left out: one"}
	if !slices.Equal(tr.Warnings(), want) {
		t.Errorf("warnings %q, want %q", tr.Warnings(), want)
	}
	m := mustRun(t, tr, Hooks{}).Model
	for d, want := range map[*datasets.Dataset]int{train: 4, vali: 0, other: 0, numbered("ids", []string{"w", "x", "y", "z"}, 10, 3, 3, 1, 1): 2} {
		if n := trainedOn(t, m, d); n != want {
			t.Errorf("%s: %d of %d queries, want %d", d.Name, n, d.Queries(), want)
		}
	}
	varied := numbered("train", train.QueryIDs, 10, 3, 3, 1, 1)
	varied.Features[1]++
	c := busy("adam")
	c.Epochs = 1
	on, err := New(c.Plain(), Custom{Initial: m}, &datasets.Splits{Train: varied, Vali: vali})
	if err != nil {
		t.Fatal(err)
	}
	if w := on.Warnings(); len(w) != 1 || !strings.Contains(w[0], "1 of the 3 features are left out, as by the initial model") {
		t.Errorf("warnings %q", w)
	}
}

// Where training queries of other ids have the same documents, those of other splits may have them by chance: then ids
// count, too.
func TestQueriesThatAreAlikeByChanceAreNotTakenForCopies(t *testing.T) {
	solvers := func(name string, ids []string, sizes ...float32) *datasets.Dataset {
		d := &datasets.Dataset{Name: name, QueryIDs: ids, FeatureIDs: []int{1, 2}, Offsets: []int{0}}
		for _, size := range sizes {
			for solver := range 3 {
				d.Features = append(d.Features, float32(solver), size)
				d.Labels = append(d.Labels, float32(solver%2))
			}
			d.Offsets = append(d.Offsets, len(d.Labels))
		}
		return d
	}
	train := solvers("train", []string{"a", "b", "c"}, 7, 8, 7) // a and c are alike
	vali := solvers("vali", []string{"d", "e"}, 7, 9)
	test := solvers("test", []string{"b", "d"}, 8, 7) // one of train, one of vali
	tr := mustNew(t, busy("adam"), &datasets.Splits{Train: train, Vali: vali, Test: test})
	if w := tr.Warnings(); len(w) != 2 || !strings.HasPrefix(w[0], "test: 1 of 2 queries have the same documents as queries of the training") ||
		!strings.HasPrefix(w[1], "test: 1 of 2 queries have the same documents as queries of the validation") {
		t.Errorf("warnings %q", w)
	}
	m := mustRun(t, tr, Hooks{}).Model
	for d, want := range map[*datasets.Dataset]int{train: 3, vali: 0, test: 1} {
		if n := trainedOn(t, m, d); n != want {
			t.Errorf("%s: %d of %d queries, want %d", d.Name, n, d.Queries(), want)
		}
	}
}
