package main

import (
	"cmp"
	"errors"
	"fmt"
	"maps"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"time"

	"github.com/plrank/plrank/ranker"
)

// A served is a model as it was read: what a request began with, it ends with.
type served struct {
	*ranker.Model
	columns map[int]int // of feature ids
	version string      // the digest of its file
	read    time.Time
}

// A slot is a name and the model that goes by it at the moment.
type slot struct {
	name, path string
	model      atomic.Pointer[served]
	seen       fileState
	refused    string // the digest of a file that was
	said       string // of the last error, to log each once
}

// models are the slots by name.
type models struct {
	slots  map[string]*slot
	reload sync.Mutex // one at a time
}

// modelFlag is the flag -model: NAME=FILE, or FILE, which is called default; several
// times.
type modelFlag struct{ slots map[string]*slot }

func (f modelFlag) String() string { return "" }

func (f modelFlag) Set(text string) error {
	name, path, ok := strings.Cut(text, "=")
	if !ok {
		name, path = "default", text
	}
	switch {
	case name == "" || path == "":
		return errors.New("want NAME=FILE, or FILE")
	case f.slots[name] != nil:
		return fmt.Errorf("there are two models called %q: want NAME=FILE", name)
	}
	f.slots[name] = &slot{name: name, path: path}
	return nil
}

func (m *models) names() []string { return slices.Sorted(maps.Keys(m.slots)) }

// pick is the model of that name; without a name, the only one, or "default".
func (m *models) pick(name string) (*served, string, error) {
	if name == "" && len(m.slots) == 1 {
		name = m.names()[0]
	}
	s := m.slots[cmp.Or(name, "default")]
	switch {
	case s == nil && name == "":
		return nil, "", fmt.Errorf("no model is named, and none is called default: want one of %s", strings.Join(m.names(), ", "))
	case s == nil:
		return nil, "", fmt.Errorf("unknown model %q: want one of %s", clip(name), strings.Join(m.names(), ", "))
	}
	return s.model.Load(), s.name, nil
}

// load reads the file of a slot if its content is another one than before. A file that is
// refused leaves the model as it is; it is not decoded again until it changes, unless always.
func (s *slot) load(always bool) (changed bool, err error) {
	digest, err := s.seen.digest(s.path, always)
	if err != nil {
		return false, err
	}
	if old := s.model.Load(); !always && old != nil && old.version == digest {
		s.refused, s.said = "", ""
		return false, nil
	}
	if !always && s.refused == digest {
		return false, nil
	}
	model, err := ranker.Open(s.path) // which may be another file by now: its digest is its own
	if err == nil {
		_, err = model.Score(nil, make([]float32, len(model.FeatureIDs()))) // a kind without a forward pass fails here
	}
	if err != nil {
		s.refused = digest
		return false, err
	}
	columns := map[int]int{}
	for i, id := range model.FeatureIDs() {
		columns[id] = i
	}
	s.model.Store(&served{model, columns, model.Digest(), time.Now()})
	s.refused = ""
	return true, nil
}

// refresh loads the files that changed, or all of them, and calls back for each that was
// read or refused.
func (m *models) refresh(always bool, report func(name string, err error)) {
	m.reload.Lock()
	defer m.reload.Unlock()
	for _, name := range m.names() {
		if changed, err := m.slots[name].load(always); changed || err != nil {
			report(name, err)
		}
	}
}
