package model

import (
	"slices"

	"github.com/plrank/plrank/internal/blas"
	"github.com/plrank/plrank/internal/forward"
)

// An mlp is a multi-layer perceptron with weights that stay as they are, or the mean of
// several. It may be used by several goroutines at once.
type mlp[T blas.Float] struct {
	first *forward.Layer[T]     // those of all members side by side
	rest  [][]*forward.Layer[T] // of each member, behind the first
	width int                   // of the widest of them
	last  *lastLayers           // nil: in rest
}

// newMLP makes one of the arrays of these names.
func newMLP[T blas.Float](act forward.Activation, members []Member, array func(name string) []T) *mlp[T] {
	layersOf := func(m Member) []Dense { return append(slices.Clip(m.Hidden), m.Score) }
	hidden := len(members[0].Hidden)
	activation := func(i int) forward.Activation {
		if i == hidden {
			return forward.Identity
		}
		return act
	}
	m := &mlp[T]{last: newLastLayers(members, array)}
	first := layersOf(members[0])[0]
	in, out := first.In, first.Out
	// Unit j of member i is column i·out + j, or with last layers that are done at once
	// j·members + i.
	all, between := len(members)*out, 1
	if m.last != nil {
		between = len(members)
	}
	w, b := make([]T, in*all), make([]T, all)
	for i, member := range members {
		layers := layersOf(member)
		at := i * all / len(members)
		if m.last != nil {
			at = i
		}
		ownW, ownB := array(layers[0].W), array(layers[0].B)
		for j := range out {
			b[at+j*between] = ownB[j]
			for r := range in {
				w[r*all+at+j*between] = ownW[r*out+j]
			}
		}
		var rest []*forward.Layer[T]
		for j, l := range layers[1:] {
			if m.last == nil {
				m.width = max(m.width, l.Out)
				rest = append(rest, forward.NewLayer(activation(j+1), l.In, l.Out, array(l.W), array(l.B)))
			}
		}
		m.rest = append(m.rest, rest)
	}
	m.first = forward.NewLayer(activation(0), in, all, w, b)
	return m
}

// scratch is the size of the scratch space of run for that many rows.
func (m *mlp[T]) scratch(rows int) int {
	return rows*(m.first.Out+2*m.width) + m.last.scratch(rows)
}

// run sets the score of every row of x.
func (m *mlp[T]) run(x, scores, scratch []T) {
	rows, all := len(scores), m.first.Out
	first := scratch[:rows*all]
	m.first.Run(x, first)
	if m.last != nil {
		m.last.run(any(scores).([]float32), any(scratch).([]float32), all)
		return
	}
	odd, even := scratch[rows*all:][:rows*m.width], scratch[rows*(all+m.width):][:rows*m.width]
	members := len(m.rest)
	for i, layers := range m.rest {
		h := blas.RowMajor(first, rows, all).Slice(0, rows, i*all/members, all/members)
		for _, l := range layers {
			y := blas.RowMajor(even, rows, l.Out)
			l.RunMatrix(h, y)
			h, even, odd = y, odd, even
		}
		for r := range scores {
			v := h.Data[r*h.Row]
			if i > 0 {
				v += scores[r]
			}
			scores[r] = v
		}
	}
	if members > 1 {
		share := 1 / T(members)
		for r := range scores {
			scores[r] *= share
		}
	}
}
