package train

import (
	"cmp"
	"errors"
	"fmt"
	"math"
	"slices"
	"strings"

	"github.com/plrank/plrank/datasets"
	"github.com/plrank/plrank/metrics"
	"github.com/plrank/plrank/ranker"
)

// A Report compares a model with the baselines, on all splits.
type Report struct {
	LabelFree string        `json:"convention"` // for label-free queries
	Metrics   []string      `json:"metrics"`    // names of Values, in the order of a table
	Splits    []SplitReport `json:"splits"`

	// Model is the digest of the model's file, of a Report by Evaluate.
	Model string `json:"model,omitempty"`
	// Loss is the objective whose value the metric LossMetric is, "" where that is not reported.
	Loss string `json:"loss,omitempty"`
	// HighestGrade is what ERR and graded RBP go by, 0 where neither is reported.
	HighestGrade float64 `json:"highestGrade,omitempty"`
	// LeftOut is how many training queries the loss learns nothing from, see Trainer.LeftOut.
	LeftOut int `json:"leftOut,omitempty"`
	// FeatureQueries is how many training queries the best single feature was chosen by;
	// 0: by all, or there is none.
	FeatureQueries int `json:"featureQueries,omitempty"`
}

// A SplitReport is the part of a Report on one split.
type SplitReport struct {
	Name      string   `json:"name"` // train, vali or test
	Queries   int      `json:"queries"`
	Relevant  int      `json:"relevant"` // queries with a document whose gain is not 0
	Documents int      `json:"documents"`
	Rows      []Values `json:"rows"` // of the rankers, in the order of Rankers
	Rankers   []string `json:"rankers"`

	// PerQuery has the values of the queries in the order of the split, by metric; the last of Rows
	// has their means. NaN stands for a query that is left out. It is of a Report by Evaluate or
	// EvaluateRun. metrics.Compare compares such values.
	PerQuery map[string][]float64 `json:"-"`
	// OthersPerQuery has the same of the other rankers, in the order of Rankers.
	OthersPerQuery []map[string][]float64 `json:"-"`

	// Fractional is how many documents have labels between 0 and 1, which are not relevant to the metrics ByRelevance:
	// these take labels of 1 or more for relevant. Without such documents there are no such names.
	Fractional  int      `json:"fractional,omitempty"`
	ByRelevance []string `json:"byRelevance,omitempty"`

	// FromClicks reports whether the gains of the split are from clicks: the loss alone is measured by them.
	FromClicks bool `json:"fromClicks,omitempty"`

	// TrainedOn is how many of the queries the model was trained on, of a Report by Evaluate:
	// see ranker.Model.Seen.
	TrainedOn int `json:"trainedOn,omitempty"`
}

// Value returns a metric of a ranker in the report of a split, NaN if it has none.
func (s SplitReport) Value(ranker int, metric string) float64 {
	if v, ok := s.Rows[ranker][metric]; ok {
		return float64(v)
	}
	return math.NaN()
}

// Threshold describes from which label on documents are relevant if some labels are between 0 and 1, and else returns "".
func (s SplitReport) Threshold() string {
	if len(s.ByRelevance) == 0 {
		return ""
	}
	return fmt.Sprintf("%d of the %d documents have labels between 0 and 1: they are not relevant to %s, where relevance begins at label "+
		"1", s.Fractional, s.Documents, strings.Join(s.ByRelevance, ", "))
}

// LabelFreeNote describes how the convention counts label-free queries.
func (r Report) LabelFreeNote() string {
	switch c, _ := metrics.ParseLabelFree(r.LabelFree); c {
	case metrics.LabelFreeZero:
		return "queries without a relevant document count 0 in metrics of relevance"
	case metrics.LabelFreeOne:
		return "queries without a relevant document count 1 in metrics of relevance, but 0 in DCG, precision, ERR and RBP"
	case metrics.LabelFreeSkip:
		return "queries without a relevant document are left out of metrics of relevance, but count 0 in DCG, precision, ERR and RBP"
	case metrics.LETOR4:
		return "queries without a relevant document count 0 in metrics of relevance; NDCG is as in LETOR 4.0"
	}
	return r.LabelFree
}

var errNoModel = errors.New("train: no model to measure")

// Evaluate measures a model, random order and Custom.Baselines on labelled documents. The configuration names the metrics, as for a
// run; its other settings have no effect, except the loss if it is measured. The highest grade comes from the configuration, or else
// from the model, or else from the splits.
func Evaluate(c Config, parts Custom, model *ranker.Model, splits ...Split) (*Report, error) {
	if model == nil {
		return nil, errNoModel
	}
	e, err := measuring(c, parts, model, splits...)
	if err != nil {
		return nil, err
	}
	defer e.losses.close()
	report, err := e.report(modelScoring{model}, "model", parts.Baselines, splits...)
	if err != nil {
		return nil, err
	}
	report.Model = model.Digest()
	for i, s := range splits {
		report.Splits[i].TrainedOn = s.Data.CountSeen(model.Seen)
	}
	return report, nil
}

// EvaluateRun measures given scores, as [Evaluate] measures the scores of a model. It leaves out expected metrics and measures of
// fairness, since such scores may not be log-scores of a policy, unless Config.Report names them. The highest grade comes from the
// configuration, or else from the run, or else from the labels.
func EvaluateRun(c Config, parts Custom, run *datasets.Run) (*Report, error) {
	split := Split{Name: "data", Data: run.Dataset}
	c.HighestGrade = cmp.Or(c.HighestGrade, float64(run.HighestLabel))
	e, err := measuring(c, parts, nil, split)
	if err != nil {
		return nil, err
	}
	defer e.losses.close()
	e.in.Unranked = run.Unranked
	leftOut := func(m metrics.Measure) bool { return m.OfPolicy() && !slices.Contains(e.settings.Report, m.String()) }
	e.measures = slices.DeleteFunc(e.measures, leftOut)
	if slices.ContainsFunc(e.metric.measures, leftOut) {
		e.metric.weights = nil // the sum is not reported
	}
	return e.report(runScoring(run.Scores), "scores", nil, split)
}

// measuring is an evaluator that fits the splits, and the model; nil: there is none.
func measuring(c Config, parts Custom, model *ranker.Model, splits ...Split) (*evaluator, error) {
	parts.Processes = nil // this process measures alone
	p, err := c.parse(parts)
	if err != nil {
		return nil, err
	}
	if len(splits) == 0 {
		return nil, errors.New("train: no split to measure on")
	}
	e := p.evaluator
	for _, s := range splits {
		switch {
		case s.Data == nil:
			return nil, fmt.Errorf("train: the split %q has no data", s.Name)
		case s.Data.Rows() == 0:
			return nil, fmt.Errorf("train: the split %q, %q, has no labelled documents", s.Name, s.Data.Name)
		}
		if err := p.checkData(s.Data); err != nil {
			return nil, err
		}
	}
	if model != nil && e.highest == 0 && model.File().Grade != 0 {
		e.in.HighestGrade = model.File().Grade
	}
	p.loss.grade = e.in.HighestGrade
	return e, nil
}

// report measures a model, or scores, of that name, and other rankers on splits.
func (e *evaluator) report(model scoring, name string, others []Baseline, splits ...Split) (*Report, error) {
	r := &Report{LabelFree: e.settings.LabelFree, Metrics: e.names()}
	if slices.ContainsFunc(e.measures, metrics.Measure.NeedsGrade) {
		r.HighestGrade = e.in.HighestGrade
	}
	if slices.ContainsFunc(e.measures, isLoss) {
		r.Loss = e.losses.loss.settings.Loss
	}
	for _, s := range splits {
		split, err := e.reportOn(s, model, name, others)
		if err != nil {
			return nil, err
		}
		r.Splits = append(r.Splits, split)
	}
	return r, nil
}

func baseScores(d *datasets.Dataset) (scores []float64) {
	for _, s := range d.BaseScores {
		scores = append(scores, float64(s))
	}
	return scores
}

// countRelevant sets what a report says of the relevance of the documents of d.
func (e *evaluator) countRelevant(d *datasets.Dataset, r *SplitReport) error {
	relevant, err := e.losses.loss.relevantQueries(d)
	r.Relevant = len(relevant)
	for _, label := range d.Labels {
		if fractional(label) {
			r.Fractional++
		}
	}
	for _, m := range e.measures {
		if r.Fractional > 0 && m.ByRelevance(e.in.Gain) {
			r.ByRelevance = append(r.ByRelevance, m.String())
		}
	}
	return err
}

// reportOn measures random order, other rankers, the base scores where there are some, and the model, or scores, of that name.
func (e *evaluator) reportOn(s Split, model scoring, name string, others []Baseline) (SplitReport, error) {
	if m, is := model.(modelScoring); is {
		var err error
		if s.Data, err = s.Data.ForModel(m); err != nil {
			return SplitReport{}, err
		}
	}
	d := s.Data
	r := SplitReport{Name: s.Name, Queries: d.Queries(), Documents: d.Rows(), FromClicks: d.Gains != nil}
	add := func(ranker string, means map[string]measurement, err error) error {
		values, err := e.valuesOf(means, err)
		perQuery := map[string][]float64{}
		for name, m := range means {
			perQuery[name] = m.perQuery
		}
		r.Rankers, r.Rows, r.OthersPerQuery = append(r.Rankers, ranker), append(r.Rows, values), append(r.OthersPerQuery, perQuery)
		return err
	}
	if err := e.countRelevant(d, &r); err != nil {
		return r, err
	}
	random, err := e.randomOrder(d)
	if err := add("random order", random, err); err != nil {
		return r, err
	}
	for _, b := range others {
		scores, err := b.Ranker.Scores(d)
		if err != nil {
			return r, fmt.Errorf("train: %s: %s: %w", b.Name, d.Name, err)
		}
		means, err := e.alone(d, scores, e.ofRanking()) // such scores are no policy, and have no expected exposure
		if err := add(b.Name, means, err); err != nil {
			return r, err
		}
	}
	if d.BaseScores != nil {
		means, err := e.alone(d, baseScores(d), e.measures)
		if err := add("base scores", means, err); err != nil {
			return r, err
		}
	}
	means, err := e.measure(model, d)
	if err := add(name, means, err); err != nil {
		return r, err
	}
	last := len(r.OthersPerQuery) - 1
	r.PerQuery, r.OthersPerQuery = r.OthersPerQuery[last], r.OthersPerQuery[:last]
	return r, nil
}
