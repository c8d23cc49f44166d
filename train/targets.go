package train

import (
	"errors"
	"fmt"
	"math"
	"slices"
	"strconv"
	"strings"

	"gonum.org/v1/gonum/floats"
	G "gorgonia.org/gorgonia"

	"github.com/plrank/plrank/datasets"
	"github.com/plrank/plrank/internal/text"
	"github.com/plrank/plrank/losses"
	"github.com/plrank/plrank/metrics"
	"github.com/plrank/plrank/train/internal/graph"
)

// A Target is a target of Config.AtLeast in an epoch.
type Target struct {
	Group      string  `json:"group"`
	Least      float64 `json:"least"`      // share of exposure
	Share      float64 `json:"share"`      // on the training split, after the epoch
	Multiplier float64 `json:"multiplier"` // of what the share lacks, in the loss of the epoch
}

// String returns what a target has, such as "exposure of A 0.287, want 0.3".
func (t Target) String() string {
	return fmt.Sprintf("exposure of %s %.3f, want %g", t.Group, t.Share, t.Least)
}

const (
	mostTargets  = 10
	shareMeasure = "exposure-share("
)

// parseTargets reads Config.AtLeast.
func parseTargets(list []string) (targets []Target, err error) {
	if len(list) > mostTargets {
		return nil, fmt.Errorf("train: %d targets of exposure: want at most %d", len(list), mostTargets)
	}
	for _, word := range list {
		at := max(0, strings.LastIndex(word, ":"))
		group := strings.TrimSpace(strings.TrimPrefix(strings.TrimSpace(word[:at]), "group "))
		share, err := strconv.ParseFloat(strings.TrimSpace(strings.TrimSuffix(strings.TrimSpace(word[min(at+1, len(word)):]), "of exposure")), 64)
		if group == "" || err != nil || !(share > 0 && share < 1) {
			return nil, fmt.Errorf("train: at least %q: want a group and a share between 0 and 1, such as A: 0.3 of exposure", word)
		}
		if slices.ContainsFunc(targets, func(t Target) bool { return t.Group == group }) {
			return nil, fmt.Errorf("train: at least %q: the group %q has a target already", word, group)
		}
		targets = append(targets, Target{Group: group, Least: share})
	}
	return targets, nil
}

// number returns the number of the group in d, −1 if it has no document.
func (t Target) number(d *datasets.Dataset) int {
	i := slices.IndexFunc(d.Groups, func(g int) bool { return g >= 0 && d.GroupName(g) == t.Group })
	if i < 0 {
		return -1
	}
	return d.Groups[i]
}

// measure is the share as a measure.
func (t Target) measure(perQuery func(metrics.Queries) ([]float64, error)) metrics.Measure {
	return metrics.NewMeasure(shareMeasure+t.Group+")", false, perQuery).TieAware()
}

func isShare(m metrics.Measure) bool { return strings.HasPrefix(m.String(), shareMeasure) }

// shares returns the part of the expected exposure of each query that a group has, NaN without documents.
func shares(in metrics.Queries, group int) ([]float64, error) {
	exposure, err := metrics.Exposure(in)
	if err != nil {
		return nil, err
	}
	shares := make([]float64, len(in.Offsets)-1)
	for q := range shares {
		own := 0.0
		for row := in.Offsets[q]; row < in.Offsets[q+1]; row++ {
			if in.Groups[row] == group {
				own += exposure[row]
			}
		}
		shares[q] = own / floats.Sum(exposure[in.Offsets[q]:in.Offsets[q+1]])
	}
	return shares, nil
}

// targets is the hook of Config.AtLeast, a dual ascent: after each epoch it measures the shares, from which the multipliers of the next
// epoch follow. The weights of queries count, as in the loss.
type targets struct {
	NopHook
	evaluator *evaluator // of the shares alone
	data      *datasets.Dataset
	learner   learner
	history   *history
	inLoss    []losses.Target
	period    int // epochs in which a model responds to other multipliers
}

// newTargets returns the hook for training data, nil without targets, and adds the targets to the objective. It returns an error if they
// cannot be met.
func newTargets(p *parsed, d *datasets.Dataset, h *history, o *graph.Objective) (*targets, error) {
	c, e := p.config, p.evaluator
	if e.targets == nil {
		return nil, nil
	}
	own := *e
	own.measures, own.settings.WeightedMetrics = nil, true
	t := &targets{evaluator: &own, data: d, history: h, period: 1}
	if c.Scorer == forestScorer { // a tree goes a part of the way
		t.period = max(1, int(1/(c.LearningRate*float64(max(1, c.Trees)))))
	}
	for _, target := range e.targets {
		number := target.number(d)
		if number < 0 {
			return nil, fmt.Errorf("train: at least %g of exposure for the group %q: %s has no document of it", target.Least, target.Group, d.Name)
		}
		own.measures = append(own.measures, target.measure(nil))
		t.inLoss = append(t.inLoss, losses.Target{Group: number, Least: target.Least})
	}
	p.addTargets(t.inLoss, o)
	return t, t.checkPossible()
}

// checkPossible returns an error if some targets cannot be met together.
func (t *targets) checkPossible() error {
	for k, theta := range t.evaluator.in.Discounts {
		if theta < 0 || k > 0 && theta > t.evaluator.in.Discounts[k-1] {
			return errors.New("train: targets of exposure need discounts of 0 or more that do not rise")
		}
	}
	for set := 1; set < 1<<len(t.inLoss); set++ {
		least, groups, names := 0.0, map[int]bool{}, []string(nil)
		for i, target := range t.inLoss {
			if set>>i&1 == 1 {
				least, names = least+target.Least, append(names, t.evaluator.targets[i].Group)
				groups[target.Group] = true
			}
		}
		if most := t.supremum(groups); least >= most {
			return fmt.Errorf("train: at least %.4g of exposure for %s: less than %.4g is possible on %s", least, text.List(names), most,
				t.data.Name)
		}
	}
	return nil
}

// supremum returns the share that groups have if all their documents are before the others: policies come near it.
func (t *targets) supremum(groups map[int]bool) float64 {
	most, all := 0.0, 0.0
	for q := range t.data.Queries() {
		documents, weight, n := t.data.Groups[t.data.Offsets[q]:t.data.Offsets[q+1]], 1.0, 0
		for _, g := range documents {
			if groups[g] {
				n++
			}
		}
		if t.data.QueryWeights != nil {
			weight = float64(t.data.QueryWeights[q])
		}
		if len(documents) > 0 {
			shown := t.evaluator.in.Discounts[:min(len(t.evaluator.in.Discounts), len(documents))]
			most += weight * floats.Sum(shown[:min(n, len(shown))]) / floats.Sum(shown)
			all += weight
		}
	}
	return most / all
}

// addTargets adds the terms of targets to an objective that is learned. They are no part of the loss that is measured.
func (p *parsed) addTargets(list []losses.Target, o *graph.Objective) {
	term := losses.Term{Objective: losses.Targets(list), Loss: "at-least", Weight: 1}
	if p.loss.terms != nil {
		p.loss.terms = append(p.loss.terms, term)
	}
	if own := p.parts.Curvature; own != nil {
		p.parts.Curvature = func(in metrics.Queries, out []float64) error {
			_, err := term.Curvature(in, out)
			return errors.Join(own(in, out), err)
		}
	}
	own := o.Loss
	o.Loss = func(b losses.Batch) (*G.Node, error) {
		loss, err := own(b)
		if err != nil {
			return nil, err
		}
		targets, err := term.Build(b)
		if err != nil {
			return nil, err
		}
		return G.Add(loss, targets)
	}
}

// BeforeStep sets the multipliers of an epoch.
func (t *targets) BeforeStep(s *Step) error {
	for i := range t.inLoss {
		if s.Step == 1 {
			t.inLoss[i].Multiplier = t.multiplier(i)
		}
	}
	return nil
}

// multiplier returns the multiplier of a target after the epochs of the history, as in an augmented Lagrangian: the sum of what the
// share lacked, and twice what it lacks now, which ends oscillations, at a rate. The rate doubles after a period in which the gap
// shrank by less than a fifth, and is halved after one in which it changed its sign: losses differ in scale.
func (t *targets) multiplier(i int) float64 {
	sum, rate, gap, last := 0.0, 1.0, 0.0, 0.0
	for at, e := range t.history.epochs {
		gap = e.Targets[i].Least - e.Targets[i].Share
		if (at+1)%t.period == 0 {
			switch {
			case gap*last < 0:
				rate /= 2
			case math.Abs(gap) > 0.8*math.Abs(last) && last != 0 && (gap > 0 || sum > 0):
				rate = min(2*rate, 1e6)
			}
			last = gap
		}
		sum = max(0, sum+rate*gap/float64(t.period))
	}
	return max(0, sum+2*rate*gap)
}

// Evaluate measures the shares.
func (t *targets) Evaluate(e *Epoch) error {
	values, err := t.evaluator.values(t.learner, t.data)
	if err != nil {
		return err
	}
	for i, target := range t.evaluator.targets {
		target.Share, target.Multiplier = float64(values[target.measure(nil).String()]), t.inLoss[i].Multiplier
		e.Targets = append(e.Targets, target)
	}
	return nil
}

// metWithin is how much a share of a target that is met may lack.
const metWithin = 1e-3

// Lack returns the most that a share of exposure lacks after an epoch, 0 if all targets are met to 0.001.
func (e Epoch) Lack() (most float64) {
	for _, t := range e.Targets {
		if gap := t.Least - t.Share; gap > metWithin {
			most = max(most, gap)
		}
	}
	return most
}
