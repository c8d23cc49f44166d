package train

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"strings"

	"github.com/plrank/plrank/internal/atomicfile"
	"github.com/plrank/plrank/internal/filelock"
	"github.com/plrank/plrank/internal/parallel"
	"github.com/plrank/plrank/ranker"
)

// The files of a Dir.
const (
	SettingsFile   = "config.json"             // what the run was asked to do
	HistoryFile    = "metrics.jsonl"           // an Epoch a line
	ModelFile      = "model.npz"               // the best model on the validation split
	ResultFile     = "result.json"             // a Summary
	CheckpointFile = "checkpoint.npz"          // where to go on
	PreviousFile   = "checkpoint.previous.npz" // the checkpoint before it
	CurveFile      = "curve.png"               // of the validation value
	InitialFile    = "initial.npz"             // the model that the run began with, if it did with one

	nextFile = "checkpoint.next.npz" // whole, and about to become the checkpoint
)

// A Dir is the folder of a run, which no other run can have until Close.
type Dir struct {
	path     string
	written  func() error   // waits for what Epoch began to write; nil: nothing
	lock     *filelock.Lock // nil: released, or there are no locks
	unlocked string         // a warning: why there are none
}

// CreateDir makes the folder of a run, and those above it, and looks that files can be
// written there. A folder that is there already must be empty, or hold no more than a
// run leaves that has not come to its first checkpoint, and no other run may be at work in it.
func CreateDir(path string) (*Dir, error) {
	if info, err := os.Stat(path); err == nil && !info.IsDir() {
		return nil, fmt.Errorf("train: %s exists, and is no folder", path)
	}
	if err := os.MkdirAll(path, 0o777); err != nil {
		return nil, fmt.Errorf("train: %w", err)
	}
	d := &Dir{path: path}
	if err := d.hold(filelock.Take); err != nil {
		return nil, err
	}
	if err := filepath.WalkDir(path, notBegun); err != nil {
		d.release()
		return nil, fmt.Errorf("train: %s exists: %w: name a new folder, or resume the run in it", path, err)
	}
	return d, nil
}

// notBegun is an error for a file that a run leaves only after its first checkpoint,
// or that is not of a run.
func notBegun(path string, entry fs.DirEntry, err error) error {
	name := entry.Name()
	switch {
	case err != nil:
		return err
	case entry.IsDir(): // of a fold
		return nil
	case name == SettingsFile, name == InitialFile, name == lockFile, strings.HasPrefix(name, "."+SettingsFile+"."), strings.HasPrefix(name, ".checkpoint."):
		return nil // the last two are what is left of writing that was cut off
	}
	return fmt.Errorf("it holds %s", name)
}

// OpenDir opens the folder of a run to go on with it, and reads its settings. No other run
// may be at work in it.
func OpenDir(path string, settings any) (*Dir, error) {
	d := &Dir{path: path}
	if err := ReadSettings(path, settings); err != nil {
		return nil, err
	}
	if err := d.hold(filelock.Take); err != nil {
		return nil, err
	}
	return d, nil
}

// ReadSettings reads the settings of the run in a folder.
func ReadSettings(path string, settings any) error {
	d := &Dir{path: path}
	data, err := os.ReadFile(d.File(SettingsFile))
	if err != nil {
		return fmt.Errorf("train: no run to resume: %w", err)
	}
	if err := json.Unmarshal(data, settings); err != nil {
		return fmt.Errorf("train: %s: %w", d.File(SettingsFile), err)
	}
	return nil
}

// File is the path of a file of the folder.
func (d *Dir) File(name string) string { return filepath.Join(d.path, name) }

// Begin keeps the settings of a run that begins, or goes on: then it brings t to the
// checkpoint of the folder, if there is one, or where that one is damaged to the one
// before it; the warning says so, or that nothing keeps other runs out of the folder. A
// result that is there already, of fewer epochs, counts as interrupted until Finish.
func (d *Dir) Begin(t *Trainer, settings any) (warning string, err error) {
	d.removeLeftovers()
	if warning, err = d.restore(t); err != nil {
		return "", err
	}
	if d.unlocked != "" {
		warning = strings.TrimPrefix(warning+"; "+d.unlocked, "; ")
	}
	if err := d.writeJSON(SettingsFile, settings); err != nil {
		return warning, err
	}
	if err := d.keepInitial(t); err != nil || t.done() {
		return warning, err
	}
	return warning, d.markInterrupted(ResultFile)
}

// keepInitial keeps the initial model of a run, if there is one, so that it can go on without
// the file that this was read from.
func (d *Dir) keepInitial(t *Trainer) error {
	if t.parts.Initial == nil {
		return nil
	}
	if _, err := os.Stat(d.File(InitialFile)); err == nil {
		return nil
	}
	return t.parts.Initial.Save(d.File(InitialFile))
}

// removeLeftovers removes what is left of writing that was cut off.
func (d *Dir) removeLeftovers() {
	for _, name := range []string{SettingsFile, HistoryFile, ModelFile, ResultFile, CurveFile, InitialFile, nextFile} {
		for _, left := range atomicfile.Leftovers(d.File(name)) {
			os.Remove(left) // one that stays is no harm
		}
	}
}

// restore brings t to the last checkpoint that is whole; without any, it stays at the
// beginning.
func (d *Dir) restore(t *Trainer) (warning string, err error) {
	last, previous := d.File(CheckpointFile), d.File(PreviousFile)
	err = t.Restore(last)
	missing := errors.Is(err, fs.ErrNotExist)
	if !missing && !errors.Is(err, ErrDamaged) {
		return "", err
	}
	other := t.Restore(previous)
	switch {
	case other == nil:
		// A damaged checkpoint must not become the one before.
		if other = atomicfile.Rename(previous, last); other != nil {
			return "", fmt.Errorf("train: %w", other)
		}
		return fmt.Sprintf("%v: going on from the checkpoint before it, after epoch %d", err, len(t.history)), nil
	case missing && errors.Is(other, fs.ErrNotExist):
		return "", nil
	case errors.Is(other, fs.ErrNotExist):
		return "", fmt.Errorf("%w; there is none before it: please start the run anew", err)
	}
	return "", fmt.Errorf("%w; and so is the one before it: %w", err, other)
}

// saveCheckpoint keeps the last checkpoint as the one before.
func (d *Dir) saveCheckpoint(c *checkpoint) error {
	last, next := d.File(CheckpointFile), d.File(nextFile)
	if err := c.save(next); err != nil {
		return err
	}
	err := atomicfile.Rename(last, d.File(PreviousFile))
	if err == nil || errors.Is(err, fs.ErrNotExist) {
		err = atomicfile.Rename(next, last)
	}
	if err != nil {
		return fmt.Errorf("train: %w", err)
	}
	return nil
}

// BeginFolds is Begin for the folder above those of the folds.
func (d *Dir) BeginFolds(settings any) error {
	if err := d.writeJSON(SettingsFile, settings); err != nil {
		return err
	}
	return d.markInterrupted(FoldsFile)
}

// markInterrupted says in a result, if there is one, that it is not that of the end.
func (d *Dir) markInterrupted(name string) error {
	data, err := os.ReadFile(d.File(name))
	if errors.Is(err, os.ErrNotExist) {
		return nil
	}
	if err != nil {
		return fmt.Errorf("train: %w", err)
	}
	fields := map[string]json.RawMessage{}
	if json.Unmarshal(data, &fields) != nil { // damaged: Finish writes it anew
		fields = map[string]json.RawMessage{}
	}
	fields["interrupted"] = json.RawMessage("true")
	return d.writeJSON(name, fields)
}

// Epoch keeps what t has learnt after an epoch; it is a hook. The files are written while
// training goes on: the next Epoch, Wait and Finish wait for them. The checkpoint
// comes first: the other files are written anew from it if a run is resumed.
func (d *Dir) Epoch(t *Trainer, e Epoch) error {
	if err := d.Wait(); err != nil {
		return err
	}
	checkpoint, err := t.checkpoint()
	if err != nil {
		return err
	}
	var model *ranker.File // nil: that of an earlier epoch is better
	if e.Best || e.Epoch == 1 {
		if model, err = t.Best().File(); err != nil {
			return err
		}
	}
	history := t.History()
	ended := parallel.Go(func() {
		if err = d.saveCheckpoint(checkpoint); err == nil && model != nil {
			err = model.Save(d.File(ModelFile))
		}
		if err == nil {
			err = d.writeHistory(history)
		}
	})
	d.written = func() error { ended(); return err }
	return nil
}

// Wait returns when the files of the last Epoch are written, with the error if they could
// not be. A run that ends without Finish has to call it.
func (d *Dir) Wait() error {
	wait := d.written
	if wait == nil {
		return nil
	}
	d.written = nil
	return wait()
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
	BestEpoch   int                          `json:"bestEpoch"`         // 0: the initial model
	Epochs      int                          `json:"epochs"`            // trained
	Skipped     int                          `json:"skipped,omitempty"` // batches, see Config.OnNaN
	Interrupted bool                         `json:"interrupted"`
	Initial     Values                       `json:"initial,omitempty"` // of the initial model on the validation split
	Convention  string                       `json:"convention"`        // for label-free queries
	Metrics     map[string]Values            `json:"metrics"`           // of the model, by split: train, vali, test
	Baselines   map[string]map[string]Values `json:"baselines"`         // by ranker and split
	StdErr      map[string]Values            `json:"stdErr,omitempty"`  // of the metrics that are estimated from sampled rankings, by split
}

// Finish writes the final model, history and result.
func (d *Dir) Finish(r *Result, report *Report) error {
	if err := d.Wait(); err != nil {
		return err
	}
	s := Summary{
		BestEpoch: r.BestEpoch, Epochs: len(r.History), Interrupted: r.Interrupted, Initial: r.Initial, Convention: report.Convention,
		Metrics: map[string]Values{}, Baselines: map[string]map[string]Values{},
	}
	for _, e := range r.History {
		s.Skipped += e.Skipped
	}
	for _, split := range report.Splits {
		model := len(split.Rankers) - 1
		s.Metrics[split.Name] = split.Rows[model]
		if split.StdErr != nil {
			if s.StdErr == nil {
				s.StdErr = map[string]Values{}
			}
			s.StdErr[split.Name] = split.StdErr
		}
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
