package train

import (
	"encoding/json"
	"fmt"
	"hash/crc32"
	"math"
	"slices"

	"github.com/plrank/plrank/internal/npzfile"
)

const (
	checkpointFormat  = "plrank checkpoint"
	checkpointVersion = 1
)

type checkpointHeader struct {
	Format  string  `json:"format"`
	Version int     `json:"version"`
	Config  Config  `json:"config"`
	Data    uint32  `json:"data"` // checksum of the training split's lists
	Step    uint64  `json:"step"`
	History []Epoch `json:"history"`
}

// SaveCheckpoint writes all that a run needs to go on after its last epoch as if
// nothing had happened. The file appears complete or not at all.
func (t *Trainer) SaveCheckpoint(path string) error {
	h := checkpointHeader{
		Format: checkpointFormat, Version: checkpointVersion,
		Config: t.Config, Data: t.checksum(), Step: t.step, History: t.history,
	}
	var arrays []npzfile.Array
	for _, a := range t.checkpointed() {
		arrays = append(arrays, npzfile.Array{Name: a.name, Shape: []int{len(a.values)}, Data: widen(a.values)})
	}
	if err := npzfile.Write(path, h, arrays); err != nil {
		return fmt.Errorf("train: %w", err)
	}
	return nil
}

// Restore goes to where a checkpoint was written. The configuration must be that
// of the checkpoint, but for the numbers of epochs and of patience, and the
// training data as well.
func (t *Trainer) Restore(path string) error {
	var h checkpointHeader
	f, err := npzfile.Read(path, &h)
	if err != nil {
		return fmt.Errorf("train: %w", err)
	}
	if h.Format != checkpointFormat || h.Version != checkpointVersion {
		return fmt.Errorf("train: %s: %q, version %d: want %q, version %d", path, h.Format, h.Version, checkpointFormat, checkpointVersion)
	}
	was, is := h.Config.WithDefaults(), t.Config // older runs lack newer settings
	was.Epochs, was.Patience = is.Epochs, is.Patience
	if a, b := asJSON(was), asJSON(is); a != b {
		return fmt.Errorf("train: %s was written by a run with another configuration: %s, not %s", path, a, b)
	}
	if h.Data != t.checksum() {
		return fmt.Errorf("train: %s was written by a run with other training data than %s", path, t.splits.Train.Name)
	}
	// All or nothing: look at every array before the first is used.
	values := map[string][]float64{}
	for _, a := range t.checkpointed() {
		if values[a.name], err = f.Take(a.name, len(a.values)); err != nil {
			return fmt.Errorf("train: %w", err)
		}
	}
	for _, a := range t.checkpointed() {
		for i, v := range values[a.name] {
			a.values[i] = float32(v)
		}
	}
	t.step, t.history = h.Step, h.History
	t.optimizer.setSteps(h.Step)
	return nil
}

type namedArray struct {
	name   string
	values []float32
}

// checkpointed is the arrays of a checkpoint.
func (t *Trainer) checkpointed() []namedArray {
	list := []namedArray{{"weights", t.weights}, {"best", t.best.model.Weights().Float32s()}}
	for name, values := range t.optimizer.state(len(t.weights)) {
		list = append(list, namedArray{"optimizer-" + name, values})
	}
	slices.SortFunc(list[2:], func(a, b namedArray) int {
		if a.name < b.name {
			return -1
		}
		return 1
	})
	return list
}

// checksum tells training splits apart by their lists, labels and groups.
func (t *Trainer) checksum() uint32 {
	d := t.splits.Train
	h := crc32.NewIEEE()
	fmt.Fprintln(h, d.FeatureIDs, d.Offsets, d.QueryIDs)
	for _, l := range d.Labels {
		fmt.Fprintln(h, math.Float32bits(l))
	}
	if d.Groups != nil {
		fmt.Fprintln(h, d.Groups)
	}
	return h.Sum32()
}

func widen(values []float32) []float64 {
	wide := make([]float64, len(values))
	for i, v := range values {
		wide[i] = float64(v)
	}
	return wide
}

func asJSON(c Config) string {
	text, err := json.Marshal(c)
	if err != nil {
		return err.Error()
	}
	return string(text)
}
