package train

import (
	"math"
	"path/filepath"
	"reflect"
	"slices"
	"strings"
	"testing"
)

func parsedConfig(t *testing.T, c Config) *parsed {
	t.Helper()
	p, err := c.Plain().parse(Custom{})
	if err != nil {
		t.Fatal(err)
	}
	return p
}

// Rates by their formulas, four steps an epoch.
func TestRates(t *testing.T) {
	t.Parallel()
	rates := func(c Config, history []Epoch) (list []float64) {
		c.LearningRate, c.Epochs = 0.8, 4
		for step := range 4 {
			p := parsedConfig(t, c)
			list = append(list, (&rates{Optimization: p.config.Optimization, schedule: p.schedule}).rate(history, step, 4))
		}
		return list
	}
	epochs := func(best ...bool) (history []Epoch) {
		for _, b := range best {
			history = append(history, Epoch{Best: b})
		}
		return history
	}
	cosine := func(p float64) float64 { return 0.8 * (1 + math.Cos(math.Pi*p)) / 2 }
	flat := func(v float64) []float64 { return []float64{v, v, v, v} }
	for _, c := range []struct {
		config  Config
		history []Epoch
		want    []float64
	}{
		{Config{}, epochs(true, false), flat(0.8)},
		{Config{Optimization: Optimization{Decay: 0.5}}, epochs(true, false), flat(0.2)},
		{Config{Optimization: Optimization{Schedule: "constant", Warmup: 0.5}}, nil, []float64{0.4, 0.8, 0.8, 0.8}},
		{Config{Optimization: Optimization{Warmup: 2}}, nil, []float64{0.1, 0.2, 0.3, 0.4}},
		{Config{Optimization: Optimization{Warmup: 2}}, epochs(true), []float64{0.5, 0.6, 0.7, 0.8}},
		{Config{Optimization: Optimization{Warmup: 2}}, epochs(true, true), flat(0.8)},
		{Config{Optimization: Optimization{Schedule: "cosine"}}, nil, []float64{0.8, cosine(1. / 16), cosine(2. / 16), cosine(3. / 16)}},
		{Config{Optimization: Optimization{Schedule: "cosine"}}, epochs(true, true, true), []float64{cosine(12. / 16), cosine(13. / 16), cosine(14. / 16), cosine(15. / 16)}},
		{Config{Optimization: Optimization{Schedule: "cosine", Warmup: 2}}, epochs(true, true), []float64{0.8, cosine(1. / 8), cosine(2. / 8), cosine(3. / 8)}},
		{Config{Optimization: Optimization{Schedule: "plateau"}}, epochs(true, false, false), flat(0.8)},
		{Config{Optimization: Optimization{Schedule: "plateau"}}, epochs(true, false, false, false), flat(0.4)},
		{Config{Optimization: Optimization{Schedule: "plateau"}}, epochs(true, false, false, true, false, false, false, false), flat(0.4)},
		{Config{Optimization: Optimization{Schedule: "plateau( 2, 0.1 )"}}, epochs(true, false, false, false, false), flat(0.008)},
		{Config{Optimization: Optimization{Schedule: "plateau(1)"}}, epochs(true, false, true, false), flat(0.2)},
	} {
		for i, got := range rates(c.config, c.history) {
			if math.Abs(got-c.want[i]) > 1e-15 || !(got > 0) {
				t.Errorf("%+v after %d epochs: step %d has the rate %v, want %v", c.config, len(c.history), i, got, c.want[i])
			}
		}
	}
}

func TestScheduleErrors(t *testing.T) {
	for text, want := range map[string]string{
		"x": "want constant, cosine", "cosine(3)": "want constant, cosine", "plateau()": "plateau needs a patience in epochs",
		"plateau(0)": "plateau needs a patience in epochs", "plateau(2,1)": "between 0 and 1", "plateau(2,)": "between 0 and 1",
		"plateau(2,NaN)": "between 0 and 1", "plateau(2,.5,1)": "between 0 and 1",
	} {
		if err := (Config{Optimization: Optimization{Schedule: text}}).Plain().Check(); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%s: %v, want %q", text, err, want)
		}
	}
	for _, warmup := range []float64{-1, math.NaN(), math.Inf(1)} {
		if err := (Config{Optimization: Optimization{Warmup: warmup}}).Plain().Check(); err == nil || !strings.Contains(err.Error(), "warm-up") {
			t.Errorf("%v: %v", warmup, err)
		}
	}
}

// Schedules go on where they were. With more epochs, a cosine goes on as in a run that had
// them from the start.
func TestSchedulesResume(t *testing.T) {
	t.Parallel()
	s := small()
	path := filepath.Join(t.TempDir(), "c.npz")
	for _, schedule := range []string{"cosine", "plateau(1,0.5)"} {
		c := busy("adam")
		c.Schedule, c.Warmup = schedule, 1.5
		tr := mustNew(t, c, s)
		whole := mustRun(t, tr, Hooks{Epoch: func(t *Trainer, e Epoch) error {
			if e.Epoch == 2 {
				return saveCheckpoint(t, path)
			}
			return nil
		}})
		again := mustNew(t, c, s)
		if err := again.Restore(path); err != nil {
			t.Fatal(err)
		}
		resumed := mustRun(t, again, Hooks{})
		if !reflect.DeepEqual(timeless(resumed.History), timeless(whole.History)) || !slices.Equal(trainedWeights(resumed.Model), trainedWeights(whole.Model)) {
			t.Errorf("%s: a run that went on ends elsewhere", schedule)
		}
		c.Epochs += 2
		longer := mustNew(t, c, s)
		if err := longer.Restore(path); err != nil {
			t.Fatalf("%s: more epochs: %v", schedule, err)
		}
		history := mustRun(t, longer, Hooks{}).History
		if len(history) != c.Epochs || !reflect.DeepEqual(timeless(history[:2]), timeless(whole.History[:2])) {
			t.Errorf("%s: %d epochs more end after %d", schedule, c.Epochs-2, len(history))
		}
		steps := (len(longer.data.Queries) + c.Batch - 1) / c.Batch
		for i, e := range history[2:] {
			done := float64(i+2) + float64(steps-1)/float64(steps)
			want := c.LearningRate * math.Pow(c.Decay, float64(i+2)) * (1 + math.Cos(math.Pi*(done-1.5)/(float64(c.Epochs)-1.5))) / 2
			if schedule == "cosine" && math.Abs(e.LearningRate-want) > 1e-12 {
				t.Errorf("epoch %d ends with the rate %v, want %v", e.Epoch, e.LearningRate, want)
			}
		}
	}
}
