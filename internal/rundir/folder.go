package rundir

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"

	"github.com/plrank/plrank/internal/atomicfile"
	"github.com/plrank/plrank/ranker"
	"github.com/plrank/plrank/train"
)

// The files of a Dir.
const (
	SettingsFile   = "config.json"             // what the run was asked to do
	HistoryFile    = "metrics.jsonl"           // a train.Epoch a line
	ModelFile      = "model.npz"               // the best model on the validation split
	ResultFile     = "result.json"             // a Summary
	CheckpointFile = "checkpoint.npz"          // where to go on
	PreviousFile   = "checkpoint.previous.npz" // the checkpoint before it
	CurveFile      = "curve.png"               // of the validation value
	InitialFile    = "initial.npz"             // the model that the run began with, if it did with one
	FoldsFile      = "summary.json"            // of the folder above the runs on folds: a FoldsSummary

	nextFile = "checkpoint.next.npz" // whole, and about to become the checkpoint
)

// A folder has the files of a run.
type folder string

// File is the path of a file of the folder.
func (f folder) File(name string) string { return filepath.Join(string(f), name) }

// keepInitial keeps the initial model of a run, unless it is there, or there is none.
func (f folder) keepInitial(model *ranker.Model) error {
	if model == nil {
		return nil
	}
	if _, err := os.Stat(f.File(InitialFile)); err == nil {
		return nil
	}
	return model.Save(f.File(InitialFile))
}

// markInterrupted says in a result, if there is one, that it is not that of the end.
func (f folder) markInterrupted(name string) error {
	data, err := os.ReadFile(f.File(name))
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
	return f.writeJSON(name, fields)
}

func (f folder) writeHistory(history []train.Epoch) error {
	return f.write(HistoryFile, func(w io.Writer) error {
		enc := json.NewEncoder(w)
		for _, e := range history {
			if err := enc.Encode(e); err != nil {
				return err
			}
		}
		return nil
	})
}

func (f folder) writeJSON(name string, v any) error {
	return f.write(name, func(w io.Writer) error {
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

func (f folder) write(name string, write func(io.Writer) error) error {
	if err := atomicfile.Write(f.File(name), write); err != nil {
		return fmt.Errorf("train: %w", err)
	}
	return nil
}

// ReadSettings reads the settings of the run in a folder.
func ReadSettings(path string, settings any) error {
	f := folder(path)
	data, err := os.ReadFile(f.File(SettingsFile))
	if err != nil {
		return fmt.Errorf("train: no run to resume: %w", err)
	}
	if err := json.Unmarshal(data, settings); err != nil {
		return fmt.Errorf("train: %s: %w", f.File(SettingsFile), err)
	}
	return nil
}
