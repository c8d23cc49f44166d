package train

import (
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"slices"
	"strings"

	"github.com/plrank/plrank/datasets"
	"github.com/plrank/plrank/internal/npzfile"
)

const (
	checkpointFormat  = "plrank checkpoint"
	checkpointVersion = 2
)

type checkpointHeader struct {
	Format  string  `json:"format"`
	Version int     `json:"version"`
	Config  Config  `json:"config"`
	Inputs  inputs  `json:"inputs"`
	Step    uint64  `json:"step"`
	History []Epoch `json:"history"`
	Initial Values  `json:"initial,omitempty"` // of the initial model on the validation split
}

// inputs tell whether a run goes on with the data and the model that it began with.
type inputs struct {
	Train     datasets.Fingerprint  `json:"train"`
	Vali      datasets.Fingerprint  `json:"vali"`
	Test      *datasets.Fingerprint `json:"test"`      // null: there is no test split
	Transform string                `json:"transform"` // hash
	Model     string                `json:"model"`     // kind and settings
}

// SaveCheckpoint writes all that a run needs to go on after its last epoch as if
// nothing had happened. The file appears complete or not at all.
func (t *Trainer) SaveCheckpoint(path string) error {
	c, err := t.checkpoint()
	if err != nil {
		return err
	}
	return c.save(path)
}

// A checkpoint is what a checkpoint file holds: a copy, which training does not change.
type checkpoint struct {
	header checkpointHeader
	arrays []npzfile.Array
}

// checkpoint is that of the last epoch.
func (t *Trainer) checkpoint() (*checkpoint, error) {
	in, err := t.inputs()
	if err != nil {
		return nil, err
	}
	c := &checkpoint{header: checkpointHeader{
		Format: checkpointFormat, Version: checkpointVersion,
		Config: t.Config, Inputs: *in, Step: t.step, History: t.history, Initial: t.initial,
	}}
	for _, a := range t.checkpointed() {
		for i, v := range a.values {
			if v-v != 0 { // such a file could not be read
				return nil, fmt.Errorf("train: no checkpoint can be written: entry %d of %s is %v: a lower learning rate, or clipping the gradient, may help", i, a.name, v)
			}
		}
		c.arrays = append(c.arrays, npzfile.Array{Name: a.name, Shape: []int{len(a.values)}, Data: widen(a.values)})
	}
	return c, nil
}

func (c *checkpoint) save(path string) error {
	if err := npzfile.Write(path, c.header, c.arrays); err != nil {
		return fmt.Errorf("train: %w", err)
	}
	return nil
}

// ErrDamaged is the error of a checkpoint that is not whole any more.
var ErrDamaged = errors.New("the checkpoint is damaged")

// Restore goes to where a checkpoint was written. The configuration, the parts of
// one's own, the data of all splits and their transform must be those of the
// checkpoint, but for OnNaN and the numbers of epochs and of patience. With a cosine schedule
// and another number of epochs, the learning rates from here on are those of a run of so many
// epochs. The error says what differs, or is [ErrDamaged].
func (t *Trainer) Restore(path string) error {
	var h checkpointHeader
	f, err := npzfile.Read(path, &h)
	if errors.Is(err, fs.ErrNotExist) {
		return fmt.Errorf("train: %w", err)
	}
	if err != nil {
		return fmt.Errorf("train: %w: %w", ErrDamaged, err)
	}
	if h.Format != checkpointFormat {
		return fmt.Errorf("train: %s: not a checkpoint: its format is %q, want %q", path, h.Format, checkpointFormat)
	}
	if h.Version != checkpointVersion {
		return fmt.Errorf("train: %s: version %d of the checkpoint format, but this program reads version %d: start the run anew", path, h.Version, checkpointVersion)
	}
	was := h.Config.Plain().resumedWith(t.Config) // older runs lack newer settings
	if d := configDifferences(was, t.Config, "was"); d != "" {
		return fmt.Errorf("train: %s was written by a run with another configuration: %s", path, d)
	}
	in, err := t.inputs()
	if err != nil {
		return err
	}
	if d := in.differences(h.Inputs); d != "" {
		return fmt.Errorf("train: %s was written by a run with other data or another model: %s differ", path, d)
	}
	// All or nothing: look at every array before the first is used.
	values := map[string][]float64{}
	for _, a := range t.checkpointed() {
		if values[a.name], err = f.Take(a.name, len(a.values)); err != nil {
			return fmt.Errorf("train: %w: %w", ErrDamaged, err)
		}
	}
	for _, a := range t.checkpointed() {
		for i, v := range values[a.name] {
			a.values[i] = float32(v)
		}
	}
	t.step, t.history, t.initial = h.Step, h.History, h.Initial
	return nil
}

type namedArray struct {
	name   string
	values []float32
}

// checkpointed is the arrays of a checkpoint.
func (t *Trainer) checkpointed() []namedArray {
	list := []namedArray{{"weights", t.weights}, {"best", t.best.model.Weights().Float32s()}}
	if t.Average != 0 {
		list = append(list, namedArray{"average", t.averaged})
	}
	for name, values := range t.optimizer.State() {
		list = append(list, namedArray{"optimizer-" + name, values})
	}
	slices.SortFunc(list[2:], func(a, b namedArray) int { return strings.Compare(a.name, b.name) })
	return list
}

// followFirst brings all ranks to where rank 0 is, which may have been restored from a
// checkpoint.
func (t *Trainer) followFirst() error {
	g := t.processes()
	if g.Size() == 1 {
		return nil
	}
	progress, err := json.Marshal(checkpointHeader{Step: t.step, History: t.history, Initial: t.initial})
	if err := Agree(g, err); err != nil {
		return err
	}
	progress = ofFirst(g, progress)
	for _, a := range t.checkpointed() {
		g.Broadcast(bytesOf(a.values))
	}
	if g.Rank() > 0 {
		var h checkpointHeader
		err = json.Unmarshal(progress, &h)
		t.step, t.history, t.initial = h.Step, h.History, h.Initial
	}
	return Agree(g, err)
}

// inputs are those of t. To read all of the data takes time: it is done once.
func (t *Trainer) inputs() (*inputs, error) {
	if t.known != nil {
		return t.known, nil
	}
	transform, err := json.Marshal(t.transform)
	if err != nil {
		return nil, fmt.Errorf("train: transform: %w", err)
	}
	settings, err := json.Marshal(t.model.Settings())
	if err != nil {
		return nil, fmt.Errorf("train: settings of the model: %w", err)
	}
	hash := sha256.Sum256(transform)
	in := t.fingerprints()
	in.Transform = hex.EncodeToString(hash[:8])
	in.Model = fmt.Sprintf("%s %s", t.model.Kind(), settings)
	t.known = &in
	return t.known, nil
}

// fingerprints are the inputs of t that are data.
func (t *Trainer) fingerprints() inputs {
	if t.data == nil {
		t.data = &inputs{Train: t.splits.Train.Fingerprint(), Vali: t.splits.Vali.Fingerprint()}
		if t.splits.Test != nil {
			test := t.splits.Test.Fingerprint()
			t.data.Test = &test
		}
	}
	return *t.data
}

// differences names what differs, "" where nothing does.
func (in inputs) differences(other inputs) string {
	var list []string
	split := func(name string, a, b datasets.Fingerprint) {
		if d := a.Differences(b); d != "" {
			list = append(list, d+" of the "+name+" split")
		}
	}
	split("training", in.Train, other.Train)
	split("validation", in.Vali, other.Vali)
	switch {
	case in.Test != nil && other.Test != nil:
		split("test", *in.Test, *other.Test)
	case in.Test != nil:
		list = append(list, "the test split, which there was none of")
	case other.Test != nil:
		list = append(list, "the test split, which is missing now")
	}
	if list == nil && in.Transform != other.Transform { // it follows from the data
		list = append(list, "the transform of the features")
	}
	if in.Model != other.Model {
		list = append(list, fmt.Sprintf("the model (%s, which was %s)", in.Model, other.Model))
	}
	return strings.Join(list, "; ")
}

func widen(values []float32) []float64 {
	wide := make([]float64, len(values))
	for i, v := range values {
		wide[i] = float64(v)
	}
	return wide
}
