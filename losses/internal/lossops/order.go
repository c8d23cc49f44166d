package lossops

import (
	"cmp"
	"fmt"
	"math"
	"slices"

	G "gorgonia.org/gorgonia"
	"gorgonia.org/tensor"

	"github.com/plrank/plrank/internal/op"
	"github.com/plrank/plrank/ops"
)

// Order ranks the documents of every list by score plus noise, once for every
// sample: an int node [samples × rows], sample after sample. The rows of a query
// hold its row numbers in descending order of m + noise, ties by row; −1 stands
// in padding rows and in samples whose noise is NaN. noise is [samples × rows],
// from [ops.Gumbel] or elsewhere. The node is not differentiable.
func Order(l ops.Lists, noise *G.Node) (*G.Node, error) {
	f := op.ListFunc{
		Name: "losses: Order", Dtype: tensor.Int, Absent: -1, Shape: op.Like(1),
		Do: func(l *op.List, in []op.Tensor, result op.Tensor) error {
			_, err := eachNoisy(l, in[1], func(first int, noisy perturbed) {
				mine := result.Int[first+l.From : first+l.To]
				for d := range mine {
					mine[d] = l.From + d
				}
				slices.SortFunc(mine, func(a, b int) int {
					return cmp.Or(cmp.Compare(noisy.gap(b-l.From, a-l.From), 0), cmp.Compare(a, b))
				})
			})
			return err
		},
	}
	return f.Apply(l, op.Samples("noise", noise))
}

// perturbed are scores with noise, nil for none. Only their differences are good: where
// scores are large, their sums with noise are rounded.
type perturbed struct{ scores, noise []float64 }

// gap is how far document a is above b.
func (p perturbed) gap(a, b int) float64 {
	gap := p.scores[a] - p.scores[b]
	if p.noise != nil {
		gap += p.noise[a] - p.noise[b]
	}
	return gap
}

// eachNoisy calls f with the scores and their noise, sample after sample, and with the number
// of the sample's first row. It leaves out those that are absent, whose noise is NaN, and
// gives the number of the others.
func eachNoisy(l *op.List, noise op.Tensor, f func(first int, noisy perturbed)) (samples int, err error) {
	scores, err := l.Scores()
	if err != nil {
		return 0, err
	}
	for first := 0; first < noise.Len(); first += l.Rows {
		if math.IsNaN(noise.At(first + l.From)) {
			continue
		}
		mine := l.Read(noise, first+l.From, first+l.To)
		for d, v := range mine {
			if v-v != 0 {
				return samples, &op.RowError{Row: l.From + d, Text: fmt.Sprintf("the noise is %v: noise must be finite", v)}
			}
		}
		samples++
		f(first, perturbed{scores, mine})
	}
	return samples, nil
}

// Pairs are the pairs of documents that are at most as many ranks apart in an
// [Order] as there are discounts, in all samples. All nodes have the shape
// [samples × rows × discounts]: one entry for every document and distance, of
// which those without a pair have numbers 0 and a weight of 0.
type Pairs struct {
	// Better and Worse are int: for the document of larger and of smaller gain
	// of the pair (of equal gains: of better and of worse rank), its number in
	// a vector [samples × rows].
	Better, Worse *G.Node
	// Weights have the dtype of the scores: with δ the distance in ranks,
	// (θ_δ − θ_{δ+1}) |ρ_i − ρ_j|, where θ is 0 beyond the last discount, over the number of
	// samples present.
	Weights *G.Node
}

// RankPairs gives the pairs of an [Order]. gains is [rows]. The nodes are not
// differentiable.
func RankPairs(l ops.Lists, gains, order *G.Node, discounts []float64) (Pairs, error) {
	const name = "losses: RankPairs"
	if err := op.CheckDiscounts(discounts); err != nil {
		return Pairs{}, fmt.Errorf("%s: %w", name, err)
	}
	discounts = slices.Clone(discounts)
	k := len(discounts)
	part := func(part string, dt tensor.Dtype, set func(l *op.List, gains []float64, result op.Tensor, r ranking)) (*G.Node, error) {
		f := op.ListFunc{
			Name: name, Settings: fmt.Sprintf("%s, discounts: %v", part, discounts), Dtype: dt,
			Shape: func(_, _ int, in []tensor.Shape) tensor.Shape { return tensor.Shape{in[2][0] * k} },
			Do: func(l *op.List, in []op.Tensor, result op.Tensor) error {
				gains, err := l.Gains(in[1])
				if err != nil {
					return err
				}
				return eachRanking(l, in[2].Int, func(r ranking) { set(l, gains, result, r) })
			},
		}
		return f.Apply(l, op.Rows("gains", gains), op.SampleInts("order", order))
	}
	// side is the document of larger gain of every pair, or the other one.
	side := func(name string, larger bool) (*G.Node, error) {
		return part(name, tensor.Int, func(l *op.List, gains []float64, result op.Tensor, r ranking) {
			for rank, upper := range r.rows {
				at := result.Int[(r.first+l.From+rank)*k:]
				for i, lower := range r.rows[rank+1 : min(rank+1+k, len(r.rows))] {
					number := upper
					if swapped := gains[lower-l.From] > gains[upper-l.From]; swapped == larger {
						number = lower
					}
					at[i] = r.first + number
				}
			}
		})
	}
	var p Pairs
	var err error
	if p.Better, err = side("better", true); err != nil {
		return Pairs{}, err
	}
	if p.Worse, err = side("worse", false); err != nil {
		return Pairs{}, err
	}
	if p.Weights, err = part("weights", l.Scores.Dtype(), func(l *op.List, gains []float64, result op.Tensor, r ranking) {
		share := 1 / float64(r.samples)
		for rank, upper := range r.rows {
			at := (r.first + l.From + rank) * k
			for i, lower := range r.rows[rank+1 : min(rank+1+k, len(r.rows))] {
				drop := discounts[i]
				if i+1 < k {
					drop -= discounts[i+1]
				}
				result.Set(at+i, drop*share*math.Abs(gains[upper-l.From]-gains[lower-l.From]))
			}
		}
	}); err != nil {
		return Pairs{}, err
	}
	return p, nil
}

// Misorder is how far the worse document of every pair is above the better one by score
// plus noise, (m_w − m_b) + (noise_w − noise_b), a node of the shape of the pairs, 0 where
// there is none. It is differentiable in the scores.
func (p Pairs) Misorder(l ops.Lists, noise *G.Node) (*G.Node, error) {
	const name = "losses: Misorder"
	scores, err := Scores(l)
	if err != nil {
		return nil, err
	}
	slope := &op.Func{Name: name + "VJP", Do: func(in []op.Tensor, result op.Tensor) error {
		better, worse, incoming := in[1].Int, in[2].Int, in[3]
		slopes := make([]float64, result.Len())
		for i, w := range worse {
			v := incoming.At(i)
			slopes[w%len(slopes)] += v
			slopes[better[i]%len(slopes)] -= v
		}
		result.Write(slopes, 0)
		return nil
	}}
	f := op.Func{
		Name: name, Shape: func(in []tensor.Shape) tensor.Shape { return in[2] },
		Do: func(in []op.Tensor, result op.Tensor) error {
			scores, noise, better, worse := in[0], in[1], in[2].Int, in[3].Int
			rows := scores.Len()
			for i, w := range worse {
				gap, b := 0.0, better[i]
				if w != b {
					gap = scores.At(w%rows) - scores.At(b%rows) + (noise.At(w) - noise.At(b))
				}
				result.Set(i, gap)
			}
			return nil
		},
		VJPs: []*op.Term{slope.Of(op.Input(0), op.Input(2), op.Input(3), op.Incoming)},
	}
	return f.Apply(scores, noise, p.Better, p.Worse)
}

// SumOverPairs sums x, [samples × rows × discounts] as the nodes of [Pairs], over the
// pairs of every query: a node [queries]. It is differentiable in x.
func SumOverPairs(l ops.Lists, x *G.Node, discounts int) (*G.Node, error) {
	const name = "losses: SumOverPairs"
	settings := fmt.Sprint(discounts)
	each := func(l *op.List, x op.Tensor, f func(i int)) {
		for first := 0; first < x.Len(); first += l.Rows * discounts {
			for i := first + l.From*discounts; i < first+l.To*discounts; i++ {
				f(i)
			}
		}
	}
	f := op.ListFunc{
		Name: name, Settings: settings, Shape: op.PerQuery,
		Do: func(l *op.List, in []op.Tensor, result op.Tensor) error {
			sum := 0.0
			each(l, in[1], func(i int) { sum += in[1].At(i) })
			result.Set(l.Query, sum)
			return nil
		},
		Of: 1, VJP: &op.ListFunc{
			Name: name + "VJP", Settings: settings, Shape: op.Like(1),
			Do: func(l *op.List, in []op.Tensor, result op.Tensor) error {
				incoming := in[2].At(l.Query)
				each(l, in[1], func(i int) { result.Set(i, incoming) })
				return nil
			},
		},
	}
	return f.Apply(l, op.Samples("x", x))
}

// A ranking of an [Order].
type ranking struct {
	rows    []int
	first   int // number of the first row of its sample
	samples int // of the query that are present
}

// eachRanking calls f with the rankings of the query that are present.
func eachRanking(l *op.List, order []int, f func(ranking)) error {
	samples := 0
	for first := 0; first < len(order); first += l.Rows {
		present := order[first+l.From] != -1
		for _, row := range order[first+l.From : first+l.To] {
			if (row != -1) != present || present && (row < l.From || row >= l.To) {
				return fmt.Errorf("order has row %d where one of %d to %d is due", row, l.From, l.To-1)
			}
		}
		if present {
			samples++
		}
	}
	for first := 0; first < len(order); first += l.Rows {
		if rows := order[first+l.From : first+l.To]; rows[0] != -1 {
			f(ranking{rows, first, samples})
		}
	}
	return nil
}
