package judges

import (
	"math"
	"math/rand/v2"

	"gonum.org/v1/gonum/floats"
)

// Probabilities returns the probability with which every pair should be drawn for people next, so that budget pairs are drawn and the
// variance of the value is smallest: in proportion to |w| times the expected error of the judge's grade, which the pairs that were judged
// tell, 1 for the largest, and 0 for pairs that were judged or have no effect (Särndal, Swensson & Wretman 1992, §12.2). Their sum is
// the budget, or the number of pairs that are left.
func Probabilities(pairs []Pair, budget int) []float64 {
	return proportional(sizes(pairs), budget)
}

// sizes returns |w| times the expected error of every pair that is left.
func sizes(pairs []Pair) []float64 {
	errors, size, spreads := newErrors(pairs, math.MaxInt), make([]float64, len(pairs)), map[int]float64{}
	for i, p := range pairs {
		if p.judged() {
			continue
		}
		if spreads[p.Grade] == 0 {
			spreads[p.Grade] = errors.spread(p.Grade)
		}
		size[i] = math.Abs(p.Weight) * spreads[p.Grade]
	}
	return size
}

// proportional returns probabilities in proportion to sizes, at most 1, with the sum n, or the number of sizes above 0 if that is less.
func proportional(size []float64, n int) []float64 {
	p := make([]float64, len(size))
	left, certain := floats.Sum(size), 0
	for {
		more := false
		factor := float64(n-certain) / left
		for i, s := range size {
			if s > 0 && p[i] < 1 && (s*factor >= 1 || left <= s) {
				p[i], more = 1, true
				left -= s
				certain++
			}
		}
		if !more || certain >= n || left <= 0 {
			break
		}
	}
	for i, s := range size {
		if s > 0 && p[i] < 1 && left > 0 {
			p[i] = min(1, s*max(0, float64(n-certain))/left)
		}
	}
	return p
}

// Draw draws every element with its probability, and as many as the sum of them, up to rounding: the pivotal method in random order
// (Deville & Tillé, Biometrika 1998), whose draws are nearly as random as they can be at fixed size.
func Draw(probabilities []float64, seed uint64) []bool {
	r := rand.New(rand.NewPCG(seed, 0))
	p, drawn := append([]float64(nil), probabilities...), make([]bool, len(probabilities))
	at := -1 // whose probability is open
	for _, i := range r.Perm(len(p)) {
		switch {
		case p[i] >= 1:
			drawn[i] = true
			continue
		case p[i] <= 0:
			continue
		case at < 0:
			at = i
			continue
		}
		sum, winner, loser := p[at]+p[i], at, i
		if sum <= 1 { // one is out, and the other has both probabilities
			if r.Float64()*sum < p[i] {
				winner, loser = i, at
			}
			p[winner], p[loser] = sum, 0
			at = winner
			continue
		}
		if r.Float64()*(2-sum) < 1-p[at] { // one is in, and the other has the rest
			winner, loser = i, at
		}
		drawn[winner], p[loser] = true, sum-1
		at = loser
	}
	if at >= 0 && r.Float64() < p[at] {
		drawn[at] = true
	}
	return drawn
}

// Needed returns about how many more judgements would make the interval of an estimate half as wide as half, if the judge's errors
// stay as they were; 0 if it is as narrow already. It is at most the number of pairs that are left.
func Needed(e Estimate, pairs []Pair, level, half float64) int {
	size, left := sizes(pairs), 0
	for _, s := range size {
		if s > 0 {
			left++
		}
	}
	low, high := e.Interval(level)
	if (high-low)/2 <= half {
		return 0
	}
	quantile := (high - low) / 2 / e.StdErr
	if math.IsInf(quantile, 0) || math.IsNaN(quantile) {
		return left
	}
	a, b := 0, left // not enough, enough
	for b-a > 1 {
		n := (a + b) / 2
		variance := 0.0
		for i, p := range proportional(size, n) {
			if p > 0 {
				variance += size[i] * size[i] * (1/p - 1)
			}
		}
		if both := 1 / (1/(e.StdErr*e.StdErr) + 1/variance); quantile*math.Sqrt(both) <= half {
			b = n
		} else {
			a = n
		}
	}
	return b
}
