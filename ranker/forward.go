package ranker

import (
	"context"

	"github.com/plrank/plrank/internal/model"
)

// A Forward computes the scores of the documents of one query from their transformed
// features: row after row, as many to a document as the model's transform gives. It may
// be called by several goroutines at once.
type Forward func(scores []float64, x []float32) error

// A Maker makes the forward pass of the model in a file, after a check that the settings
// and the arrays fit.
type Maker func(*File) (Forward, error)

// Register makes the forward pass of a kind of models known, to models that are opened
// later; it replaces one of that name. A kind that package nn knows needs none in a program
// that has package train: train.Forward runs its graphs.
func Register(kind string, maker Maker) { register(kind, maker.scorer) }

// RegisterOthers makes a maker known for all kinds that have none. If it gives nil, the kind has
// no forward pass. Package train registers train.Forward.
func RegisterOthers(maker Maker) { register(others, maker.scorer) }

// others stands for all kinds that have no maker; no file has it.
const others = ""

func (maker Maker) scorer(f *File) (scorer, error) {
	forward, err := maker(f)
	if err != nil || forward == nil {
		return scorer{}, err
	}
	return scorer{pass: func(_ context.Context, scores []float64, x []float32) error { return forward(scores, x) }}, nil
}

// A scorer is a forward pass and its cost.
type scorer struct {
	pass  model.Pass // nil: the kind has none
	pairs int        // multiplications for every pair of documents
}

// newScorer makes the scorer of a file. It is the part of a kind that this package registers.
type newScorer func(*File) (scorer, error)

func register(kind string, of newScorer) { model.Register(kind, of) }

// scorerOf is the scorer of a file. For a kind without a maker it is that of other, or if that is
// nil of the one of RegisterOthers.
func scorerOf(f *File, other Maker) (scorer, error) {
	if of, ok := model.Registered[newScorer](f.Kind); ok {
		return of(f)
	}
	if other != nil {
		return other.scorer(f)
	}
	if of, ok := model.Registered[newScorer](others); ok {
		return of(f)
	}
	return scorer{}, nil
}
