package train

import (
	"cmp"
	"encoding"
	"errors"
	"fmt"
	"math"
	"slices"

	"github.com/plrank/plrank/internal/names"
	"github.com/plrank/plrank/internal/processes"
)

// The scorers, and what Config.OnNaN may be.
const (
	mlpScorer       = "mlp"
	attentionScorer = "attention"

	onNaNStop = "stop"
	onNaNSkip = "skip"
)

// Scorers lists the names that Config.Scorer may have.
func Scorers() []string { return []string{attentionScorer, mlpScorer} }

// parsed is a configuration with its names looked up.
type parsed struct {
	config    Config // with the names as they are written
	parts     Parts
	group     processes.Group
	schedule  schedule
	loss      *trainingLoss
	evaluator *evaluator
}

// parse looks up names, after what is still unset is set by the recipe for small data.
func (c Config) parse(parts Parts) (*parsed, error) {
	c = parts.naming(c.orRecipe(smallRecipe()))
	custom := map[string]bool{"loss": parts.Loss != nil, "optimizer": parts.Optimizer != nil, "scorer": parts.Scorer != nil}
	for _, s := range c.Settings() {
		if s.check != nil && !custom[s.Flag] {
			if err := s.check(s); err != nil {
				return nil, err
			}
		}
	}
	p := &parsed{config: c, parts: parts, group: processes.Of(parts.Processes)}
	var err error
	if p.loss, err = newTrainingLoss(c, parts); err != nil {
		return nil, err
	}
	if p.evaluator, err = newEvaluator(&p.config, p.loss, parts.Metrics, p.group); err != nil {
		return nil, err
	}
	if p.schedule, err = parseSchedule(c.Schedule); err != nil {
		return nil, err
	}
	if c.Scorer == attentionScorer {
		if err = c.checkAttention(); err != nil {
			return nil, err
		}
	}
	if ranks := p.group.Size(); ranks > c.Shards {
		return nil, fmt.Errorf("train: %d ranks for %d shards: want as many shards at least", ranks, c.Shards)
	}
	return p, c.checkMemory(1, p.group.Size(), parts.Scorer != nil)
}

// Check reports the first setting that makes no sense. What depends on the data,
// such as the transform, is checked by [New].
func (c Config) Check() error {
	_, err := c.parse(Parts{})
	return err
}

// Reported names the metrics that training with this configuration reports, in
// the order of a table.
func (c Config) Reported() ([]string, error) {
	p, err := c.parse(Parts{})
	if err != nil {
		return nil, err
	}
	return p.evaluator.names(), nil
}

// A check is an error for a setting whose value makes no sense.
type check = func(s Setting) error

// within looks that a number lies in [least, most], and says what is wanted.
func within(least, most float64, want string) check {
	return func(s Setting) error {
		var v float64
		if i, ok := s.Value.(*int); ok {
			v = float64(*i)
		} else {
			v = *s.Value.(*float64)
		}
		if !(v >= least && v <= most) {
			return fmt.Errorf("train: %s is %v: want %s", s.words(), s.field(), want)
		}
		return nil
	}
}

func atLeast(n int) check { return within(float64(n), math.Inf(1), fmt.Sprintf("%d or more", n)) }

// cutoff looks that it is 1 or more; beyond a million the discounts alone take long to compute.
func cutoff(s Setting) error {
	return cmp.Or(atLeast(1)(s), within(1, 1_000_000, "1000000 at most, or it takes too much memory")(s))
}

func notNegative(most float64) check { return within(0, most, "a number that is not below 0") }

// fraction looks that a number lies in [0, 1).
func fraction(want string) check { return within(0, math.Nextafter(1, 0), want) }

// oneOf looks that a name is one of those.
func oneOf(what string, valid ...string) check {
	return func(s Setting) error {
		if name := *s.Value.(*string); !slices.Contains(valid, name) {
			return fmt.Errorf("train: unknown %s %q: %s", what, name, names.Want(name, valid))
		}
		return nil
	}
}

// each looks that the numbers of a list are not too small.
func each(what string, least int) check {
	return func(s Setting) error {
		for _, n := range *s.Value.(*[]int) {
			if n < least {
				return fmt.Errorf("train: %s %d: want %s", what, n, s.Want)
			}
		}
		return nil
	}
}

// marshals looks that a value has a name.
func marshals(s Setting) error {
	_, err := s.Value.(encoding.TextMarshaler).MarshalText()
	return err
}

func sampleCount(s Setting) error {
	if n := *s.Value.(*SampleCount); n < 1 && n != Dynamic {
		return fmt.Errorf("train: %s is %d: want 1 or more, or %s", s.words(), int(n), dynamicName)
	}
	return nil
}

// checkAttention is an error for widths that do not fit the scorer attention.
func (m Model) checkAttention() error {
	if len(m.Hidden) == 0 {
		return errors.New("train: the scorer attention needs a hidden layer: its width is that of the blocks")
	}
	if width := m.Hidden[len(m.Hidden)-1]; width%m.Heads != 0 {
		return fmt.Errorf("train: heads is %d: want a number that divides %d, the width of the last hidden layer", m.Heads, width)
	}
	return nil
}

// maxMemory is the most bytes that the weights of a run may take, and that its
// rankings may: beyond it a number is a slip, and would end in the system's killing
// the program.
const maxMemory = 3e9

// checkMemory is an error for a model or for samples that take too much memory of a process, one
// of so many. The inputs of the model are at least one, where they are not known yet.
func (c Config) checkMemory(inputs, ranks int, customScorer bool) error {
	members := float64(max(1, c.Members))
	if !customScorer {
		weights, in := 0., float64(inputs)
		for _, width := range c.Hidden {
			weights += (in + 1) * float64(width)
			in = float64(width)
		}
		if c.Scorer == attentionScorer {
			weights += float64(c.Blocks) * blockWeights(in)
		}
		// Two models, the gradient as ops leave it and of every shard of this process, and two
		// memories of the optimizer, all of float32.
		shards := (c.Shards + ranks - 1) / ranks
		if need := (5 + float64(shards)) * 4 * members * (weights + in + 1); need > maxMemory {
			of := ""
			if shards > 1 {
				of = fmt.Sprintf(" with %d shards", shards)
			}
			return fmt.Errorf("train: hidden layers of %v: a model of %.2g weights takes about %s%s, want %s at most", c.Hidden, members*(weights+in+1), gigabytes(need), of, gigabytes(maxMemory))
		}
	}
	const word = 8
	for _, rankings := range []struct {
		what string
		need float64
		hint string
	}{
		{"samples", word * members * float64(c.Batch) * float64(c.Samples.most()) * float64(c.Cutoff), fmt.Sprintf("rankings of %d ranks for %d queries a step", c.Cutoff, c.Batch)},
		{"evaluation samples", word * float64(c.EvaluationSamples) * float64(c.Cutoff), fmt.Sprintf("rankings of %d ranks", c.Cutoff)},
	} {
		if rankings.need > maxMemory {
			return fmt.Errorf("train: %s: %s take about %s, want %s at most", rankings.what, rankings.hint, gigabytes(rankings.need), gigabytes(maxMemory))
		}
	}
	return nil
}

// blockWeights are those of a block of attention: the layers to and from the heads, two
// dense layers of twice the width between them, and two gains and biases.
func blockWeights(width float64) float64 { return (3+1+2+2)*width*width + (3+1+2+1+4)*width }

func gigabytes(n float64) string { return fmt.Sprintf("%.3g GB", n/1e9) }
