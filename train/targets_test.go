package train

import (
	"fmt"
	"math"
	"math/rand/v2"
	"path/filepath"
	"reflect"
	"strings"
	"testing"

	"gonum.org/v1/gonum/floats"
	G "gorgonia.org/gorgonia"

	"github.com/plrank/plrank/datasets"
	"github.com/plrank/plrank/losses"
	"github.com/plrank/plrank/metrics"
	"github.com/plrank/plrank/ops"
	"github.com/plrank/plrank/plackett"
	"github.com/plrank/plrank/ranker"
)

// shops are splits of documents of two groups, where A is worse than B, so that exposure of A costs relevance. The last feature is the
// group.
func shops(queries int) *datasets.Splits {
	split := func(name string, queries int, seed uint64) *datasets.Dataset {
		rng := rand.New(rand.NewPCG(seed, 5))
		d := &datasets.Dataset{Name: name, FeatureIDs: []int{1, 2, 3}, Offsets: []int{0}, GroupNames: []string{"A", "B"}}
		for q := range queries {
			for range 12 {
				x, y, g := rng.NormFloat64(), rng.NormFloat64(), rng.IntN(2)
				d.Features = append(d.Features, float32(x), float32(y), float32(g))
				d.Labels = append(d.Labels, float32(max(0, min(4, int(1.2*x+0.6*y*y+1.5*float64(g)+0.4*rng.NormFloat64())))))
				d.Groups = append(d.Groups, g)
			}
			d.Offsets, d.QueryIDs = append(d.Offsets, len(d.Labels)), append(d.QueryIDs, fmt.Sprint(name, q))
		}
		return d
	}
	return &datasets.Splits{Train: split("train", queries, 1), Vali: split("vali", queries/2, 2), Test: split("test", queries/2, 3)}
}

// sharesOf returns the shares of exposure of all groups of d by a model at a cutoff, in the mean over queries.
func sharesOf(t *testing.T, m *ranker.Model, d *datasets.Dataset, cutoff int) []float64 {
	t.Helper()
	scores, err := datasets.Score(m, d)
	if err != nil {
		t.Fatal(err)
	}
	var e plackett.Expectation
	discounts, shares := metrics.Discounts(cutoff), make([]float64, len(d.GroupNames))
	for q := range d.Queries() {
		from, to := d.Offsets[q], d.Offsets[q+1]
		exposure := make([]float64, to-from)
		if err := e.Exposure(scores[from:to], discounts, exposure); err != nil {
			t.Fatal(err)
		}
		for i, x := range exposure {
			shares[d.Groups[from+i]] += x / floats.Sum(discounts) / float64(d.Queries())
		}
	}
	return shares
}

func shopping(scorer string) Config {
	c := Config{
		Objective: Objective{Loss: "plrank-exact", Cutoff: 5, NormalizeGains: true}, Model: Model{Scorer: scorer, Hidden: []int{16}, Members: 2},
		Optimization: Optimization{Epochs: 25, LearningRate: .01, Optimizer: "adam", Batch: 4}, Evaluation: Evaluation{Metric: "expected-ndcg@5"},
	}
	if scorer == forestScorer {
		c.LearningRate, c.Epochs, c.Trees = .1, 40, 4
	}
	return c.Plain()
}

// The best epoch meets a binding target on the training split, whatever the model and the scale of the loss, as the model's scores say.
func TestTargetsAreMet(t *testing.T) {
	t.Parallel()
	s := shops(60)
	for _, scorer := range []string{mlpScorer, forestScorer} {
		for _, loss := range []string{"plrank-exact", "softmax", "100*plrank-exact"} {
			t.Run(scorer+" "+loss, func(t *testing.T) {
				t.Parallel()
				c := shopping(scorer)
				c.Loss, c.NormalizeGains = loss, loss != "100*plrank-exact"
				free := mustRun(t, mustNew(t, c, s), Hooks{})
				if share := sharesOf(t, free.Model, s.Train, 5)[0]; share > .4 {
					t.Fatalf("without a target, A has %.3f: the target does not bind", share)
				}
				c.AtLeast = []string{"group A: .45 of exposure"}
				tr := mustNew(t, c, s)
				r := mustRun(t, tr, Hooks{})
				best, share := r.History[r.BestEpoch-1], sharesOf(t, r.Model, s.Train, 5)[0]
				if share < .45-metWithin || share > .47 || best.Lack() != 0 {
					t.Errorf("A has %.4f of the exposure after epoch %d, the history says %+v", share, r.BestEpoch, best.Targets)
				}
				report, err := tr.Report(r.Model)
				if err != nil {
					t.Fatal(err)
				}
				split := report.Splits[0]
				if got := split.Value(len(split.Rankers)-1, "exposure-share(A)"); math.Abs(got-share) > 1e-6 ||
					math.Abs(best.Targets[0].Share-share) > 1e-6 {
					t.Errorf("the share is %v, the report says %v, the history %v", share, got, best.Targets[0].Share)
				}
			})
		}
	}
}

// Several targets are met at once, and those that do not bind have no multiplier.
func TestSeveralTargets(t *testing.T) {
	t.Parallel()
	s := shops(60)
	for i := range s.Train.Groups {
		if i%4 == 0 {
			s.Train.Groups[i], s.Train.Features[3*i+2] = 2, -1
		}
	}
	s.Train.GroupNames = []string{"A", "B", "C: d"}
	c := shopping(mlpScorer)
	c.Activation, c.Epochs = ops.ReLU, 40
	c.AtLeast = []string{"A:0.4", "C: d: .3", "B: 0.05 of exposure"}
	r := mustRun(t, mustNew(t, c, s), Hooks{})
	best, shares := r.History[r.BestEpoch-1], sharesOf(t, r.Model, s.Train, 5)
	if shares[0] < .4-metWithin || shares[2] < .3-metWithin || best.Targets[2].Multiplier != 0 || best.Targets[0].Multiplier == 0 {
		t.Errorf("shares %.4f, history %+v", shares, best.Targets)
	}
}

// No weight set by hand gives more relevance for at least the same share.
func TestTargetsCostNoMoreThanAWeight(t *testing.T) {
	t.Parallel()
	s, c := shops(60), shopping(mlpScorer)
	c.EvaluateTrain, c.Members, c.Epochs = true, 1, 30
	relevance := func(r *Result) float64 { return float64(r.History[r.BestEpoch-1].Train["expected-ndcg@5"]) }
	c.AtLeast = []string{"A: .45"}
	with := mustRun(t, mustNew(t, c, s), Hooks{})
	share, met := sharesOf(t, with.Model, s.Train, 5)[0], 0
	c.AtLeast = nil
	for _, weight := range []float64{.3, .35, .4, .45, .5, .6, .8, 1.2} {
		target := losses.Term{Objective: losses.Targets([]losses.Target{{Group: 0, Multiplier: weight}}), Weight: 1}
		tr, err := New(c, Custom{Loss: func(b losses.Batch) (*G.Node, error) {
			relevance, err := losses.Expected(losses.DCG, losses.Exact).Build(b)
			if err != nil {
				return nil, err
			}
			exposure, err := target.Build(b)
			if err != nil {
				return nil, err
			}
			return G.Add(relevance, exposure)
		}}, s)
		if err != nil {
			t.Fatal(err)
		}
		r := mustRun(t, tr, Hooks{})
		if by := sharesOf(t, r.Model, s.Train, 5)[0]; by >= share-metWithin {
			met++
			if relevance(r) > relevance(with)+.002 {
				t.Errorf("weight %g: share %.4f and NDCG %.4f; by the target, %.4f and %.4f", weight, by, relevance(r), share, relevance(with))
			}
		}
	}
	if met < 2 {
		t.Errorf("%d weights reach the share %.4f", met, share)
	}
}

func TestTargetsAreResumedWithTheSameBits(t *testing.T) {
	t.Parallel()
	for _, scorer := range []string{mlpScorer, forestScorer} {
		c, path := shopping(scorer), filepath.Join(t.TempDir(), "checkpoint")
		c.AtLeast, c.Epochs = []string{"A: 0.7 of exposure"}, 9
		whole := mustRun(t, mustNew(t, c, shops(20)), Hooks{Epoch: func(tr *Trainer, e Epoch) error {
			if e.Epoch == 5 {
				return saveCheckpoint(tr, path)
			}
			return nil
		}})
		again := mustNew(t, c, shops(20))
		if err := again.Restore(path); err != nil {
			t.Fatal(err)
		}
		after := mustRun(t, again, Hooks{})
		if !reflect.DeepEqual(timeless(after.History), timeless(whole.History)) || after.Model.Digest() != whole.Model.Digest() {
			t.Errorf("%s: history %+v, want %+v", scorer, after.History, whole.History)
		}
		if whole.History[8].Targets[0].Multiplier == 0 {
			t.Errorf("%s: no multiplier", scorer)
		}
	}
}

// Targets that cannot be met, alone or together, end a training before it begins, with what is possible.
func TestImpossibleTargets(t *testing.T) {
	t.Parallel()
	s := shops(4)
	for i := range s.Train.Groups { // one document of A a query, one of C in the first
		s.Train.Groups[i] = min(1, i%12)
	}
	s.Train.Groups[1] = 2
	s.Train.GroupNames = append(s.Train.GroupNames, "C")
	discounts := metrics.Discounts(5)
	first := discounts[0] / floats.Sum(discounts)
	both := first + discounts[1]/floats.Sum(discounts)/4 // C is second in a quarter of the queries
	for text, want := range map[string]string{
		"A: 0.4":            fmt.Sprintf("at least 0.4 of exposure for A: less than %.4g is possible on train", first),
		"A: 0.33,C: 0.07":   fmt.Sprintf("at least 0.4 of exposure for A, C: less than %.4g is possible on train", both),
		"D: 0.1":            `at least 0.1 of exposure for the group "D": train has no document of it`,
		"A":                 "want a group and a share between 0 and 1, such as A: 0.3 of exposure",
		":.3":               "want a group and a share",
		"A: NaN":            "want a group and a share",
		"A: 1.2":            "want a group and a share",
		"A: 0.1,group A:.2": `the group "A" has a target already`,
	} {
		c := shopping(mlpScorer)
		c.AtLeast = strings.Split(text, ",")
		if _, err := New(c, Custom{}, s); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%s: %v, want %q", text, err, want)
		}
	}
	c := shopping(mlpScorer)
	c.AtLeast = []string{"A: .3", "C: .05"}
	mustNew(t, c, s)
	if _, err := New(c, Custom{}, small()); err == nil || !strings.Contains(err.Error(), ErrNoGroups.Error()) {
		t.Errorf("without groups: %v", err)
	}
}
