package main

import (
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"log/slog"
	"net/http"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"github.com/plrank/plrank/clicks"
	"github.com/plrank/plrank/ranker"
)

// window is the number of days that a model learns from.
const window = 5

// A Record says how a day was, and what the night decided. Its file ends the day: until it is there, the night is done again
// after a start, with the same result.
type Record struct {
	Day         int64
	Impressions int
	Version     string    // of the model that ranked
	Clicks      float64   // an impression
	Drawn       float64   // true value of the rankings that were drawn, clicks a search
	ByScore     float64   // true value of the model's ranking by score
	Fused       float64   // true value of the fusion's ranking
	BM25        float64   // true value of the ranking by words alone
	Best        float64   // true value of the best order of the candidates
	Bias        []float64 // estimated
	Gate        string    // what it said of the candidate, which the night before trained; "": there was none
	Passed      bool
	Now, Before string  // names of the models of the next day, and before; "": the fusion
	Seconds     float64 // of the night
}

// A Loop is days, in which users search, and nights, in which the shop learns.
type Loop struct {
	*Server
	folder string
	users  *Users
	truth  *Truth
	length int64 // of a day, in impressions
	http   *http.Server
	ended  chan error // of http
}

// record returns the path of the record of a day.
func (l *Loop) record(day int64) string { return filepath.Join(l.folder, "days", prefix(day)+".json") }

// resume reads the records and the models of a folder.
func (l *Loop) resume() error {
	var records []Record
	for day := int64(1); ; day++ {
		var r Record
		text, err := os.ReadFile(l.record(day))
		if errors.Is(err, fs.ErrNotExist) {
			break
		}
		if err = cmp.Or(err, json.Unmarshal(text, &r)); err == nil && r.Day != day {
			err = fmt.Errorf("it is of day %d", r.Day)
		}
		if _, next := os.Stat(l.record(day + 1)); err != nil && errors.Is(next, fs.ErrNotExist) {
			slog.Warn("the record of the last night is damaged: it is done again", "file", l.record(day), "error", err)
			break
		}
		if err != nil {
			return fmt.Errorf("%s: %w: want the record of that day, or name another -state", l.record(day), err)
		}
		records = append(records, r)
	}
	l.records.Store(&records)
	l.day.Store(int64(len(records)) + 1)
	today, err := l.read(l.day.Load(), 1)
	if err != nil {
		return err
	}
	l.logged.Store(int64(len(today.Impressions)))
	return errors.Join(l.live.Reload(), l.openBefore())
}

// openBefore opens yesterday's model.
func (l *Loop) openBefore() error {
	before, err := l.open(l.last().Before)
	l.before.Store(before)
	return err
}

func (l *Loop) last() Record {
	if records := *l.records.Load(); len(records) > 0 {
		return records[len(records)-1]
	}
	return Record{}
}

// open opens a model of the folder by the name of its file; of the name "" it is nil.
func (l *Loop) open(name string) (*ranker.Model, error) {
	if name == "" {
		return nil, nil
	}
	return ranker.Open(filepath.Join(l.folder, "models", filepath.Base(name)))
}

// read reads the impressions of some days until the given one, and clicks that came later.
func (l *Loop) read(day, days int64) (*clicks.Log, error) {
	var paths []string
	for d := max(1, day-days+1); d <= day+1; d++ {
		some, err := filepath.Glob(filepath.Join(l.journal.folder, prefix(d)+"-*.jsonl"))
		if err != nil {
			return nil, err
		}
		paths = append(paths, some...)
	}
	if len(paths) == 0 {
		return &clicks.Log{}, nil
	}
	log, err := clicks.Read(paths...)
	if err != nil {
		return nil, err
	}
	log.Impressions = slices.DeleteFunc(log.Impressions, func(im clicks.Impression) bool {
		made, _, _ := strings.Cut(im.ID, "-")
		return made <= prefix(day-days) || made > prefix(day)
	})
	return log, nil
}

// run lets days pass.
func (l *Loop) run(ctx context.Context, days int) error {
	for ctx.Err() == nil && len(*l.records.Load()) < days {
		if err := l.users.visit(ctx, func() bool { return l.logged.Load() >= l.length }); err != nil || ctx.Err() != nil {
			return err
		}
		if err := l.night(ctx); err != nil {
			return err
		}
	}
	return nil
}

// night asks the gate about the candidate of the night before, trains the next one, and ends the day. A log that says too little
// for a candidate is no reason to close the shop.
func (l *Loop) night(ctx context.Context) error {
	start, day := time.Now(), l.day.Load()
	model, err := l.open(l.last().Now) // which may be replaced already, if a night was killed
	if err != nil {
		return err
	}
	today, err := l.read(day, 1)
	if err != nil {
		return err
	}
	r := Record{Day: day, Impressions: len(today.Impressions), Version: version(model), Now: l.last().Now, Before: l.last().Before}
	if err := l.judge(&r, today); err != nil {
		return err
	}
	recent, err := l.read(day, window)
	if err != nil {
		return err
	}
	trained, bias, err := learn(ctx, recent, uint64(day))
	switch {
	case ctx.Err() != nil:
		return ctx.Err()
	case err != nil:
		slog.Warn("no candidate this night", "error", err)
	default:
		if err := trained.Save(l.candidate(day)); err != nil {
			return err
		}
	}
	r.Bias = bias.Alpha
	if err := l.truth.fill(&r, today, model); err != nil {
		return err
	}
	r.Seconds = time.Since(start).Seconds()
	return l.end(r)
}

// judge asks the gate about the candidate of the night before, if there is one, and deploys it if it passes.
func (l *Loop) judge(r *Record, today *clicks.Log) error {
	path := l.candidate(r.Day - 1)
	candidate, err := ranker.Open(path)
	if errors.Is(err, fs.ErrNotExist) {
		return nil
	}
	if err != nil {
		return err
	}
	if r.Passed, r.Gate, err = gate(today, candidate); err != nil {
		r.Gate = err.Error()
	}
	if !r.Passed {
		return nil
	}
	r.Now, r.Before = filepath.Base(path), r.Now
	return errors.Join(candidate.Save(l.live.path), l.live.Reload())
}

func (l *Loop) candidate(day int64) string {
	return filepath.Join(l.folder, "models", prefix(day)+".npz")
}

// end writes the record, and begins the next day.
func (l *Loop) end(r Record) error {
	text, err := json.MarshalIndent(r, "", "\t")
	if err != nil {
		return err
	}
	if err := writeFile(l.record(r.Day), text); err != nil {
		return err
	}
	records := append(slices.Clone(*l.records.Load()), r)
	l.records.Store(&records)
	l.logged.Store(0)
	l.day.Store(r.Day + 1)
	fmt.Println(r)
	return l.openBefore()
}

func (r Record) String() string {
	var alpha []string
	for _, a := range r.Bias {
		alpha = append(alpha, strings.TrimPrefix(fmt.Sprintf("%.2f", a), "0"))
	}
	decided := "no candidate yet"
	if r.Gate != "" {
		decided = "candidate " + r.Gate + map[bool]string{true: ": deployed", false: ": refused"}[r.Passed]
	}
	return fmt.Sprintf("day %d: %d impressions, %.3f clicks each; true value: drawn %.3f, by score %.3f, fused %.3f, BM25 %.3f, best %.3f\n"+
		"       bias %s; %s; %.1f s",
		r.Day, r.Impressions, r.Clicks, r.Drawn, r.ByScore, r.Fused, r.BM25, r.Best, strings.Join(alpha, " "), decided, r.Seconds)
}
