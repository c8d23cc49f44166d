package tune

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"math"
	"os"
	"path/filepath"
	"strings"

	"github.com/plrank/plrank/cmd/internal/cli"
	"github.com/plrank/plrank/datasets"
	"github.com/plrank/plrank/internal/file"
	"github.com/plrank/plrank/ranker"
	"github.com/plrank/plrank/train"
)

// A trial is a training with some flags, or one on each fold, and how it ended.
type trial struct {
	Number  int          `json:"trial"` // 0: the plan as it is
	Flags   []string     `json:"flags"`
	Parts   []part       `json:"parts,omitempty"`  // of a mixture
	Value   train.Value  `json:"value"`            // the best on the validation split, or the mean over all folds
	Epoch   int          `json:"epoch"`            // of that value; of the last fold
	Report  train.Values `json:"report,omitempty"` // what -report names, of that epoch; the mean over folds
	End     string       `json:"end"`              // one of these:
	Error   string       `json:"error,omitempty"`
	Seconds float64      `json:"seconds"`

	models []*ranker.Model // by fold; nil: they have been let go
}

// A part is a trial whose model is in a mixture.
type part struct {
	Trial  int     `json:"trial"`
	Share  float64 `json:"share"`
	Weight float64 `json:"weight"` // of its scores
}

// words says in words what a trial has.
func (t *trial) words() string {
	switch {
	case t.Number == 0:
		return asItIs
	case t.Parts == nil:
		return strings.Join(t.Flags, " ")
	}
	var words []string
	for _, p := range t.Parts {
		words = append(words, fmt.Sprintf("%.2f × trial %d", p.Share, p.Trial))
	}
	return strings.Join(words, " + ")
}

const asItIs = "the plan as it is"

const (
	complete = "complete"
	failed   = "failed" // with Error
	cut      = "cut"    // by the end of the search; in no log
)

// A head is the first line of a log: what all trials have in common.
type head struct {
	Format string                 `json:"format"`
	Args   []string               `json:"args"`
	Metric string                 `json:"metric"`
	Data   []datasets.Fingerprint `json:"data"` // of the training and validation split of every fold
}

// A log is a file with a line for its head, and one for each trial, in the order in which they ended.
type log struct {
	path     string
	lock     *file.Lock // nil: the file system has no locks
	unlocked string     // a warning that it has none; empty: it has
	file     *os.File
	head     *head // nil: there is none yet
	trials   []*trial
}

const logFormat = "plrank tune 2"

// openLog opens the file in a folder, which is new, or one to go on with.
func openLog(folder string, resume bool) (l *log, err error) {
	l = &log{path: filepath.Join(folder, "trials.jsonl")}
	if _, err := os.Stat(l.path); err != nil && resume {
		return nil, fmt.Errorf("tune: there is nothing to go on with: %w", err)
	}
	entries, _ := os.ReadDir(folder) // hidden files are locks
	for _, e := range entries {
		if !resume && !strings.HasPrefix(e.Name(), ".") {
			return nil, fmt.Errorf("tune: %s exists: it contains %s: name a new folder, or go on with -resume", folder, e.Name())
		}
	}
	if err := os.MkdirAll(folder, 0o777); err != nil {
		return nil, fmt.Errorf("tune: %w", err)
	}
	if l.lock, l.unlocked, err = cli.LockFolder(folder, "search"); err != nil {
		return nil, fmt.Errorf("tune: %w", err)
	}
	if resume {
		if err := l.read(); err != nil {
			l.close()
			return nil, fmt.Errorf("tune: %s: %w", l.path, err)
		}
	}
	return l, nil
}

// model returns the file of the model of a trial.
func (l *log) model(t *trial) string {
	return filepath.Join(filepath.Dir(l.path), fmt.Sprintf("trial%d.npz", t.Number))
}

// read reads the lines that are whole: the last one may have been cut off.
func (l *log) read() error {
	text, err := os.ReadFile(l.path)
	if err != nil {
		return err
	}
	whole := text[:bytes.LastIndexByte(text, '\n')+1]
	n := 0
	for line := range bytes.Lines(whole) {
		if n++; n == 1 {
			l.head = &head{}
			if err := json.Unmarshal(line, l.head); err != nil || l.head.Format != logFormat {
				return fmt.Errorf("not a file of plrank tune: its format is %q, want %q", l.head.Format, logFormat)
			}
			continue
		}
		t := &trial{Value: train.Value(math.NaN())}
		if err := json.Unmarshal(line, t); err != nil {
			return fmt.Errorf("line %d: %w", n, err)
		}
		if t.End == complete && math.IsNaN(float64(t.Value)) {
			return fmt.Errorf("line %d: a trial without a value", n)
		}
		l.trials = append(l.trials, t)
	}
	if l.head == nil {
		return errors.New("there is nothing in it: remove it, and begin anew")
	}
	if len(whole) < len(text) {
		return os.Truncate(l.path, int64(len(whole)))
	}
	return nil
}

// begin writes the head of a new log. An old log must have the same head, except for its args.
func (l *log) begin(h head) (err error) {
	if was := l.head; was != nil {
		for i, split := range []string{"training", "validation"} {
			for at := i; at < len(h.Data) && len(h.Data) == len(was.Data); at += 2 {
				if differ := h.Data[at].Differences(was.Data[at]); differ != "" {
					return fmt.Errorf("tune: %s is of other data: %s of the %s split differ", l.path, differ, split)
				}
			}
		}
		if len(h.Data) != len(was.Data) || h.Metric != was.Metric {
			return fmt.Errorf("tune: %s is of %d splits validated by %s, not %d by %s", l.path, len(was.Data), was.Metric, len(h.Data), h.Metric)
		}
	}
	if l.file, err = os.OpenFile(l.path, os.O_APPEND|os.O_CREATE|os.O_WRONLY, 0o666); err != nil {
		return fmt.Errorf("tune: %w", err)
	}
	if l.head != nil {
		return nil
	}
	return l.write(h)
}

// write adds a line, which is on the disk then.
func (l *log) write(v any) error {
	line, err := json.Marshal(v)
	if err == nil {
		_, err = l.file.Write(append(line, '\n'))
	}
	if err == nil {
		err = l.file.Sync()
	}
	if err != nil {
		return fmt.Errorf("tune: %s: %w", l.path, err)
	}
	return nil
}

func (l *log) close() {
	if l.file != nil {
		l.file.Close()
	}
	if l.lock != nil {
		l.lock.Release()
	}
	os.Remove(filepath.Dir(l.path)) // which fails if something is in it
}
