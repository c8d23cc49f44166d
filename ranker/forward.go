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
// later; it replaces one of that name. train.Forward runs the graphs of a kind that has no
// other:
//
//	nn.Register("fm", readMachine)
//	ranker.Register("fm", train.Forward)
func Register(kind string, maker Maker) {
	register(kind, func(f *File) (scorer, error) {
		forward, err := maker(f)
		if err != nil || forward == nil {
			return scorer{}, err
		}
		return scorer{pass: func(_ context.Context, scores []float64, x []float32) error { return forward(scores, x) }}, nil
	})
}

// A scorer is a forward pass and its cost.
type scorer struct {
	pass  model.Pass // nil: the kind has none
	pairs int        // multiplications for every pair of documents
}

// newScorer makes the scorer of a file. It is the part of a kind that this package registers.
type newScorer func(*File) (scorer, error)

func register(kind string, of newScorer) { model.Register(kind, of) }

// scorerOf is the scorer of a file, empty if its kind has none.
func scorerOf(f *File) (scorer, error) {
	of, ok := model.Registered[newScorer](f.Kind)
	if !ok {
		return scorer{}, nil
	}
	return of(f)
}
