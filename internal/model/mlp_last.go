package model

import "github.com/plrank/plrank/internal/blas"

// lastLayers are those of several members with one hidden layer each, done at once: the
// hidden units of the members stand side by side, unit by unit.
type lastLayers struct {
	w, bias []float32
	lanes   int
}

// newLastLayers is nil where the members are others, or blas does not have that product.
func newLastLayers[T blas.Float](members []Member, array func(name string) []T) *lastLayers {
	lanes := blas.Lanes(len(members))
	if _, single := any(T(0)).(float32); !single || len(members) == 1 || len(members[0].Hidden) != 1 || lanes == 0 {
		return nil
	}
	hidden := members[0].Score.In
	l := &lastLayers{w: make([]float32, hidden*len(members)+lanes), lanes: lanes}
	for i, member := range members {
		for j, w := range array(member.Score.W) {
			l.w[j*len(members)+i] = float32(w)
		}
		l.bias = append(l.bias, float32(array(member.Score.B)[0]))
	}
	return l
}

func (l *lastLayers) scratch(rows int) int {
	if l == nil {
		return 0
	}
	return (rows + 1) * l.lanes
}

// run sets the scores, given the hidden units of all rows at the beginning of
// scratch; row is their number for each.
func (l *lastLayers) run(scores, scratch []float32, row int) {
	sums := scratch[len(scores)*row:]
	blas.Columns(sums, scratch, len(scores), row, l.w, len(l.bias))
	share := 1 / float32(len(l.bias))
	for r := range scores {
		score := float32(0)
		for i, v := range sums[r*l.lanes:][:len(l.bias)] {
			if v += l.bias[i]; i == 0 {
				score = v
			} else {
				score += v
			}
		}
		scores[r] = score * share
	}
}
