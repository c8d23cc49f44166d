package train

import (
	"crypto/sha256"
	"encoding/binary"
	"encoding/hex"
	"encoding/json"
	"fmt"
	"slices"
	"strings"
)

// Alike is collective. It is an error where a rank has another text than rank 0 for what is
// named. Nil stands for one process.
func Alike(g Processes, what, text string) error {
	if g == nil || g.Size() == 1 {
		return nil
	}
	var err error
	if first := string(ofFirst(g, []byte(text))); first != text {
		err = fmt.Errorf("train: %s: %s, on rank 0 %s", what, text, first)
	}
	return Agree(g, err)
}

// ofFirst is collective: it gives the bytes of rank 0.
func ofFirst(g Processes, own []byte) []byte {
	size := binary.LittleEndian.AppendUint64(nil, uint64(len(own)))
	g.Broadcast(size)
	first := slices.Clone(own)
	if g.Rank() > 0 {
		first = make([]byte, binary.LittleEndian.Uint64(size))
	}
	g.Broadcast(first)
	return first
}

// A task is what all ranks must have in common, for their gradients to be those of one
// training.
type task struct {
	Config  Config
	Metrics []string
	Data    inputs // without transform and model
	Initial string // digest of the initial model, "" if there is none
}

// checkTask is collective. It is an error where a rank has another task than rank 0, before
// they exchange anything whose size depends on it.
func (t *Trainer) checkTask() error {
	g := t.processes()
	if g.Size() == 1 {
		return nil
	}
	own := task{Config: t.Config, Data: t.fingerprints()}
	for _, m := range t.measures {
		own.Metrics = append(own.Metrics, m.String())
	}
	var err error
	if own.Initial, err = t.parts.Initial.digest(); err != nil {
		err = fmt.Errorf("train: the initial model: %w", err)
	}
	text, failed := json.Marshal(own)
	if err == nil && failed != nil {
		err = fmt.Errorf("train: %w", failed)
	}
	if err := Agree(g, err); err != nil {
		return err
	}
	var first task
	if err = json.Unmarshal(ofFirst(g, text), &first); err == nil {
		err = own.differences(first)
	}
	return Agree(g, err)
}

// differences is an error that says what rank 0 has otherwise.
func (own task) differences(first task) error {
	var list []string
	if d := own.Data.differences(first.Data); d != "" {
		list = append(list, "the data ("+d+")")
	}
	if d := configDifferences(first.Config, own.Config, "on rank 0"); d != "" {
		list = append(list, "the configuration ("+d+")")
	} else if a, b := strings.Join(own.Metrics, " "), strings.Join(first.Metrics, " "); a != b { // those of one's own
		list = append(list, fmt.Sprintf("the metrics (%s, on rank 0 %s)", a, b))
	}
	if own.Initial != first.Initial {
		list = append(list, "the initial model")
	}
	if list == nil {
		return nil
	}
	return fmt.Errorf("train: other than on rank 0: %s: all ranks need the same", strings.Join(list, "; "))
}

// checkModel is collective: it is checkTask for the model, whose inputs are those of the
// transform, and which may be one's own.
func (t *Trainer) checkModel() error {
	text, err := json.Marshal([]any{t.model.Kind(), t.model.Settings(), t.model.Weights().Arrays()})
	if err != nil {
		err = fmt.Errorf("train: settings of the model: %w", err)
	}
	if err := Agree(t.processes(), err); err != nil {
		return err
	}
	return Alike(t.processes(), "the model", string(text))
}

// digest tells models apart; it is "" for none.
func (r *Ranker) digest() (string, error) {
	if r == nil {
		return "", nil
	}
	f, err := r.File()
	if err != nil {
		return "", err
	}
	hash := sha256.New()
	err = f.Write(hash)
	return hex.EncodeToString(hash.Sum(nil)[:8]), err
}
