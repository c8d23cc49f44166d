package nn

import (
	"fmt"
	"slices"
	"sync"

	G "gorgonia.org/gorgonia"

	"github.com/plrank/plrank/internal/names"
	"github.com/plrank/plrank/ops"
)

// Mode is the purpose of a graph.
type Mode int

const (
	Evaluate Mode = iota // no dropout: the same input gives the same scores
	Train                // with dropout, if the model has any
)

// An Input has the nodes of one graph that a model computes scores from.
type Input struct {
	// Features are the features of the documents, [rows, features].
	Features *G.Node
	// Sparse takes the place of Features for documents that are mostly 0, see [TakesSparse]. nil: there are Features.
	Sparse *ops.Sparse
	// Offsets are [queries+1] ints: the documents of query q are the rows from Offsets[q] to before Offsets[q+1], and rows past the
	// last offset are padding. nil: all rows are one query.
	Offsets *G.Node
	// Weights are the weights of the model, see [Weights.Nodes].
	Weights G.Nodes
}

// A Scorer is a model from the features of documents to their scores. With
// [Input.Offsets] a score may depend on the other documents of the query.
type Scorer interface {
	// Build adds the model to the graph of the input, and gives the scores [rows].
	// It returns an error if an input does not fit the model.
	Build(in Input, mode Mode) (*G.Node, error)

	// Weights are the parameters, always the same ones.
	Weights() *Weights

	// Kind names the kind of model in its file, such as "mlp". Settings describe the model,
	// in a form that encoding/json writes. See [Register].
	Kind() string
	Settings() any
}

// An Ensemble is a Scorer whose scores are the mean scores of several members.
// Each member is trained by its own loss.
type Ensemble interface {
	Scorer

	// BuildMembers is Build for the members: the scores [rows] of each.
	BuildMembers(in Input, mode Mode) (G.Nodes, error)
}

// A Stepper is a Scorer with something random in its Train graphs, such as dropout.
type Stepper interface {
	Scorer

	// SetStep sets the training step of the next runs of all Train graphs. Their random
	// numbers depend on the seed and the step alone.
	SetStep(step uint64)
}

// TakesSparse reports whether a model takes [Input.Sparse]: an [MLP] or a [Transformer] without bins and embeddings.
func TakesSparse(s Scorer) bool {
	t, ok := s.(interface{ takesSparse() bool })
	return ok && t.takesSparse()
}

// BuildMembers adds the members of an [Ensemble] to a graph, and gives their scores. Any other
// model is its only member.
func BuildMembers(s Scorer, in Input, mode Mode) (G.Nodes, error) {
	if e, ok := s.(Ensemble); ok {
		return e.BuildMembers(in, mode)
	}
	scores, err := s.Build(in, mode)
	return G.Nodes{scores}, err
}

// SetStep sets the training step of a [Stepper]. It does nothing to other models.
func SetStep(s Scorer, step uint64) {
	if r, ok := s.(Stepper); ok {
		r.SetStep(step)
	}
}

// A Reader makes a model of the settings in its file, as JSON, and of the stored weights. It
// takes these by [Weights.Select], which checks that they fit the settings.
type Reader func(settings []byte, stored *Weights) (Scorer, error)

var readers sync.Map // Reader by kind

// Register makes a kind of models known, so that files of it can be read. It replaces one of
// that name.
func Register(kind string, read Reader) { readers.Store(kind, read) }

// Kinds lists the kinds of models that are known.
func Kinds() (kinds []string) {
	for kind := range readers.Range {
		kinds = append(kinds, kind.(string))
	}
	slices.Sort(kinds)
	return kinds
}

// Read makes a model of that kind from the settings and the weights of its file.
func Read(kind string, settings []byte, stored *Weights) (Scorer, error) {
	read, ok := readers.Load(kind)
	if !ok {
		return nil, fmt.Errorf("nn: unknown kind of model %q: %s; nn.Register makes a custom one known",
			kind, names.Want(kind, Kinds()))
	}
	return read.(Reader)(settings, stored)
}
