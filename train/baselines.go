package train

import (
	"cmp"
	"context"
	"fmt"
	"math"
	"math/rand/v2"
	"slices"

	"gonum.org/v1/gonum/floats"
	"gonum.org/v1/gonum/stat"

	"github.com/plrank/plrank/datasets"
	"github.com/plrank/plrank/internal/file"
	"github.com/plrank/plrank/internal/num"
	"github.com/plrank/plrank/internal/parallel"
	"github.com/plrank/plrank/metrics"
	"github.com/plrank/plrank/ranker"
)

// Report evaluates a model and two baselines: random order, and the best single raw
// feature, ascending or descending, by the validation metric on the training
// split, or of large data on a sample of it, see Report.FeatureQueries; and the baselines given. Training
// data with gains from clicks have no best feature.
func (t *Trainer) Report(m *ranker.Model, more ...Baseline) (*Report, error) {
	if m == nil {
		return nil, errNoModel
	}
	e, splits := t.parsed.evaluator, t.data.splits
	featureQueries := 0
	if splits.Train.Gains == nil {
		sample := sampleOf(splits.Train, featureSample)
		feature, err := e.bestFeature(sample)
		if err != nil {
			return nil, err
		}
		if sample != splits.Train {
			featureQueries = sample.Queries()
		}
		more = append([]Baseline{{feature.name(splits.Train), feature}}, more...)
	}
	list := []Split{{"train", splits.Train}, {"vali", splits.Vali}, {"test", splits.Test}}
	list = slices.DeleteFunc(list, func(s Split) bool { return s.Data == nil })
	name := t.Config.Loss
	if m.File().Kind == ranker.MixtureKind {
		name = ranker.MixtureKind
	}
	report, err := e.report(modelScoring{m}, name, more, list...)
	if err != nil {
		return nil, err
	}
	report.LeftOut, report.FeatureQueries = t.LeftOut(), featureQueries
	for i := range report.Splits {
		report.Splits[i].PerQuery, report.Splits[i].OthersPerQuery = nil, nil
	}
	return report, nil
}

// A featureRanker ranks by one raw feature. Documents that lack it come last.
type featureRanker struct {
	column     int
	descending bool
}

func (f featureRanker) name(d *datasets.Dataset) string {
	direction := "ascending"
	if f.descending {
		direction = "descending"
	}
	return fmt.Sprintf("feature %s, %s", d.FeatureName(f.column), direction)
}

// FeatureBaseline returns the ranker by a single feature that a [Report] calls by this name, such as "feature bm25, descending",
// and whether d has such a feature.
func FeatureBaseline(name string, d *datasets.Dataset) (Baseline, bool) {
	for i := range 2 * d.Width() {
		if f := (featureRanker{i / 2, i%2 == 0}); f.name(d) == name {
			return Baseline{name, f}, true
		}
	}
	return Baseline{}, false
}

// Scores never fails.
func (f featureRanker) Scores(d *datasets.Dataset) ([]float64, error) {
	scores := make([]float64, d.Rows())
	for r := range scores {
		if r%4096 == 0 {
			file.Relieve()
		}
		v := float64(d.Value(r, f.column))
		if !f.descending {
			v = -v
		}
		if math.IsNaN(v) {
			v = -math.MaxFloat64
		}
		scores[r] = max(-math.MaxFloat64, min(math.MaxFloat64, v))
	}
	return scores, nil
}

// bestFeature ranks documents best by the validation metric, or where that is one of fairness, a
// sum or the loss, by DCG at the cutoff; it is the first of several.
func (e *evaluator) bestFeature(d *datasets.Dataset) (best featureRanker, err error) {
	m := e.metric.ranking(e.measures[0])
	values := make([]float64, 2*d.Width())
	ranker := func(i int) featureRanker { return featureRanker{i / 2, i%2 == 0} }
	err = parallel.Each(len(values), parallel.Workers(len(values)), func(_, i int) error {
		scores, _ := ranker(i).Scores(d)
		measured, err := e.evaluate(d, scores, []metrics.Measure{m})
		values[i] = float64(measured[m.String()])
		return err
	})
	first := math.NaN()
	for i, v := range values {
		if i == 0 || m.Better(v, first) {
			best, first = ranker(i), v
		}
	}
	return best, err
}

// featureSample is how many bytes of features are enough to choose the best of them.
const featureSample = 64 << 20

// sampleOf is d, or where its features take more bytes than that, random queries that take about as much.
func sampleOf(d *datasets.Dataset, most int) *datasets.Dataset {
	size := 4 * d.Rows() * d.Width()
	if size <= most {
		return d
	}
	return d.Select(num.Sample(max(1, int(float64(d.Queries())*float64(most)/float64(size))), d.Queries()))
}

// An Importance says how much worse a model ranks without knowing a feature.
type Importance struct {
	Feature int    `json:"feature"` // its id
	Name    string `json:"name"`    // its name, or else the id
	Mean    Value  `json:"mean"`    // by which the metric gets worse
	SD      Value  `json:"sd"`      // over the repeats; NaN of one

	// Of forests: the part of the gains of all splits, 0 if the gains are not known, and the number of splits.
	Gain   float64 `json:"gain,omitempty"`
	Splits int     `json:"splits,omitempty"`
}

// addSplits sets what the forests of a model say of a column.
func (i *Importance) addSplits(gains []float64, splits []int, column int) {
	if gains != nil {
		i.Gain = gains[column] / floats.Sum(gains)
	}
	if splits != nil {
		i.Splits = splits[column]
	}
}

// Importances returns the permutation importance (Breiman, Machine Learning 2001) of every feature that
// the model uses, the most important first: how much the validation metric of c falls when the values of the feature are
// shuffled among the documents of each query, or among the queries if it is the same for all documents of each query. It is the
// mean over that many repeats. Of two features that carry the same information, neither looks important while the other is there.
//
// Of parts, only Loss, LabelFree and Metrics are used. Importances returns an error if repeats is below 1, if [Evaluate] would
// return one, or if the context ends.
func Importances(ctx context.Context, c Config, parts Custom, model *ranker.Model, d *datasets.Dataset, repeats int) ([]Importance, error) {
	if model == nil {
		return nil, errNoModel
	}
	if repeats < 1 {
		return nil, fmt.Errorf("train: importances of %d repeats: want 1 or more", repeats)
	}
	if d != nil && d.IsSparse() {
		return nil, fmt.Errorf("train: %s: sparse documents have no permutation importances: describe has the gains of a forest", d.Name)
	}
	e, err := measuring(c, parts, model, Split{Name: "data", Data: d})
	if err != nil {
		return nil, err
	}
	defer e.losses.close()
	measure := func(d *datasets.Dataset) (float64, error) {
		scores, err := datasets.Score(model, d)
		if err != nil {
			return 0, err
		}
		values, err := e.evaluate(d, scores, e.metric.measures)
		return float64(values[e.metric.name]), err
	}
	base, err := measure(d)
	if err == nil && !finite(base) {
		err = fmt.Errorf("train: %s: %s is %v: no feature can matter to it, want another metric", d.Name, e.metric.name, base)
	}
	if err != nil {
		return nil, err
	}
	shuffled := *d
	shuffled.Features = slices.Clone(d.Features)
	varying := d.Varying(true)
	gains, splits := model.Gains(), model.Splits()
	var list []Importance
	for _, id := range model.UsedFeatures() {
		column, _ := slices.BinarySearch(model.File().FeatureIDs, id)
		_, varies := slices.BinarySearch(varying, column)
		losses := make([]float64, repeats)
		for i := range losses {
			if err := ctx.Err(); err != nil {
				return nil, err
			}
			copyColumn(&shuffled, d, column)
			shuffle(&shuffled, column, !varies, rand.New(rand.NewPCG(c.Seed, uint64(column)<<32|uint64(i))))
			value, err := measure(&shuffled)
			if err != nil {
				return nil, err
			}
			if losses[i] = base - value; e.metric.LowerIsBetter() {
				losses[i] = value - base
			}
		}
		copyColumn(&shuffled, d, column)
		mean, sd := stat.MeanStdDev(losses, nil)
		if repeats < 2 {
			sd = math.NaN()
		}
		list = append(list, Importance{Feature: d.FeatureIDs[column], Name: d.FeatureName(column), Mean: Value(mean), SD: Value(sd)})
		list[len(list)-1].addSplits(gains, splits, column)
	}
	slices.SortStableFunc(list, func(a, b Importance) int { return cmp.Compare(b.Mean, a.Mean) })
	return list, nil
}

// shuffle brings a column of d in random order within each query, or if it is one of the query, among the queries.
func shuffle(d *datasets.Dataset, column int, ofQuery bool, rng *rand.Rand) {
	exchange := func(i, j int) {
		a, b := &d.Row(i)[column], &d.Row(j)[column]
		*a, *b = *b, *a
	}
	if ofQuery {
		filled := queriesWhere(d, func(from, to int) bool { return from < to })
		rng.Shuffle(len(filled), func(i, j int) { exchange(d.Offsets[filled[i]], d.Offsets[filled[j]]) })
		for _, q := range filled {
			for r := d.Offsets[q] + 1; r < d.Offsets[q+1]; r++ {
				d.Row(r)[column] = d.Row(r - 1)[column]
			}
		}
		return
	}
	for q := range d.Queries() {
		first := d.Offsets[q]
		rng.Shuffle(d.Offsets[q+1]-first, func(i, j int) { exchange(first+i, first+j) })
	}
}

func copyColumn(to, from *datasets.Dataset, column int) {
	for i := range from.Rows() {
		to.Row(i)[column] = from.Row(i)[column]
	}
}
