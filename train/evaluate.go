package train

import (
	"cmp"
	"errors"
	"fmt"

	"github.com/plrank/plrank/datasets"
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
	e, err := measuring(c, parts, model, splits...)
	if err != nil {
		return nil, err
	}
	defer e.losses.close()
	report := &Report{Convention: e.settings.Convention, Model: model.Digest(), Metrics: e.names(), HighestGrade: e.reportedGrade()}
	for _, s := range splits {
		random, err := e.randomOrder(s.Data)
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
		model, err := e.evaluate(s.Data, scores, e.measures)
		if err != nil {
			return nil, err
		}
		stdErr, err := e.stdErrs(s.Data, scores)
		if err != nil {
			return nil, err
		}
		relevant, err := e.losses.loss.relevantQueries(s.Data)
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

// measuring is an evaluator that fits the splits, and the model.
func measuring(c Config, parts Parts, model *ranker.Model, splits ...Split) (*evaluator, error) {
	p, err := c.parse(parts)
	if err != nil {
		return nil, err
	}
	if len(splits) == 0 {
		return nil, errors.New("train: there is no split to measure on")
	}
	e := p.evaluator
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
		if err := cmp.Or(p.loss.checkGroups(s.Data), e.checkGroups(s.Data)); err != nil {
			return nil, err
		}
		if err := e.takeGrade(s.Data); err != nil {
			return nil, err
		}
	}
	if grade := model.File().Grade; e.highest == 0 && grade != 0 {
		e.grade = grade
	}
	p.loss.grade = e.grade
	return e, nil
}
