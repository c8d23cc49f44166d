package clicks

import (
	"cmp"
	"errors"
	"fmt"
	"maps"
	"math"
	"slices"

	"gonum.org/v1/gonum/floats"

	"github.com/plrank/plrank/internal/parallel"
)

// A Way is how models share the impressions of a log.
type Way string

const (
	// TeamDraft compares models by the clicks on the documents that each contributed to one ranking.
	TeamDraft Way = "interleaved"
	// Drawn compares models by rankings drawn from a mixture of their policies: a click counts for a model by how much
	// likelier it shows the document at the rank.
	Drawn Way = "drawn"
	// AB compares models by the clicks on rankings of their own.
	AB Way = "a/b"
)

// A Difference compares a model with the baseline. Intervals and e-values are valid at every time at once: whoever looks
// every day and stops at the first decision is wrong with a probability of at most 1 − Level.
type Difference struct {
	Way         Way     `json:"way"`
	Segment     string  `json:"segment,omitempty"` // "": all impressions
	Baseline    string  `json:"baseline"`
	Model       string  `json:"model"`
	Impressions int     `json:"impressions"`
	Units       int     `json:"units"` // clients, or impressions without clients
	Difference  float64 `json:"difference"`
	Low         float64 `json:"low"`
	High        float64 `json:"high"`
	// Preference is the share of the impressions that the model won, of those that one of the two won; nil for A/B.
	Preference     *float64 `json:"preference,omitempty"`
	PreferenceLow  *float64 `json:"preferenceLow,omitempty"`
	PreferenceHigh *float64 `json:"preferenceHigh,omitempty"`
	// EValue is the evidence against equal models: at most 1 on average if they are equal, at any time.
	EValue float64 `json:"eValue"`
	// PValue is 1/EValue, at most 1: always valid.
	PValue float64 `json:"pValue"`
	// Decision is the better model; "": there is no decision yet.
	Decision string `json:"decision"`
	// More is about how many more impressions a decision needs, if the difference stays the same; 0: decided; −1: not known.
	More int `json:"moreImpressions"`
	// Counterfactual is the difference by the policy-aware estimator, as if each model ranked alone; nil without a bias, and
	// for other ways.
	Counterfactual *Counterfactual `json:"counterfactual,omitempty"`
}

// A Counterfactual is an estimated difference, with an interval as in [Difference].
type Counterfactual struct {
	Difference float64 `json:"difference"`
	Low        float64 `json:"low"`
	High       float64 `json:"high"`
}

// A Comparison compares models on the log of their users: see [Comparison.Results].
type Comparison struct {
	// Level is the level of the intervals, for all models together. 0: 0.95.
	Level float64
	// Baseline is the model with which the others are compared. "": the first of the interleaved models, or the first in
	// the alphabet.
	Baseline string
	// Bias gives interleaved rankings a counterfactual estimate. Alpha nil: none.
	Bias Bias
	// Segments compares within each segment, too.
	Segments bool

	sums     map[sumsOf]*unitSums
	versions map[string]map[string]bool // by model
	first    string                     // of the interleaved models
}

// sumsOf names a sum by unit: the value of a model against another, or the clicks of an arm if other is "".
type sumsOf struct {
	way            Way
	segment        string
	model, other   string
	counterfactual bool
}

// Add adds the impressions of a log.
func (c *Comparison) Add(l *Log) error {
	if err := l.Validate(); err != nil {
		return err
	}
	if c.sums == nil {
		c.sums, c.versions = map[sumsOf]*unitSums{}, map[string]map[string]bool{}
	}
	situations := l.situations()
	placed := make([]*contributions, len(situations))
	workers := parallel.Workers(len(situations))
	scratch := make([]propensities, workers)
	if err := parallel.Each(len(situations), workers, func(w, i int) (err error) {
		s := &situations[i]
		placed[i], err = c.contributions(s.Impression, &scratch[w])
		return l.impressionError(s.impressions[0], err)
	}); err != nil {
		return err
	}
	for i, s := range situations {
		for _, j := range s.impressions {
			c.add(&l.Impressions[j], placed[i])
		}
	}
	return nil
}

// contributions holds, by model, how much a click counts for it: [models][documents × ranks].
type contributions struct {
	drawn          [][]float64
	counterfactual [][]float64
}

// contributions computes what clicks count for in a situation.
func (c *Comparison) contributions(im *Impression, p *propensities) (*contributions, error) {
	v, out := im.Interleaving, &contributions{}
	if v == nil || len(im.Shown) == 0 || v.Teams != nil && c.Bias.Alpha == nil {
		return out, nil
	}
	ranks := len(im.Shown)
	logged := make([]float64, len(im.Documents)*ranks)
	if err := v.placements(&p.ruled.Expectation, im, ranks, logged); err != nil {
		return nil, err
	}
	if v.Teams == nil {
		for m := range v.Models {
			own := make([]float64, len(logged))
			scores, err := v.policy(im, m)
			if err == nil {
				err = p.ruled.Expectation.Placements(scores, ranks, own)
			}
			if err != nil {
				return nil, err
			}
			for i := range own {
				own[i] = over(own[i], max(logged[i], leastPropensity))
			}
			out.drawn = append(out.drawn, own)
		}
		return out, nil
	}
	if err := c.Bias.covers(im); err != nil {
		return nil, err
	}
	for _, order := range v.orders() {
		own := make([]float64, len(im.Documents))
		for k, d := range order[:ranks] {
			own[d] = over(c.Bias.Alpha[k], floats.Dot(c.Bias.Alpha[:ranks], logged[d*ranks:(d+1)*ranks]))
		}
		out.counterfactual = append(out.counterfactual, own)
	}
	return out, nil
}

// add adds an impression to the sums of its models.
func (c *Comparison) add(im *Impression, p *contributions) {
	unit := im.Client
	if unit == "" {
		unit = "\x00" + im.ID
	}
	v := im.Interleaving
	if v == nil {
		c.know(im.Model, im.Version)
		c.put(sumsOf{AB, im.Segment, im.Model, "", false}, unit, floats.Sum(im.Clicks))
		return
	}
	c.first = cmp.Or(c.first, v.Models[0].Name)
	for m := range v.Models {
		c.know(v.Models[m].Name, v.Models[m].Version)
		for other := range v.Models {
			if v.Models[m].Name == "" || v.Models[other].Name == "" || m == other {
				continue
			}
			key := sumsOf{TeamDraft, im.Segment, v.Models[m].Name, v.Models[other].Name, false}
			value, counterfactual := 0., 0.
			for k, click := range im.Clicks {
				d := im.Shown[k]
				switch {
				case v.Teams == nil:
					value += click * (p.drawn[m][d*len(im.Shown)+k] - p.drawn[other][d*len(im.Shown)+k])
				case v.Teams[k] == m:
					value += click
				case v.Teams[k] == other:
					value -= click
				}
				if p.counterfactual != nil {
					counterfactual += (click - c.Bias.beta(k)) * (p.counterfactual[m][d] - p.counterfactual[other][d])
				}
			}
			if v.Teams == nil {
				key.way = Drawn
			}
			c.put(key, unit, value)
			if p.counterfactual != nil {
				key.counterfactual = true
				c.put(key, unit, counterfactual)
			}
		}
	}
}

func (c *Comparison) know(model, version string) {
	if c.versions[model] == nil {
		c.versions[model] = map[string]bool{}
	}
	c.versions[model][version] = true
}

// put adds a value to its sums, and with Segments to the sums of the segment.
func (c *Comparison) put(key sumsOf, unit string, value float64) {
	segments := []string{""}
	if c.Segments && key.segment != "" {
		segments = append(segments, key.segment)
	}
	for _, key.segment = range segments {
		if c.sums[key] == nil {
			c.sums[key] = &unitSums{at: map[string]int{}}
		}
		c.sums[key].add(unit, value)
	}
}

// Versions returns the versions of each model in the log.
func (c *Comparison) Versions() map[string][]string {
	all := map[string][]string{}
	for model, versions := range c.versions {
		all[model] = slices.Sorted(maps.Keys(versions))
	}
	return all
}

// Results compares every model with the baseline, for each way in which they shared impressions.
//
// The difference is the mean per impression: clicks on documents of the model less clicks on documents of the
// baseline (interleaved), of the clicks weighted by (P_m(d@k) − P_1(d@k)) / P(d@k) (drawn), or the difference of the mean
// clicks (a/b). With unit sums x_u, linearised around the mean, their sum S and their sum of squares V at a difference
// that is not x,
//
//	e = (1 + nρ²)^(−1/2) exp( nρ²/(1 + nρ²) · S²/2V )
//
// is the mixture over normal alternatives (Robbins 1970) with n the units whose x is not 0 and ρ² = 7.9/1000. If the x are
// symmetric around 0, as by a team draft of equal models, e is a supermartingale for values of one size (de la Peña 1999),
// and otherwise in the limit of many units (Waudby-Smith et al., Annals of Statistics 2024). The interval has all
// differences with e < 1/(1 − level).
func (c *Comparison) Results() ([]Difference, error) {
	if len(c.sums) == 0 {
		return nil, errors.New("clicks: no impressions to compare models on")
	}
	models := slices.Sorted(maps.Keys(c.versions))
	baseline := cmp.Or(c.Baseline, c.first, models[0])
	if c.versions[baseline] == nil {
		return nil, fmt.Errorf("clicks: no impression has the model %q: want one of %q", baseline, models)
	}
	models = slices.DeleteFunc(models, func(m string) bool { return m == baseline || m == "" })
	if len(models) == 0 {
		return nil, fmt.Errorf("clicks: all impressions are of the model %q: want a log of two, see plrank serve -interleave, -split", baseline)
	}
	level := 1 - (1-cmp.Or(c.Level, .95))/float64(len(models))
	segments := map[string]bool{}
	for key := range c.sums {
		segments[key.segment] = true
	}
	var all []Difference
	for _, way := range []Way{TeamDraft, Drawn, AB} {
		for _, segment := range slices.Sorted(maps.Keys(segments)) {
			for _, model := range models {
				if d, ok := c.difference(sumsOf{way, segment, model, baseline, false}, level); ok {
					all = append(all, d)
				}
			}
		}
	}
	if len(all) == 0 {
		return nil, fmt.Errorf("clicks: no impressions compare a model with %q", baseline)
	}
	return all, nil
}

// difference returns a comparison, and false if the log has none.
func (c *Comparison) difference(key sumsOf, level float64) (Difference, bool) {
	d := Difference{Way: key.way, Segment: key.segment, Baseline: key.other, Model: key.model}
	var s sequence
	if key.way == AB {
		model, baseline := c.sums[sumsOf{AB, key.segment, key.model, "", false}], c.sums[sumsOf{AB, key.segment, key.other, "", false}]
		if model == nil || baseline == nil {
			return d, false
		}
		s.addArm(model, 1)
		s.addArm(baseline, -1)
		d.Impressions = model.impressions + baseline.impressions
	} else {
		sums := c.sums[key]
		if sums == nil {
			return d, false
		}
		d.Impressions = sums.impressions
		s = sums.sequence(func(u *unitSum) (float64, float64) { return u.value, u.n })
		preferred := sums.sequence(func(u *unitSum) (float64, float64) { return u.won, u.decided })
		if preferred.units > 0 {
			half := preferred.half(level) / 2
			share := (1 + preferred.mean) / 2
			low, high := max(0, share-half), min(1, share+half)
			d.Preference, d.PreferenceLow, d.PreferenceHigh = &share, &low, &high
		}
		key.counterfactual = true
		if sums := c.sums[key]; sums != nil {
			s := sums.sequence(func(u *unitSum) (float64, float64) { return u.value, u.n })
			if half := s.half(level); !math.IsInf(half, 1) {
				d.Counterfactual = &Counterfactual{s.mean, s.mean - half, s.mean + half}
			}
		}
	}
	half := s.half(level)
	d.Units, d.Difference, d.Low, d.High = s.units, s.mean, s.mean-half, s.mean+half
	d.EValue = min(s.eValue(), math.MaxFloat64)
	d.PValue = min(1, 1/d.EValue)
	switch {
	case d.Low > 0:
		d.Decision = d.Model
	case d.High < 0:
		d.Decision = d.Baseline
	default:
		d.More = s.more(level, d.Impressions)
	}
	return d, true
}
