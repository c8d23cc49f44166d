package cli

import (
	"bufio"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"

	"github.com/plrank/plrank/internal/file"
	"github.com/plrank/plrank/ranker"
	"github.com/plrank/plrank/train"
)

// The files of a RunDir.
const (
	SettingsFile   = "config.json"             // what the run was asked to do
	HistoryFile    = "metrics.jsonl"           // a train.Epoch a line
	ModelFile      = "model.npz"               // the best model on the validation split
	ResultFile     = "result.json"             // a Summary
	CheckpointFile = "checkpoint.npz"          // where to go on
	PreviousFile   = "checkpoint.previous.npz" // the checkpoint before it
	CurveFile      = "curve.png"               // of the validation value
	ReportFile     = "report.html"             // the page of the run
	InitialFile    = "initial.npz"             // the model that the run began with, if it did with one
	FoldsFile      = "summary.json"            // of the folder above the runs on folds: a FoldsSummary

	nextFile = "checkpoint.next.npz" // whole, and about to become the checkpoint
)

// File returns the path of a file in the folder.
func (d *RunDir) File(name string) string { return filepath.Join(d.path, name) }

// removeLeftovers removes what is left of writing that was cut off.
func (d *RunDir) removeLeftovers() {
	for _, name := range []string{SettingsFile, HistoryFile, ModelFile, ResultFile, CurveFile, ReportFile, InitialFile, nextFile} {
		for _, left := range file.Leftovers(d.File(name)) {
			os.Remove(left) // one that stays does no harm
		}
	}
}

// restore brings t to the last checkpoint that is whole; without any, t stays at the beginning.
func (d *RunDir) restore(t *train.Trainer) (warnings []string, err error) {
	last, previous := d.File(CheckpointFile), d.File(PreviousFile)
	err = t.Restore(last)
	missing := errors.Is(err, fs.ErrNotExist)
	if !missing && !errors.Is(err, train.ErrDamaged) {
		return nil, err
	}
	other := t.Restore(previous)
	switch {
	case other == nil:
		// A damaged checkpoint must not become the one before.
		if other = file.Rename(previous, last); other != nil {
			return nil, fmt.Errorf("train: %w", other)
		}
		return []string{fmt.Sprintf("%v: going on from the checkpoint before it, after epoch %d", err, len(t.History()))}, nil
	case missing && errors.Is(other, fs.ErrNotExist):
		return nil, nil
	case errors.Is(other, fs.ErrNotExist):
		return nil, fmt.Errorf("%w; there is none before it: please start the run anew", err)
	}
	return nil, fmt.Errorf("%w; and so is the one before it: %w", err, other)
}

// saveCheckpoint saves a checkpoint, and keeps the last one as the one before.
func (d *RunDir) saveCheckpoint(c *train.Checkpoint) error {
	last, next := d.File(CheckpointFile), d.File(nextFile)
	if err := c.Save(next); err != nil {
		return err
	}
	err := file.Rename(last, d.File(PreviousFile))
	if err == nil || errors.Is(err, fs.ErrNotExist) {
		err = file.Rename(next, last)
	}
	if err != nil {
		return fmt.Errorf("train: %w", err)
	}
	return nil
}

// keepInitial saves the initial model of a run, unless the file exists or it has none.
func (d *RunDir) keepInitial(model *ranker.Model) error {
	if model == nil {
		return nil
	}
	if _, err := os.Stat(d.File(InitialFile)); err == nil {
		return nil
	}
	return model.Save(d.File(InitialFile))
}

// removeResult removes a result, if there is one: the run goes on.
func (d *RunDir) removeResult(name string) error {
	if err := os.Remove(d.File(name)); err != nil && !errors.Is(err, fs.ErrNotExist) {
		return fmt.Errorf("train: %w", err)
	}
	return nil
}

func (d *RunDir) writeHistory(history []train.Epoch) error {
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

func (d *RunDir) writeJSON(name string, v any) error {
	return d.write(name, func(w io.Writer) error { return PrintJSON(w, v) })
}

func (d *RunDir) write(name string, write func(io.Writer) error) error {
	if err := file.Write(d.File(name), write); err != nil {
		return fmt.Errorf("train: %w", err)
	}
	return nil
}

// ReadSettings reads the settings of the run in a folder.
func ReadSettings(path string, settings any) error {
	path = filepath.Join(path, SettingsFile)
	data, err := os.ReadFile(path)
	if err != nil {
		return fmt.Errorf("train: no run to resume: %w", err)
	}
	if err := json.Unmarshal(data, settings); err != nil {
		return fmt.Errorf("train: %s: %w", path, err)
	}
	return nil
}

// ReadJSON reads all values of a file in JSON; none if there is no such file.
func ReadJSON[V any](path string) (all []V, err error) {
	f, err := os.Open(path)
	if errors.Is(err, fs.ErrNotExist) {
		return nil, nil
	}
	if err != nil {
		return nil, err
	}
	defer f.Close()
	for in := json.NewDecoder(bufio.NewReader(f)); ; {
		var v V
		if err := in.Decode(&v); err == io.EOF {
			return all, nil
		} else if err != nil {
			return nil, fmt.Errorf("%s: %w", path, err)
		}
		all = append(all, v)
	}
}
