package serve

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"maps"
	"math"
	"slices"
	"strings"
	"sync/atomic"
	"unicode/utf8"

	"github.com/plrank/plrank/clicks"
	"github.com/plrank/plrank/internal/jsonread"
	"github.com/plrank/plrank/ranker"
)

// A served model does not change: one model answers a request from beginning to end.
type served struct {
	*ranker.Model
	name        string
	columns     map[int]int // by feature id; Column finds them by name
	products    int         // the last features, which are products of vectors
	keepsSparse bool        // documents are sparse, and stay so unless all features are asked for
	vectorNames []string
	features    *clicks.Log // has their ids and names, without impressions

	scoring, transforming, sparseScoring curve

	drift driftWatch
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

// pickEarly returns the model of a request after some of its members, nil if others may name it. Where models are interleaved,
// it guesses that none will.
func (s *Service) pickEarly(before map[string][]byte) *served {
	value, named := before["model"]
	name, _ := jsonread.Unquote(value) // "" if it is not a text, which is refused later
	switch {
	case !named && s.interleaved != nil:
		name = s.interleaved[0]
	case !named && s.split != nil: // the key may come later
		name = s.split[0]
	case !named && len(s.models) > 1:
		return nil
	}
	model, _ := s.models.pick(name)
	return model
}

// pick returns the model of that name. Without a name it returns the only model, or "default".
func (m models) pick(name string) (*served, error) {
	if name == "" && len(m) == 1 {
		name = m.names()[0]
	}
	s := m[cmp.Or(name, "default")]
	switch {
	case s == nil && name == "":
		return nil, fmt.Errorf("the request names no model, and none is called default: want one of %s", strings.Join(m.names(), ", "))
	case s == nil:
		return nil, fmt.Errorf("unknown model %q: want one of %s", clip(name), strings.Join(m.names(), ", "))
	}
	return s.model.Load(), nil
}

// open reads the model, and tries it before requests do.
func (s *slot) open() error {
	model, err := ranker.Open(s.path) // the file may have changed since: its Digest is its own
	if err != nil {
		return err
	}
	if s.logged != nil && !sameFeatures(s.logged, model) {
		return fmt.Errorf("%s has other features, by id, name or type, than the model it replaces, and a click log has one feature list: "+
			"serve it from a new process with its own log folder", s.path)
	}
	m := &served{Model: model, name: s.name, columns: map[int]int{}, products: len(model.Products())}
	m.keepsSparse = keepsSparse(model)
	for _, v := range model.Vectors() {
		m.vectorNames = append(m.vectorNames, v.Name)
	}
	m.features = &clicks.Log{FeatureIDs: model.FeatureIDs(), FeatureNames: model.FeatureNames()}
	for i, id := range model.FeatureIDs() {
		m.columns[id] = i
	}
	if err := m.try(); err != nil {
		return fmt.Errorf("%s: a request to try the model: %w", s.path, err)
	}
	m.measure()
	s.model.Store(m)
	return nil
}

// keepsSparse reports whether documents of a model are sparse until something asks for all features.
func keepsSparse(m *ranker.Model) bool {
	return m.File().Sparse && m.TakesSparse() && len(m.Products()) == 0
}

// try scores, draws from and explains two documents.
func (m *served) try() error {
	width := len(m.columns)
	in := &request{count: 2, decoded: true, draw: &draw{cutoff: 1, temperature: 1}, explain: &ranker.Comparison{Document: 1, Permutations: 4}}
	if m.OnBaseScores() {
		in.base = []byte("[0, 1]")
	}
	space := &scratch{rows: rows{features: make([]float32, 2*width)}}
	for i := range min(width, fewValues) { // which the explanation goes through
		space.rows.features[width+i] = 1
		if _, text := m.Level(i, ""); text {
			space.rows.features[i] = missing
		}
	}
	s := &Service{gate: newGate(), limits: Limits{Work: math.MaxInt, Cutoff: 1}}
	return s.rank(context.Background(), m, in, space, new(response))
}
