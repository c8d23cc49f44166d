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

const (
	window    = 5 // days that a model learns from
	mostTried = 3 // days that a challenger is tried
)

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
	Gate        string    // what it said of the candidate, which the night before trained; "": it was not asked
	Passed      bool
	Trial       string   // what users said of the challenger; "": there was none
	Better      string   // champion or challenger; "": not known yet
	Drift       []string // features that are not as they were when the model was trained
	Now, Before string   // names of the models of the next day, and before; "": the fusion
	Challenger  string   // name of the model that is interleaved the next day; "": none
	Since       int64    // its first day
	Fresh       int64    // the first day that models learn from; 0: all
	Seconds     float64  // of the night
}

// A Loop is days, in which users search, and nights, in which the shop learns.
type Loop struct {
	*Server
	folder string
	users  *Users
	truth  *Truth
	length int64 // of a day, in impressions
	season int64 // its first day; 0: there is none
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
	return errors.Join(l.live.Reload(), l.morning())
}

// morning opens yesterday's model and the challenger, and begins the season on its day.
func (l *Loop) morning() error {
	before, err := l.open(l.last().Before)
	rival, err2 := l.open(l.last().Challenger)
	if err := cmp.Or(err, err2); err != nil {
		return err
	}
	l.before.Store(before)
	l.rival.Store(rival)
	if shop := l.engine.shop.Load(); l.season > 0 && l.day.Load() >= l.season && !shop.Products[0].Season {
		shop = shop.inSeason()
		l.engine.shop.Store(shop)
		l.users.shop = shop
		l.truth, err = newTruth(shop, l.engine)
		fmt.Printf("day %d: it is the season\n", l.day.Load())
	}
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
		l.users.last.Store(uint64(l.day.Load())<<32 + uint64(l.logged.Load()))
		if err := l.users.visit(ctx, func() bool { return l.logged.Load() >= l.length }); err != nil || ctx.Err() != nil {
			return err
		}
		if err := l.night(ctx); err != nil {
			return err
		}
	}
	return nil
}

// night looks for drift, asks users about the challenger and the gate about the candidate of the night before, trains the next one, and
// ends the day. A log that says too little for a candidate is no reason to close the shop.
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
	last := l.last()
	r := Record{Day: day, Impressions: len(today.Impressions), Version: version(model), Now: last.Now, Before: last.Before,
		Challenger: last.Challenger, Since: last.Since, Fresh: last.Fresh}
	if r.Drift, err = drifted(model, today); err != nil {
		return err
	}
	switch {
	case r.Drift != nil && last.Now >= prefix(last.Fresh): // the model is of the time before
		r.Fresh, r.Challenger = day, ""
	case r.Challenger != "":
		err = l.try(&r)
	default:
		err = l.judge(&r, today)
	}
	if err != nil {
		return err
	}
	recent, err := l.read(day, min(window, day-max(r.Fresh, 1)+1))
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

// try asks users about the challenger, and deploys it if they prefer it. It goes if they prefer the model, or do not say so in some days.
func (l *Loop) try(r *Record) error {
	log, err := l.read(r.Day, r.Day-r.Since+1)
	if err != nil {
		return err
	}
	challenger, err := l.open(r.Challenger)
	if err != nil {
		return err
	}
	if r.Better, r.Trial, err = trial(log, challenger); err != nil {
		r.Trial = err.Error()
	}
	if name := r.Challenger; r.Better == "challenger" {
		r.Challenger = ""
		return l.deploy(r, name, challenger)
	}
	if r.Better != "" || r.Day-r.Since+1 >= mostTried {
		r.Challenger = ""
	}
	return nil
}

// deploy makes a model the one of the next day.
func (l *Loop) deploy(r *Record, name string, m *ranker.Model) error {
	r.Now, r.Before = name, r.Now
	return errors.Join(m.Save(l.live.path), l.live.Reload())
}

// judge asks the gate about the candidate of the night before, if there is one. If it passes, it becomes the challenger, or the model if
// all rankings are drawn.
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
	if l.share < 1 {
		r.Challenger, r.Since = filepath.Base(path), r.Day+1
		return nil
	}
	return l.deploy(r, filepath.Base(path), candidate)
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
	return l.morning()
}

// Decided says what the night decided.
func (r Record) Decided() string {
	switch {
	case r.Fresh == r.Day:
		return "drift of " + strings.Join(r.Drift, ", ") + ": learning begins anew"
	case r.Trial != "":
		return "challenger " + r.Trial + ": " + map[string]string{"challenger": "deployed", "champion": "goes", "": "not certain"}[r.Better]
	case r.Gate != "" && r.Passed && r.Challenger != "":
		return "candidate " + r.Gate + ": interleaved"
	case r.Gate != "":
		return "candidate " + r.Gate + map[bool]string{true: ": deployed", false: ": refused"}[r.Passed]
	}
	return "no candidate yet"
}

func (r Record) String() string {
	var alpha []string
	for _, a := range r.Bias {
		alpha = append(alpha, strings.TrimPrefix(fmt.Sprintf("%.2f", a), "0"))
	}
	return fmt.Sprintf("day %d: %d impressions, %.3f clicks each; true value: drawn %.3f, by score %.3f, fused %.3f, BM25 %.3f, best %.3f\n"+
		"       bias %s; %s; %.1f s",
		r.Day, r.Impressions, r.Clicks, r.Drawn, r.ByScore, r.Fused, r.BM25, r.Best, strings.Join(alpha, " "), r.Decided(), r.Seconds)
}
