package train

import (
	"context"
	"errors"
	"fmt"
	"math"
	"path/filepath"
	"reflect"
	"runtime"
	"slices"
	"strconv"
	"strings"
	"testing"

	"github.com/plrank/plrank/datasets"
	"github.com/plrank/plrank/forest"
	"github.com/plrank/plrank/internal/mpi"
	"github.com/plrank/plrank/internal/testkit"
	"github.com/plrank/plrank/losses"
	"github.com/plrank/plrank/metrics"
	"github.com/plrank/plrank/ranker"
)

// growing is a forest in which everything that is random or remembered is.
func growing() Config {
	return Config{
		Objective:    Objective{Loss: "plrank-rb", Cutoff: 5, Samples: Dynamic, NormalizeGains: true},
		Inputs:       Inputs{Transform: "raw", Categorical: Features{"13"}},
		Model:        Model{Scorer: forestScorer, Trees: 3, Depth: 3, Sampling: 0.7},
		Optimization: Optimization{LearningRate: 0.3, Decay: 0.9, L2: 1, Clip: 1, Epochs: 6},
		Evaluation:   Evaluation{Metric: "ndcg@5", EvaluateTrain: true},
		Seed:         3,
	}
}

// tabular is small with gaps and a categorical feature, 13, of both kinds of weights.
func tabular() *datasets.Splits {
	s := small()
	for _, d := range []*datasets.Dataset{s.Train, s.Vali, s.Test} {
		for row := range d.Rows() {
			d.Row(row)[5] = float32(row % 7)
			if row%5 == 0 {
				d.Row(row)[4] = float32(math.NaN())
			}
			d.Weights = append(d.Weights, float32(1+row%3))
		}
		for q := range d.Queries() {
			d.QueryWeights = append(d.QueryWeights, float32(1+q%2))
		}
	}
	return s
}

func mustForest(t *testing.T, f *ranker.Model) (leaves []float64) {
	t.Helper()
	grown, err := f.File().Forest()
	if err != nil {
		t.Fatal(err)
	}
	for _, tree := range grown.Trees {
		leaves = append(leaves, tree.Leaves...)
	}
	return leaves
}

func TestForestRunGoesOnWithTheSameBits(t *testing.T) {
	for _, bins := range []int{0, 4} { // of which the category has more
		c := growing()
		c.Bins = bins
		goesOn(t, c)
	}
}

func goesOn(t *testing.T, c Config) {
	t.Helper()
	s, path := tabular(), filepath.Join(t.TempDir(), "checkpoint")
	whole := mustRun(t, mustNew(t, c, s), Hooks{Epoch: func(tr *Trainer, e Epoch) error {
		if e.Epoch == 3 {
			return saveCheckpoint(tr, path)
		}
		return nil
	}})
	defer runtime.GOMAXPROCS(runtime.GOMAXPROCS(1))
	again := mustNew(t, c, tabular())
	if err := again.Restore(path); err != nil {
		t.Fatal(err)
	}
	after := mustRun(t, again, Hooks{})
	if !reflect.DeepEqual(timeless(after.History), timeless(whole.History)) {
		t.Errorf("history %+v, want %+v", after.History, whole.History)
	}
	if a, b := mustForest(t, whole.Model), mustForest(t, after.Model); !slices.Equal(a, b) || len(a) == 0 {
		t.Errorf("leaves %v, want %v", b, a)
	}
	if len(whole.History) != 6 || whole.History[5].Steps != 18 {
		t.Errorf("%d epochs, %d trees", len(whole.History), whole.History[5].Steps)
	}
}

// The best model is the first trees, and its file has the values that validation had.
func TestForestIsTheBestOfItsPrefixes(t *testing.T) {
	c, s := growing(), tabular()
	c.Loss, c.LearningRate, c.Epochs, c.Patience, c.Clip = "plrank-exact+0.3*softmax", 1, 30, 4, 0
	tr := mustNew(t, c, s)
	r := mustRun(t, tr, Hooks{})
	grown, err := r.Model.File().Forest()
	if err != nil {
		t.Fatal(err)
	}
	if len(grown.Trees) != 3*r.BestEpoch || r.BestEpoch == 0 || len(r.History) != r.BestEpoch+4 {
		t.Fatalf("%d trees, best epoch %d of %d", len(grown.Trees), r.BestEpoch, len(r.History))
	}
	report, err := tr.Report(r.Model)
	if err != nil {
		t.Fatal(err)
	}
	for _, split := range report.Splits[:2] {
		last := len(split.Rows) - 1
		want := r.History[r.BestEpoch-1].Vali
		if split.Name == "train" {
			want = r.History[r.BestEpoch-1].Train
		}
		for _, m := range []string{"ndcg@5", "expected-ndcg@5"} {
			if got := split.Value(last, m); math.Abs(got-float64(want[m])) > 1e-12 {
				t.Errorf("%s %s: %v, want %v", split.Name, m, got, want[m])
			}
		}
		if v := split.Value(last, "ndcg@5"); v < split.Value(0, "ndcg@5")+0.05 {
			t.Errorf("%s: ndcg@5 %v, at random %v", split.Name, v, split.Value(0, "ndcg@5"))
		}
	}
}

// A stump on squared errors has the leaves Σ gap / (n + L2), as the curvature of all documents is the same; on base scores,
// the gaps are to these.
func TestForestLeafByHand(t *testing.T) {
	for _, base := range [][]float32{nil, {0, 1, 0, 1}} {
		d := &datasets.Dataset{
			Name: "hand", FeatureIDs: []int{1}, Features: []float32{0, 0, 1, float32(math.NaN())}, Labels: []float32{1, 2, 0, 4}, Offsets: []int{0, 2, 4},
			QueryIDs: []string{"a", "b"}, BaseScores: base,
		}
		c := Config{
			Objective: Objective{Loss: "mse"}, Inputs: Inputs{Transform: "raw"}, Model: Model{Scorer: forestScorer, Depth: 1},
			Optimization: Optimization{LearningRate: 0.5, L2: 3, Epochs: 1},
		}
		var gradient []float32
		tr := mustNew(t, c, &datasets.Splits{Train: d, Vali: d})
		r := mustRun(t, tr, Hooks{Step: func(s Step) { gradient = slices.Clone(s.Gradient) }})
		gaps := []float64{1, 2, 0, 4}
		for i, b := range base {
			gaps[i] -= float64(b)
		}
		for i, gap := range gaps { // of the mean of the means of two queries of two documents
			if got := float64(gradient[i]); got != -2*gap/4 {
				t.Errorf("gradient %v, want %v", got, -2*gap/4)
			}
		}
		got, err := r.Model.ScoreOn(ctx, nil, d.Features, base)
		if err != nil {
			t.Fatal(err)
		}
		low := 0.5 * (gaps[0] + gaps[1] + gaps[3]) / 6 // of the best cut, which has the missing value on its left
		for i, want := range []float64{low, low, 0.5 * gaps[2] / 4, low} {
			if base != nil {
				want += float64(base[i])
			}
			if math.Abs(got[i]-want) > 1e-6 {
				t.Errorf("document %d: %v, want %v", i, got[i], want)
			}
		}
	}
}

// More trees are grown onto an initial forest, which is the best until an epoch is better.
func TestForestGrowsOnAnother(t *testing.T) {
	c, s := growing(), tabular()
	first := mustRun(t, mustNew(t, c, s), Hooks{})
	grown, err := first.Model.File().Forest()
	if err != nil {
		t.Fatal(err)
	}
	tr, err := New(c.Plain(), Custom{Initial: first.Model}, s)
	if err != nil {
		t.Fatal(err)
	}
	r := mustRun(t, tr, Hooks{})
	if a, b := r.Initial["ndcg@5"], first.History[first.BestEpoch-1].Vali["ndcg@5"]; math.Abs(float64(a-b)) > 1e-12 {
		t.Errorf("the initial model has %v, had %v", a, b)
	}
	last, err := tr.Current()
	if err != nil {
		t.Fatal(err)
	}
	on, err := last.File().Forest()
	if err != nil || len(on.Trees) != len(grown.Trees)+18 || !reflect.DeepEqual(on.Trees[:len(grown.Trees)], grown.Trees) {
		t.Errorf("%d trees on %d, error %v", len(on.Trees), len(grown.Trees), err)
	}
	if h := r.History[5]; h.Loss >= first.History[0].Loss {
		t.Errorf("the loss is %v, was %v at first", h.Loss, first.History[0].Loss)
	}
	network := mustRun(t, mustNew(t, Config{Inputs: Inputs{Transform: "none", Categorical: Features{"13"}}, Optimization: Optimization{Epochs: 1}}, s), Hooks{})
	c.Transform = "none"
	if _, err := New(c.Plain(), Custom{Initial: network.Model}, s); err == nil || !strings.Contains(err.Error(), "of another architecture, mlp, than the one to train, forest") {
		t.Errorf("onto a network: %v", err)
	}
}

// Any loss grows trees: one whose curvature is not known, as a user's own, says so.
func TestForestOnAnyLoss(t *testing.T) {
	for loss, own := range map[string]losses.Func{"pirank": nil, "lambdarank": nil, "stochasticrank": nil, "exact-map": nil, "exact-alpha-ndcg": nil, "own": losses.ApproxNDCG(1).Build} {
		c := growing()
		c.Loss, c.Clip, c.LearningRate, c.Sampling = loss, 0, 0.1, 0
		s := tabular()
		for _, d := range []*datasets.Dataset{s.Train, s.Vali, s.Test} {
			for _, label := range d.Labels {
				d.Intents = append(d.Intents, int(label))
			}
		}
		tr, err := New(c.Plain(), Custom{Loss: own}, s)
		if err != nil {
			t.Fatal(err)
		}
		unknown := loss == "pirank" || loss == "own"
		if said := strings.Contains(fmt.Sprint(tr.Warnings()), "the curvature of "+loss+" is not known"); said != unknown {
			t.Errorf("%s: %q", loss, tr.Warnings())
		}
		r := mustRun(t, tr, Hooks{})
		if first, last := r.History[0], r.History[5]; last.Loss >= first.Loss || last.Train["ndcg@5"] < 0.6 {
			t.Errorf("%s: loss %v, at first %v; %v", loss, last.Loss, first.Loss, last.Train)
		}
	}
}

// A custom loss with its curvature grows the trees of the same loss by name, bit for bit; without it, others.
func TestCustomLossMayGiveItsCurvature(t *testing.T) {
	c, s := growing(), tabular()
	c.Loss, c.Clip, c.Sampling = "plrank-exact", 0, 0
	exact := losses.Expected(losses.DCG, losses.Exact)
	var grown []*forest.Forest
	for _, parts := range []Custom{
		{}, {Loss: exact.Build}, {Loss: exact.Build, Curvature: func(in metrics.Queries, out []float64) error {
			_, err := exact.Curvature(in, out)
			return err
		}},
	} {
		tr, err := New(c.Plain(), parts, s)
		if err != nil {
			t.Fatal(err)
		}
		if said := strings.Contains(fmt.Sprint(tr.Warnings()), "is not known"); said != (parts.Loss != nil && parts.Curvature == nil) {
			t.Errorf("%q", tr.Warnings())
		}
		f, err := mustRun(t, tr, Hooks{}).Model.File().Forest()
		if err != nil {
			t.Fatal(err)
		}
		grown = append(grown, f)
	}
	if reflect.DeepEqual(grown[0], grown[1]) || !reflect.DeepEqual(grown[0], grown[2]) {
		t.Errorf("with a curvature the trees are the same: %t; without: %t", reflect.DeepEqual(grown[0], grown[2]), reflect.DeepEqual(grown[0], grown[1]))
	}
	failing := func(metrics.Queries, []float64) error { return errors.New("none") }
	tr, err := New(c.Plain(), Custom{Loss: exact.Build, Curvature: failing}, s)
	if err != nil {
		t.Fatal(err)
	}
	if _, err := tr.Run(t.Context(), Hooks{}); err == nil || !strings.Contains(err.Error(), "none") {
		t.Errorf("a curvature that fails: %v", err)
	}
}

// Gains from clicks, which may be negative, grow trees.
func TestForestOfGainsFromClicks(t *testing.T) {
	s, c := tabular(), growing()
	c.Loss, c.Metric, c.Epochs = "plrank-exact", "ndcg@10", 2
	for row := range s.Train.Rows() {
		s.Train.Gains = append(s.Train.Gains, float64(s.Train.Labels[row])-0.5)
	}
	if r := mustRun(t, mustNew(t, c, s), Hooks{}); r.History[1].Loss >= r.History[0].Loss {
		t.Errorf("%+v", r.History)
	}
}

func TestForestErrors(t *testing.T) {
	c, s := growing(), tabular()
	network := Config{Inputs: Inputs{Transform: "raw"}}
	if _, err := New(network.Plain(), Custom{}, s); err == nil || !strings.Contains(err.Error(), "raw leaves values missing, which is for -scorer forest") {
		t.Errorf("a network on missing values: %v", err)
	}
	negative := *s.Train
	for row := range negative.Rows() {
		negative.Gains = append(negative.Gains, 1)
		if row == negative.Offsets[7] {
			negative.Gains[row] = -1
		}
	}
	refused := c
	refused.Loss, refused.NormalizeGains = "softmax", false
	_, err := mustNew(t, refused, &datasets.Splits{Train: &negative, Vali: s.Vali}).Run(ctx, Hooks{})
	if err == nil || !strings.Contains(err.Error(), "epoch 1, step 1, query 7 of train") {
		t.Errorf("a query that the loss refuses: %v", err)
	}
	tr := mustNew(t, c, s)
	mustRun(t, tr, Hooks{})
	_, values := tr.loop.learner.State()
	texts, best := values["trees"].(*[][]byte), values["best"].(*int)
	*texts = append((*texts)[:2:2], []byte("crafted"))
	if _, err := tr.Best(); !errors.Is(err, ErrDamaged) {
		t.Errorf("a damaged tree: %v", err)
	}
	*texts, *best = (*texts)[:2], 3
	if _, err := tr.Best(); !errors.Is(err, ErrDamaged) {
		t.Errorf("too many trees are the best: %v", err)
	}
}

// Processes grow the forest of one process, with the same bits, also where one of them goes on from a checkpoint.
func TestProcessesGrowTheSameForest(t *testing.T) {
	t.Parallel()
	chunks, err := datasets.SyntheticShape("mslr", 0.003, 1)
	if err != nil {
		t.Fatal(err)
	}
	if rows := chunks.Train.Rows(); rows < 2*chunkRows {
		t.Fatalf("%d documents, want those of several chunks", rows)
	}
	for leaves, s := range map[int]*datasets.Splits{0: tabular(), 5: chunks} {
		c := growing()
		c.Leaves, c.Shards, c.Epochs = leaves, 3, 4
		if s == chunks {
			c.Categorical, c.EvaluateTrain = nil, false
		} else {
			c.Bins = 4 // fewer than the category has levels
		}
		one := mustRun(t, mustNew(t, c, s), Hooks{})
		path := filepath.Join(t.TempDir(), "c.npz")
		for ranks := 2; ranks <= 3; ranks++ {
			for rank, err := range testkit.OnRanks(ranks, func(g mpi.Group) error {
				tr, err := New(c.Plain(), Custom{Processes: g}, s)
				if err == nil && g.Rank() == 0 && ranks == 3 {
					err = tr.Restore(path)
				}
				if err != nil {
					return err
				}
				r, err := tr.Run(ctx, Hooks{Epoch: func(t *Trainer, e Epoch) error {
					if g.Rank() > 0 || e.Epoch != 2 {
						return nil
					}
					return saveCheckpoint(t, path)
				}})
				if err != nil {
					return err
				}
				if !reflect.DeepEqual(timeless(r.History), timeless(one.History)) {
					t.Errorf("rank %d of %d: another history", g.Rank(), ranks)
				}
				if !slices.Equal(mustForest(t, r.Model), mustForest(t, one.Model)) {
					t.Errorf("rank %d of %d: another forest", g.Rank(), ranks)
				}
				return nil
			}) {
				if err != nil {
					t.Errorf("rank %d of %d: %v", rank, ranks, err)
				}
			}
		}
	}
}

// A query that fails ends all processes, and so does an interruption of one of them.
func TestProcessesOfAForestEndTogether(t *testing.T) {
	t.Parallel()
	c := growing()
	c.Shards = 2
	for _, err := range testkit.OnRanks(2, func(g mpi.Group) error {
		own, cancel := context.WithCancel(ctx)
		defer cancel()
		tr, err := New(c.Plain(), Custom{Processes: g}, tabular())
		if err != nil {
			return err
		}
		r, err := tr.Run(own, Hooks{Step: func(s Step) {
			if s.Number == 4 && g.Rank() == 1 {
				cancel()
			}
		}})
		if err == nil && (!r.Interrupted || len(r.History) != 1) {
			t.Errorf("rank %d: %d epochs, want an interruption in the second", g.Rank(), len(r.History))
		}
		return err
	}) {
		if err != nil {
			t.Error(err)
		}
	}
}

// Scores follow the constraints of features, which are found by name, pattern or id.
func TestForestRisesAndFallsWithFeatures(t *testing.T) {
	s := tabular()
	c := growing()
	c.Loss, c.Clip, c.Sampling, c.FeatureSampling = "plrank-exact", 0, 0, 0.7
	ids := s.Train.FeatureIDs
	c.Rising, c.Falling = Features{strconv.Itoa(ids[0])}, Features{strconv.Itoa(ids[1])}
	m := mustRun(t, mustNew(t, c, s), Hooks{}).Model
	grown, err := m.File().Forest()
	if err != nil {
		t.Fatal(err)
	}
	raw := m.File().Transform.Outputs()
	asked := map[int]bool{}
	for _, tree := range grown.Trees {
		columns := map[int]bool{}
		for _, n := range tree.Nodes {
			asked[raw[n.Column]], columns[n.Column] = true, true
		}
		if most := int(math.Round(0.7 * float64(len(raw)))); len(columns) > most {
			t.Errorf("a tree by %d features, want %d at most", len(columns), most)
		}
	}
	if !asked[0] || !asked[1] || len(m.Gains()) != len(ids) || m.Gains()[0] <= 0 {
		t.Fatalf("no tree asks for the features: %v; gains %v", asked, m.Gains())
	}
	for row := range 20 {
		for column, sign := range []float64{1, -1} {
			x := slices.Clone(s.Train.Row(row))
			last := math.Inf(-1)
			for v := range 100 {
				x[column] = float32(v-50) / 10
				score, err := m.Score(nil, x)
				if err != nil {
					t.Fatal(err)
				}
				if sign*score[0] < last-1e-9 {
					t.Fatalf("feature %d of %v: %v after %v", ids[column], x, score, sign*last)
				}
				last = sign * score[0]
			}
		}
	}
	for want, change := range map[string]func(c *Config){
		"which is categorical":       func(c *Config) { c.Rising = Features{"13"} },
		"cannot both never fall and": func(c *Config) { c.Rising = c.Falling },
		"want at most 12":            func(c *Config) { c.Depth = 13 },
		`no feature "elsewhere"`:     func(c *Config) { c.Falling = Features{"elsewhere"} },
	} {
		wrong := c
		change(&wrong)
		if _, err := New(wrong.Plain(), Custom{}, s); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%v, want %q", err, want)
		}
	}
}

// Trees that break a constraint cannot be mended by more trees: an initial model that was trained with the opposite constraints is
// refused, and one with the same is continued.
func TestInitialForestMustRiseAndFall(t *testing.T) {
	s := tabular()
	c := growing()
	ids := s.Train.FeatureIDs
	c.Rising, c.Falling = Features{strconv.Itoa(ids[0])}, Features{strconv.Itoa(ids[1])}
	constrained := mustRun(t, mustNew(t, c, s), Hooks{}).Model
	if _, err := New(c.Plain(), Custom{Initial: constrained}, s); err != nil {
		t.Error(err)
	}
	c.Rising, c.Falling = c.Falling, c.Rising
	if _, err := New(c.Plain(), Custom{Initial: constrained}, s); err == nil || !strings.Contains(err.Error(), "breaks -rising, -falling or -interactions for the feature") {
		t.Errorf("opposite constraints: %v", err)
	}
}

// Features of a set, by name, pattern or id, are above a leaf together, and others are alone. An initial model that breaks that is
// refused.
func TestForestKeepsInteractions(t *testing.T) {
	s, c := tabular(), growing()
	free := mustRun(t, mustNew(t, c, s), Hooks{}).Model
	ids := s.Train.FeatureIDs
	c.Interactions = Features{fmt.Sprintf("%d+%d", ids[0], ids[1])}
	m := mustRun(t, mustNew(t, c, s), Hooks{}).Model
	f := m.Forests()[0]
	both := false
	for _, tree := range f.Trees { // symmetric
		columns := map[int]bool{}
		for _, n := range tree.Nodes {
			columns[f.Columns[n.Column]] = true
		}
		both = both || columns[0] && columns[1]
		if len(columns) > 1 && (len(columns) > 2 || !columns[0] || !columns[1]) {
			t.Errorf("a tree by %v", columns)
		}
	}
	if !both {
		t.Error("no tree by both features")
	}
	if _, err := New(c.Plain(), Custom{Initial: free}, s); err == nil || !strings.Contains(err.Error(), "breaks -rising, -falling or -interactions") {
		t.Errorf("a free initial model: %v", err)
	}
	c.Interactions = Features{"1+elsewhere"}
	if _, err := New(c.Plain(), Custom{}, s); err == nil || !strings.Contains(err.Error(), `no feature "elsewhere"`) {
		t.Error(err)
	}
}
