package nn

import (
	"fmt"
	"maps"
	"slices"
	"sync"

	"github.com/plrank/plrank/internal/names"
)

// A Reader makes a model of what its file has: the settings as JSON, and the weights.
// It takes these by [Weights.Select], which looks that they fit the settings.
type Reader func(settings []byte, stored *Weights) (Scorer, error)

var kinds = struct {
	sync.RWMutex
	readers map[string]Reader
}{readers: map[string]Reader{mlpKind: readMLP, transformerKind: readTransformer}}

// Register makes a kind of model known, so that files of it can be read; it takes the
// place of one of that name.
func Register(kind string, read Reader) {
	kinds.Lock()
	defer kinds.Unlock()
	kinds.readers[kind] = read
}

// Kinds lists the kinds of models that are known.
func Kinds() []string {
	kinds.RLock()
	defer kinds.RUnlock()
	return slices.Sorted(maps.Keys(kinds.readers))
}

// Read makes a model of that kind from what its file has.
func Read(kind string, settings []byte, stored *Weights) (Scorer, error) {
	kinds.RLock()
	read := kinds.readers[kind]
	kinds.RUnlock()
	if read == nil {
		return nil, fmt.Errorf("nn: unknown kind of model %q: %s; one of your own is made known by nn.Register",
			kind, names.Want(kind, Kinds()))
	}
	return read(settings, stored)
}
