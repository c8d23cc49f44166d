package nn

import (
	G "gorgonia.org/gorgonia"
	"gorgonia.org/tensor"
)

// Mode says what a graph is for.
type Mode int

const (
	Evaluate Mode = iota // no dropout: the same input gives the same scores
	Train                // with dropout, if the model has any
)

// A Weight is one array of a model's parameters. Its tensor is the owner of the
// memory that all graphs of the model share.
type Weight struct {
	Name  string
	Value *tensor.Dense
	Bias  bool // an offset, which weight decay leaves alone
}

// A Scorer is a model from the features of documents to their scores.
type Scorer interface {
	// Build adds the model to the graph of x, the features [rows, features], and
	// gives the scores [rows] and the nodes of the weights, in the order of
	// Weights. The nodes have tensor headers of their own on the model's memory:
	// graphs that share a header cannot run side by side. An x that does not fit
	// the model is an error.
	Build(x *G.Node, mode Mode) (scores *G.Node, weights G.Nodes, err error)

	// BuildMembers is Build for a model that averages several networks: the scores
	// of each, which training gives a loss of its own. Build gives their mean.
	BuildMembers(x *G.Node, mode Mode) (scores, weights G.Nodes, err error)

	// Weights are the parameters, always the same ones in the same order.
	Weights() []Weight

	// SetStep sets the training step that the next runs of all Train graphs
	// belong to: what is random in them depends on the seed and the step.
	SetStep(step uint64)
}
