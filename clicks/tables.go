package clicks

import (
	"encoding/csv"
	"fmt"
	"math"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
)

// A table reads the lines of a log that is not UBI. Its first line tells which one it is.
type table interface {
	read(r *reader, number int, line string) error
	end(r *reader) error
}

// newTable returns the table that begins with this line, nil if it is none that is known.
func newTable(path, line string) table {
	t := banditTable{name: filepath.Base(path)}
	if columns, err := csv.NewReader(strings.NewReader(line)).Read(); err == nil {
		for name, at := range map[string]*int{"item_id": &t.item, "position": &t.position, "click": &t.click, "propensity_score": &t.propensity} {
			*at = slices.Index(columns, name)
		}
		if min(t.item, t.position, t.click, t.propensity) >= 0 {
			return &t
		}
	}
	if f := strings.Split(line, "\t"); len(f) > 5 && f[2] == "Q" {
		return &sessionTable{name: t.name}
	}
	return nil
}

// A banditTable has a row for each item shown, as the Open Bandit Dataset (Saito et al., 2020): its position, the probability
// that it was there, and whether it was clicked. Each row is an impression of one rank, with all items of the table as
// candidates; the others share the rest of the probability.
type banditTable struct {
	name                              string
	item, position, click, propensity int      // columns
	items                             []string // sorted
}

// know adds the item of a row to the candidates, before the rows are read.
func (t *banditTable) know(line string) {
	row, err := csv.NewReader(strings.NewReader(line)).Read()
	if err != nil || len(row) <= t.item {
		return
	}
	if at, known := slices.BinarySearch(t.items, row[t.item]); !known {
		t.items = slices.Insert(t.items, at, row[t.item])
	}
}

func (t *banditTable) read(r *reader, number int, line string) error {
	if number == 1 {
		return nil
	}
	row, err := csv.NewReader(strings.NewReader(line)).Read()
	if err != nil || len(row) <= max(t.item, t.position, t.click, t.propensity) {
		return badRow
	}
	p, wrong := strconv.ParseFloat(row[t.propensity], 64)
	click, err := strconv.ParseFloat(row[t.click], 64)
	if wrong != nil || err != nil || !(p > 0 && p <= 1) || notFinite(click) {
		return badRow
	}
	shown, _ := slices.BinarySearch(t.items, row[t.item])
	others := max((1-p)/float64(max(1, len(t.items)-1)), leastPropensity)
	im := Impression{ID: fmt.Sprint(t.name, ":", number), Query: "position " + row[t.position], Documents: t.items,
		Scores: slices.Repeat([]float64{math.Log(others)}, len(t.items)), Cutoff: 1, Shown: []int{shown}, Clicks: []float64{click}}
	im.Scores[shown] = math.Log(p)
	return r.add(im)
}

func (t *banditTable) end(*reader) error { return nil }

// A sessionTable has lines of sessions, as click models are fitted to (Yandex's relevance prediction challenge): session, time,
// Q, query, region and the documents shown; or session, time, C and the document clicked, which belongs to the last query of
// the session that showed it. The policy is not known.
type sessionTable struct {
	name, session string
	open          []Impression // of the session
}

func (t *sessionTable) read(r *reader, number int, line string) error {
	f := strings.Split(line, "\t")
	if len(f) < 4 || f[2] != "C" && (f[2] != "Q" || len(f) < 6) {
		return badRow
	}
	if f[0] != t.session {
		if err := t.end(r); err != nil {
			return err
		}
		t.session = f[0]
	}
	if f[2] == "Q" {
		im := Impression{ID: fmt.Sprint(t.name, ":", number), Client: f[0], Query: f[3], Documents: f[5:], Cutoff: len(f) - 5,
			Clicks: make([]float64, len(f)-5)}
		if checkDistinct(im.Documents) != nil {
			return repeatedHit
		}
		for k := range im.Documents {
			im.Shown = append(im.Shown, k)
		}
		t.open = append(t.open, im)
		return nil
	}
	for i := len(t.open) - 1; i >= 0; i-- {
		if k := slices.Index(t.open[i].Documents, f[3]); k >= 0 {
			if t.open[i].Clicks[k]++; t.open[i].Clicks[k] > 1 {
				t.open[i].Clicks[k] = 1
				return repeatedClick
			}
			return nil
		}
	}
	return clickNotShown
}

// end adds the queries of the last session.
func (t *sessionTable) end(r *reader) error {
	for _, im := range t.open {
		if err := r.add(im); err != nil {
			return err
		}
	}
	t.open = nil
	return nil
}
