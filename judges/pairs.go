package judges

import (
	"fmt"
	"maps"
	"math"
	"slices"

	"gonum.org/v1/gonum/floats"
)

// A Pair is a query and one of its documents.
type Pair struct {
	Weight float64 // w, the derivative of the value in the document's gain, or of a difference of two values
	Grade  int     // by the judge: pairs of the same grade have similar errors
	Judge  float64 // the gain by the judge
	People float64 // the gain by people; NaN: not judged

	// Of pairs that people judged:
	Probability float64 // with which it was drawn, above 0 and up to 1
	Round       int     // in which it was drawn, from 1; the draws of a round may depend on those before
}

func (p Pair) judged() bool { return !math.IsNaN(p.People) }

// ByPairs estimates a value from its value by the judge and from pairs, see the package comment. people takes nothing of the judge but,
// where the value is not linear, its linearisation: Σ w ρ/π. Both are means over the rounds, each by the number of its judgements and
// with what was known before: the judge's gains are corrected by the mean error of their grade, which a pair itself has no part in, so
// that the correction has no bias where pairs are drawn apart. The variance is
// Hájek's for a design of fixed size and known probabilities, Σ (1 − π)(x − x̄)² n/(n − 1) with x = w(ρ − ρ̂)/π. If all x are equal, one
// gain is taken to be off by 1. Pairs that were almost certain say little, so n is (Σ (1 − π))²/Σ (1 − π)². The degrees of
// freedom of several rounds are Welch's. Pairs with the probability 1 are known, and are no sample: where none was drawn, the interval
// is infinite.
//
// ByPairs returns an error for probabilities that are not in (0, 1], and for values that are not finite.
func ByPairs(value float64, pairs []Pair) (both, people Estimate, err error) {
	rounds := 0
	for i, p := range pairs {
		switch sum := p.Weight + p.Judge; {
		case sum-sum != 0:
			return both, people, fmt.Errorf("judges: pair %d: weight %v, gain by the judge %v: want finite numbers", i, p.Weight, p.Judge)
		case p.judged() && (!(p.Probability > 0 && p.Probability <= 1) || p.Round < 1 || math.IsInf(p.People, 0)):
			return both, people, fmt.Errorf("judges: pair %d: gain by people %v, probability %v, round %d: want a finite gain, "+
				"a probability in (0, 1], and rounds from 1", i, p.People, p.Probability, p.Round)
		case p.judged():
			rounds = max(rounds, p.Round)
		}
	}
	linear := value
	for _, p := range pairs {
		linear -= p.Weight * p.Judge
	}
	last, lastAlone := draw{value: value}, draw{value: linear}
	for r := 1; r <= rounds; r++ {
		last, lastAlone = round(value, pairs, r, newErrors(pairs, r+1)), round(linear, alone(pairs), r, nil)
		both.add(last)
		people.add(lastAlone)
	}
	both.end(last.value)
	people.end(lastAlone.value)
	return both, people, nil
}

// alone returns the pairs without the judge.
func alone(pairs []Pair) []Pair {
	list := append([]Pair(nil), pairs...)
	for i := range list {
		list[i].Judge = 0
	}
	return list
}

// draw is what one round says of the value.
type draw struct {
	value, variance float64
	freedom         float64 // of the variance
	judged, drawn   int     // pairs with a weight, and how many of them were not certain to be drawn
	precision       float64 // what the round was expected to be worth, known before it; +Inf: nothing is left
}

// round estimates the value by one round, and what was judged before.
func round(value float64, pairs []Pair, number int, errors errorsByGrade) draw {
	d := draw{value: value}
	var left, certain float64
	var x, rest []float64            // w(ρ − ρ̂)/π and 1 − π of the pairs that were drawn
	var unseen, sum, squares float64 // sums over the pairs with a weight of 1 − π and its square
	for _, p := range pairs {
		if p.judged() && p.Round < number {
			d.value += p.Weight * (p.People - p.Judge)
			continue
		}
		left += math.Abs(p.Weight)
		judge := p.Judge + errors.without(p)
		d.value += p.Weight * (judge - p.Judge)
		if !p.judged() || p.Round > number {
			continue
		}
		term := p.Weight * (p.People - judge) / p.Probability
		d.value += term
		x, rest = append(x, term), append(rest, 1-p.Probability)
		if p.Weight != 0 {
			d.judged++
			if p.Probability < 1 {
				d.drawn++
				sum, squares = sum+1-p.Probability, squares+(1-p.Probability)*(1-p.Probability)
				unseen += (1 - p.Probability) * p.Weight * p.Weight / (p.Probability * p.Probability)
			} else {
				certain += math.Abs(p.Weight)
			}
		}
	}
	if left -= certain; left <= 1e-12*certain {
		d.precision = math.Inf(1)
		return d
	}
	if d.drawn == 0 {
		return d // nothing is known of the others
	}
	center := floats.Dot(x, rest) / floats.Sum(rest)
	for i, v := range x {
		d.variance += rest[i] * (v - center) * (v - center)
	}
	n := float64(d.drawn)
	d.freedom = sum*sum/squares - 1
	d.variance *= (d.freedom + 1) / max(1, d.freedom)
	if d.variance <= 1e-24*unseen { // no error was seen, which does not say that there is none
		d.variance = unseen / n
	}
	d.precision = n / (left * left)
	return d
}

// add adds a round to the sums of an estimate: Value and variance are sums until end.
func (e *Estimate) add(d draw) {
	switch {
	case math.IsInf(e.scale, 1):
		return // everything was known before
	case math.IsInf(d.precision, 1):
		e.Value, e.variance, e.squares, e.scale, d.precision = 0, 0, 0, 0, 1
		defer func() { e.scale = math.Inf(1) }()
	}
	e.Value += d.precision * d.value
	e.variance += d.precision * d.precision * d.variance
	e.scale += d.precision
	e.Judged += d.judged
	if v := d.precision * d.precision * d.variance; v > 0 {
		e.squares += v * v / max(d.freedom, .5)
	}
	e.Freedom += float64(d.drawn)
	if e.first == 0 {
		e.first = e.variance
	}
}

// end makes an estimate of the sums; known is the value where no pair was drawn.
func (e *Estimate) end(known float64) {
	switch {
	case math.IsInf(e.scale, 1):
		e.Freedom = math.Inf(1)
	case e.scale == 0:
		e.Value, e.Freedom = known, 0
	default:
		e.Value /= e.scale
		e.StdErr = math.Sqrt(e.variance) / e.scale
		e.Freedom = min(e.Freedom-1, e.variance*e.variance/e.squares)
	}
}

// errorsByGrade holds the errors of the judge, people's gain less the judge's, by the judge's grade.
type errorsByGrade map[int]moments

type moments struct {
	pairs, sum, squares float64
	believed            float64 // the mean square before any was judged
}

// newErrors returns the errors of the pairs that were judged before a round. Where there is no judge, errors are nil.
func newErrors(pairs []Pair, round int) errorsByGrade {
	errors, gains := errorsByGrade{}, map[int]float64{}
	for _, p := range pairs {
		gains[p.Grade] = p.Judge
	}
	for g := range gains {
		errors[g] = moments{believed: meanSquare(gains, g)}
	}
	for _, p := range pairs {
		if p.judged() && p.Round < round {
			e, m := p.People-p.Judge, errors[p.Grade]
			errors[p.Grade] = moments{m.pairs + 1, m.sum + e, m.squares + e*e, m.believed}
		}
	}
	return errors
}

// meanSquare returns the mean squared error of a gain whose true grade is half as likely with every step away from the judge's.
func meanSquare(gains map[int]float64, grade int) float64 {
	squares, weights := 0.0, 0.0
	for _, g := range slices.Sorted(maps.Keys(gains)) {
		weight, e := math.Exp2(-math.Abs(float64(g-grade))), gains[g]-gains[grade]
		squares, weights = squares+weight*e*e, weights+weight
	}
	return squares / weights
}

// before is the number of pairs that the prior belief about errors counts as.
const before = 5

// mean returns the mean error of a grade, which is believed to be 0 before.
func (errors errorsByGrade) mean(grade int) float64 {
	m := errors[grade]
	return m.sum / (m.pairs + before)
}

// without returns the mean error of the grade of a pair, of other pairs.
func (errors errorsByGrade) without(p Pair) float64 {
	m := errors[p.Grade]
	if p.judged() && errors != nil {
		m.sum, m.pairs = m.sum-(p.People-p.Judge), m.pairs-1
	}
	return m.sum / (m.pairs + before)
}

// spread returns the expected root mean square error of a grade after mean was added. It is believed to be in proportion to that of the
// gains of near grades before.
func (errors errorsByGrade) spread(grade int) float64 {
	believed, squares := 0.0, 0.0
	for _, g := range slices.Sorted(maps.Keys(errors)) { // always with the same bits
		believed += errors[g].pairs * errors[g].believed
		squares += errors[g].left(errors.mean(g))
	}
	scale := 1.0
	if believed > 0 && squares > 0 {
		scale = squares / believed
	}
	m := errors[grade]
	if s := math.Sqrt((m.left(errors.mean(grade)) + before*scale*m.believed) / (m.pairs + before)); s > 0 {
		return s
	}
	return 1 // one gain alone
}

// left returns the sum of squared errors after a correction.
func (m moments) left(correction float64) float64 {
	return m.squares - 2*correction*m.sum + m.pairs*correction*correction
}
