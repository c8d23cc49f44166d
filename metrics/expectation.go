package metrics

import "math"

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
	draws, err := p.draws()
	if err != nil {
		return Expectation{}, err
	}
	return expectation(m, l, gain, draws.of)
}

// OverRankings is the mean of a metric over given rankings. They must be as
// long as the metric looks, except where the list is shorter. Besides the
// errors of PerQuery, rankings of another shape and entries that are no row of
// the query, or twice in a ranking, are errors.
func OverRankings(m Metric, l Lists, gain Gain, r Rankings) (Expectation, error) {
	places := rankingReader{Rankings: r}
	if err := places.check(l.Offsets, len(l.Scores)); err != nil {
		return Expectation{}, err
	}
	return expectation(m, l, gain, places.read)
}

// expectation averages a metric over rankings of depth places of each query's
// documents, numbered from 0, one ranking after another.
func expectation(m Metric, l Lists, gain Gain, rankings func(q query, depth int) ([]int, error)) (Expectation, error) {
	var e Expectation
	err := l.judged(m, gain, func(j *judge, q query) error {
		mean, stdErr := math.NaN(), math.NaN()
		if q.defined {
			depth := m.depth(len(q.scores))
			places, err := rankings(q, depth)
			if err != nil {
				return err
			}
			mean, stdErr = j.average(places, depth)
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
