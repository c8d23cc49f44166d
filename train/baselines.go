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
	"github.com/plrank/plrank/internal/sparse"
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
		scores[r] = f.score(d.Value(r, f.column))
	}
	return scores, nil
}

func (f featureRanker) score(value float32) float64 {
	v := float64(value)
	if !f.descending {
		v = -v
	}
	if math.IsNaN(v) {
		v = -math.MaxFloat64
	}
	return max(-math.MaxFloat64, min(math.MaxFloat64, v))
}

// bestFeature ranks documents best by the validation metric, or where that is one of fairness, a
// sum or the loss, by DCG at the cutoff; it is the first of several.
func (e *evaluator) bestFeature(d *datasets.Dataset) (best featureRanker, err error) {
	m := e.metric.ranking(e.measures[0])
	values := make([]float64, 2*d.Width())
	ranker := func(i int) featureRanker { return featureRanker{i / 2, i%2 == 0} }
	by := d.Sparse.ByColumn(d.Width()) // which is quicker than to look for one column
	err = parallel.Each(len(values), parallel.Workers(len(values)), func(_, i int) error {
		f, scores := ranker(i), make([]float64, d.Rows())
		if !d.IsSparse() {
			scores, _ = f.Scores(d)
		}
		rows, own := by.Column(f.column)
		for i, r := range rows {
			scores[r] = f.score(own[i])
		}
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
		i.Gain += gains[column] / floats.Sum(gains)
	}
	if splits != nil {
		i.Splits += splits[column]
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
	e, err := measuring(c, parts, model, Split{Name: "data", Data: d})
	if err != nil {
		return nil, err
	}
	defer e.losses.close()
	measure := func(scores []float64, err error) (float64, error) {
		if err != nil {
			return 0, err
		}
		values, err := e.evaluate(d, scores, e.metric.measures)
		return float64(values[e.metric.name]), err
	}
	s, err := newShuffler(model, d)
	if err != nil {
		return nil, err
	}
	base, err := measure(s.scores, nil)
	if err == nil && !finite(base) {
		err = fmt.Errorf("train: %s: %s is %v: no feature can matter to it, want another metric", d.Name, e.metric.name, base)
	}
	if err != nil {
		return nil, err
	}
	d = s.d
	varying := d.Varying(true)
	gains, splits := model.Gains(), model.Splits()
	var list []Importance
	for _, id := range model.UsedFeatures() {
		column, _ := slices.BinarySearch(model.File().FeatureIDs, id)
		block := model.Block(column)
		if block[0] != column {
			continue
		}
		varies := slices.ContainsFunc(block, func(c int) bool { return slices.Contains(varying, c) })
		losses := make([]float64, repeats)
		for i := range losses {
			if err := ctx.Err(); err != nil {
				return nil, err
			}
			value, err := measure(s.shuffled(block, !varies, rand.New(rand.NewPCG(c.Seed, uint64(column)<<32|uint64(i)))))
			if err != nil {
				return nil, err
			}
			if losses[i] = base - value; e.metric.LowerIsBetter() {
				losses[i] = value - base
			}
		}
		mean, sd := stat.MeanStdDev(losses, nil) // NaN of one
		list = append(list, Importance{Feature: d.FeatureIDs[column], Name: model.BlockName(column), Mean: Value(mean), SD: Value(sd)})
		for _, column := range block {
			list[len(list)-1].addSplits(gains, splits, column)
		}
	}
	slices.SortStableFunc(list, func(a, b Importance) int { return cmp.Compare(b.Mean, a.Mean) })
	return list, nil
}

// A shuffler scores documents with the values of a feature shuffled.
type shuffler struct {
	model  *ranker.Model
	d      *datasets.Dataset
	scores []float64        // of documents as they are
	copied datasets.Dataset // whose features may change
	by     sparse.Columns   // of sparse documents
}

func newShuffler(model *ranker.Model, d *datasets.Dataset) (s *shuffler, err error) {
	if d, err = d.ForModel(model); err != nil {
		return nil, err
	}
	s = &shuffler{model: model, d: d, copied: *d, by: d.Sparse.ByColumn(d.Width())}
	s.copied.Features = slices.Clone(d.Features)
	s.scores, err = datasets.Score(model, d)
	return s, err
}

// shuffled returns the scores with the features of a block shuffled together. Of sparse documents, it scores the queries alone in which
// a value changes.
func (s *shuffler) shuffled(block []int, ofQuery bool, rng *rand.Rand) ([]float64, error) {
	d := s.d
	if !d.IsSparse() {
		rows := make([]int, d.Rows())
		for r := range rows {
			rows[r] = r
		}
		was := slices.Clone(rows)
		shuffle(d, rows, ofQuery, rng)
		s.set(block, rows)
		defer s.set(block, was)
		return datasets.Score(s.model, &s.copied)
	}
	column, values := block[0], make([]float32, d.Rows()) // sparse documents have no products
	rows, given := s.by.Column(column)
	for i, r := range rows {
		values[r] = given[i]
	}
	was := slices.Clone(values)
	shuffle(d, values, ofQuery, rng)
	changed := queriesWhere(d, func(from, to int) bool { return !slices.Equal(values[from:to], was[from:to]) })
	if changed == nil {
		return s.scores, nil
	}
	part := d.Select(changed)
	part.Sparse = datasets.Sparse{Starts: []int{0}}
	for _, q := range changed {
		for r := d.Offsets[q]; r < d.Offsets[q+1]; r++ {
			columns, own := d.Sparse.Row(r)
			at, there := slices.BinarySearch(columns, int32(column))
			end := at
			if there {
				end++
			}
			part.Sparse.Append(slices.Concat(columns[:at], []int32{int32(column)}, columns[end:]), slices.Concat(own[:at], values[r:r+1], own[end:]))
		}
	}
	own, err := datasets.Score(s.model, part)
	if err != nil {
		return nil, err
	}
	scores := slices.Clone(s.scores)
	for i, q := range changed {
		copy(scores[d.Offsets[q]:d.Offsets[q+1]], own[part.Offsets[i]:])
	}
	return scores, nil
}

// set sets features of documents that are not sparse to the ones of other rows.
func (s *shuffler) set(columns, rows []int) {
	for r, from := range rows {
		for _, c := range columns {
			s.copied.Row(r)[c] = s.d.Row(from)[c]
		}
	}
}

// shuffle brings values of the documents of d in random order within each query, or if they are of the query, among the queries.
func shuffle[T any](d *datasets.Dataset, values []T, ofQuery bool, rng *rand.Rand) {
	exchange := func(i, j int) { values[i], values[j] = values[j], values[i] }
	if ofQuery {
		filled := queriesWhere(d, func(from, to int) bool { return from < to })
		rng.Shuffle(len(filled), func(i, j int) { exchange(d.Offsets[filled[i]], d.Offsets[filled[j]]) })
		for _, q := range filled {
			for r := d.Offsets[q] + 1; r < d.Offsets[q+1]; r++ {
				values[r] = values[r-1]
			}
		}
		return
	}
	for q := range d.Queries() {
		first := d.Offsets[q]
		rng.Shuffle(d.Offsets[q+1]-first, func(i, j int) { exchange(first+i, first+j) })
	}
}
