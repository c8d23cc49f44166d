package train

import (
	"errors"

	"github.com/plrank/plrank/datasets"
	"github.com/plrank/plrank/losses"
	"github.com/plrank/plrank/metrics"
)

// Check reports the first setting that makes no sense. What depends on the data,
// such as the transform, is checked by [New].
func (c Config) Check() error {
	_, err := c.parse(Parts{})
	return err
}

// parsed is a configuration with its names looked up.
type parsed struct {
	Config
	parts      Parts
	loss       losses.Func
	gain       metrics.Gain
	optimised  metrics.Objective // the sum over ranks
	schedule   schedule
	metric     criterion         // of validation
	measures   []metrics.Measure // that every evaluation reports
	terms      []losses.Term     // of the loss
	convention metrics.Convention
	ties       metrics.Ties
	topGrade   float64 // the highest grade that measures go by
	lossGrade  float64 // and losses
	lossValues *lossValues
}

// parse looks up names, after what is still unset is set by the recipe for small data.
func (c Config) parse(parts Parts) (*parsed, error) {
	c = parts.naming(c.orRecipe(smallRecipe()))
	own := map[string]bool{"loss": parts.Loss != nil, "optimizer": parts.Optimizer != nil, "scorer": parts.Scorer != nil}
	for _, s := range c.Settings() {
		if s.check == nil || own[s.Flag] {
			continue
		}
		if err := s.check(s); err != nil {
			return nil, err
		}
	}
	p := &parsed{Config: c, parts: parts, lossValues: &lossValues{by: map[*datasets.Dataset]*lossValue{}}}
	var err error
	if p.loss, p.terms, err = parts.lossOf(c); err != nil {
		return nil, err
	}
	if err = parts.checkMetrics(); err != nil {
		return nil, err
	}
	if p.metric, err = parts.parseCriterion(c.Metric); err != nil {
		return nil, err
	}
	p.Metric = p.metric.String()
	if err = p.parseObjective(); err != nil {
		return nil, err
	}
	if p.measures, err = p.reported(); err != nil {
		return nil, err
	}
	var failed [4]error // none: the settings are checked
	p.gain, failed[0] = metrics.ParseGain(c.Gain)
	p.convention, failed[1] = metrics.ParseConvention(c.Convention)
	p.ties, failed[2] = metrics.ParseTies(c.Ties)
	p.schedule, failed[3] = parseSchedule(c.Schedule)
	if err := errors.Join(failed[:]...); err != nil {
		return nil, err
	}
	if c.Scorer == attentionScorer {
		if err = c.checkAttention(); err != nil {
			return nil, err
		}
	}
	return p, errors.Join(p.checkShards(), p.checkMemory(1))
}
