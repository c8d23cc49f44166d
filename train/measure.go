package train

import (
	"errors"
	"fmt"

	"github.com/plrank/plrank/datasets"
	"github.com/plrank/plrank/metrics"
	"github.com/plrank/plrank/ranker"
)

// A Split is documents, and what they are called in a report.
type Split struct {
	Name string
	Data *datasets.Dataset
}

// Evaluate measures a model on any labelled documents, beside random order. The
// configuration says which metrics and how, as for a run; how to train means nothing, but for
// the loss where that is to be measured. The highest grade is that of the configuration, or
// else of the model, or of the splits where the model does not say it.
func Evaluate(c Config, parts Parts, model *ranker.Model, splits ...Split) (*Report, error) {
	p, err := measuring(c, parts, model, splits...)
	if err != nil {
		return nil, err
	}
	defer p.lossValues.close()
	report := &Report{Convention: p.Config.Convention, Model: model.Digest(), Metrics: p.names(), HighestGrade: p.reportedGrade()}
	for _, s := range splits {
		random, err := p.randomOrder(s.Data)
		if err != nil {
			return nil, err
		}
		scores, err := model.Scores(s.Data)
		if err != nil {
			return nil, err
		}
		trainedOn, err := model.TrainedOn(s.Data)
		if err != nil {
			return nil, err
		}
		model, err := p.evaluate(s.Data, scores, p.measures)
		if err != nil {
			return nil, err
		}
		stdErr, err := p.stdErrs(s.Data, scores)
		if err != nil {
			return nil, err
		}
		relevant, err := p.relevantQueries(s.Data)
		if err != nil {
			return nil, err
		}
		report.Splits = append(report.Splits, SplitReport{
			Name: s.Name, Queries: s.Data.Queries(), Relevant: len(relevant), Documents: s.Data.Rows(),
			Rankers: []string{"random order", "model"}, Rows: []Values{random, model}, StdErr: stdErr,
			TrainedOn: trainedOn,
		})
	}
	return report, nil
}

// measuring is a configuration that fits the splits, and the model.
func measuring(c Config, parts Parts, model *ranker.Model, splits ...Split) (*parsed, error) {
	p, err := c.parse(parts)
	if err != nil {
		return nil, err
	}
	if len(splits) == 0 {
		return nil, errors.New("train: there is no split to measure on")
	}
	for _, s := range splits {
		switch {
		case s.Data == nil:
			return nil, fmt.Errorf("train: the split %q has no data", s.Name)
		case s.Data.Rows() == 0:
			return nil, fmt.Errorf("train: the split %q, %q, has no labelled documents", s.Name, s.Data.Name)
		}
		if err := s.Data.Validate(); err != nil {
			return nil, err
		}
		if err := p.checkGroups(s.Data); err != nil {
			return nil, err
		}
		if err := p.takeGrade(s.Data); err != nil {
			return nil, err
		}
	}
	if grade := model.File().Grade; p.HighestGrade == 0 && grade != 0 {
		p.topGrade = grade
	}
	p.lossGrade = p.topGrade
	return p, nil
}

// randomOrder is the expectation over random rankings, which for this ranker is
// what both kinds of metrics measure: that of a ranking with all scores equal.
func (p *parsed) randomOrder(d *datasets.Dataset) (Values, error) {
	random := *p
	random.ties = metrics.TiesRandom
	var list []metrics.Measure
	for _, m := range p.measures {
		list = append(list, m.Ranking())
	}
	values, err := random.evaluate(d, make([]float64, d.Rows()), list)
	if err != nil {
		return nil, err
	}
	for _, m := range p.measures {
		values[m.String()] = values[m.Ranking().String()]
	}
	return p.metric.add(values), nil
}
