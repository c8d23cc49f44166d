package metrics

import (
	"errors"
	"fmt"
	"math"

	"github.com/plrank/plrank/internal/plackett"
)

// Rankings are given rankings of the queries of some Lists, laid out as the
// values of ops.Rankings: [queries, Samples, Cutoff] row numbers, −1 where the
// list has ended. A sample whose first entry is −1 is absent; all samples of a
// query without documents are.
type Rankings struct {
	Rows    []int
	Samples int
	Cutoff  int
}

// Policy is the Plackett–Luce policy that scores define, and how it is sampled.
type Policy struct {
	Samples int    // rankings drawn for every query; 0: 100
	Seed    uint64 // of the random numbers: the same seed and step, the same rankings
	Step    uint64 // tells apart draws of one seed, such as those of the epochs
}

// Expectation is the expected metric of every query.
type Expectation struct {
	PerQuery []float64 // the mean over the sampled rankings; NaN where the metric is not defined
	// StdErr is the standard error of PerQuery as an estimate of the exact
	// expectation: the standard deviation over the samples / √samples. With one
	// sample it is not known, +Inf. NaN where PerQuery is.
	StdErr []float64
}

// Mean is the mean over queries and its standard error from the sampling of
// rankings; that the queries themselves are a sample is not in it. Both are NaN
// where no query counts.
func (e Expectation) Mean(c Convention) (mean, stdErr float64) {
	mean = Mean(e.PerQuery, c)
	variance := 0.0
	for _, s := range e.StdErr {
		if !math.IsNaN(s) {
			variance += s * s
		}
	}
	return mean, math.Sqrt(variance) / float64(len(c.Counted(e.PerQuery)))
}

// Expected estimates the expectation of a metric under the Plackett–Luce policy
// of the scores, E_y[metric(y)], from rankings that it draws. It costs
// O(documents + samples · cutoff) a query; a metric without a cutoff needs
// rankings of whole lists. Errors are those of PerQuery.
func Expected(m Metric, l Lists, gain Gain, p Policy) (Expectation, error) {
	if p.Samples < 0 {
		return Expectation{}, fmt.Errorf("metrics: %d samples: there must be one or more", p.Samples)
	}
	if p.Samples == 0 {
		p.Samples = 100
	}
	var (
		sampler plackett.Sampler
		drawn   []int
	)
	return expectation(m, l, gain, func(q query) ([]int, int, error) {
		depth := m.depth(len(q.scores))
		drawn = grow(drawn, p.Samples*depth)
		err := sampler.Draw(q.scores, p.Samples, depth, p.Seed, p.Step, uint64(q.number), 0, drawn)
		return drawn, depth, err
	})
}

// OverRankings is the mean of a metric over given rankings. They must be as
// long as the metric looks, except where the list is shorter. Besides the
// errors of PerQuery, rankings of another shape and entries that are no row of
// the query, or twice in a ranking, are errors.
func OverRankings(m Metric, l Lists, gain Gain, r Rankings) (Expectation, error) {
	offsets, err := l.offsets()
	if err != nil {
		return Expectation{}, err
	}
	perQuery := r.Samples * r.Cutoff
	if want := (len(offsets) - 1) * perQuery; len(r.Rows) != want || r.Samples < 0 || r.Cutoff < 0 {
		return Expectation{}, fmt.Errorf("metrics: %d entries of rankings, want %d queries × %d samples × cutoff %d", len(r.Rows), len(offsets)-1, r.Samples, r.Cutoff)
	}
	var (
		local []int
		seen  []int // seen[d] is the number of the ranking that placed d last
		count int
	)
	return expectation(m, l, gain, func(q query) ([]int, int, error) {
		documents := len(q.scores)
		depth := m.depth(documents)
		if depth > r.Cutoff {
			return nil, 0, fmt.Errorf("%s looks at %d ranks of %d documents, but the rankings have only %d", m, depth, documents, r.Cutoff)
		}
		for len(seen) < documents {
			seen = append(seen, 0)
		}
		local = local[:0]
		for i := range r.Samples {
			at := q.number*perQuery + i*r.Cutoff
			ranking := r.Rows[at : at+depth]
			if depth == 0 || ranking[0] == -1 {
				continue
			}
			count++
			for k, row := range ranking {
				d := row - q.first
				if d < 0 || d >= documents {
					return nil, 0, fmt.Errorf("sample %d, rank %d: row %d is not one of the query's, %d to %d", i, k+1, row, q.first, q.first+documents-1)
				}
				if seen[d] == count {
					return nil, 0, fmt.Errorf("sample %d, rank %d: row %d is placed twice", i, k+1, row)
				}
				seen[d] = count
				local = append(local, d)
			}
		}
		return local, depth, nil
	})
}

// expectation averages a metric over the rankings that draw returns for each
// query, one after another, of documents numbered from 0, and of the depth it
// says.
func expectation(m Metric, l Lists, gain Gain, draw func(q query) (rankings []int, depth int, err error)) (Expectation, error) {
	var e Expectation
	err := l.each(m, gain, func(j *judge, q query) error {
		mean, stdErr := math.NaN(), math.NaN()
		if q.defined {
			rankings, depth, err := draw(q)
			if err != nil {
				return err
			}
			if len(rankings) == 0 && len(q.scores) > 0 {
				return errors.New("none of its rankings is present")
			}
			mean, stdErr = j.average(rankings, depth)
		}
		e.PerQuery = append(e.PerQuery, mean)
		e.StdErr = append(e.StdErr, stdErr)
		return nil
	})
	if err != nil {
		return Expectation{}, err
	}
	return e, nil
}

// average is the mean of the metric over rankings of depth places, and its
// standard error.
func (j *judge) average(rankings []int, depth int) (mean, stdErr float64) {
	if len(j.values) == 0 { // nothing to rank: no ranking tells more than another
		return j.value(nil), 0
	}
	n, sumSquares := 0.0, 0.0
	for len(rankings) > 0 {
		v := j.value(rankings[:depth])
		rankings = rankings[depth:]
		n++ // Welford's update
		change := v - mean
		mean += change / n
		sumSquares += change * (v - mean)
	}
	if n == 1 {
		return mean, math.Inf(1)
	}
	return mean, math.Sqrt(sumSquares / (n - 1) / n)
}
