package ranker

import (
	"bytes"
	"errors"
	"math"
	"math/rand/v2"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/plrank/plrank/transforms"
)

// world makes documents of queries: a normal feature, a skewed one with zeros, a count, a feature of the query, and a text with
// rare categories and some that are new. Documents of a query are alike.
type world struct {
	*rand.Rand
	levels    []string
	at, known map[int]int // the level of a brand, in training and later
}

const worldWidth = 5

func (w *world) query(documents int) (rows []float32) {
	own, shared := w.NormFloat64(), float32(w.ExpFloat64())
	for range documents {
		row := []float32{float32(own + w.NormFloat64()), 0, float32(w.IntN(4)), shared, 0}
		if w.IntN(3) > 0 {
			row[1] = float32(math.Exp(1.5 * w.NormFloat64()))
		}
		if w.IntN(20) == 0 {
			row[0] = float32(math.NaN())
		}
		brand := int(math.Pow(w.Float64(), -1.2)) // as by Zipf
		if w.at != nil && w.at[brand] == 0 {
			w.levels = append(w.levels, strconv.Itoa(brand))
			w.at[brand] = len(w.levels)
		}
		row[4] = float32(w.known[brand] + w.at[brand])
		rows = append(rows, row...)
	}
	return rows
}

// reference is that of a model of n queries of the world. Texts of later queries are seen or not.
func (w *world) reference(t *testing.T, queries int) *Model {
	t.Helper()
	w.at, w.known, w.levels = map[int]int{}, nil, nil
	var data [][]float32
	offsets := []int{0}
	for range queries {
		data, offsets = append(data, w.query(6)), append(offsets, 6*len(offsets))
	}
	w.at, w.known = nil, w.at
	levels := [][]string{nil, nil, nil, nil, w.levels}
	used := []bool{true, true, true, true, true}
	f := &File{Kind: "none", Settings: []byte("{}"), Dtype: "float32", Transform: transforms.Raw(worldWidth), FeatureIDs: []int{1, 2, 3, 4, 5},
		FeatureNames: []string{"a", "b", "c", "d", "brand"}, Levels: levels, NumberLevels: []int{},
		Reference: NewReference(used, levels, func(q int) []float32 { return data[q] }, offsets)}
	var b bytes.Buffer
	if err := f.Write(&b); err != nil {
		t.Fatal(err)
	}
	read, err := decode("test", b.Bytes())
	if err != nil {
		t.Fatal(err)
	}
	f.Reference = nil
	var without bytes.Buffer
	if err := f.Write(&without); err != nil || b.Len()-without.Len() > 4000 {
		t.Errorf("the reference of five features takes %d bytes, %v", b.Len()-without.Len(), err)
	}
	return &Model{file: read}
}

// Of a hundred logs without drift at most five alarm, and of a hundred in which a feature is scaled by 1.5, or a new category has
// 5 %, at least 95, with the feature named. The logs are of other queries than the training, and some queries are asked again.
func TestDriftIsToldFromNoise(t *testing.T) {
	for column, change := range changes {
		alarms, named := 0, 0
		for i := range 100 {
			d := watch(t, uint64(i), column, 0)
			alarmed := false
			for _, s := range d.Shifts(0.01) {
				alarmed = alarmed || s.Alarm
				if s.Alarm && s.Column == column {
					named++
				}
			}
			if alarmed {
				alarms++
			}
		}
		t.Logf("change %d: %d alarms, %d with its name", column, alarms, named)
		if change == nil && alarms > 5 || change != nil && named < 95 {
			t.Errorf("change %d: %d alarms, %d with its name", column, alarms, named)
		}
	}
}

// A factor of 1.5 is seen in a feature of the query, too, where training and log have 300 distinct queries each.
func TestDriftOfFewQueriesIsToldFromNoise(t *testing.T) {
	for _, factor := range []float32{1, 1.5} {
		alarms, named := 0, 0
		for i := range 100 {
			w := &world{Rand: rand.New(rand.NewPCG(uint64(i), 3))}
			d, err := NewDrift(w.reference(t, 300))
			if err != nil {
				t.Fatal(err)
			}
			var queries [][]float32
			for range 300 {
				rows := w.query(6)
				for r := 3; r < len(rows); r += worldWidth {
					rows[r] *= factor
				}
				queries = append(queries, rows)
			}
			for range 1500 {
				q := w.IntN(300)
				d.Add(uint64(q), begin, queries[q], nil)
			}
			alarmed := 0
			for _, s := range d.Shifts(0.01) {
				if s.Alarm {
					alarmed = 1
				}
				if s.Alarm && s.Column == 3 {
					named++
				}
			}
			alarms += alarmed
		}
		if factor == 1 && alarms > 5 || factor != 1 && named < 95 {
			t.Errorf("factor %v: %d alarms, %d with its name", factor, alarms, named)
		}
		t.Logf("factor %v: %d alarms, %d with its name", factor, alarms, named)
	}
}

// Nor do more than five logs alarm in which few queries are asked three times each, with the same documents.
func TestFewQueriesAreNoDrift(t *testing.T) {
	for _, queries := range []int{1, 2, 3, 5, 10, 20} {
		alarms := 0
		for seed := range uint64(100) {
			w := &world{Rand: rand.New(rand.NewPCG(seed, 3))}
			d, err := NewDrift(w.reference(t, 300))
			if err != nil {
				t.Fatal(err)
			}
			for q := range queries {
				for rows, i := w.query(12), 0; i < 3; i++ {
					d.Add(uint64(q), begin, rows, nil)
				}
			}
			if slices.ContainsFunc(d.Shifts(0.01), func(s Shift) bool { return s.Alarm }) {
				alarms++
			}
		}
		if alarms > 5 {
			t.Errorf("%d queries: %d of 100 logs alarm", queries, alarms)
		}
	}
}

// A change in the middle is said to be there from about that time.
func TestDriftSaysSinceWhen(t *testing.T) {
	for _, column := range []int{0, 1, 2, 4} {
		alarms, off := 0, 0
		for i := range 10 {
			for _, s := range watch(t, uint64(i), column, loggedQueries/2).Shifts(0) {
				if s.Column != column || !s.Alarm {
					continue
				}
				alarms++
				if math.Abs(s.Since.Sub(begin).Minutes()/loggedQueries-.5) > .1 {
					off++
				}
			}
		}
		if alarms < 8 || off > 1 {
			t.Errorf("change %d: %d alarms, of which %d are off by more than a tenth of the log", column, alarms, off)
		}
	}
}

var begin = time.Unix(1_800_000_000, 0)

const loggedQueries = 600

// changes scale a feature, make a new category, or change nothing.
var changes = []func(w *world, row []float32){
	func(_ *world, row []float32) { row[0] *= 1.5 }, func(_ *world, row []float32) { row[1] *= 1.5 },
	func(_ *world, row []float32) { row[2] *= 1.5 }, func(_ *world, row []float32) { row[3] *= 1.5 },
	func(w *world, row []float32) {
		if w.IntN(20) == 0 {
			row[4] = 0
		}
	}, nil,
}

// watch returns the drift of a log in which a change begins after some queries.
func watch(t *testing.T, seed uint64, change, after int) *Drift {
	t.Helper()
	w := &world{Rand: rand.New(rand.NewPCG(seed, uint64(change)))}
	d, err := NewDrift(w.reference(t, 600))
	if err != nil {
		t.Fatal(err)
	}
	var past [][]float32
	for q := range loggedQueries {
		rows, group := w.query(6), q
		if q%8 == 7 {
			group = w.IntN(q)
			rows = past[group]
		}
		past = append(past, rows)
		rows = slices.Clone(rows)
		for r := 0; r < len(rows) && q >= after && changes[change] != nil; r += worldWidth {
			changes[change](w, rows[r:r+worldWidth])
		}
		d.Add(uint64(group), begin.Add(time.Duration(q)*time.Minute), rows, nil)
	}
	return d
}

// Files whose references were written before the third weight of numbers are compared, too.
func TestShorterReferencesAreCompared(t *testing.T) {
	w := &world{Rand: rand.New(rand.NewPCG(1, 2))}
	m := w.reference(t, 300)
	for i := range m.file.Reference.Columns {
		c := &m.file.Reference.Columns[i]
		c.Effective = c.Effective[:min(3, len(c.Effective))]
	}
	if err := m.file.Reference.check(m.file); err != nil {
		t.Fatal(err)
	}
	d, err := NewDrift(m)
	if err != nil {
		t.Fatal(err)
	}
	for q := range uint64(300) {
		rows := w.query(6)
		for r := 0; r < len(rows); r += worldWidth {
			rows[r+3] *= 1.5
		}
		d.Add(q, begin, rows, nil)
	}
	for _, s := range d.Shifts(0.01) {
		if s.Alarm != (s.Column == 3) {
			t.Errorf("%+v", s)
		}
	}
}

// Files without a reference open, and have no drift.
func TestOldFilesHaveNoReference(t *testing.T) {
	w := &world{Rand: rand.New(rand.NewPCG(1, 1))}
	m := w.reference(t, 20)
	m.file.Reference = nil
	if _, err := NewDrift(m); !errors.Is(err, ErrNoReference) || !strings.Contains(err.Error(), "train it again") {
		t.Error(err)
	}
	m.file.Sparse = true // training again would give none
	if _, err := NewDrift(m); !errors.Is(err, ErrNoReference) || strings.Contains(err.Error(), "again") ||
		!strings.Contains(err.Error(), "drift of sparse features is not watched") {
		t.Error(err)
	}
	for _, change := range []func(c *Column){
		func(c *Column) { c.Counts = c.Counts[1:] }, func(c *Column) { c.Counts[0] = -1 }, func(c *Column) { c.Bounds[0] = math.Inf(1) },
		func(c *Column) { c.Texts = []string{"x"} },
	} {
		f := w.reference(t, 20).file
		change(&f.Reference.Columns[0])
		if err := f.check(); err == nil {
			t.Errorf("%+v is taken", f.Reference.Columns[0])
		}
	}
}
