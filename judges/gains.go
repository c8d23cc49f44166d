package judges

import (
	"errors"
	"fmt"
	"math"
	"slices"

	"gonum.org/v1/gonum/mat"
	"gonum.org/v1/gonum/stat"
)

// Gains estimates the gain that people would give to a document, E[ρ | gains by judges, features], from pairs that both judged.
//
// It is a regression by least squares on a constant, the gain by every judge, a deviation for each grade of a judge, and the features
// if they pay: if the error for queries that were left out (five folds) is smaller with them by more than twice its standard error. All but
// the constant are shrunk to 0, a deviation as if five more pairs of the grade had none. So a judge whose errors go with a feature,
// such as the length of a text, is corrected for it. Estimates are at least 0 and at most the highest gain that people gave.
type Gains struct {
	Features bool // whether the features pay

	levels        []map[float64]int // column of each gain by a judge; NaN cannot be a key, and stands under missing
	width         int               // of features
	center, scale []float64         // of the gains by judges, and of the features; a scale of 0 is a constant
	weights       *mat.VecDense
	highest       float64
}

const (
	missing  = -1.0 // a judge did not judge the pair
	mostWide = 1000 // features; more are left out, as few pairs say little of more
)

// FitGains fits the estimate to pairs that people judged: their gains, the numbers of their queries, the gains by every judge,
// [pairs][judges] with NaN where a judge gave none, and their features, [pairs × width] row by row, NaN where missing; width 0: none.
//
// FitGains returns an error if there are fewer than two pairs with a gain by a judge, and for gains that are negative or infinite.
func FitGains(people []float64, queries []int, judged [][]float64, features []float32, width int) (*Gains, error) {
	g := &Gains{width: width, highest: slices.Max(append([]float64{0}, people...))}
	both := 0
	for i, p := range people {
		if !(p >= 0) || math.IsInf(p, 1) {
			return nil, fmt.Errorf("judges: pair %d: gain %v by people: want finite gains of 0 or more", i, p)
		}
		if slices.ContainsFunc(judged[i], func(v float64) bool { return v < 0 || math.IsInf(v, 0) }) {
			return nil, fmt.Errorf("judges: pair %d: gains %v by judges: want finite gains of 0 or more", i, judged[i])
		}
		if !Silent(judged[i]) {
			both++
		}
	}
	if both < 2 {
		return nil, errors.New("judges: fewer than two pairs are judged by people and by a judge")
	}
	if width > mostWide {
		g.width, features = 0, nil
	}
	g.measure(judged, features)
	rows := mat.NewDense(len(people), g.columns(), nil)
	for i := range people {
		g.row(rows.RawRowView(i), judged[i], features[i*g.width:(i+1)*g.width])
	}
	strength, sums := g.choose(rows, people, queries)
	g.Features = strength > 0
	var err error
	g.weights, err = g.solve(sums, strength)
	return g, err
}

// Silent reports whether no judge gave a gain: all are NaN.
func Silent(judged []float64) bool {
	return !slices.ContainsFunc(judged, func(v float64) bool { return !math.IsNaN(v) })
}

// measure finds the grades of the judges, and the scales of gains and features.
func (g *Gains) measure(judged [][]float64, features []float32) {
	add := func(values []float64) {
		mean, deviation := 0.0, 0.0
		if len(values) > 1 {
			mean, deviation = stat.MeanStdDev(values, nil)
		}
		if deviation <= 1e-9*math.Abs(mean) {
			deviation = 0
		}
		g.center, g.scale = append(g.center, mean), append(g.scale, deviation)
	}
	g.levels = make([]map[float64]int, len(judged[0]))
	next := 1 + len(g.levels)
	for j := range g.levels {
		g.levels[j] = map[float64]int{}
		var values []float64
		for _, gains := range judged {
			v := gains[j]
			if math.IsNaN(v) {
				v = missing
			} else {
				values = append(values, v)
			}
			if _, known := g.levels[j][v]; !known {
				g.levels[j][v] = next
				next++
			}
		}
		add(values)
	}
	for c := range g.width {
		var values []float64
		for at := c; at < len(features); at += g.width {
			if v := float64(features[at]); v-v == 0 {
				values = append(values, v)
			}
		}
		add(values)
	}
}

// columns returns the number of columns of the regression, the features last.
func (g *Gains) columns() int {
	n := 1 + len(g.levels) + g.width
	for _, levels := range g.levels {
		n += len(levels)
	}
	return n
}

// row sets a row of the regression.
func (g *Gains) row(to, judged []float64, features []float32) {
	clear(to)
	to[0] = 1
	scaled := func(i int, v float64) float64 {
		if v-v != 0 || g.scale[i] == 0 {
			return 0
		}
		return (v - g.center[i]) / g.scale[i]
	}
	for j, v := range judged {
		to[1+j] = scaled(j, v)
		if math.IsNaN(v) {
			v = missing
		}
		if column, known := g.levels[j][v]; known {
			to[column] = 1
		}
	}
	for c, v := range features {
		to[len(to)-g.width+c] = scaled(len(judged)+c, float64(v))
	}
}

// Of returns the expected gain of a document with these gains by the judges, NaN where a judge gave none, and these features.
func (g *Gains) Of(judged []float64, features []float32) float64 {
	if g.width == 0 {
		features = nil
	}
	row := make([]float64, g.columns())
	g.row(row, judged, features)
	return max(0, min(g.highest, mat.Dot(mat.NewVecDense(len(row), row), g.weights)))
}

// A system has the sums of a regression over pairs.
type system struct {
	squares  *mat.SymDense
	products *mat.VecDense
}

// add adds a system, or takes it away.
func (s system) add(sign float64, t system) system {
	n := t.products.Len()
	sum := system{mat.NewSymDense(n, nil), mat.NewVecDense(n, nil)}
	for r := range n {
		for c := r; c < n; c++ {
			sum.squares.SetSym(r, c, s.squares.At(r, c)+sign*t.squares.At(r, c))
		}
	}
	sum.products.AddScaledVec(s.products, sign, t.products)
	return sum
}

// solve solves the regression. Features are shrunk by strength; 0 leaves them out.
func (g *Gains) solve(s system, strength float64) (*mat.VecDense, error) {
	n := g.columns()
	if strength == 0 {
		n -= g.width
	}
	squares := mat.NewSymDense(n, nil)
	squares.CopySym(s.squares.SliceSym(0, n))
	for c := range n {
		shrink := strength
		switch {
		case c == 0:
			shrink = 1e-9
		case c <= len(g.levels):
			shrink = 1
		case c < g.columns()-g.width:
			shrink = before
		}
		squares.SetSym(c, c, squares.At(c, c)+shrink)
	}
	var factors mat.Cholesky
	if !factors.Factorize(squares) {
		return nil, errors.New("judges: gains and features of the pairs are too large for a regression")
	}
	weights := mat.NewVecDense(g.columns(), nil)
	return weights, factors.SolveVecTo(weights.SliceVec(0, n).(*mat.VecDense), s.products.SliceVec(0, n))
}

// choose returns how strongly the features are shrunk, 0 if they do not pay, and the sums over all pairs.
func (g *Gains) choose(rows *mat.Dense, people []float64, queries []int) (best float64, all system) {
	const folds = 5
	ids := slices.Compact(slices.Sorted(slices.Values(queries)))
	at := make([]int, len(people)) // of the query of a pair
	n := g.columns()
	empty := func() system { return system{mat.NewSymDense(n, nil), mat.NewVecDense(n, nil)} }
	all, parts := empty(), [folds]system{}
	for f := range parts {
		parts[f] = empty()
	}
	for i, p := range people {
		at[i], _ = slices.BinarySearch(ids, queries[i])
		part, row := parts[at[i]%folds], rows.RowView(i)
		part.squares.SymRankOne(part.squares, 1, row)
		part.products.AddScaledVec(part.products, p, row)
	}
	for _, part := range parts {
		all = all.add(1, part)
	}
	if g.width == 0 || len(ids) < folds {
		return 0, all
	}
	var without []float64 // squared errors by query
	most := 0.0
	for _, strength := range []float64{0, 1000, 100, 10} {
		squared := make([]float64, len(ids))
		for f, part := range parts {
			weights, err := g.solve(all.add(-1, part), strength)
			if err != nil {
				return 0, all
			}
			for i, p := range people {
				if at[i]%folds == f {
					e := p - max(0, min(g.highest, mat.Dot(rows.RowView(i), weights)))
					squared[at[i]] += e * e
				}
			}
		}
		if strength == 0 {
			without = squared
			continue
		}
		gained := make([]float64, len(ids))
		for i := range ids {
			gained[i] = without[i] - squared[i]
		}
		mean, deviation := stat.MeanStdDev(gained, nil)
		if mean > 2*deviation/math.Sqrt(float64(len(ids))) && mean > most {
			best, most = strength, mean
		}
	}
	return best, all
}
