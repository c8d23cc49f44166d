package train

import (
	"fmt"

	"github.com/plrank/plrank/internal/processes"
)

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
		if s.check == nil || custom[s.Flag] {
			continue
		}
		if err := s.check(s); err != nil {
			return nil, err
		}
	}
	p := &parsed{config: c, parts: parts, group: processes.Of(parts.Processes)}
	var err error
	if p.loss, err = newTrainingLoss(c, parts); err != nil {
		return nil, err
	}
	if p.evaluator, err = newEvaluator(&p.config, p.loss, parts.Metrics); err != nil {
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
