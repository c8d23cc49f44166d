package train

import (
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"maps"

	"github.com/plrank/plrank/internal/npzfile"
	"github.com/plrank/plrank/train/internal/trees"
)

const (
	checkpointFormat  = "plrank checkpoint"
	checkpointVersion = 5
)

// A checkpointHeader is in every checkpoint, with what hooks keep.
type checkpointHeader struct {
	format  string
	version int
	config  json.RawMessage
	inputs  inputs
}

func (h *checkpointHeader) state() State {
	return State{Values: map[string]any{"format": &h.format, "version": &h.version, "config": &h.config, "inputs": &h.inputs}}
}

// A Checkpoint holds all that a run needs to go on after its last epoch as if nothing had happened:
// a copy, which training does not change.
type Checkpoint struct {
	values map[string]json.RawMessage
	arrays []npzfile.Of[float32]
}

// Checkpoint returns the checkpoint of the last epoch. It is for Hooks.Epoch, or after a run that was not interrupted:
// inside an epoch it returns an error.
func (t *Trainer) Checkpoint() (*Checkpoint, error) {
	if err := t.loop.errWithin(); err != nil {
		return nil, err
	}
	in, err := t.inputs()
	if err != nil {
		return nil, err
	}
	config, err := json.Marshal(t.Config)
	if err != nil {
		return nil, fmt.Errorf("train: %w", err)
	}
	header, s := checkpointHeader{checkpointFormat, checkpointVersion, config, *in}, t.state()
	maps.Copy(s.Values, header.state().Values)
	values, arrays, err := s.copied()
	if err != nil {
		return nil, err
	}
	return &Checkpoint{values, arrays}, nil
}

// Save writes the file, which appears complete or not at all.
func (c *Checkpoint) Save(path string) error {
	if err := npzfile.Write(path, c.values, c.arrays); err != nil {
		return fmt.Errorf("train: %w", err)
	}
	return nil
}

// ErrDamaged is returned when a checkpoint is not whole any more.
var ErrDamaged = trees.ErrDamaged

// Restore goes to where a checkpoint was written. The configuration, custom parts, the data of all splits and their
// transform must be the same; only OnNaN, Epochs and Patience may differ. With a cosine schedule and another number of
// epochs, the learning rates from here on are as in a run that had this number from the start. The error says what
// differs, or is [ErrDamaged].
func (t *Trainer) Restore(path string) error {
	var values map[string]json.RawMessage
	f, err := npzfile.Read[float32](path, &values)
	if errors.Is(err, fs.ErrNotExist) {
		return fmt.Errorf("train: %w", err)
	}
	var h checkpointHeader
	if err == nil {
		err = h.state().set(values)
	}
	if err != nil {
		return fmt.Errorf("train: %w: %w", ErrDamaged, err)
	}
	if err := t.checkHeader(path, h); err != nil {
		return err
	}
	// All or nothing: look at everything before the first is used.
	own := t.state()
	arrays := map[string][]float32{}
	for _, name := range own.names() {
		if err == nil {
			arrays[name], err = f.Take(name, len(own.Arrays[name]))
		}
	}
	if err == nil {
		err = own.set(values)
	}
	if err != nil {
		return fmt.Errorf("train: %w: %w", ErrDamaged, err)
	}
	for name, values := range arrays {
		copy(own.Arrays[name], values)
	}
	t.loop.within = false
	return nil
}

// checkHeader returns an error if a checkpoint is not of this run.
func (t *Trainer) checkHeader(path string, h checkpointHeader) error {
	if h.format != checkpointFormat {
		return fmt.Errorf("train: %s: not a checkpoint: its format is %q, want %q", path, h.format, checkpointFormat)
	}
	if h.version != checkpointVersion {
		return fmt.Errorf("train: %s: version %d of the checkpoint format, but this program reads version %d: start the run anew", path,
			h.version, checkpointVersion)
	}
	was := Config{}.Plain() // as older runs lack newer settings
	if err := json.Unmarshal(h.config, &was); err != nil {
		return fmt.Errorf("train: %s: %w: %w", path, ErrDamaged, err)
	}
	if d := configDifferences(was.resumedWith(t.Config), t.Config, "was"); d != "" {
		return fmt.Errorf("train: %s was written by a run with another configuration: %s", path, d)
	}
	in, err := t.inputs()
	if err != nil {
		return err
	}
	if d := in.differences(h.inputs, "before"); d != "" {
		return fmt.Errorf("train: %s was written by a run with other data or parts: %s differ", path, d)
	}
	return nil
}

// inputs returns the inputs of the run.
func (t *Trainer) inputs() (*inputs, error) {
	kind, described := t.loop.learner.Kind()
	_, _, _, arrays := t.loop.learner.Numbers()
	settings, err := json.Marshal(described)
	if err != nil {
		return nil, fmt.Errorf("train: settings of the model: %w", err)
	}
	in := t.data.fingerprints()
	if in.Transform, err = hashOf(t.transform); err != nil {
		return nil, fmt.Errorf("train: transform: %w", err)
	}
	shapes, err := hashOf(arrays)
	in.Model = fmt.Sprintf("%s %s, arrays %s", kind, settings, shapes)
	for _, m := range t.parsed.parts.Metrics {
		in.Metrics = append(in.Metrics, m.String())
	}
	for _, h := range t.parsed.parts.Hooks {
		in.Hooks = append(in.Hooks, fmt.Sprintf("%T", h))
	}
	return &in, err
}

// hashOf returns a hash of a value as JSON.
func hashOf(v any) (string, error) {
	text, err := json.Marshal(v)
	hash := sha256.Sum256(text)
	return hex.EncodeToString(hash[:8]), err
}
