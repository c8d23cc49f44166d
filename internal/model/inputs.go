package model

import (
	"slices"

	"github.com/plrank/plrank/internal/blas"
	"github.com/plrank/plrank/internal/forward"
)

// inputs makes the inputs of the first layer of transformed rows.
type inputs[T blas.Float] struct {
	features   int
	embeddings []forward.Embedding
	tables     [][]T
}

func newInputs[T blas.Float](s Settings, array func(name string) []T) inputs[T] {
	in := inputs[T]{features: s.Features, embeddings: s.Embeddings}
	for i := range s.Embeddings {
		in.tables = append(in.tables, array(Table(i)))
	}
	return in
}

// of gives the inputs of some rows, in the memory of space where they are not the rows
// themselves.
func (in inputs[T]) of(rows []float32, space *[]T) ([]T, error) {
	x, same := any(rows).([]T)
	if !same {
		*space = (*space)[:0]
		for _, v := range rows {
			*space = append(*space, T(v))
		}
		x = *space
	}
	if in.tables == nil {
		return x, nil
	}
	size := len(rows) / in.features * forward.EmbeddedWidth(in.features, in.embeddings)
	*space = slices.Grow(*space, size)
	embedded := (*space)[len(*space):][:size] // behind the converted rows, which Embed reads
	return embedded, forward.Embed(in.features, in.embeddings, in.tables, x, embedded)
}
