package forward

import "fmt"

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

// An MLP is a multi-layer perceptron with weights that stay as they are, or the mean of
// several. It may be used by several goroutines at once.
type MLP[T float] struct {
	members [][]*Layer[T]
	width   int // of the widest hidden layer
}

// NewMLP makes one of the arrays of that name.
func NewMLP[T float](act Activation, members [][]MLPLayer, array func(name string) []T) *MLP[T] {
	m := &MLP[T]{}
	for _, layers := range members {
		var member []*Layer[T]
		for i, l := range layers {
			a := act
			if i == len(layers)-1 {
				a = Identity
			} else {
				m.width = max(m.width, l.Out)
			}
			member = append(member, NewLayer(a, l.In, l.Out, array(l.W), array(l.B)))
		}
		m.members = append(m.members, member)
	}
	return m
}

// Scratch is how much scratch space Run needs for so many rows.
func (m *MLP[T]) Scratch(rows int) int { return rows * (2*m.width + 1) }

// Run sets the score of every row of x.
func (m *MLP[T]) Run(x, scores, scratch []T) {
	rows := len(scores)
	odd, even := scratch[:rows*m.width], scratch[rows*m.width:2*rows*m.width]
	member := scratch[2*rows*m.width:][:rows]
	for i, layers := range m.members {
		h := x
		for _, l := range layers[:len(layers)-1] {
			l.Run(h, even[:rows*l.Out])
			h, even, odd = even[:rows*l.Out], odd, even
		}
		to := member
		if i == 0 {
			to = scores
		}
		layers[len(layers)-1].Run(h, to)
		if i > 0 {
			for r, s := range member {
				scores[r] += s
			}
		}
	}
	if n := len(m.members); n > 1 {
		share := 1 / T(n)
		for r := range scores {
			scores[r] *= share
		}
	}
}
