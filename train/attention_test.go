package train

import (
	"errors"
	"path/filepath"
	"runtime"
	runtimemetrics "runtime/metrics"
	"slices"
	"testing"
	"time"

	"github.com/plrank/plrank/datasets"
	"github.com/plrank/plrank/ops"
	"github.com/plrank/plrank/train/internal/batches"
)

// attentionConfig is a small model that sees all documents of a query.
func attentionConfig() Config {
	return Config{
		Objective:    Objective{Loss: "plrank-exact", Cutoff: 10, NormalizeGains: true},
		Inputs:       Inputs{Transform: "minmax+quantile"},
		Model:        Model{Scorer: "attention", Hidden: []int{32}, Activation: ops.ReLU},
		Optimization: Optimization{Optimizer: "adam", LearningRate: 0.003, Batch: 4, Epochs: 4},
		Evaluation:   Evaluation{Metric: "ndcg@10"},
		Seed:         1,
	}
}

// Where relevance depends on the other documents, a model that sees them ranks better than
// one that scores each by itself, though that has more weights.
func TestAttentionSeesTheOthers(t *testing.T) {
	t.Parallel()
	s, err := datasets.SyntheticShape("majority", .002, 1)
	if err != nil {
		t.Fatal(err)
	}
	best := map[string]float64{}
	weights := map[string]int{}
	for _, scorer := range networkScorers {
		c := attentionConfig()
		if c.Scorer = scorer; scorer == "mlp" {
			c.Hidden = []int{100, 40}
		}
		trainer := mustNew(t, c, s)
		for _, e := range mustRun(t, trainer, Hooks{}).History {
			best[scorer] = max(best[scorer], float64(e.Vali["ndcg@10"]))
		}
		weights[scorer] = networkOf(trainer).Model.Weights().Size()
	}
	t.Logf("NDCG@10 %v, weights %v", best, weights)
	if best["attention"] < best["mlp"]+.05 || weights["mlp"] < weights["attention"] {
		t.Errorf("NDCG@10 %v, with weights: %v", best, weights)
	}
}

// The same weights on any number of cores, and when training goes on from a checkpoint.
func TestAttentionIsReproducible(t *testing.T) {
	s, c := small(), busy("adam")
	c.Scorer, c.Blocks, c.Heads, c.Members, c.Epochs = "attention", 1, 2, 2, 3
	defer runtime.GOMAXPROCS(runtime.GOMAXPROCS(0))
	var want []float32
	for _, cores := range []int{1, 2, 5} {
		runtime.GOMAXPROCS(cores)
		got := trainedWeights(mustRun(t, mustNew(t, c, s), Hooks{}).Model)
		if want == nil {
			want = got
		} else if !slices.Equal(got, want) {
			t.Errorf("other weights on %d cores", cores)
		}
	}
	half := c
	half.Epochs = 1
	first, second := mustNew(t, half, s), mustNew(t, c, s)
	mustRun(t, first, Hooks{})
	path := filepath.Join(t.TempDir(), "c.npz")
	if err := errors.Join(saveCheckpoint(first, path), second.Restore(path)); err != nil {
		t.Fatal(err)
	}
	if got := trainedWeights(mustRun(t, second, Hooks{}).Model); !slices.Equal(got, want) {
		t.Error("other weights when training goes on from a checkpoint")
	}
}

// stepMemory is the most memory in use, in MB, while two steps are made on one query of so
// many documents by attention of width 64; what was in use before does not count.
func stepMemory(t testing.TB, documents int) float64 {
	d := queriesOf([]int{documents}, 46, 1)
	d.Labels[0] = 2
	c := attentionConfig()
	c.Hidden, c.Batch, c.Transform = []int{64}, 1, "standard"
	tr, err := New(c.Plain(), Custom{}, &datasets.Splits{Train: d, Vali: d})
	if err != nil {
		t.Fatal(err)
	}
	inUse := func() float64 {
		s := []runtimemetrics.Sample{{Name: "/memory/classes/heap/objects:bytes"}, {Name: "/memory/classes/heap/unused:bytes"}}
		runtimemetrics.Read(s)
		return float64(s[0].Value.Uint64()+s[1].Value.Uint64()) / 1e6
	}
	runtime.GC()
	before, most := inUse(), 0.0
	done := make(chan error)
	go func() {
		var b batches.Step
		tr.loop.batches.PackStep(&b, []int{0}, 0)
		_, err := oneStep(tr, &b)
		if err == nil {
			_, err = oneStep(tr, &b)
		}
		done <- err
	}()
	for {
		select {
		case err := <-done:
			if err != nil {
				t.Fatal(err)
			}
			return most - before
		case <-time.After(time.Millisecond):
			most = max(most, inUse())
		}
	}
}

// Memory is in proportion to the documents of a query, not to their square. The benchmark
// measures 10,000 documents.
func TestAttentionMemory(t *testing.T) {
	if mb := stepMemory(t, 2000); mb > 60 {
		t.Errorf("a step on 2000 documents takes %.0f MB", mb)
	}
}

func BenchmarkLongQuery(b *testing.B) {
	for b.Loop() {
		b.ReportMetric(stepMemory(b, 10000), "MB")
	}
}
