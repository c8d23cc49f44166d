package train

import (
	"encoding/json"
	"errors"
	"math"
	"reflect"
	"runtime"
	"strings"
	"testing"

	"github.com/plrank/plrank/datasets"
	"github.com/plrank/plrank/losses"
	"github.com/plrank/plrank/nn"
	"github.com/plrank/plrank/ops"
)

func TestConfigJSON(t *testing.T) {
	for _, c := range []Config{{}, Default(), paper(), busy("adam")} {
		text, err := json.Marshal(c)
		if err != nil {
			t.Fatal(err)
		}
		var back Config
		if err := json.Unmarshal(text, &back); err != nil || !reflect.DeepEqual(back, c) {
			t.Errorf("%s gives %+v, %v, want %+v", text, back, err, c)
		}
	}
	var c Config
	if err := json.Unmarshal([]byte(`{"samples":"all"}`), &c); err == nil {
		t.Error(`samples "all": no error`)
	}
}

// The objective in words has N only where the loss samples, or may.
func TestObjectiveInWords(t *testing.T) {
	own, err := losses.Parse("softmax")
	if err != nil {
		t.Fatal(err)
	}
	for _, c := range []struct {
		config Config
		parts  Custom
		want   string
	}{
		{Default(), Custom{}, "plrank-exact+0.01*softmax with K = 10"},
		{Config{Objective: Objective{Loss: "softmax+disparity", Cutoff: 3}}.Plain(), Custom{}, "softmax+disparity with K = 3"},
		{Config{Objective: Objective{Loss: "plrank-exact+0.5*disparity(plrank2)", Samples: 7}}.Plain(), Custom{}, "plrank-exact+0.5*disparity(plrank2) with N = 7, K = 5"},
		{Config{Objective: Objective{Cutoff: AllRanks}}.Plain(), Custom{}, "plrank-exact with K = all"},
		{paper(), Custom{}, "plrank2 with N = dynamic, K = 5"},
		{Config{Objective: Objective{Loss: "mine"}}.Plain(), Custom{Loss: own}, "mine with N = 100, K = 5"},
	} {
		trainer, err := New(c.config, c.parts, small())
		if err != nil {
			t.Fatal(err)
		}
		if got := trainer.Objective(); got != c.want {
			t.Errorf("%q, want %q", got, c.want)
		}
	}
}

// Oosterhuis (2021), section 8.2: N = 10 + 90·epoch/40, here rounded; 0.25 epochs are 10.5625.
func TestDynamicSamples(t *testing.T) {
	for epochs, want := range map[float64]int{0: 10, 0.2: 10, 0.25: 11, 0.5: 11, 1: 12, 4: 19, 20: 55, 39.75: 99, 39.8: 100, 40: 100, 400: 100} {
		if n := Dynamic.At(epochs); n != want {
			t.Errorf("%v epochs: %d samples, want %d", epochs, n, want)
		}
	}
	if n := SampleCount(7).At(30); n != 7 {
		t.Errorf("a fixed number became %d", n)
	}
	var n SampleCount
	for text, want := range map[string]SampleCount{"dynamic": Dynamic, "12": 12} {
		if err := n.UnmarshalText([]byte(text)); err != nil || n != want || n.String() != text {
			t.Errorf("%q: %v, %v", text, n, err)
		}
	}
	for _, text := range []string{"0", "-1", "", "1.5", "Dynamic"} {
		if err := n.UnmarshalText([]byte(text)); err == nil {
			t.Errorf("%q: no error", text)
		}
	}
}

// Steps have the same loss with dynamic samples as with 10 until there are 11, from the first step
// that begins after 2/9 of an epoch.
func TestDynamicSamplesGrowFromStepToStep(t *testing.T) {
	t.Parallel()
	run := func(n SampleCount) (list []float64, last int) {
		c := Config{Objective: Objective{Loss: "plrank-rb", Samples: n}, Optimization: Optimization{Epochs: 1, Batch: 1, LearningRate: 0.1}}
		history := mustRun(t, mustNew(t, c, small()), Hooks{Step: func(s Step) { list = append(list, s.Loss) }}).History
		return list, history[0].Samples
	}
	fixed, _ := run(10)
	growing, last := run(Dynamic)
	same := 0
	for same < len(fixed) && growing[same] == fixed[same] {
		same++
	}
	if want := len(fixed)*2/9 + 1; len(fixed) < 9 || same != want {
		t.Errorf("the first %d steps of %d have the loss of 10 samples, want %d", same, len(fixed), want)
	}
	if last != 12 {
		t.Errorf("the last step has %d samples, want 12", last)
	}
}

func TestConfigCheck(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		change func(*Config)
		want   string
	}{
		{func(c *Config) { c.Loss = "best" }, `no loss "best"`},
		{func(c *Config) { c.Gain = "x" }, "exp2, linear, binary"},
		{func(c *Config) { c.Metric = "expected-x@5" }, "unknown metric"},
		{func(c *Config) { c.LabelFree = "x" }, "zero, one, skip"},
		{func(c *Config) { c.Optimizer = "rmsprop" }, "sgd, momentum, adam, adamw"},
		{func(c *Config) { c.WeightDecay = -1 }, "weight decay is -1"},
		{func(c *Config) { c.Average = 1 }, "average is 1: want a number in [0, 1)"},
		{func(c *Config) { c.Activation = 40 }, "no such activation"},
		{func(c *Config) { c.Samples = -2 }, "samples is -2"},
		{func(c *Config) { c.Cutoff = -2 }, "cutoff is -2: want 1 to 1000000, or all"},
		{func(c *Config) { c.Cutoff = math.MaxInt }, "want 1 to 1000000, or all"},
		{func(c *Config) { c.Cutoff, c.Discounts = AllRanks, "precision" }, `discounts "precision": it counts all ranks alike`},
		{func(c *Config) { c.Members = -1 }, "members is -1: want 0 to 1000"},
		{func(c *Config) { c.Batch = -1 }, "batch is -1"},
		{func(c *Config) { c.Epochs = -1 }, "epochs is -1"},
		{func(c *Config) { c.Patience = -1 }, "patience is -1: want 0 to 1000000"},
		{func(c *Config) { c.Hidden = []int{3, 0} }, "width 0"},
		{func(c *Config) { c.LearningRate = -1 }, "learning rate is -1"},
		{func(c *Config) { c.LearningRate = math.NaN() }, "learning rate is NaN"},
		{func(c *Config) { c.LearningRate = math.Inf(1) }, "learning rate is +Inf"},
		{func(c *Config) { c.Dropout = 1 }, "dropout is 1: want a rate in [0, 1)"},
		{func(c *Config) { c.Momentum = 1 }, "momentum is 1"},
		{func(c *Config) { c.Decay = 1.1 }, "decay is 1.1"},
		{func(c *Config) { c.L2 = -1 }, "l2 is -1"},
		{func(c *Config) { c.Clip = math.NaN() }, "clip is NaN"},
		{func(c *Config) { c.Loss, c.Samples, c.Cutoff = "plrank2", 1_000_000, 1000 }, "samples: rankings of 1000 ranks for 1 queries a step take about 24 GB, want 3 GB at most"},
		{func(c *Config) { *c = paper(); c.Samples, c.Cutoff = 1_000_000, 500 }, "samples: rankings of 500 ranks for 1 queries a step take about 4 GB, want 3 GB at most"},
		{func(c *Config) { c.Hidden, c.Shards = []int{100_000}, 10_000 }, "a model of 9e+05 weights takes about 36.1 GB with 10000 shards"},
		{func(c *Config) { c.Hidden = []int{100000, 100000} }, "hidden layers of [100000 100000]: a model of 3e+10 weights takes about 2.4e+03 GB"},
		{func(c *Config) { c.Hidden = []int{math.MaxInt, math.MaxInt} }, "a hidden layer of width 9223372036854775807: want widths of 1 to 10000000"},
		{func(c *Config) { c.Members = 1 << 40 }, "members is 1099511627776: want 0 to 1000"},
		{func(c *Config) { c.Scorer = "atention" }, `unknown scorer "atention"`},
		{func(c *Config) { c.Scorer, c.Hidden = "attention", nil }, "no hidden layers: blocks of attention need one"},
		{func(c *Config) { c.Scorer, c.Heads = "attention", 3 }, "3 heads: want a number that divides 64"},
		{func(c *Config) { c.Scorer, c.Blocks = "attention", -1 }, "blocks is -1"},
		{func(c *Config) { c.Scorer, c.Blocks = "attention", 1<<30 }, "blocks is 1073741824: want 1 to 1000"},
	} {
		config := Default()
		c.change(&config)
		if err := config.Check(); err == nil || !strings.Contains(err.Error(), c.want) {
			t.Errorf("got %v, want %q", err, c.want)
		}
	}
}

// Every setting that is a number has a largest value, which the error names: of what sizes memory or loops, and of
// all others the largest that is finite.
func TestEveryNumberHasALargestValue(t *testing.T) {
	t.Parallel()
	var config Config
	for i, s := range config.Settings() {
		refused := func(value any) {
			c := Default()
			reflect.ValueOf(c.Settings()[i].Value).Elem().Set(reflect.ValueOf(value))
			err := c.Check()
			var flagged interface{ Flag() string }
			if !errors.As(err, &flagged) || flagged.Flag() != s.Flag {
				t.Errorf("-%s %v: %v", s.Flag, value, err)
			}
		}
		switch s.Value.(type) {
		case *int:
			refused(math.MaxInt)
			refused(math.MinInt)
		case *RankCount:
			refused(RankCount(math.MaxInt))
		case *SampleCount:
			refused(SampleCount(math.MaxInt))
		case *[]int:
			refused([]int{math.MaxInt})
		case *float64:
			refused(math.Inf(1))
			refused(math.NaN())
			refused(-1.)
		case *uint64: // a seed
		}
	}
}

// Weights, checkpoints and models take no more memory than is counted, and most of it.
func TestMemoryIsCounted(t *testing.T) {
	const features, hidden = 2000, 1000
	s := &datasets.Splits{Train: twoQueries(features), Vali: twoQueries(features)}
	live := func() float64 {
		var m runtime.MemStats
		runtime.GC()
		runtime.GC()
		runtime.ReadMemStats(&m)
		return float64(m.HeapAlloc)
	}
	for _, c := range []Config{
		{Optimization: Optimization{Optimizer: "adam"}},
		{Optimization: Optimization{Optimizer: "sgd", Average: 0.9}},
	} {
		c.Loss, c.Transform, c.Hidden, c.Epochs, c.LearningRate = "softmax", "none", []int{hidden}, 2, 1e-9
		before := live()
		tr := mustNew(t, c, s)
		most := 0.
		mustRun(t, tr, Hooks{Epoch: func(tr *Trainer, _ Epoch) error {
			checkpoint, err := tr.Checkpoint()
			if err != nil {
				return err
			}
			model, err := tr.Best()
			most = max(most, live()-before)
			runtime.KeepAlive(checkpoint)
			runtime.KeepAlive(model)
			return err
		}})
		if need := 4 * tr.parsed.copies(1) * (features + 2) * hidden; most > need || most < need/2 {
			t.Errorf("%s: %.3g bytes are in use, and %.3g are counted", c.Optimizer, most, need)
		}
	}
}

// twoQueries returns two queries of two documents with that many features.
func twoQueries(features int) *datasets.Dataset {
	d := &datasets.Dataset{Name: "wide", Labels: []float32{0, 1, 1, 0}, Offsets: []int{0, 2, 4}, QueryIDs: []string{"a", "b"}}
	for i := range features {
		d.FeatureIDs = append(d.FeatureIDs, i+1)
	}
	for i := range 4 * features {
		d.Features = append(d.Features, float32(i%7))
	}
	return d
}

// A checkpoint has four bytes for each number until it is written.
func TestCheckpointsAreOfFloat32(t *testing.T) {
	tr := mustNew(t, Config{Model: Model{Hidden: []int{1000}}, Optimization: Optimization{Epochs: 1}}, &datasets.Splits{Train: twoQueries(500), Vali: twoQueries(500)})
	numbers := 0
	for _, values := range tr.state().Arrays {
		numbers += len(values)
	}
	var before, after runtime.MemStats
	runtime.ReadMemStats(&before)
	c, err := tr.Checkpoint()
	runtime.ReadMemStats(&after)
	if err != nil {
		t.Fatal(err)
	}
	if n := after.TotalAlloc - before.TotalAlloc; n > uint64(5*numbers) {
		t.Errorf("%d bytes were allocated for %d numbers", n, numbers)
	}
	runtime.KeepAlive(c)
}

// A model with bins has a row of weights for each of them, and SwiGLU two columns for a unit.
func TestMemoryOfBins(t *testing.T) {
	p, err := Config{Model: Model{Hidden: []int{1 << 20}, Activation: ops.SwiGLU}}.Plain().parse(Custom{})
	if err == nil {
		err = p.checkMemory(nn.MLPConfig{Features: 2, Bins: []int{100, 155}}, 1)
	}
	if want := "a model of 5.4e+08 weights takes about"; err == nil || !strings.Contains(err.Error(), want) {
		t.Errorf("got %v, want %q", err, want)
	}
}
