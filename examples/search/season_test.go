package main

import (
	"path/filepath"
	"slices"
	"testing"
)

// The life of a model: users prefer it to the fusion, the season comes, drift is seen, and a model that has learned from the season
// alone passes the gate and beats it.
func TestSeasonEndsALifeAndBeginsOne(t *testing.T) {
	folder := t.TempDir()
	begin := func() *Loop {
		l, err := start(options{listen: "localhost:0", folder: folder, day: 800, products: 1500, queries: 60, share: .5})
		if err != nil {
			t.Fatal(err)
		}
		return l
	}
	l := begin()
	until := func(done func(r Record) bool) Record {
		for range 7 {
			if err := l.run(t.Context(), len(*l.records.Load())+1); err != nil {
				t.Fatal(err)
			}
			if done(l.last()) {
				return l.last()
			}
		}
		t.Fatal("the days pass, and nothing is decided")
		return Record{}
	}
	tried := until(func(r Record) bool { return r.Challenger != "" })
	if err := l.engine.index.Close(); err != nil {
		t.Fatal(err)
	}
	l.http.Close()
	if l = begin(); version(l.rival.Load()) == "fused" || tried.Challenger != filepath.Base(l.candidate(tried.Day-1)) || tried.Since != l.day.Load() {
		t.Errorf("after a start the challenger of %+v is %s", tried, version(l.rival.Load()))
	}
	first := until(func(r Record) bool { return r.Now != "" })
	if first.Better != "challenger" || first.Drift != nil || first.Challenger != "" {
		t.Errorf("the first model: %+v", first)
	}
	l.season = l.day.Load() + 1 // the model ranks for a day
	if r := until(func(Record) bool { return true }); r.ByScore < 1.15*r.Fused || r.Drift != nil {
		t.Errorf("before the season: %+v", r)
	}
	moved := until(func(Record) bool { return true })
	if !slices.Equal(moved.Drift, []string{"days", "seller"}) || moved.Fresh != l.season || moved.Challenger != "" || moved.Now != first.Now {
		t.Errorf("the season begins: %+v", moved)
	}
	second := until(func(r Record) bool { return r.Now != first.Now })
	if second.Better != "challenger" || second.Now < prefix(l.season) || second.Before != first.Now {
		t.Errorf("the second model: %+v", second)
	}
	if r := until(func(Record) bool { return true }); r.ByScore < 1.2*moved.ByScore || r.Drift != nil || r.Fresh != l.season {
		t.Errorf("after it: %+v, of the first model %+v", r, moved)
	}
}
