package serve

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"maps"
	"slices"
	"strings"
	"sync/atomic"
	"unicode/utf8"

	"github.com/plrank/plrank/clicks"
	"github.com/plrank/plrank/ranker"
)

// A served model does not change: a request ends with the one it began with.
type served struct {
	*ranker.Model
	columns  map[int]int // by feature id; Column finds them by name
	features *clicks.Log // has their ids and names, without impressions
}

// The price of a request is known before it is computed. A unit, about 0.2 µs of a core and ten
// bytes, is one document and one rank to draw. Other work is converted to units. Whole lists cost as
// much as unitsOfWhole ranks, and more if they are long: their propensities take no sweeps, see
// plackett.Expectation.
const (
	inputsPerUnit          = 16   // numbers of a document: raw features, and inputs of the network
	multiplicationsPerUnit = 2000 // for the scores
	unitsOfWhole           = 8
	bytesPerUnit           = 16 // of the body
	documentsPerUnit       = 1000
)

func (m *served) price(documents, ranks int) int {
	if ranks == documents {
		ranks = min(ranks, unitsOfWhole+documents/documentsPerUnit)
	}
	inputs := m.File().Transform.Inputs + m.File().Transform.Width()
	return documents*ranks + documents*inputs/inputsPerUnit + int(m.Multiplications(documents)/multiplicationsPerUnit)
}

// A slot is a name, its file, and the model last read from it.
type slot struct {
	name   string
	logged *ranker.Model // has the features of the log; nil: there is no log
	file
	model atomic.Pointer[served]
}

// models are the slots by name.
type models map[string]*slot

// newModels makes the slots. It returns an error if a name cannot occur in a request or as the label of a metric.
func newModels(files map[string]string) (models, error) {
	if len(files) == 0 {
		return nil, errors.New("service: no models")
	}
	m := models{}
	for name, path := range files {
		if name == "" || !utf8.ValidString(name) {
			return nil, fmt.Errorf("service: the model of %s is named %q: want a name, in UTF-8", path, name)
		}
		s := &slot{name: name, file: file{path: path}}
		s.load = s.open
		m[name] = s
	}
	return m, nil
}

func (m models) names() []string { return slices.Sorted(maps.Keys(m)) }

// pick returns the model of that name. Without a name it returns the only model, or "default".
func (m models) pick(name string) (*served, string, error) {
	if name == "" && len(m) == 1 {
		name = m.names()[0]
	}
	s := m[cmp.Or(name, "default")]
	switch {
	case s == nil && name == "":
		return nil, "", fmt.Errorf("the request names no model, and none is called default: want one of %s", strings.Join(m.names(), ", "))
	case s == nil:
		return nil, "", fmt.Errorf("unknown model %q: want one of %s", clip(name), strings.Join(m.names(), ", "))
	}
	return s.model.Load(), s.name, nil
}

// open reads the model.
func (s *slot) open() error {
	model, err := ranker.Open(s.path) // the file may have changed since: its Digest is its own
	if err == nil {
		var base []float32
		if model.File().BaseScores {
			base = []float32{0}
		}
		_, err = model.ScoreOn(context.Background(), nil, make([]float32, len(model.FeatureIDs())), base) // a kind without a forward pass fails here
	}
	if err != nil {
		return err
	}
	if s.logged != nil && !sameFeatures(s.logged, model) {
		return fmt.Errorf("%s has other features, by id, name or type, than the model it replaces, and a click log has one feature list: serve it from a new process with its own log folder", s.path)
	}
	columns := map[int]int{}
	for i, id := range model.FeatureIDs() {
		columns[id] = i
	}
	s.model.Store(&served{model, columns, &clicks.Log{FeatureIDs: model.FeatureIDs(), FeatureNames: model.FeatureNames()}})
	return nil
}
