package ranker

import (
	"fmt"
	"io"
	"slices"
)

// A Model is a trained model. It may be used by several goroutines at once.
type Model struct{ file *File }

// Open reads a model file.
func Open(path string) (*Model, error) {
	f, err := readFile(path)
	if err != nil {
		return nil, err
	}
	return &Model{f}, nil
}

// Read reads a model file from r, to its end.
func Read(r io.Reader) (*Model, error) {
	data, err := io.ReadAll(r)
	if err != nil {
		return nil, fmt.Errorf("ranker: reading a model: %w", err)
	}
	f, err := decode("the model", data)
	if err != nil {
		return nil, err
	}
	return &Model{f}, nil
}

// FeatureIDs are the ids of the features of a document, ascending: of the columns of
// a row.
func (m *Model) FeatureIDs() []int { return slices.Clone(m.file.FeatureIDs) }

// FeatureNames are the names of those features, nil where the training data had none.
func (m *Model) FeatureNames() []string { return slices.Clone(m.file.FeatureNames) }

// File is all that the model file holds; do not change it.
func (m *Model) File() *File { return m.file }
