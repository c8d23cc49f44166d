package main

import (
	"bytes"
	"context"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"hash/fnv"
	"os"
	"regexp"
	"strings"

	"github.com/plrank/plrank/train"
)

// A trial is one training run of an experiment.
type trial struct {
	experiment string
	loss       string // as tables have it
	run        int    // from 0
	config     train.Config
	seconds    float64 // of training, after which it ends with the epoch; 0: never
}

// name returns the name of the trial's file without its ending, readable, and different for
// all trials of a folder.
func (c trial) name() string {
	return trialFile(fmt.Sprintf("%s-%s-n%v-run%d", c.experiment, c.loss, c.config.Samples, c.run+1), c.settings())
}

// settings are all that determines the result, besides the data.
func (c trial) settings() any {
	return struct {
		Seconds float64      `json:"seconds,omitempty"`
		Config  train.Config `json:"config"`
	}{c.seconds, c.config.Plain()}
}

var noFileName = regexp.MustCompile(`[^A-Za-z0-9.+]+`)

// trialFile is a readable name, and a checksum of the settings.
func trialFile(name string, settings any) string {
	text, err := json.Marshal(settings)
	if err != nil {
		panic(err) // settings are numbers and strings
	}
	h := fnv.New32a()
	h.Write(text)
	return strings.Trim(noFileName.ReplaceAllString(name, "-"), "-") + "-" + hex.EncodeToString(h.Sum(nil))
}

// kept is the result of a trial: that in its file, or what compute gives, which is
// then written there. It returns an error for a file of other settings.
func kept[T any](s *session, name string, settings any, compute func() (T, error)) (result T, err error) {
	type file struct {
		Data     identity        `json:"data"`
		Settings json.RawMessage `json:"settings"`
		Result   T               `json:"result"`
	}
	is := file{Data: s.data.ID}
	if is.Settings, err = json.Marshal(settings); err != nil {
		return result, fmt.Errorf("reproduce: %w", err)
	}
	path := s.trialPath(name + ".json")
	var was file
	found, err := readJSON(path, &was)
	if err != nil {
		return result, err
	}
	if found {
		var compact bytes.Buffer
		if err := json.Compact(&compact, was.Settings); err != nil {
			return result, fmt.Errorf("reproduce: %s: %w", path, err)
		}
		if was.Data != is.Data || !bytes.Equal(compact.Bytes(), is.Settings) {
			return result, fmt.Errorf("reproduce: %s was made with other settings or data: choose another folder with -out", path)
		}
		return was.Result, nil
	}
	if is.Result, err = compute(); err != nil {
		return result, err
	}
	return is.Result, writeJSON(path, is)
}

func (s *session) trialPath(name string) string { return s.file(trialFolder + "/" + name) }

// errEnough ends a run that has had its time.
var errEnough = errors.New("enough")

// train is the learning curve of a trial, a line an epoch. It goes on from a
// checkpoint that an interrupted session left; done is told how much of the trial
// is, from 0 to 1.
func (s *session) train(ctx context.Context, c trial, done func(float64)) ([]train.Epoch, error) {
	checkpoint := s.trialPath(c.name() + ".checkpoint.npz")
	history, err := kept(s, c.name(), c.settings(), func() ([]train.Epoch, error) {
		t, err := train.New(c.config, train.Custom{}, s.data.splits)
		if err != nil {
			return nil, err
		}
		if _, err := os.Stat(checkpoint); err == nil {
			if err := t.Restore(checkpoint); err != nil {
				return nil, err
			}
		}
		if !c.enough(t.History()) {
			result, err := t.Run(ctx, train.Hooks{Epoch: func(t *train.Trainer, e train.Epoch) error {
				done(c.part(t.History()))
				if c.seconds == 0 { // one that is timed begins anew: graphs are compiled once
					c, err := t.Checkpoint()
					if err == nil {
						err = c.Save(checkpoint)
					}
					if err != nil {
						return err
					}
				}
				if c.enough(t.History()) {
					return errEnough
				}
				return nil
			}})
			if err != nil && !errors.Is(err, errEnough) {
				return nil, fmt.Errorf("reproduce: %s, run %d: %w", c.loss, c.run+1, err)
			}
			if err == nil && result.Interrupted {
				return nil, ctx.Err()
			}
		}
		return t.History(), nil
	})
	if err != nil {
		return nil, err
	}
	// Only now that the result is kept.
	if err := os.Remove(checkpoint); err != nil && !errors.Is(err, os.ErrNotExist) {
		return nil, fmt.Errorf("reproduce: %w", err)
	}
	return history, nil
}

// enough reports whether a run has had its time.
func (c trial) enough(history []train.Epoch) bool {
	return len(history) > 0 && c.seconds > 0 && trained(history) >= c.seconds
}

// part is how much of the trial is done.
func (c trial) part(history []train.Epoch) float64 {
	if c.seconds > 0 {
		return min(1, trained(history)/c.seconds)
	}
	return float64(len(history)) / float64(c.config.Epochs)
}

// trained is the time that the steps of all epochs took.
func trained(history []train.Epoch) float64 {
	sum := 0.0
	for _, e := range history {
		sum += e.TrainSeconds
	}
	return sum
}

var errNoTrials = errors.New("-without leaves nothing to run")
