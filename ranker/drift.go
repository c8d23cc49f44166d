package ranker

import (
	"errors"
	"fmt"
	"math"
	"slices"
	"time"

	"gonum.org/v1/gonum/floats"
	"gonum.org/v1/gonum/stat/distuv"
)

// A Drift compares documents with those that a model was trained on, by its [Reference].
type Drift struct {
	columns []*counter // by feature; nil: not in the reference. The last is of the scores.
	periods []period
	queries int // of the last period
	most    int // queries of a period
}

// A period counts the documents of some queries in a row, by column and bin.
type period struct {
	from   time.Time
	counts [][]float64
}

// mostPeriods bounds the periods. If there are more, two in a row become one.
const mostPeriods = 128

// ErrNoReference is returned by [NewDrift] for a model file that has none.
var ErrNoReference = errors.New("the model file keeps no quantiles of its training data")

// NewDrift returns a comparison without documents.
func NewDrift(m *Model) (*Drift, error) {
	r := m.file.Reference
	switch {
	case r == nil && m.file.Sparse:
		return nil, fmt.Errorf("%w: it was trained on sparse documents, and the drift of sparse features is not watched", ErrNoReference)
	case r == nil:
		return nil, fmt.Errorf("%w, as older versions and other libraries write none: train it again, by plrank train", ErrNoReference)
	}
	d := &Drift{most: 1}
	add := func(c *Column, levels []string) {
		if c == nil || c.Counts == nil {
			d.columns = append(d.columns, nil)
			return
		}
		d.columns = append(d.columns, newCounter(c, levels))
	}
	for i := range r.Columns {
		var levels []string
		if m.file.Levels != nil {
			levels = m.file.Levels[i]
		}
		add(&r.Columns[i], levels)
	}
	add(r.Scores, nil)
	return d, nil
}

// Add adds the documents of a query: features are [documents × width], raw; scores may be nil. Queries with the same group,
// such as a hash of their text, are not independent.
func (d *Drift) Add(group uint64, at time.Time, features []float32, scores []float64) {
	width := len(d.columns) - 1
	if len(d.periods) == 0 || d.queries == d.most {
		if len(d.periods) == mostPeriods {
			d.merge()
		}
		d.periods = append(d.periods, period{at, make([][]float64, len(d.columns))})
		d.queries = 0
	}
	d.queries++
	p := &d.periods[len(d.periods)-1]
	if at.Before(p.from) {
		p.from = at
	}
	count := func(c int, v float64) {
		w := d.columns[c]
		if w == nil {
			return
		}
		if p.counts[c] == nil {
			p.counts[c] = make([]float64, len(w.total))
		}
		p.counts[c][w.add(int(group%numberOfGroups), v)]++
	}
	for i, v := range features {
		count(i%width, float64(v))
	}
	for _, s := range scores {
		count(width, s)
	}
}

// merge makes one period of two.
func (d *Drift) merge() {
	d.most *= 2
	for i := range mostPeriods / 2 {
		a, b := d.periods[2*i], d.periods[2*i+1]
		if b.from.Before(a.from) {
			a.from = b.from
		}
		for c := range a.counts {
			if a.counts[c] == nil {
				a.counts[c] = b.counts[c]
			} else if b.counts[c] != nil {
				floats.Add(a.counts[c], b.counts[c])
			}
		}
		d.periods[i] = a
	}
	d.periods = d.periods[:mostPeriods/2]
}

// A Shift is how the values of a column differ from the reference.
type Shift struct {
	Column int     // the feature; the number of features: the scores
	PSI    float64 // the population stability index, Σ_b (a_b − r_b) ln(a_b/r_b) over the shares by bin
	Noise  float64 // its mean if nothing has moved
	Alarm  bool
	Since  time.Time // of an alarm: the first time from which it holds
	// Missing and Unseen are the shares of missing values and of texts that training did not see, before and now.
	Missing, Unseen [2]float64
}

// Shifts returns the shifts of all columns of the reference that have documents. A column alarms if its index is above the
// noise by more than least, and one of its tests rejects that nothing has moved, with an error of 0.02 for all columns and
// tests together: Pearson's χ² of the shares by bin, from the effective numbers of documents; for numbers the differences of
// the means of three weights, see contrasts, and for texts the share of those that training did not see.
// Effective numbers are estimated from the groups of queries, so that the tests are F and t tests: one group never alarms.
func (d *Drift) Shifts(least float64) (all []Shift) {
	watching := 0
	for _, w := range d.columns {
		if w != nil {
			watching++
		}
	}
	for c, w := range d.columns {
		if w == nil || floats.Sum(w.total) == 0 {
			continue
		}
		now, was, effective := w.total, w.Counts, w.Effective
		free := w.freedom()
		n, m := w.effective()*max(1, free)/(free+1), max(1, effective[0])
		degrees := max(1, float64(len(now)-1))
		s := Shift{Column: c, Noise: degrees * (1/n + 1/m)}
		a, r := shares(now, n), shares(was, m)
		pearson := 0.
		for b := range a {
			s.PSI += (a[b] - r[b]) * math.Log(a[b]/r[b])
			pearson += (a[b] - r[b]) * (a[b] - r[b]) / (n*a[b] + m*r[b]) * n * m
		}
		chance := 1. // how alike the documents of one query are is not known
		if free > 0 {
			chance = distuv.F{D1: degrees, D2: free}.Survival(pearson / degrees)
		}
		for i, u := range w.contrasts() {
			own := max(1, effective[min(1+i, len(effective)-1)]) // files of before lack the last
			t := w.moved(u, was) / math.Sqrt((free+1)/max(1, free)/w.effectiveFor(u)+1/own)
			if free > 0 {
				chance = min(chance, 2*distuv.StudentsT{Sigma: 1, Nu: free}.Survival(math.Abs(t)))
			}
		}
		s.Alarm = chance < 0.02/float64(4*watching) && s.PSI-s.Noise > least
		last := len(now) - 1
		s.Missing = [2]float64{was[last] / floats.Sum(was), now[last] / floats.Sum(now)}
		if w.levels != nil {
			s.Unseen = [2]float64{was[last-1] / floats.Sum(was), now[last-1] / floats.Sum(now)}
		}
		if s.Alarm {
			s.Since = d.since(c, r)
		}
		all = append(all, s)
	}
	return all
}

// moved returns the difference of the mean weight from the mean 0 of a reference, in its standard deviations.
func (g *counter) moved(weights, reference []float64) float64 {
	n, mean, variance := floats.Sum(reference), 0., 0.
	for b, x := range reference {
		mean += x / n * weights[b]
		variance += x / n * weights[b] * weights[b]
	}
	if variance -= mean * mean; variance <= 0 {
		return 0
	}
	return (floats.Dot(g.total, weights)/floats.Sum(g.total) - mean) / math.Sqrt(variance)
}

// shares returns the shares of counts, with half a document of the effective number in each bin.
func shares(counts []float64, effective float64) []float64 {
	n := floats.Sum(counts)
	all := make([]float64, len(counts))
	for b, x := range counts {
		all[b] = (x/n*effective + .5) / (effective + .5*float64(len(counts)))
	}
	return all
}

// since returns the time from which a column has its new distribution: the one with the largest likelihood, where the documents
// before are as in the reference, and those after have the shares that they have.
func (d *Drift) since(c int, reference []float64) (from time.Time) {
	periods := slices.Clone(d.periods)
	slices.SortStableFunc(periods, func(a, b period) int { return a.from.Compare(b.from) })
	after := make([]float64, len(reference))
	best := math.Inf(-1)
	for i := len(periods) - 1; i >= 0; i-- {
		if periods[i].counts[c] == nil {
			continue
		}
		floats.Add(after, periods[i].counts[c])
		value, n := 0., floats.Sum(after)
		for b, x := range after {
			if x > 0 {
				value += x * math.Log(x/n/reference[b])
			}
		}
		if value >= best {
			best, from = value, periods[i].from
		}
	}
	return from
}
