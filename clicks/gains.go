package clicks

import (
	"fmt"
	"math"
	"slices"

	"github.com/plrank/plrank/datasets"
	"github.com/plrank/plrank/internal/parallel"
)

// Gains turns the clicks of a log into gains to train on. The dataset has a query for each
// query of the log, with all of its candidates, their features as they were logged last, and
// Dataset.Gains, which may be negative. Labels are Unlabelled. The weight of a query is its
// number of impressions over the mean number. Dataset.Logged is Σ_k α_k P(d@k), summed over the
// impressions, for the estimators that need it (all except naive and ips). Dataset.LoggedScores
// are the scores of the last policy of each query, if all were logged.
//
// Over the impressions of the query, with document d at rank k where it is shown, c̄ is the
// mean of the clicks on it, α̂ and β̂ are the means of α_k and β_k (each 0 where it is not
// shown), and ᾱ is the mean of Σ_k α_k P(d@k) under the policy that drew the impression.
// Impressions may come from several policies. The gain is
//
//	naive          c̄
//	ips            the mean of c/max(α_k, τ)
//	policy-aware   (c̄ − β̂) / max(ᾱ, τ)
//	dr             r̂ + (c̄ − β̂ − α̂ r̂) / max(ᾱ, τ)
//
// where r̂ is the regression of [Evaluate]. The clip τ, unless it is given, is min(1, 10/√n) for n
// impressions in the log (Oosterhuis, TOIS 2023). Without a clip the last two are unbiased
// estimates of relevance. Gains returns the same errors as Evaluate.
func Gains(l *Log, b Bias, estimator Estimator) (*datasets.Dataset, error) {
	g, err := NewGainEstimation(b, estimator)
	if err == nil {
		err = g.Add(l)
	}
	if err != nil {
		return nil, err
	}
	return g.Dataset()
}

// A GainEstimation is [Gains] for a log that comes in parts, see [Scan]. Its memory is proportional to
// the documents of all queries, and does not grow with their impressions.
type GainEstimation struct {
	estimatorEntry
	bias Bias
	clip float64 // negative: by the number of impressions
	rows rows

	impressions []float64 // by query
	total       int
	sums        []rowSums // by row
}

// rowSums holds sums over the impressions of a document's query: for the means c̄, α̂, β̂ and ᾱ,
// Σ α² and Σ α (c − β), and for ips the clicks at each rank.
type rowSums struct {
	clicks, alpha, beta, exposure float64
	weight, clicked               float64
	byRank                        []float64
}

// NewGainEstimation returns an estimation without impressions.
func NewGainEstimation(b Bias, estimator Estimator) (*GainEstimation, error) {
	entry, clip, err := estimator.parse(func(e estimatorEntry) bool { return e.gains })
	if err != nil {
		return nil, err
	}
	if entry.bias {
		if err := b.check(); err != nil {
			return nil, fmt.Errorf("clicks: %w", err)
		}
	}
	return &GainEstimation{estimatorEntry: entry, bias: b, clip: clip}, nil
}

// Add adds the impressions of a log.
func (g *GainEstimation) Add(l *Log) error {
	if err := l.Validate(); err != nil {
		return err
	}
	situations := l.situations()
	exposures, err := g.exposures(l, situations)
	if err != nil {
		return err
	}
	if err := g.rows.setColumns(l); err != nil {
		return err
	}
	g.total += len(l.Impressions)
	for i := range situations {
		s := &situations[i]
		q, documents, err := g.rows.add(s)
		if err != nil {
			return l.impressionError(s.impressions[0], err)
		}
		g.impressions = append(g.impressions, make([]float64, len(g.rows.queries)-len(g.impressions))...)
		g.sums = append(g.sums, make([]rowSums, len(g.rows.ids)-len(g.sums))...)
		g.impressions[q] += float64(len(s.impressions))
		for d, e := range exposures[i] {
			g.sums[documents[d]].exposure += e * float64(len(s.impressions))
		}
		for _, j := range s.impressions {
			im := &l.Impressions[j]
			for k, d := range im.Shown {
				g.addClick(&g.sums[documents[d]], k, im.Clicks[k])
			}
		}
	}
	return nil
}

// addClick adds the click on a document at rank k+1.
func (g *GainEstimation) addClick(s *rowSums, k int, click float64) {
	s.clicks += click
	if !g.estimatorEntry.bias {
		return
	}
	alpha, beta := g.bias.Alpha[k], g.bias.beta(k)
	s.alpha += alpha
	s.beta += beta
	s.weight += alpha * alpha
	s.clicked += alpha * (click - beta)
	if g.name == IPS {
		if s.byRank == nil {
			s.byRank = make([]float64, len(g.bias.Alpha))
		}
		s.byRank[k] += click
	}
}

// exposures returns Σ_k α_k P(d@k) for the documents of every situation, if the estimator needs
// them.
func (g *GainEstimation) exposures(l *Log, situations []situation) ([][]float64, error) {
	all := make([][]float64, len(situations))
	workers := parallel.Workers(len(all))
	scratch := make([]propensities, workers)
	return all, parallel.Each(len(all), workers, func(w, i int) error {
		s := &situations[i]
		if !g.estimatorEntry.bias || len(s.Shown) == 0 {
			return nil
		}
		err := g.bias.covers(s.Impression)
		if err == nil && g.name != IPS {
			_, err = scratch[w].set(Logged, nil, s.Impression, g.bias, needs{exposures: true})
			all[i] = slices.Clone(scratch[w].exposures)
		}
		return l.impressionError(s.impressions[0], err)
	})
}

// Dataset ends the estimation, and returns the dataset of [Gains].
func (g *GainEstimation) Dataset() (*datasets.Dataset, error) {
	clip := g.clip
	if clip < 0 {
		clip = min(1, 10/math.Sqrt(float64(max(1, g.total))))
	}
	d, order := g.rows.dataset()
	mean := float64(g.total) / float64(max(1, len(g.impressions)))
	for _, n := range g.impressions {
		d.QueryWeights = append(d.QueryWeights, float32(n/mean))
	}
	if err := g.setGains(d, order, clip); err != nil {
		return nil, err
	}
	if g.estimatorEntry.bias && g.name != IPS {
		for _, row := range order {
			d.Logged = append(d.Logged, float32(g.sums[row].exposure))
		}
	}
	d.LoggedScores = g.loggedScores()
	return d, d.Validate()
}

// loggedScores returns the scores of the last policy of each query, shifted so that the highest is 0, or nil if they are
// not known. Documents that were not candidates have a score 100 below the lowest, and so exposure 0.
func (g *GainEstimation) loggedScores() (all []float32) {
	for i := range g.rows.queries {
		q := &g.rows.queries[i]
		if q.logged == nil {
			return nil
		}
		highest, lowest := slices.Max(q.logged), slices.Min(q.logged)
		for _, s := range q.scores(lowest - 100) {
			all = append(all, float32(max(-1e30, s-highest)))
		}
	}
	return all
}

// setGains sets the gains of all documents. order has the row of each.
func (g *GainEstimation) setGains(d *datasets.Dataset, order []int, clip float64) error {
	var relevance []float64
	if g.name == DR {
		var err error
		if relevance, err = g.relevance(d, order); err != nil {
			return err
		}
	}
	d.Gains = make([]float64, len(order))
	for q, n := range g.impressions {
		for i := d.Offsets[q]; i < d.Offsets[q+1]; i++ {
			s := &g.sums[order[i]]
			exposure := max(s.exposure/n, clip)
			switch g.name {
			case Naive:
				d.Gains[i] = s.clicks / n
			case IPS:
				for k, c := range s.byRank {
					d.Gains[i] += over(c/n, max(g.bias.Alpha[k], clip))
				}
			case PolicyAware:
				d.Gains[i] = over((s.clicks-s.beta)/n, exposure)
			case DR:
				d.Gains[i] = relevance[i] + over((s.clicks-s.beta-s.alpha*relevance[i])/n, exposure)
			}
		}
	}
	return nil
}

// relevance returns r̂ of all documents, by the features and scores logged last.
func (g *GainEstimation) relevance(d *datasets.Dataset, order []int) (all []float64, err error) {
	situations := g.rows.situations(d)
	r, err := fitRelevance(situations, func(q int, weight, clicked []float64) {
		for i, row := range order[d.Offsets[q]:d.Offsets[q+1]] {
			weight[i], clicked[i] = g.sums[row].weight, g.sums[row].clicked
		}
	})
	if err != nil {
		return nil, err
	}
	var predicted []float64
	for i := range situations {
		predicted = r.predict(predicted, situations[i].Impression)
		all = append(all, predicted...)
	}
	return all, nil
}

// over returns x/y, 0 for documents that were never shown.
func over(x, y float64) float64 {
	if x == 0 {
		return 0
	}
	return x / y
}
