package ranker

import (
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
	makers map[string]Maker
}{makers: map[string]Maker{mlpKind: newMLP, transformerKind: newTransformer}}

// Register makes the forward pass of a kind of model known, to models that are opened
// later; it takes the place of one of that name. train.Forward runs the graphs of a kind
// that has no other:
//
//	nn.Register("fm", readMachine)
//	ranker.Register("fm", train.Forward)
func Register(kind string, make Maker) {
	kinds.Lock()
	defer kinds.Unlock()
	kinds.makers[kind] = make
}

// forward is that of the file, nil for kinds that have none.
func (f *File) forward() (Forward, error) {
	kinds.RLock()
	make := kinds.makers[f.Kind]
	kinds.RUnlock()
	if make == nil {
		return nil, nil
	}
	return make(f)
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
