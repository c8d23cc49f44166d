package train

import (
	"encoding/json"
	"fmt"
	"maps"
	"reflect"
	"slices"

	"github.com/plrank/plrank/internal/mpi"
	"github.com/plrank/plrank/internal/npzfile"
)

// A State holds what a checkpoint keeps of a hook, by name: the memory itself, which [Trainer.Restore] writes to.
type State struct {
	Arrays map[string][]float32 // finite numbers; their lengths are the same in every run of the Config
	Values map[string]any       // pointers to what package json writes and reads

	lengths map[string]int // of the Values that are lists of one length
}

// names of the arrays, in the order of a file.
func (s State) names() []string { return slices.Sorted(maps.Keys(s.Arrays)) }

// copied is a copy of a state, which training does not change: texts of JSON, and arrays. It returns an
// error if an entry of an array is not finite, which could not be read from a file.
func (s State) copied() (values map[string]json.RawMessage, arrays []npzfile.Of[float32], err error) {
	values = map[string]json.RawMessage{}
	for name, v := range s.Values {
		if reflect.ValueOf(v).Kind() != reflect.Pointer {
			return nil, nil, fmt.Errorf("train: State of a hook: %s is a %T: want a pointer to it, which Restore writes to", name, v)
		}
		if values[name], err = json.Marshal(v); err != nil {
			return nil, nil, fmt.Errorf("train: %s: %w", name, err)
		}
	}
	for _, name := range s.names() {
		array := npzfile.Of[float32]{Name: name, Shape: []int{len(s.Arrays[name])}, Data: slices.Clone(s.Arrays[name])}
		if err := array.CheckFinite(); err != nil {
			return nil, nil, fmt.Errorf("train: no checkpoint can be written: %w: a lower learning rate, or clipping the gradient, may help", err)
		}
		arrays = append(arrays, array)
	}
	return values, arrays, nil
}

// set reads values: all, or none if it returns an error. A value that is missing, as in older files, becomes zero.
func (s State) set(values map[string]json.RawMessage) error {
	read := map[string]reflect.Value{}
	for name, to := range s.Values {
		v := reflect.New(reflect.TypeOf(to).Elem())
		if text := values[name]; text != nil {
			if err := json.Unmarshal(text, v.Interface()); err != nil {
				return fmt.Errorf("%s: %w", name, err)
			}
		}
		if want, fixed := s.lengths[name]; fixed && v.Elem().Len() != want {
			return fmt.Errorf("%s: a list of %d, want %d", name, v.Elem().Len(), want)
		}
		read[name] = v.Elem()
	}
	for name, to := range s.Values {
		reflect.ValueOf(to).Elem().Set(read[name])
	}
	return nil
}

// followFirst brings all ranks to the state of rank 0, which may have been restored from a
// checkpoint.
func (s State) followFirst(g mpi.Group) error {
	if g.Size() == 1 {
		return nil
	}
	text, err := json.Marshal(s.Values)
	if err := mpi.Agree(g, err); err != nil {
		return err
	}
	text = mpi.FromFirst(g, text)
	for _, name := range s.names() {
		g.Broadcast(mpi.Bytes(s.Arrays[name]))
	}
	if g.Rank() > 0 {
		var values map[string]json.RawMessage
		if err = json.Unmarshal(text, &values); err == nil {
			err = s.set(values)
		}
	}
	return mpi.Agree(g, err)
}
