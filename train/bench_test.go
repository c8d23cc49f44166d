package train

import (
	"cmp"
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/plrank/plrank/datasets"
	"github.com/plrank/plrank/ops"
	"github.com/plrank/plrank/train/internal/batches"
)

// paper is recipe.Paper, which imports this package.
func paper() Config {
	return Config{
		Objective:  Objective{Loss: "plrank2", Samples: Dynamic},
		Model:      Model{Hidden: []int{32, 32}, Activation: ops.Sigmoid},
		Evaluation: Evaluation{Metric: "expected-dcg@5", DropLabelFreeTest: true},
	}.Plain()
}

// paperRB is the paper's recipe with PL-Rank-RB.
func paperRB(batch int, samples SampleCount) Config {
	c := paper()
	c.Loss, c.Batch, c.Samples = "plrank-rb", batch, samples
	return c
}

// BenchmarkStep is a step of the paper's network on queries of about 125
// documents in MSLR's shape: packing them, network and gradient, forward and
// backward, and the optimizer. The learning rate is 0, so that all steps are alike.
func BenchmarkStep(b *testing.B) {
	s := datasets.Synthetic(datasets.SyntheticOptions{Train: 1000, Vali: 2, Test: 1})
	for _, queries := range []int{1, 32} {
		for _, samples := range []SampleCount{1, 10, 100, 1000} {
			b.Run(fmt.Sprintf("batch=%d/N=%d", queries, samples), func(b *testing.B) {
				t, err := New(paperRB(queries, samples), Custom{}, s)
				if err != nil {
					b.Fatal(err)
				}
				d := t.data.splits.Train
				off := func(q int) int { n := d.Offsets[q+1] - d.Offsets[q] - 125; return max(n, -n) }
				order := slices.SortedStableFunc(slices.Values(t.data.Queries), func(p, q int) int { return cmp.Compare(off(p), off(q)) })
				var packed batches.Step
				b.ReportAllocs()
				for b.Loop() {
					t.loop.batches.PackStep(&packed, order[:queries], 0)
					if _, err := oneStep(t, &packed); err != nil {
						b.Fatal(err)
					}
				}
			})
		}
	}
}

// BenchmarkEpoch is an epoch over 378 queries in MSLR's shape. Its s/fold are the
// seconds of the training steps, scaled by documents to the 2.26 million of
// 18,919 queries that the training split of a fold of MSLR-WEB30K has. The default recipe is
// the one for that many documents.
func BenchmarkEpoch(b *testing.B) {
	const foldQueries, foldDocuments = 18919, 2.26e6
	s := datasets.Synthetic(datasets.SyntheticOptions{Train: foldQueries / 50, Vali: 2, Test: 1})
	large := wide()
	large.LearningRate, large.Average, large.Dropout = 0.002, 0.998, 0.1
	large.Loss, large.GroupLasso = "plrank-exact+0.02*query-rmse(8)", 0.03
	for _, recipe := range []struct {
		name   string
		config Config
	}{{"paper", paperRB(1, 0)}, {"paper", paperRB(32, 0)}, {"default", large}} {
		c := recipe.config
		for _, n := range []SampleCount{1, 10, 100, 1000, 0} {
			how := fmt.Sprintf("N=%d", n)
			c.Loss, c.Samples = strings.Replace(recipe.config.Loss, "plrank-exact", "plrank-rb", 1), n
			if n == 0 {
				how, c.Loss = "exact", strings.Replace(recipe.config.Loss, "plrank-rb", "plrank-exact", 1)
			}
			b.Run(fmt.Sprintf("%s/batch=%d/%s", recipe.name, c.Batch, how), func(b *testing.B) {
				t, err := New(c.Plain(), Custom{}, s)
				if err != nil {
					b.Fatal(err)
				}
				if _, err := t.loop.epoch(ctx, len(t.history.epochs)); err != nil { // compiles the graphs
					b.Fatal(err)
				}
				seconds := 0.0
				b.ReportAllocs()
				for b.Loop() {
					e, err := t.loop.epoch(ctx, len(t.history.epochs))
					if err != nil {
						b.Fatal(err)
					}
					seconds += e.TrainSeconds
				}
				fraction := float64(s.Train.Rows()) / foldDocuments
				b.ReportMetric(seconds/float64(b.N)/fraction, "s/fold")
				b.ReportMetric(100*fraction, "%fold")
			})
		}
	}
}

// BenchmarkValidation is the validation of 189 queries in MSLR's shape by both default recipes,
// by a policy that has been trained until it is sharp. Its x-scoring is the ratio of its time
// to the time of scoring alone.
func BenchmarkValidation(b *testing.B) {
	s, err := datasets.SyntheticShape("mslr", .01, 1)
	if err != nil {
		b.Fatal(err)
	}
	for _, recipe := range []struct {
		name   string
		config Config
	}{{"small", Default()}, {"large", wide()}} {
		b.Run(recipe.name, func(b *testing.B) {
			t := sharp(b, recipe.config, &datasets.Splits{Train: s.Train, Vali: s.Train})
			var e Epoch
			var scoring, validation time.Duration
			for b.Loop() {
				start := time.Now()
				if _, err := networkOf(t).Score(t.data.splits.Vali, t.data.splits.Vali.Blocks(chunkRows)); err != nil {
					b.Fatal(err)
				}
				between := time.Now()
				if err := t.validation.Evaluate(&e); err != nil {
					b.Fatal(err)
				}
				scoring += between.Sub(start)
				validation += time.Since(between)
			}
			b.ReportMetric(float64(validation)/float64(scoring), "x-scoring")
		})
	}
}

// wide is the network of the recipe for 100,000 documents.
func wide() Config {
	c := Default()
	c.Loss, c.Transform, c.Bins, c.Metric = "plrank-exact+0.02*query-rmse(2)", "quantile", 16, "ndcg@10"
	c.Hidden, c.Activation, c.Members, c.Dropout = []int{256, 32}, ops.SwiGLU, 1, 0
	c.LearningRate, c.Schedule, c.Warmup, c.Average = 0.004, "cosine", 0.1, 0.99
	c.GroupLasso, c.Batch, c.Epochs = 0.14, 32, 8
	return c
}

// sharp is a run by a default recipe, after epochs that have made the policy sharp, while the rate was high.
func sharp(b *testing.B, c Config, s *datasets.Splits) *Trainer {
	c.Epochs = 1000
	t, err := New(c.Plain(), Custom{}, s)
	if err != nil {
		b.Fatal(err)
	}
	for range 20 {
		e, err := t.loop.epoch(ctx, len(t.history.epochs))
		if err != nil {
			b.Fatal(err)
		}
		t.history.epochs = append(t.history.epochs, e)
	}
	return t
}
