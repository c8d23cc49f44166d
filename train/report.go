package train

import (
	"fmt"
	"math"
	"slices"

	"github.com/plrank/plrank/datasets"
	"github.com/plrank/plrank/internal/mapped"
	"github.com/plrank/plrank/internal/parallel"
	"github.com/plrank/plrank/metrics"
)

// A Report compares a model with the baselines, on all splits.
type Report struct {
	Convention string        `json:"convention"` // for label-free queries
	Metrics    []string      `json:"metrics"`    // names of Values, in the order of a table
	Splits     []SplitReport `json:"splits"`

	// Model is the digest of the model's file, of a Report by Evaluate.
	Model string `json:"model,omitempty"`
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
	Relevant  int      `json:"relevant"` // queries with a relevant document
	Documents int      `json:"documents"`
	Rows      []Values `json:"rows"` // of the rankers, in the order of Rankers
	Rankers   []string `json:"rankers"`
	StdErr    Values   `json:"stdErr,omitempty"` // of the model's metrics that are estimated from sampled rankings

	// TrainedOn is how many of the queries the model was trained on, of a Report by Evaluate:
	// see ranker.Model.TrainedOn.
	TrainedOn int `json:"trainedOn,omitempty"`
}

// A Baseline is another ranker for a Report.
type Baseline struct {
	Name   string
	Ranker interface {
		Scores(*datasets.Dataset) ([]float64, error)
	} // such as the Tree of datasets/golearn
}

// Report evaluates r beside two baselines: random order, and the best single raw
// feature, ascending or descending, by the validation metric on the training
// split, or of large data on a sample of it, see Report.FeatureQueries; and beside more of them.
func (t *Trainer) Report(r *Ranker, more ...Baseline) (*Report, error) {
	sample := sampleOf(t.splits.Train, featureSample)
	feature, descending, err := t.bestFeature(sample)
	if err != nil {
		return nil, err
	}
	names := []string{"random order", t.featureRanker(feature, descending)}
	for _, b := range more {
		names = append(names, b.Name)
	}
	names = append(names, t.Loss)
	report := &Report{Convention: t.Config.Convention, Metrics: t.names(), HighestGrade: t.reportedGrade(), LeftOut: t.LeftOut()}
	if sample != t.splits.Train {
		report.FeatureQueries = sample.Queries()
	}
	for _, split := range []struct {
		name string
		d    *datasets.Dataset
	}{{"train", t.splits.Train}, {"vali", t.splits.Vali}, {"test", t.splits.Test}} {
		d := split.d
		if d == nil {
			continue
		}
		relevant, err := t.relevantQueries(d)
		if err != nil {
			return nil, err
		}
		random, err := t.randomOrder(d)
		if err != nil {
			return nil, err
		}
		// A feature is no policy: only its ranking can be measured, and it has no
		// expected exposure.
		single, err := t.evaluate(d, featureScores(d, feature, descending), t.ofRanking())
		if err != nil {
			return nil, err
		}
		rows := []Values{random, single}
		for _, b := range more {
			scores, err := b.Ranker.Scores(d)
			if err != nil {
				return nil, fmt.Errorf("train: %s: %s: %w", b.Name, d.Name, err)
			}
			values, err := t.evaluate(d, scores, t.ofRanking()) // such scores are no policy
			if err != nil {
				return nil, err
			}
			rows = append(rows, values)
		}
		model, err := t.measure(r, d)
		if err != nil {
			return nil, err
		}
		report.Splits = append(report.Splits, SplitReport{
			Name: split.name, Queries: d.Queries(), Relevant: len(relevant), Documents: d.Rows(),
			Rankers: names, Rows: append(rows, t.valuesOf(t.measures, model)), StdErr: stdErrsOf(t.measures, model),
		})
	}
	return report, nil
}

// featureRanker names the ranker by one feature.
func (t *Trainer) featureRanker(column int, descending bool) string {
	direction := "ascending"
	if descending {
		direction = "descending"
	}
	return fmt.Sprintf("feature %s, %s", featureName(t.splits.Train, column), direction)
}

// featureRow is the place of that ranker in a report.
const featureRow = 1

// ofRanking is the part of measures that needs no policy.
func (p *parsed) ofRanking() []metrics.Measure {
	return slices.DeleteFunc(slices.Clone(p.measures), func(m metrics.Measure) bool { return m.OfPolicy() || isLoss(m) })
}

// bestFeature is the column of training documents, and its direction, with the
// best value of the validation metric, or where that is one of fairness, a sum or the loss,
// of DCG at the cutoff; the first of several.
func (t *Trainer) bestFeature(d *datasets.Dataset) (column int, descending bool, err error) {
	m := t.metric.ranking(t.measures[0])
	type outcome struct {
		value float64
		err   error
	}
	outcomes := make([]outcome, 2*d.Width())
	parallel.For(len(outcomes), parallel.Workers(len(outcomes)), func(_, i int) {
		values, err := t.evaluate(d, featureScores(d, i/2, i%2 == 0), []metrics.Measure{m})
		outcomes[i] = outcome{float64(values[m.String()]), err}
	})
	best := outcome{value: math.NaN()}
	for i, o := range outcomes {
		if o.err != nil {
			return 0, false, o.err
		}
		if i == 0 || m.Better(o.value, best.value) {
			best, column, descending = o, i/2, i%2 == 0
		}
	}
	return column, descending, nil
}

// featureSample is how many bytes of features are enough to choose the best of them.
const featureSample = 64 << 20

// sampleOf is d, or where its features take more bytes than that, queries spread evenly over
// it that take about as much.
func sampleOf(d *datasets.Dataset, most int) *datasets.Dataset {
	size := 4 * len(d.Features)
	if size <= most {
		return d
	}
	var queries []int
	n := max(1, int(float64(d.Queries())*float64(most)/float64(size)))
	for i := range n {
		queries = append(queries, i*d.Queries()/n)
	}
	return d.Select(queries)
}

// featureScores ranks by one raw feature. Documents that lack it come last.
func featureScores(d *datasets.Dataset, column int, descending bool) []float64 {
	scores := make([]float64, d.Rows())
	for r := range scores {
		if r%4096 == 0 {
			mapped.Relieve()
		}
		v := float64(d.Row(r)[column])
		if !descending {
			v = -v
		}
		if math.IsNaN(v) {
			v = -math.MaxFloat64
		}
		scores[r] = max(-math.MaxFloat64, min(math.MaxFloat64, v))
	}
	return scores
}

// Value is a metric of a ranker in the report of a split, NaN if it has none.
func (s SplitReport) Value(ranker int, metric string) float64 {
	if v, ok := s.Rows[ranker][metric]; ok {
		return float64(v)
	}
	return math.NaN()
}

// LabelFree says in words what the convention makes of label-free queries.
func (r Report) LabelFree() string {
	switch c, _ := metrics.ParseLabelFree(r.Convention); c {
	case metrics.LabelFreeZero:
		return "queries without a relevant document count 0"
	case metrics.LabelFreeOne:
		return "queries without a relevant document count 1 in NDCG, 0 in DCG"
	case metrics.LabelFreeSkip:
		return "queries without a relevant document are left out of NDCG, and count 0 in DCG"
	case metrics.LETOR4:
		return "queries without a relevant document count 0; NDCG is that of LETOR 4.0"
	}
	return r.Convention
}
