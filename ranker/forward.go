package ranker

import (
	"context"
	"fmt"
	"slices"
	"sync"
)

// A Forward computes the scores of the documents of one query from their transformed
// features: row after row, as many to a document as the model's transform gives. It may
// be called by several goroutines at once.
type Forward func(scores []float64, x []float32) error

// A Maker makes the forward pass of the model in a file, after looking that the
// settings and the arrays fit.
type Maker func(*File) (Forward, error)

var kinds = struct {
	sync.RWMutex
	makers map[string]func(*File) (scorer, error)
	others Maker // of kinds that have no maker; nil: they have no forward pass
}{makers: map[string]func(*File) (scorer, error){mlpKind: newMLP, transformerKind: newTransformer}}

// A scorer is a forward pass, and what is known of its cost.
type scorer struct {
	pass  pass // nil: the kind has none
	pairs int  // multiplications for every pair of documents
}

// A pass is a [Forward] that ends early where the context does, with its error.
type pass func(ctx context.Context, scores []float64, x []float32) error

// keptNumbers is the most numbers of scratch space that are kept for the next query; those
// of one with more documents are not.
const keptNumbers = 1 << 20

// Register makes the forward pass of a kind of model known, to models that are opened
// later; it takes the place of one of that name. A kind that package nn knows needs none in a
// program that has package train: train.Forward runs its graphs.
func Register(kind string, make Maker) {
	kinds.Lock()
	defer kinds.Unlock()
	kinds.makers[kind] = make.scorer
}

// RegisterOthers makes a maker known for all kinds that have none. What it gives for a kind may be
// nil: such a kind has no forward pass. Package train registers train.Forward.
func RegisterOthers(make Maker) {
	kinds.Lock()
	defer kinds.Unlock()
	kinds.others = make
}

// scorer is that of the file; for a kind without a maker by others, or if that is nil, by the one
// of RegisterOthers.
func (f *File) scorer(others Maker) (scorer, error) {
	kinds.RLock()
	known, registered := kinds.makers[f.Kind], kinds.others
	kinds.RUnlock()
	switch {
	case known != nil:
		return known(f)
	case others != nil:
		return others.scorer(f)
	case registered != nil:
		return registered.scorer(f)
	}
	return scorer{}, nil
}

// scorer is the forward pass that make gives for a file.
func (make Maker) scorer(f *File) (scorer, error) {
	forward, err := make(f)
	if err != nil || forward == nil {
		return scorer{}, err
	}
	return scorer{pass: func(_ context.Context, scores []float64, x []float32) error { return forward(scores, x) }}, nil
}

// Array is the array of that name and shape.
func (f *File) Array(name string, shape ...int) ([]float64, error) {
	return f.byName().array(name, shape...)
}

// arrays are those of a file, by their names.
type arrays map[string]*Array

func (f *File) byName() arrays {
	has := make(arrays, len(f.Arrays))
	for i := range f.Arrays {
		has[f.Arrays[i].Name] = &f.Arrays[i]
	}
	return has
}

func (has arrays) array(name string, shape ...int) ([]float64, error) {
	a := has[name]
	switch {
	case a == nil:
		return nil, fmt.Errorf("no array %q", name)
	case !slices.Equal(a.Shape, shape):
		return nil, fmt.Errorf("array %q has shape %v, want %v", name, a.Shape, shape)
	}
	return a.Values, nil
}
