package nn

import (
	"fmt"

	"github.com/plrank/plrank/internal/model"
	"github.com/plrank/plrank/internal/names"
)

// A Reader makes a model of the settings in its file, as JSON, and of the stored weights. It
// takes these by [Weights.Select], which checks that they fit the settings.
type Reader func(settings []byte, stored *Weights) (Scorer, error)

// Register makes a kind of models known, so that files of it can be read. It replaces one of
// that name.
func Register(kind string, read Reader) { model.Register(kind, read) }

// Kinds lists the kinds of models that are known.
func Kinds() []string { return model.Kinds[Reader]() }

// Read makes a model of that kind from the settings and the weights of its file.
func Read(kind string, settings []byte, stored *Weights) (Scorer, error) {
	read, ok := model.Registered[Reader](kind)
	if !ok {
		return nil, fmt.Errorf("nn: unknown kind of model %q: %s; nn.Register makes a custom one known",
			kind, names.Want(kind, Kinds()))
	}
	return read(settings, stored)
}
