package report

import (
	"context"
	"encoding/json"
	"fmt"
	"math"
	"path/filepath"
	"reflect"
	"slices"
	"strconv"
	"strings"
	"testing"

	"github.com/plrank/plrank/cmd/internal/cli"
	"github.com/plrank/plrank/datasets"
	"github.com/plrank/plrank/internal/npzfile"
	"github.com/plrank/plrank/internal/testkit"
	"github.com/plrank/plrank/ranker"
	"github.com/plrank/plrank/recipe"
	"github.com/plrank/plrank/train"
	"github.com/plrank/plrank/viz"
)

// linear returns a view of the model 2 x1 − x5 on two queries.
func linear(t *testing.T) *view {
	t.Helper()
	return linearOn(t, &datasets.Dataset{
		Name: "d", FeatureIDs: []int{1, 5, 9}, QueryIDs: []string{"a", "b"}, Offsets: []int{0, 3, 5},
		Features: []float32{0, 7, 0, 1, 7, 0, 3, 7, 0, 0, 8, 0, 1, 8, 0}, Labels: []float32{0, 1, 0, 0, 2},
	})
}

func linearOn(t *testing.T, d *datasets.Dataset) *view {
	t.Helper()
	path := filepath.Join(t.TempDir(), "m.npz")
	testkit.LinearModel(t, path, 2, -1, 0)
	m, err := ranker.Open(path)
	if err != nil {
		t.Fatal(err)
	}
	config := recipe.Single("mlp", nil).Models[0]
	v, err := newView(context.Background(), &Run{Config: config, Model: m, Splits: []train.Split{{Name: "test", Data: d}}})
	if err != nil {
		t.Fatal(err)
	}
	return v
}

// filled returns the rows of a part.
func filled(fill func(context.Context, *rows) error) (r rows, err error) {
	err = fill(context.Background(), &r)
	return r, err
}

// Query a has the relevant document second, and query b first.
func TestWorstAndBestQueriesAreShownByTheirValues(t *testing.T) {
	v := linear(t)
	shown, err := filled(v.queries)
	if err != nil || len(shown) != 3 {
		t.Fatal(len(shown), err)
	}
	for i, want := range []string{"Query a: ndcg@10 0.6309", "Query b: ndcg@10 1.0000"} {
		first := shown[i+1].Details.Rows[0].Details
		if first.Summary != want {
			t.Errorf("%s: %s, want %s", shown[i+1].Details.Summary, first.Summary, want)
		}
	}
	rows := shown[1].Details.Rows[0].Details.Rows[0].Table.Rows
	for i, want := range [][]any{{1, "0", -1.0, "3"}, {2, "1", -5.0, "2"}, {3, "0", -7.0, "1"}} { // rank, label, score, number
		if !slices.Equal(rows[i], want) {
			t.Errorf("document %d: %v, want %v", i+1, rows[i], want)
		}
	}
}

func TestDocumentsOfTheBestLabelAreShownBelowTheFirst(t *testing.T) {
	order, labels := make([]int, 30), make([]float32, 30)
	for i := range order {
		order[i] = 29 - i // the last row is first
	}
	for _, row := range []int{0, 2, 4, 6, 8} {
		labels[row] = 2
	}
	labels[10] = 1
	if ranks := shownRanks(order, labels); !slices.Equal(ranks, []int{0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 21, 23, 25}) {
		t.Error(ranks)
	}
}

func TestQueriesOfASampleAreRandom(t *testing.T) {
	d := &datasets.Dataset{FeatureIDs: []int{1}, Offsets: []int{0}}
	for q := range 100 {
		d.Features, d.Labels = append(d.Features, float32(q), 0), append(d.Labels, 0, 1)
		d.Offsets, d.QueryIDs = append(d.Offsets, 2*q+2), append(d.QueryIDs, string(rune('a'+q%26)))
	}
	s, apart := sampleOf(d, 10), map[float32]bool{}
	for q := range s.Queries() - 1 {
		apart[s.Row(2*q + 2)[0]-s.Row(2 * q)[0]] = true
	}
	if s.Queries() != 5 || apart[0] || len(apart) < 2 {
		t.Errorf("%d queries, at distances of %v", s.Queries(), apart)
	}
	if sampleOf(d, 200) != d || sampleNote(d, d) != "" || !strings.Contains(sampleNote(s, d), "5 of the 100 queries") {
		t.Error("the whole of the data is no sample")
	}
}

// Of the 72,000 documents, 1,000,000 over 3 features and 5 permutations are permuted.
func TestLargeDataAreSampled(t *testing.T) {
	if testing.Short() {
		t.Skip("long under the race detector")
	}
	d := &datasets.Dataset{Name: "d", FeatureIDs: []int{1, 5, 9}, Offsets: []int{0}}
	for q := range 36_000 {
		for i := range 2 {
			d.Features, d.Labels = append(d.Features, float32(i), float32(q%1000), float32(q%7*i)), append(d.Labels, float32(i))
		}
		d.QueryIDs, d.Offsets = append(d.QueryIDs, strconv.Itoa(q)), append(d.Offsets, 2*q+2)
	}
	v := linearOn(t, d)
	v.Config.Metric = "ndcg@10" // sooner than the expected one
	shown, err := filled(v.importance)
	if err != nil || !strings.HasSuffix(shown[0].Text, " Computed from a sample of 33333 of the 36000 queries.") {
		t.Error(shown, err)
	}
}

// To shuffle each of 4,000 features 5 times in a query of 20 documents scores 1.6 billion numbers, which is too long for a page.
func TestTooManyFeaturesHaveNoImportanceOnAPage(t *testing.T) {
	const width, documents = 4000, 20
	ids := make([]int, width)
	for i := range ids {
		ids[i] = i
	}
	columns, err := json.Marshal(ids)
	if err != nil {
		t.Fatal(err)
	}
	path := filepath.Join(t.TempDir(), "m.npz")
	err = npzfile.Write(path, json.RawMessage(fmt.Sprintf(`{"format":"plrank model","version":2,"kind":"mlp","settings":{"features":%d,
		"activation":"relu"},"dtype":"float32","transform":{"Spec":"none","Inputs":%[1]d,"Columns":%s,"Parts":[{"Name":"none"}]},
		"featureIDs":%[2]s,"gain":"exp2"}`, width, columns)), []npzfile.Array{{Name: "w0", Shape: []int{width},
		Data: slices.Repeat([]float64{1}, width)}, {Name: "b0", Shape: []int{1}, Data: []float64{0}}})
	if err != nil {
		t.Fatal(err)
	}
	m, err := ranker.Open(path)
	if err != nil {
		t.Fatal(err)
	}
	v := &view{Run: &Run{Model: m, Config: recipe.Single("mlp", nil).Models[0]}, data: &datasets.Dataset{Name: "d", FeatureIDs: ids,
		Offsets: []int{0, documents}, QueryIDs: []string{"a"}, Features: make([]float32, documents*width), Labels: make([]float32, documents)}}
	shown, err := filled(v.importance)
	if err != nil || !strings.HasPrefix(shown[0].Text, "No importance: to shuffle each of 4000 features") {
		t.Error(shown, err)
	}
}

// One label says what both curves are.
func TestCurveOfTwoMeasuresNamesBoth(t *testing.T) {
	vali := train.Values{"ndcg@5": .5, "expected-ndcg@5": .4}
	for metric, want := range map[string]string{"ndcg@5": "ndcg@5 and its expectation", "disparity@5": "disparity@5"} {
		r := &Run{History: []train.Epoch{{Vali: vali}}}
		r.Config.Metric = metric
		if got := r.Curve().Y; got != want {
			t.Errorf("%s: label %q, want %q", metric, got, want)
		}
	}
}

// A best epoch that is not in the history, in a damaged result.json, is not shown.
func TestBestEpochIsOfTheHistory(t *testing.T) {
	for best, series := range map[int]int{-1: 1, 0: 1, 1: 2, 2: 1} {
		v := linear(t)
		v.History, v.Summary = []train.Epoch{{Vali: train.Values{v.Config.Metric: .5}}}, &cli.RunSummary{BestEpoch: best}
		if _, err := filled(v.facts); err != nil || len(v.Curve().Series) != series {
			t.Errorf("best epoch %d: %+v, %v", best, v.Curve().Series, err)
		}
	}
}

// Models of a mixture have a curve each, with epochs of their own from 1, the share in the name, and the best epoch by the metric that
// picked it: the second model is validated by its loss.
func TestModelsHaveACurveEach(t *testing.T) {
	epoch := func(model int, ndcg, expected, loss float64) train.Epoch {
		return train.Epoch{Model: model, Loss: loss, Vali: train.Values{"ndcg@5": train.Value(ndcg), "expected-ndcg@5": train.Value(expected), "loss": train.Value(loss)}}
	}
	r := &Run{Summary: &cli.RunSummary{Shares: []float64{.625, .375}}, Models: make([]train.Config, 2), History: []train.Epoch{
		epoch(1, .5, .4, 9), epoch(1, .7, .6, 8), epoch(1, .6, .5, 7), epoch(2, .3, .2, 5), epoch(2, .2, .1, 4)}}
	r.Config.Metric, r.Models[0].Metric, r.Models[1].Metric = "expected-ndcg@5", "ndcg@5", "loss"
	p := r.Curve()
	want := []viz.Series{{Name: "model 1, share 0.62", Y: []float64{.5, .7, .6}}, {Name: "model 2, share 0.38", Y: []float64{.3, .2}},
		{Name: "best epochs", Style: viz.Points, X: []float64{2, 2}, Y: []float64{.7, .2}}}
	if !reflect.DeepEqual(p.Series, want) || p.Y != "ndcg@5" {
		t.Errorf("%s: %+v, want %+v", p.Y, p.Series, want)
	}
	v := &view{Run: r}
	shown, err := filled(v.curves)
	if err != nil || len(shown) != 1 || len(shown[0].Figures) != 3 || shown[0].Figures[2].Caption != "Training loss, model 2, share 0.38" {
		t.Errorf("%+v, %v", shown, err)
	}
	v.number = 1
	shown, err = filled(together{v}.curves)
	if err != nil || len(shown[0].Figures[0].plot.Series) != 3 || shown[0].Figures[0].plot.Series[1].Name != "A, model 2, share 0.38" {
		t.Errorf("%+v, %v", shown, err)
	}
	r.History = r.History[:2] // interrupted
	if p := r.Curve(); len(p.Series) != 2 || len(p.Series[0].Y) != 2 {
		t.Errorf("%+v", p.Series)
	}
}

// Features matter by the ranking's metric, whatever the scale of scores.
func TestImportanceIsOfRankings(t *testing.T) {
	for metric, want := range map[string]string{"expected-ndcg@10": "ndcg@10", "map": "map", "loss": "loss", "ndcg@5-2*disparity": "ndcg@5-2*disparity"} {
		if got := ImportanceMetric(metric); got != want {
			t.Errorf("%s: %s, want %s", metric, got, want)
		}
	}
}

// A forest on one feature gives all of the difference to it, and nothing to two features together.
func TestSharesOfOneFeatureAreTheDifference(t *testing.T) {
	d := &datasets.Dataset{Name: "d", FeatureIDs: []int{1, 2}, QueryIDs: []string{"a", "b"}, Offsets: []int{0, 3, 6},
		Features: []float32{0, 7, 1, 7, 2, 7, 2, 7, 3, 7, 0, 7}, Labels: []float32{0, 1, 2, 1, 2, 0}}
	c := recipe.Single(ranker.ForestKind, nil).Models[0]
	c.MinWeight, c.Trees, c.Epochs = 0, 3, 1
	result, err := train.Run(context.Background(), c, &datasets.Splits{Train: d, Vali: d}, train.Hooks{})
	if err != nil {
		t.Fatal(err)
	}
	v, err := newView(context.Background(), &Run{Config: c, Model: result.Model, Splits: []train.Split{{Name: "test", Data: d}}})
	if err != nil {
		t.Fatal(err)
	}
	scores, err := datasets.Score(result.Model, d)
	if err != nil {
		t.Fatal(err)
	}
	want := 0.
	for q := range 2 {
		list := scores[3*q : 3*q+3]
		want += (slices.Max(list) - (list[0]+list[1]+list[2])/3) / 2
	}
	r, err := filled(v.shares)
	if err != nil || len(r) != 2 || len(r[1].Table.Rows) != 1 {
		t.Fatalf("%v, error %v", r, err)
	}
	if row := r[1].Table.Rows[0]; row[0] != "1" || math.Abs(row[1].(float64)-want) > 1e-9 || want < .01 {
		t.Errorf("%v, want %v", row, want)
	}
	if r, err = filled(linear(t).shares); err != nil || r != nil {
		t.Errorf("%v of a network, error %v", r, err)
	}
}
