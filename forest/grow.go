package forest

import "errors"

// A Config says how trees are grown. Zero values are the defaults that the comments name.
type Config struct {
	Symmetric      bool    // all nodes of a level have the same split; false: the leaf with the largest gain is split next
	Depth          int     // largest number of nodes above a leaf; 0: 6 if symmetric, else as many as leaves allow
	Leaves         int     // largest number of leaves, where trees are not symmetric; 0: 31
	Rate           float64 // factor of the values of leaves; 0: .1
	L2             float64 // added to the curvature of a leaf; 0: 1
	MinWeight      float64 // least curvature of a leaf; 0: any
	Rows, Columns  float64 // parts of documents and columns that each tree is grown on; 0: 1, all
	RandomStrength float64 // gains of columns are multiplied by exp(RandomStrength × a normal deviate); 0: not
	Monotone       []int8  // by column: 1 scores never fall, -1 never rise with the feature, 0 either; nil: all 0
	Seed           uint64
}

// A Grower grows the trees of a forest. It is not for concurrent use; it uses all cores, and the same seed gives the same
// bits whatever GOMAXPROCS.
type Grower struct{}

// NewGrower returns a grower on binned features, or an error if a setting is out of range.
func NewGrower(b *Binned, c Config) (*Grower, error) {
	return nil, errors.New("forest: not written yet")
}

// Grow grows the next tree by the derivative and the curvature of an objective with respect to the score of each
// document: the objective, which is to be maximised, is taken for Σ gradient × v − curvature × v²/2, v the value of
// the document's leaf. The value that maximises it, with L2, is Σ gradient / (Σ curvature + L2). Values are multiplied
// by Rate, and added to scores. Gradients must be finite, and curvatures not negative.
func (g *Grower) Grow(gradient, curvature []float32, scores []float64) (Tree, error) {
	return Tree{}, errors.New("forest: not written yet")
}
