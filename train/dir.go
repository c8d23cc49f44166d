package train

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"

	"github.com/plrank/plrank/internal/atomicfile"
)

// The files of a Dir.
const (
	SettingsFile   = "config.json"    // what the run was asked to do
	HistoryFile    = "metrics.jsonl"  // an Epoch a line
	ModelFile      = "model.npz"      // the best model on the validation split
	ResultFile     = "result.json"    // a Summary
	CheckpointFile = "checkpoint.npz" // where to go on
)

// A Dir is the folder of a run.
type Dir struct{ path string }

// CreateDir makes a folder, which must not exist, and keeps the settings in it.
func CreateDir(path string, settings any) (*Dir, error) {
	err := os.Mkdir(path, 0o755)
	if errors.Is(err, os.ErrExist) {
		return nil, fmt.Errorf("train: %s exists: name a new folder, or resume the run in it", path)
	}
	if err != nil {
		return nil, fmt.Errorf("train: %w", err)
	}
	d := &Dir{path}
	return d, d.writeJSON(SettingsFile, settings)
}

// OpenDir opens the folder of a run to go on with it, and reads its settings.
func OpenDir(path string, settings any) (*Dir, error) {
	d := &Dir{path}
	data, err := os.ReadFile(d.File(SettingsFile))
	if err != nil {
		return nil, fmt.Errorf("train: no run to resume: %w", err)
	}
	if err := json.Unmarshal(data, settings); err != nil {
		return nil, fmt.Errorf("train: %s: %w", d.File(SettingsFile), err)
	}
	return d, nil
}

// File is the path of a file of the folder.
func (d *Dir) File(name string) string { return filepath.Join(d.path, name) }

// Restore brings t to the checkpoint of the folder, if there is one.
func (d *Dir) Restore(t *Trainer) error {
	if _, err := os.Stat(d.File(CheckpointFile)); errors.Is(err, os.ErrNotExist) {
		return nil
	}
	return t.Restore(d.File(CheckpointFile))
}

// Epoch keeps what t has learnt after an epoch; it is a hook. The checkpoint
// comes first: the other files are written anew from it if a run is resumed.
func (d *Dir) Epoch(t *Trainer, e Epoch) error {
	if err := t.SaveCheckpoint(d.File(CheckpointFile)); err != nil {
		return err
	}
	if e.Best {
		if err := t.Best().Save(d.File(ModelFile)); err != nil {
			return err
		}
	}
	return d.writeHistory(t.History())
}

func (d *Dir) writeHistory(history []Epoch) error {
	return d.write(HistoryFile, func(w io.Writer) error {
		enc := json.NewEncoder(w)
		for _, e := range history {
			if err := enc.Encode(e); err != nil {
				return err
			}
		}
		return nil
	})
}

// A Summary is what is in the result file of a run.
type Summary struct {
	BestEpoch   int                          `json:"bestEpoch"`
	Epochs      int                          `json:"epochs"` // trained
	Interrupted bool                         `json:"interrupted"`
	Convention  string                       `json:"convention"` // for label-free queries
	Metrics     map[string]Values            `json:"metrics"`    // of the model, by split: train, vali, test
	Baselines   map[string]map[string]Values `json:"baselines"`  // by ranker and split
}

// Finish writes the final model, history and result.
func (d *Dir) Finish(r *Result, report *Report) error {
	s := Summary{
		BestEpoch: r.BestEpoch, Epochs: len(r.History), Interrupted: r.Interrupted, Convention: report.Convention,
		Metrics: map[string]Values{}, Baselines: map[string]map[string]Values{},
	}
	for _, split := range report.Splits {
		model := len(split.Rankers) - 1
		s.Metrics[split.Name] = split.Rows[model]
		for i, name := range split.Rankers[:model] {
			if s.Baselines[name] == nil {
				s.Baselines[name] = map[string]Values{}
			}
			s.Baselines[name][split.Name] = split.Rows[i]
		}
	}
	if err := r.Ranker.Save(d.File(ModelFile)); err != nil {
		return err
	}
	if err := d.writeHistory(r.History); err != nil {
		return err
	}
	return d.writeJSON(ResultFile, s)
}

func (d *Dir) writeJSON(name string, v any) error {
	return d.write(name, func(w io.Writer) error {
		var text bytes.Buffer
		enc := json.NewEncoder(&text)
		enc.SetIndent("", "  ")
		if err := enc.Encode(v); err != nil {
			return err
		}
		_, err := w.Write(text.Bytes())
		return err
	})
}

func (d *Dir) write(name string, write func(io.Writer) error) error {
	if err := atomicfile.Write(d.File(name), write); err != nil {
		return fmt.Errorf("train: %w", err)
	}
	return nil
}
