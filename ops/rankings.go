package ops

import (
	"cmp"
	"math"
	"slices"

	G "gorgonia.org/gorgonia"
	"gorgonia.org/tensor"

	"github.com/plrank/plrank/internal/op"
	"github.com/plrank/plrank/plackett"
)

// Rankings draws rankings from the Plackett–Luce model of every list: an int node
// [queries, samples, cutoff] of row numbers, the first choice first,
//
//	P(y_k = d | y_1..k−1) = exp m(d) / Σ_{d' not in y_1..k−1} exp m(d').
//
// −1 stands for absent: past the end of a query shorter than the cutoff, in the
// samples beyond [Sampler.SetSamples], and for empty queries. The node is not
// differentiable. A score that is NaN or infinite makes the run return an error that
// names its row.
//
// The ranking is drawn exactly, in O(D + N·K) in most cases; no list is sorted.
// Its value lasts until the next run.
func Rankings(l Lists, s *Sampler) (*G.Node, error) {
	f := op.ListFunc{
		Name: "ops: Rankings", Dtype: tensor.Int, Absent: -1, Layout: op.PerRanking,
		Shape: func(_, queries int, _ []tensor.Shape) tensor.Shape {
			return tensor.Shape{queries, s.capacity, s.cutoff}
		},
	}
	now, err := s.drawFor(&f, l)
	if err != nil {
		return nil, err
	}
	f.Do = func(l *op.List) error {
		mine := l.OutInts()[:now.samples*s.cutoff]
		return op.Own[plackett.Sampler](l).Draw(l.X[0], now.stream(l), plackett.Rankings{Documents: mine, Cutoff: s.cutoff, Base: l.From})
	}
	return f.Apply(l, op.Scores(l))
}

// IdealRankings ranks the documents of every query by descending gain: an int node
// [queries, 1, rows of the lists] of row numbers, −1 past the end of a query, as
// [LogProbs] takes it. Documents of equal gain are in an order drawn anew by the
// sampler at every run, or without a sampler in the order of their rows; its numbers of
// samples and ranks do not matter. gains is [rows]. The node is not
// differentiable. The run returns an error if gains are not finite. Its value lasts until the next run.
func IdealRankings(l Lists, gains *G.Node, s *Sampler) (*G.Node, error) {
	f := op.ListFunc{
		Name: "ops: IdealRankings", Dtype: tensor.Int, Absent: -1, Layout: op.PerRanking,
		Shape: func(rows, queries int, _ []tensor.Shape) tensor.Shape { return tensor.Shape{queries, 1, rows} },
	}
	var now *drawn
	if s != nil {
		var err error
		if now, err = s.drawFor(&f, l); err != nil {
			return nil, err
		}
	}
	f.Do = func(l *op.List) error {
		gains, ties := l.X[0], l.Scratch(l.Len())
		clear(ties)
		if s != nil {
			plackett.Gumbel(now.stream(l), 0, ties)
		}
		ranking := l.OutInts()[:len(gains)]
		for d := range ranking {
			ranking[d] = l.From + d
		}
		slices.SortFunc(ranking, func(a, b int) int {
			a, b = a-l.From, b-l.From
			return cmp.Or(cmp.Compare(gains[b], gains[a]), cmp.Compare(ties[b], ties[a]), cmp.Compare(a, b))
		})
		return nil
	}
	return f.Apply(l, op.Rows("gains", gains))
}

// Gumbel draws standard Gumbel noise for every row and sample, −log(−log u), a
// node [samples × rows] of the dtype of the scores, sample after sample. Ranking
// by m + noise draws from the Plackett–Luce policy (Gumbel 1954; Yellott 1977); next to large
// scores such sums are rounded, differences of m and of noise are not.
// It is NaN in the samples beyond [Sampler.SetSamples] and 0 in padding rows. The
// node is not differentiable; the sampler's cutoff does not matter. Its value lasts until the next run.
func Gumbel(l Lists, s *Sampler) (*G.Node, error) {
	f := op.ListFunc{
		Name: "ops: Gumbel", Layout: op.PerSample,
		Shape: func(rows, _ int, _ []tensor.Shape) tensor.Shape { return tensor.Shape{s.capacity * rows} },
	}
	now, err := s.drawFor(&f, l)
	if err != nil {
		return nil, err
	}
	f.Do = func(l *op.List) error {
		noise := l.Scratch(l.Len())
		for i := range s.capacity {
			if i < now.samples {
				plackett.Gumbel(now.stream(l), uint64(i), noise)
			} else {
				for d := range noise {
					noise[d] = math.NaN()
				}
			}
			l.Result.Write(noise, i*l.Rows+l.From)
		}
		return nil
	}
	return f.Apply(l, op.AnyRows("scores", l.Scores))
}
