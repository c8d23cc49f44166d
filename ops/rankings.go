package ops

import (
	"cmp"
	"fmt"
	"math"
	"slices"

	G "gorgonia.org/gorgonia"
	"gorgonia.org/tensor"

	"github.com/plrank/plrank/internal/op"
	"github.com/plrank/plrank/plackett"
)

// Rankings draws rankings from the Plackett–Luce model of every list: an int node
// [queries, samples, cutoff] of row numbers, likeliest first choice first,
//
//	P(y_k = d | y_1..k−1) = exp m(d) / Σ_{d' not in y_1..k−1} exp m(d').
//
// −1 stands for absent: past the end of a query shorter than the cutoff, in the
// samples beyond [Sampler.SetSamples], and for empty queries. The node is not
// differentiable. A score that is NaN or infinite is an error of the run that
// names its row.
//
// The ranking is drawn exactly, in O(D + N·K) in most cases; no list is sorted.
func Rankings(l Lists, s *Sampler) (*G.Node, error) {
	const name = "ops: Rankings"
	d, err := newDrawn(s, l)
	if err != nil {
		return nil, fmt.Errorf("%s: %w", name, err)
	}
	var now draw
	f := op.ListFunc{
		Name: name, Settings: d.String(), Source: s,
		Dtype: tensor.Int, Absent: -1,
		Shape: func(_, queries int, _ []tensor.Shape) tensor.Shape {
			return tensor.Shape{queries, s.capacity, s.cutoff}
		},
		Begin: func() { now = s.next(d) },
		Do: func(l *op.List, _ []op.Tensor, result op.Tensor) error {
			scores, err := l.Scores()
			if err != nil {
				return err
			}
			mine := result.Int[l.Query*s.capacity*s.cutoff:][:now.samples*s.cutoff]
			return l.Sampler.Draw(scores, now.stream(l), plackett.Rankings{Documents: mine, Cutoff: s.cutoff, Base: l.From})
		},
	}
	return f.Apply(l)
}

// IdealRankings ranks the documents of every query by descending gain: an int node
// [queries, 1, rows of the lists] of row numbers, −1 past the end of a query, as
// [LogProbs] takes it. Documents of equal gain are in an order drawn anew by the
// sampler at every run, or where it is nil in the order of their rows; neither its
// samples nor its cutoff play a part. gains is [rows]. The node is not
// differentiable. Gains that are not finite are an error of the run.
func IdealRankings(l Lists, gains *G.Node, s *Sampler) (*G.Node, error) {
	const name = "ops: IdealRankings"
	f := op.ListFunc{
		Name: name, Dtype: tensor.Int, Absent: -1,
		Shape: func(rows, queries int, _ []tensor.Shape) tensor.Shape { return tensor.Shape{queries, 1, rows} },
	}
	var now draw
	if s != nil {
		d, err := newDrawn(s, l)
		if err != nil {
			return nil, fmt.Errorf("%s: %w", name, err)
		}
		f.Settings, f.Source, f.Begin = d.String(), s, func() { now = s.next(d) }
	}
	f.Do = func(l *op.List, in []op.Tensor, result op.Tensor) error {
		gains, err := l.Gains(in[0])
		if err != nil {
			return err
		}
		ties := l.Zeros()
		if s != nil {
			plackett.Gumbel(now.stream(l), 0, ties)
		}
		ranking := result.Int[l.Query*l.Rows:][:len(gains)]
		for d := range ranking {
			ranking[d] = l.From + d
		}
		slices.SortFunc(ranking, func(a, b int) int {
			a, b = a-l.From, b-l.From
			return cmp.Or(cmp.Compare(gains[b], gains[a]), cmp.Compare(ties[b], ties[a]), cmp.Compare(a, b))
		})
		return nil
	}
	return f.ApplyTo(op.Rows("gains", gains), l)
}

// Gumbel draws standard Gumbel noise for every row and sample, −log(−log u), a
// node [samples × rows] of the dtype of the scores, sample after sample. Ranking
// by m + noise draws from the Plackett–Luce policy (Gumbel 1954; Yellott 1977); beside large
// scores such sums are rounded, differences of m and of noise are not.
// It is NaN in the samples beyond [Sampler.SetSamples] and 0 in padding rows. The
// node is not differentiable; the cutoff of the sampler plays no part.
func Gumbel(l Lists, s *Sampler) (*G.Node, error) {
	const name = "ops: Gumbel"
	d, err := newDrawn(s, l)
	if err != nil {
		return nil, fmt.Errorf("%s: %w", name, err)
	}
	var now draw
	f := op.ListFunc{
		Name: name, Settings: d.String(), Source: s,
		Shape: func(rows, _ int, _ []tensor.Shape) tensor.Shape { return tensor.Shape{s.capacity * rows} },
		Begin: func() { now = s.next(d) },
		Do: func(l *op.List, _ []op.Tensor, result op.Tensor) error {
			noise := l.Floats(l.Len())
			for i := range s.capacity {
				if i < now.samples {
					plackett.Gumbel(now.stream(l), uint64(i), noise)
				} else {
					for d := range noise {
						noise[d] = math.NaN()
					}
				}
				result.Write(noise, i*l.Rows+l.From)
			}
			return nil
		},
	}
	return f.Apply(l)
}
