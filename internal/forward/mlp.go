package forward

import (
	"fmt"

	"github.com/plrank/plrank/internal/blas"
)

// MLPLayer names the arrays of a layer of a multi-layer perceptron, and says how large
// they are: w [in, out], or [in] in the last layer, whose width is 1; b [out].
type MLPLayer struct {
	W, B    string
	In, Out int
}

// MLPLayers are the layers of every member of an ensemble of so many networks. The
// arrays are called w0, b0, w1, …, and in an ensemble m0.w0, ….
func MLPLayers(features int, hidden []int, members int) [][]MLPLayer {
	all := make([][]MLPLayer, members)
	for m := range all {
		prefix := ""
		if members > 1 {
			prefix = fmt.Sprintf("m%d.", m)
		}
		in := features
		for i := range len(hidden) + 1 {
			out := 1
			if i < len(hidden) {
				out = hidden[i]
			}
			all[m] = append(all[m], MLPLayer{fmt.Sprintf("%sw%d", prefix, i), fmt.Sprintf("%sb%d", prefix, i), in, out})
			in = out
		}
	}
	return all
}

// MLPArrays is how many arrays MLPLayers name. A file that has far fewer is to be refused
// before they are named: a few settings may ask for millions.
func MLPArrays(hidden, members int) int { return 2 * (hidden + 1) * members }

// An MLP is a multi-layer perceptron with weights that stay as they are, or the mean of
// several. It may be used by several goroutines at once.
type MLP[T float] struct {
	first *Layer[T]     // those of all members side by side
	rest  [][]*Layer[T] // of each member, behind the first
	width int           // of the widest of them
	last  *lastLayers   // nil: in rest
}

// NewMLP makes one of the arrays of that name.
func NewMLP[T float](act Activation, members [][]MLPLayer, array func(name string) []T) *MLP[T] {
	activation := func(i int) Activation {
		if i == len(members[0])-1 {
			return Identity
		}
		return act
	}
	m := &MLP[T]{last: newLastLayers(members, array)}
	in, out := members[0][0].In, members[0][0].Out
	// Unit j of member i is column i·out + j, or with last layers that are done at once
	// j·members + i.
	all, between := len(members)*out, 1
	if m.last != nil {
		between = len(members)
	}
	w, b := make([]T, in*all), make([]T, all)
	for i, member := range members {
		at := i * all / len(members)
		if m.last != nil {
			at = i
		}
		ownW, ownB := array(member[0].W), array(member[0].B)
		for j := range out {
			b[at+j*between] = ownB[j]
			for r := range in {
				w[r*all+at+j*between] = ownW[r*out+j]
			}
		}
		var rest []*Layer[T]
		for j, l := range member[1:] {
			if m.last == nil {
				m.width = max(m.width, l.Out)
				rest = append(rest, NewLayer(activation(j+1), l.In, l.Out, array(l.W), array(l.B)))
			}
		}
		m.rest = append(m.rest, rest)
	}
	m.first = NewLayer(activation(0), in, all, w, b)
	return m
}

// Scratch is how much scratch space Run needs for so many rows.
func (m *MLP[T]) Scratch(rows int) int {
	return rows*(m.first.Out+2*m.width) + m.last.scratch(rows)
}

// Run sets the score of every row of x.
func (m *MLP[T]) Run(x, scores, scratch []T) {
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
			l.run(h, y)
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
