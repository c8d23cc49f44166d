package train

import (
	"fmt"
	"math"
	"strconv"

	"github.com/plrank/plrank/datasets"
	"github.com/plrank/plrank/internal/mapped"
	"github.com/plrank/plrank/internal/parallel"
	"github.com/plrank/plrank/metrics"
	"github.com/plrank/plrank/ranker"
)

// A Baseline is another ranker for a Report.
type Baseline struct {
	Name   string
	Ranker interface {
		Scores(*datasets.Dataset) ([]float64, error)
	} // such as the Tree of datasets/golearn
}

// Report evaluates a model beside two baselines: random order, and the best single raw
// feature, ascending or descending, by the validation metric on the training
// split, or of large data on a sample of it, see Report.FeatureQueries; and beside more of them.
func (t *Trainer) Report(m *ranker.Model, more ...Baseline) (*Report, error) {
	of := t.parsed.evaluator
	sample := sampleOf(t.data.splits.Train, featureSample)
	feature, descending, err := t.bestFeature(sample)
	if err != nil {
		return nil, err
	}
	names := []string{"random order", t.featureRanker(feature, descending)}
	for _, b := range more {
		names = append(names, b.Name)
	}
	names = append(names, t.Config.Loss)
	report := &Report{Convention: t.Config.Convention, Metrics: of.names(), HighestGrade: of.reportedGrade(), LeftOut: t.LeftOut()}
	if sample != t.data.splits.Train {
		report.FeatureQueries = sample.Queries()
	}
	for _, split := range []Split{{"train", t.data.splits.Train}, {"vali", t.data.splits.Vali}, {"test", t.data.splits.Test}} {
		d := split.Data
		if d == nil {
			continue
		}
		relevant, err := t.parsed.loss.relevantQueries(d)
		if err != nil {
			return nil, err
		}
		random, err := of.randomOrder(d)
		if err != nil {
			return nil, err
		}
		// A feature is no policy: only its ranking can be measured, and it has no
		// expected exposure.
		single, err := of.evaluate(d, featureScores(d, feature, descending), of.ofRanking())
		if err != nil {
			return nil, err
		}
		rows := []Values{random, single}
		for _, b := range more {
			scores, err := b.Ranker.Scores(d)
			if err != nil {
				return nil, fmt.Errorf("train: %s: %s: %w", b.Name, d.Name, err)
			}
			values, err := of.evaluate(d, scores, of.ofRanking()) // such scores are no policy
			if err != nil {
				return nil, err
			}
			rows = append(rows, values)
		}
		model, err := t.validation.meter.measure(modelScoring{m}, d)
		if err != nil {
			return nil, err
		}
		report.Splits = append(report.Splits, SplitReport{
			Name: split.Name, Queries: d.Queries(), Relevant: len(relevant), Documents: d.Rows(),
			Rankers: names, Rows: append(rows, of.valuesOf(of.measures, model)), StdErr: stdErrsOf(of.measures, model),
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
	return fmt.Sprintf("feature %s, %s", featureName(t.data.splits.Train, column), direction)
}

// featureRow is the row of that ranker in a report.
const featureRow = 1

// bestFeature is the column of training documents, and its direction, with the
// best value of the validation metric, or where that is one of fairness, a sum or the loss,
// of DCG at the cutoff; the first of several.
func (t *Trainer) bestFeature(d *datasets.Dataset) (column int, descending bool, err error) {
	of := t.parsed.evaluator
	m := of.metric.ranking(of.measures[0])
	type outcome struct {
		value float64
		err   error
	}
	outcomes := make([]outcome, 2*d.Width())
	parallel.For(len(outcomes), parallel.Workers(len(outcomes)), func(_, i int) {
		values, err := of.evaluate(d, featureScores(d, i/2, i%2 == 0), []metrics.Measure{m})
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

// featureName is the name of a column, or else its id.
func featureName(d *datasets.Dataset, column int) string {
	if d.FeatureNames != nil && d.FeatureNames[column] != "" {
		return d.FeatureNames[column]
	}
	return strconv.Itoa(d.FeatureIDs[column])
}
