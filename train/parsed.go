package train

import (
	"errors"
	"fmt"
	"math"

	"github.com/plrank/plrank/internal/processes"
)

// Check reports the first setting that makes no sense. What depends on the data,
// such as the transform, is checked by [New].
func (c Config) Check() error {
	_, err := c.parse(Parts{})
	return err
}

// parsed is a configuration with its names looked up.
type parsed struct {
	config    Config // with the names as they are written
	parts     Parts
	group     processes.Group
	schedule  schedule
	loss      *trainingLoss
	evaluator *evaluator
}

func (c Config) parse(parts Parts) (*parsed, error) {
	p := &parsed{config: parts.naming(c).WithDefaults(), parts: parts, group: processes.Of(parts.Processes)}
	c = p.config
	var err error
	if c.Cutoff > maxCutoff {
		return nil, fmt.Errorf("train: cutoff is %d: want %d at most, or it takes too much memory", c.Cutoff, maxCutoff)
	}
	if p.loss, err = newTrainingLoss(c, parts); err != nil {
		return nil, err
	}
	if p.evaluator, err = newEvaluator(&p.config, p.loss, parts.Metrics); err != nil {
		return nil, err
	}
	if p.schedule, err = parseSchedule(c.Schedule); err != nil {
		return nil, err
	}
	if _, ok := optimizers[c.Optimizer]; !ok && parts.Optimizer == nil {
		return nil, unknown("optimizer", c.Optimizer, Optimizers())
	}
	if _, err = c.Activation.MarshalText(); err != nil {
		return nil, err
	}
	if c.OnNaN != onNaNStop && c.OnNaN != onNaNSkip {
		return nil, unknown("way with batches that are not finite", c.OnNaN, []string{onNaNStop, onNaNSkip})
	}
	if c.Samples < 1 && c.Samples != Dynamic {
		return nil, fmt.Errorf("train: samples is %d: want 1 or more, or dynamic", int(c.Samples))
	}
	for _, setting := range []struct {
		name  string
		value int
		least int
	}{
		{"cutoff", c.Cutoff, 1}, {"batch", c.Batch, 1}, {"shards", c.Shards, 1}, {"epochs", c.Epochs, 1}, {"patience", c.Patience, 0},
		{"evaluation samples", c.EvaluationSamples, 1}, {"members", c.Members, 0},
	} {
		if setting.value < setting.least {
			return nil, fmt.Errorf("train: %s is %d: want %d or more", setting.name, setting.value, setting.least)
		}
	}
	for _, width := range c.Hidden {
		if width < 1 {
			return nil, fmt.Errorf("train: a hidden layer of width %d: want 1 or more", width)
		}
	}
	for _, setting := range []struct {
		name        string
		value       float64
		least, most float64
		want        string
	}{
		{"learning rate", c.LearningRate, math.SmallestNonzeroFloat64, math.MaxFloat64, "a number above 0"},
		{"dropout", c.Dropout, 0, math.Nextafter(1, 0), "a rate in [0, 1)"},
		{"momentum", c.Momentum, 0, math.Nextafter(1, 0), "a number in [0, 1)"},
		{"weight decay", c.WeightDecay, 0, math.MaxFloat64, "a number that is not below 0"},
		{"average", c.Average, 0, math.Nextafter(1, 0), "a number in [0, 1), such as 0.999"},
		{"decay", c.Decay, math.SmallestNonzeroFloat64, 1, "a number in (0, 1]"},
		{"warm-up", c.Warmup, 0, math.MaxFloat64, "a number of epochs that is not below 0"},
		{"l2", c.L2, 0, math.MaxFloat64, "a number that is not below 0"},
		{"group lasso", c.GroupLasso, 0, math.MaxFloat64, "a number that is not below 0"},
		{"highest grade", c.HighestGrade, 0, math.MaxFloat32, "a number that is not below 0"},
		{"clip", c.Clip, 0, math.MaxFloat64, "a number that is not below 0"},
	} {
		if !(setting.value >= setting.least && setting.value <= setting.most) {
			return nil, fmt.Errorf("train: %s is %v: want %s", setting.name, setting.value, setting.want)
		}
	}
	if err = c.checkScorer(parts); err != nil {
		return nil, err
	}
	return p, errors.Join(c.checkShards(p.group.Size()), c.checkMemory(1, p.group.Size(), parts.Scorer != nil))
}

// checkShards reports more ranks than there are shards.
func (c Config) checkShards(ranks int) error {
	if ranks > c.Shards {
		return fmt.Errorf("train: %d ranks for %d shards: want as many shards at least", ranks, c.Shards)
	}
	return nil
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
