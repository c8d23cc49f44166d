package ranker

import (
	"bytes"
	"context"
	"encoding/json"
	"math"
	"math/rand/v2"
	"runtime"
	"slices"
	"strconv"
	"strings"
	"sync"
	"testing"

	"github.com/plrank/plrank/datasets"
)

// A model of no hidden layer is x·w + b, here in both dtypes, as the mean of two.
func TestScoreIsTheDefinition(t *testing.T) {
	d := queries(5, 7, 130)
	for _, dtype := range []string{"float32", "float64"} {
		f := network(t, "standard", dtype, d, 2)
		m := reopen(t, f)
		x := make([]float32, d.Rows()*f.Transform.Width())
		f.Transform.Query(x, d.Features)
		got, err := m.Score([]float64{-1}, d.Features)
		if err != nil || len(got) != 1+d.Rows() || got[0] != -1 {
			t.Fatal(len(got), err)
		}
		for r := range d.Rows() {
			want := 0.0
			for member := range 2 {
				w, b := f.Arrays[2*member].Values, f.Arrays[2*member+1].Values
				want += b[0] / 2
				for i, v := range x[r*5 : (r+1)*5] {
					want += float64(v) * w[i] / 2
				}
			}
			tolerance := map[string]float64{"float32": 1e-5, "float64": 1e-12}[dtype]
			if math.Abs(got[1+r]-want) > tolerance {
				t.Fatalf("%s: document %d: %v, want %v", dtype, r, got[1+r], want)
			}
		}
	}
}

func TestScoreRefusesInvalidFeaturesAndModels(t *testing.T) {
	d := queries(3, 4)
	f := network(t, "none", "float32", d, 1, 4)
	m := reopen(t, f)
	large := make([]float32, 6)
	for i := range large {
		large[i] = math.MaxFloat32
	}
	inf := slices.Clone(features(d, 0))
	inf[4] = float32(math.Inf(-1))
	for _, c := range []struct {
		features []float32
		want     string
	}{
		{inf, "document 1, feature 2: the value is -Inf, want a finite number, or NaN where it is missing"},
		{make([]float32, 4), "4 values are not rows of 3 features"},
		{large, "the score of document 0 is "},
	} {
		dst := []float64{5}
		got, err := m.Score(dst, c.features)
		if err == nil || !strings.Contains(err.Error(), c.want) || !slices.Equal(got, dst) {
			t.Errorf("got %v, %v, want %q", got, err, c.want)
		}
	}
	if got, err := m.Score(nil, nil); err != nil || len(got) != 0 {
		t.Errorf("no documents: %v, %v", got, err)
	}
	for _, c := range []struct {
		change func(*File)
		want   string
	}{
		{func(f *File) { f.Settings = json.RawMessage(`{"features":3,"activation":"relu"}`) }, `array "w0" has shape`},
		{func(f *File) { f.Settings = json.RawMessage(`{"features":2,"activation":"relu"}`) }, "a model of 2 features and a transform that gives 3 do not fit"},
		{func(f *File) { f.Settings = json.RawMessage(`{"features":3,"activation":"x"}`) }, "unknown activation"},
		{func(f *File) { f.Settings = json.RawMessage(`3`) }, "settings of an MLP"},
		{func(f *File) {
			f.Settings = json.RawMessage(`{"features":3,"hidden":[4],"activation":"relu","members":1000000}`)
		}, "1000000 members"},
		{func(f *File) { f.Arrays = f.Arrays[1:] }, `no array "w0"`},
		{func(f *File) { f.Arrays = append(f.Arrays, Array{Name: "x", Shape: []int{1}, Values: []float64{1}}) }, "5 arrays, want 4"},
	} {
		f := network(t, "none", "float32", d, 1, 4)
		c.change(f)
		var b bytes.Buffer
		if err := f.Write(&b); err != nil {
			t.Fatal(err)
		}
		if _, err := Read(&b); err == nil || !strings.Contains(err.Error(), c.want) {
			t.Errorf("got %v, want %q", err, c.want)
		}
	}
}

// Many goroutines get the scores that one gets.
func TestConcurrentScoresAreTheSame(t *testing.T) {
	d := queries(46, 1, 2, 3, 17, 100, 700)
	for _, f := range []*File{
		network(t, "minmax+quantile", "float32", d, 3, 64),
		attending(t, "minmax+quantile", "float32", d, 2, 1, 2, 16),
	} {
		checkConcurrent(t, d, reopen(t, f))
	}
}

func checkConcurrent(t *testing.T, d *datasets.Dataset, m *Model) {
	t.Helper()
	var want [][]float64
	for q := range d.Queries() {
		scores, err := m.Score(nil, features(d, q))
		if err != nil {
			t.Fatal(err)
		}
		want = append(want, scores)
	}
	var group sync.WaitGroup
	for g := range 8 {
		group.Go(func() {
			var dst []float64
			for i := range 6 * d.Queries() {
				q := (i + g) % d.Queries()
				var err error
				if dst, err = m.Score(dst[:0], features(d, q)); err != nil || !slices.Equal(dst, want[q]) {
					t.Error("other scores than alone", err)
				}
			}
		})
	}
	group.Wait()
}

// The memory in use does not grow with the number of requests.
func TestMemoryDoesNotGrowWithRequests(t *testing.T) {
	d := queries(46, 2000)
	m := reopen(t, network(t, "quantile", "float32", d, 3, 64))
	rng := rand.New(rand.NewPCG(1, 1))
	var dst []float64
	inUse := func() uint64 {
		var s runtime.MemStats
		runtime.GC()
		runtime.ReadMemStats(&s)
		return s.HeapAlloc
	}
	run := func(n int) {
		for range n {
			rows := int(math.Exp(rng.Float64() * math.Log(2000)))
			dst, _ = m.Score(dst[:0], d.Features[:rows*46])
		}
	}
	run(100)
	before := inUse()
	run(2000)
	if after := inUse(); after > before+1<<20 {
		t.Errorf("%d bytes in use, %d before", after, before)
	}
}

func TestDrawsHaveTheProbabilitiesOfThePolicy(t *testing.T) {
	scores := []float64{0.5, 2, 0.5, -1}
	if got := Rank([]int{9}, scores); !slices.Equal(got, []int{9, 1, 0, 2, 3}) {
		t.Error(got)
	}
	// By enumeration: the frequencies of the drawn pairs are their probabilities.
	const draws = 40000
	count, logs := map[[2]int]float64{}, map[[2]int]float64{}
	for seed := range uint64(draws) {
		y, log, err := Policy{}.Draw(nil, scores, 2, seed)
		if err != nil || len(y) != 2 {
			t.Fatal(y, err)
		}
		count[[2]int{y[0], y[1]}]++
		logs[[2]int{y[0], y[1]}] = log
	}
	mass := 0.0
	for _, s := range scores {
		mass += math.Exp(s)
	}
	shown := make([]float64, 4)
	for a := range 4 {
		for b := range 4 {
			if a == b {
				continue
			}
			p := math.Exp(scores[a]+scores[b]) / mass / (mass - math.Exp(scores[a]))
			shown[a] += p
			shown[b] += p
			y := [2]int{a, b}
			if z := (count[y]/draws - p) / math.Sqrt(p*(1-p)/draws); math.Abs(z) > 5 {
				t.Errorf("%v: drawn %v times of %d, want %v", y, count[y], draws, p*draws)
			}
			if log, ok := logs[y]; ok && math.Abs(log-math.Log(p)) > 1e-12 {
				t.Errorf("%v: log-probability %v, want %v", y, log, math.Log(p))
			}
		}
	}
	got, err := Policy{}.Exposure(context.Background(), nil, scores, []float64{1, 1})
	if err != nil {
		t.Fatal(err)
	}
	for d, p := range shown {
		if math.Abs(got[d]-p) > 1e-6 {
			t.Errorf("document %d: propensity %v, want %v", d, got[d], p)
		}
	}
	again, log, err := Policy{}.Draw(nil, scores, 9, 5)
	if y, l, _ := (Policy{}).Draw(nil, scores, 9, 5); err != nil || len(again) != 4 || !slices.Equal(again, y) || l != log {
		t.Error("the same seed gave another ranking", err)
	}
	if y, log, err := (Policy{}).Draw(nil, nil, 3, 1); len(y) != 0 || log != 0 || err != nil {
		t.Error(y, log, err)
	}
	nan := []float64{1, math.NaN()}
	if _, _, err := (Policy{}).Draw(nil, nan, 1, 1); err == nil {
		t.Error("NaN: no error")
	}
	if _, err := (Policy{}).Exposure(context.Background(), nil, nan, []float64{1}); err == nil {
		t.Error("NaN: no error")
	}
	if _, _, err := (Policy{}).Draw(nil, scores, 0, 1); err == nil {
		t.Error("cutoff 0: no error")
	}
}

// All documents of a dataset get the scores of their queries.
func TestScoresOfADatasetAreThoseOfItsQueries(t *testing.T) {
	d := queries(46, 1, 2, 0, 17, 300)
	d.QueryIDs = []string{"a", "b", "c", "d", "e"}
	m := reopen(t, network(t, "minmax", "float32", d, 3, 64))
	var want []float64
	for q := range d.Queries() {
		var err error
		if want, err = m.Score(want, features(d, q)); err != nil {
			t.Fatal(err)
		}
	}
	got, err := datasets.Score(m, d)
	if err != nil || !slices.Equal(got, want) {
		t.Error("other scores", err)
	}
	inf := *d
	inf.Features = slices.Clone(d.Features)
	inf.Features[len(inf.Features)-1] = float32(math.Inf(1))
	other := *d
	other.FeatureIDs = append(slices.Clone(d.FeatureIDs[:45]), 99)
	for want, d := range map[string]*datasets.Dataset{
		"is nil":                        nil,
		"query e: ranker: document 299": &inf,
		"99 is not one of these 46":     &other,
	} {
		if _, err := datasets.Score(m, d); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("got %v, want %q", err, want)
		}
	}
}

// A document has the same score alone as among others, unless the model compares documents, as its
// ONNX metadata say.
func TestComparesDocuments(t *testing.T) {
	d := queries(5, 6)
	for _, c := range []struct {
		transform string
		attention bool
		want      bool
	}{
		{"none", false, false}, {"standard+quantile", false, false}, {"log-standard", false, false}, {"none+missing", false, false},
		{"minmax", false, true}, {"quantile+rank", false, true}, {"standard", true, true},
	} {
		f := network(t, c.transform, "float32", d, 1, 4)
		if c.attention {
			f = attending(t, c.transform, "float32", d, 1, 1, 2, 4)
		}
		m := reopen(t, f)
		together, err := m.Score(nil, d.Features)
		if err != nil {
			t.Fatal(err)
		}
		differ := false
		for row, want := range together {
			alone, err := m.Score(nil, d.Row(row))
			if err != nil {
				t.Fatal(err)
			}
			differ = differ || alone[0] != want
		}
		var file bytes.Buffer
		if err := m.WriteONNX(&file); err != nil {
			t.Fatal(err)
		}
		_, metadata, _ := strings.Cut(file.String(), "compares_documents")
		if differ != c.want || m.ComparesDocuments() != c.want || !strings.Contains(metadata[:min(10, len(metadata))], strconv.FormatBool(c.want)) {
			t.Errorf("%+v: scores differ: %t, compares documents: %t, %.10q", c, differ, m.ComparesDocuments(), metadata)
		}
	}
}
