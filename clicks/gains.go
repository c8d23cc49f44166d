package clicks

import (
	"math"
	"slices"

	"github.com/plrank/plrank/datasets"
	"github.com/plrank/plrank/internal/parallel"
)

// Gains turns the clicks of a log into gains to train on: the result has a query for each
// query of the log, with all of its candidates, their features as they were logged last, and
// Dataset.Gains, which may be negative. Labels are Unlabelled. The weight of a query is
// its number of impressions over their mean number. Dataset.Logged is Σ_k α_k P(d@k), summed
// over the impressions, of the estimators that need it (all but naive and ips).
// Dataset.LoggedScores are those of the last policy of each query, if all were logged.
//
// Over the impressions of the query, with document d at rank k where it is shown, c̄ is the
// mean of the clicks on it (0 where it is not shown), α̂ and β̂ are those of α_k and β_k
// (0 where it is not shown), and ᾱ is that of Σ_k α_k P(d@k), each by the policy that drew it:
// the impressions may be of several versions. The gain is
//
//	naive          c̄
//	ips            the mean of c/max(α_k, τ)
//	policy-aware   c̄ / max(ᾱ, τ)
//	affine         (c̄ − β̂) / max(ᾱ, τ)
//	dr             r̂ + (c̄ − β̂ − α̂ r̂) / max(ᾱ, τ)
//
// with r̂ of the regression of [Evaluate], and for the clip τ, unless it is given, 10/√n for n
// impressions in the log (Oosterhuis, TOIS 2023), but 1 at most. Without a clip the last three
// are unbiased estimates of relevance (policy-aware where β = 0). Errors are those of Evaluate.
func Gains(l *Log, b Bias, estimator Estimator) (*datasets.Dataset, error) {
	entry, clip, err := estimator.parse(func(e estimatorEntry) bool { return e.gains })
	if err != nil {
		return nil, err
	}
	if err := l.Validate(); err != nil {
		return nil, err
	}
	if clip < 0 {
		clip = min(1, 10/math.Sqrt(float64(max(1, len(l.Impressions)))))
	}
	if entry.bias {
		if err := b.check(); err != nil {
			return nil, err
		}
	}
	g := &gains{Log: l, bias: b, estimatorEntry: entry, clip: clip, situations: l.situations()}
	g.rows = numberRows(g.situations)
	if err := g.sum(); err != nil {
		return nil, err
	}
	d := g.dataset()
	if d.Gains, err = g.values(); err != nil {
		return nil, err
	}
	if entry.bias && entry.name != IPS {
		for _, s := range g.sums {
			d.Logged = append(d.Logged, float32(s.exposure))
		}
	}
	if d.LoggedScores, err = g.loggedScores(); err != nil {
		return nil, err
	}
	return d, d.Validate()
}

// loggedScores are those of the last policy of each query, shifted so that the highest is 0. What
// was no candidate then has exposure 0 by a score 100 below the lowest. nil: they are not known.
func (g *gains) loggedScores() ([]float32, error) {
	last := make([]int, len(g.queries)) // situation
	for i, q := range g.query {
		last[q] = i
	}
	scores := make([]float32, len(g.latest))
	for q, i := range last {
		im := g.situations[i].Impression
		if len(im.Scores) == 0 {
			return nil, nil
		}
		logged, err := Logged(im)
		if err != nil {
			return nil, g.at(g.situations[i].impressions[0], err)
		}
		highest, lowest := slices.Max(logged), slices.Min(logged)
		for row := g.offsets[q]; row < g.offsets[q+1]; row++ {
			scores[row] = float32(max(-1e30, lowest-highest-100))
		}
		for d, row := range g.of[i] {
			scores[row] = float32(max(-1e30, logged[d]-highest))
		}
	}
	return scores, nil
}

// gains are sums of clicks on their way to a dataset.
type gains struct {
	*Log
	*rows
	estimatorEntry
	bias       Bias
	clip       float64
	situations []situation

	impressions []float64 // by query
	sums        []rowSums
}

// rowSums are sums over the impressions of the query of a document: what the means c̄, α̂, β̂ and
// ᾱ are made of, and Σ c/max(α_k, τ).
type rowSums struct{ clicks, alpha, beta, exposure, ips float64 }

// sum adds up the impressions.
func (g *gains) sum() error {
	exposures, err := g.exposures()
	if err != nil {
		return err
	}
	g.impressions, g.sums = make([]float64, len(g.queries)), make([]rowSums, len(g.latest))
	for i := range g.situations {
		s := &g.situations[i]
		g.impressions[g.query[i]] += float64(len(s.impressions))
		for d, e := range exposures[i] {
			g.sums[g.of[i][d]].exposure += e * float64(len(s.impressions))
		}
		for _, j := range s.impressions {
			im := &g.Impressions[j]
			for k, d := range im.Shown {
				sums := &g.sums[g.of[i][d]]
				sums.clicks += im.Clicks[k]
				if g.estimatorEntry.bias {
					sums.alpha += g.bias.Alpha[k]
					sums.beta += g.bias.beta(k)
					sums.ips += im.Clicks[k] / max(g.bias.Alpha[k], g.clip)
				}
			}
		}
	}
	return nil
}

// exposures are Σ_k α_k P(d@k) for the documents of every situation, if the estimator needs
// them.
func (g *gains) exposures() ([][]float64, error) {
	all := make([][]float64, len(g.situations))
	workers := parallel.Workers(len(all))
	scratch := make([]propensities, workers)
	return all, parallel.Each(len(all), workers, func(w, i int) error {
		s := &g.situations[i]
		if !g.estimatorEntry.bias || len(s.Shown) == 0 {
			return nil
		}
		err := g.bias.covers(s.Impression)
		if err == nil && g.name != IPS {
			err = scratch[w].set(Logged, s.Impression, g.bias, needs{exposures: true})
			all[i] = append(all[i], scratch[w].exposures...)
		}
		if err != nil {
			return g.at(s.impressions[0], err)
		}
		return nil
	})
}

// values are the gains of all documents.
func (g *gains) values() ([]float64, error) {
	var relevance []float64
	if g.name == DR {
		var err error
		if relevance, err = g.relevance(); err != nil {
			return nil, err
		}
	}
	values := make([]float64, len(g.latest))
	for q, n := range g.impressions {
		for row := g.offsets[q]; row < g.offsets[q+1]; row++ {
			s := g.sums[row]
			exposure := max(s.exposure/n, g.clip)
			switch g.name {
			case Naive:
				values[row] = s.clicks / n
			case IPS:
				values[row] = s.ips / n
			case PolicyAware:
				values[row] = over(s.clicks/n, exposure)
			case Affine:
				values[row] = over((s.clicks-s.beta)/n, exposure)
			case DR:
				values[row] = relevance[row] + over((s.clicks-s.beta-s.alpha*relevance[row])/n, exposure)
			}
		}
	}
	return values, nil
}

// relevance is r̂ of all documents, by what was logged last.
func (g *gains) relevance() ([]float64, error) {
	r, err := fitRelevance(g.Log, g.situations, g.bias)
	if err != nil {
		return nil, err
	}
	all := make([]float64, len(g.latest))
	var predicted []float64
	for i := range g.situations {
		predicted = r.predict(predicted, g.situations[i].Impression)
		for d, row := range g.of[i] {
			if g.latest[row] == (place{i, d}) {
				all[row] = predicted[d]
			}
		}
	}
	return all, nil
}

// over is x/y, 0 for what was never shown.
func over(x, y float64) float64 {
	if x == 0 {
		return 0
	}
	return x / y
}

// dataset is the queries and their candidates.
func (g *gains) dataset() *datasets.Dataset {
	d := &datasets.Dataset{Name: "clicks", QueryIDs: g.queries, Offsets: g.offsets, FeatureIDs: g.FeatureIDs}
	width := len(d.FeatureIDs)
	for i := range g.situations {
		width = max(width, g.situations[i].width())
	}
	for c := len(d.FeatureIDs); c < width; c++ {
		d.FeatureIDs = append(d.FeatureIDs, c+1)
	}
	d.Features = make([]float32, 0, len(g.latest)*width)
	for _, at := range g.latest {
		im := g.situations[at.situation].Impression
		d.DocumentIDs = append(d.DocumentIDs, im.Documents[at.document])
		d.Labels = append(d.Labels, datasets.Unlabelled)
		d.Features = append(d.Features, im.Features[at.document*im.width():(at.document+1)*im.width()]...)
		for len(d.Features) < len(d.Labels)*width {
			d.Features = append(d.Features, float32(math.NaN()))
		}
	}
	mean := float64(len(g.Impressions)) / float64(max(1, len(g.queries)))
	for _, n := range g.impressions {
		d.QueryWeights = append(d.QueryWeights, float32(n/mean))
	}
	return d
}
