package ranker

import (
	"fmt"
	"slices"

	"github.com/plrank/plrank/datasets"
	"github.com/plrank/plrank/internal/forward"
)

// checkEmbeddings looks that there is one for every category of the transform.
func (s mlpSettings) checkEmbeddings(t *datasets.Transform) error {
	if len(s.Embeddings) != len(t.Categories) {
		return fmt.Errorf("a model of %d embeddings and a transform of %d categories do not fit", len(s.Embeddings), len(t.Categories))
	}
	for i, e := range s.Embeddings {
		if codes := t.Categories[i].Codes(); e.Codes != codes || e.Width < 1 {
			return fmt.Errorf("embedding %d has %d codes and a width of %d: want %d codes, those of the transform, and 1 or more", i, e.Codes, e.Width, codes)
		}
	}
	return nil
}

// embeddingArrays are those of the embeddings, without values.
func (s mlpSettings) embeddingArrays() (all []Array) {
	for i, e := range s.Embeddings {
		all = append(all, Array{Name: forward.EmbeddingName(i), Shape: []int{e.Codes, e.Width}})
	}
	return all
}

// inputs makes what the hidden layers see of transformed rows.
type inputs[T float32 | float64] struct {
	settings mlpSettings
	tables   [][]T
}

// newInputs makes those of a file whose settings and arrays fit.
func newInputs[T float32 | float64](f *File) inputs[T] {
	var in inputs[T]
	in.settings, _, _ = f.mlpSettings("")
	array := arrayOf[T](f)
	for i := range in.settings.Embeddings {
		in.tables = append(in.tables, array(forward.EmbeddingName(i)))
	}
	return in
}

// of gives the inputs of some rows, in the memory of space where they are not the rows
// themselves.
func (in inputs[T]) of(rows []float32, space *[]T) ([]T, error) {
	x, same := any(rows).([]T)
	if !same {
		*space = convert((*space)[:0], rows)
		x = *space
	}
	s := in.settings
	if in.tables == nil {
		return x, nil
	}
	size := len(rows) / s.Features * s.inputs()
	*space = slices.Grow(*space, size)
	embedded := (*space)[len(*space):][:size] // behind what was converted, which is still to be read
	return embedded, forward.Embed(s.Features, s.Embeddings, in.tables, x, embedded)
}
