package ops

import (
	"fmt"

	G "gorgonia.org/gorgonia"

	"github.com/plrank/plrank/internal/layers"
)

// A Dropout is the source of the masks of [Drop]: its rate, its seed and the
// current step of training. One may serve all layers and all graphs of a model,
// as long as they do not run at the same time.
type Dropout struct{ masks *layers.Dropout }

// NewDropout returns a source of masks that drop an entry with probability rate.
// Every run of a graph draws anew. It returns an error for a rate outside [0, 1).
func NewDropout(rate float64, seed uint64) (*Dropout, error) {
	d, err := layers.NewDropout(rate, seed)
	if err != nil {
		return nil, fmt.Errorf("ops: %w", err)
	}
	return &Dropout{d}, nil
}

// SetStep makes the next runs use the masks of that step. Without it each
// mask counts the runs of its graph.
func (d *Dropout) SetStep(step uint64) { d.masks.SetStep(step) }

// Drop returns inverted dropout, y = x ⊙ mask: each entry of the mask is 0 with
// probability rate and 1/(1−rate) otherwise, so that E[y] = x. The mask depends
// on the seed, the step, the layer and the position of the entry alone, and the
// gradient goes through the same mask. (Gorgonia's own Dropout divides the
// gradient by the wrong number.) Leave Drop out of graphs for evaluation.
//
// x is float32 or float64, of any shape. Number the layers: masks of one seed and
// layer in one graph are drawn independently, but in the order in which it was built.
// Its value lasts until the next run.
func Drop(x *G.Node, d *Dropout, layer int) (*G.Node, error) {
	if d == nil {
		return layers.Drop(x, nil, layer)
	}
	return layers.Drop(x, d.masks, layer)
}
