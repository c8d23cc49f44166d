package transforms_test

import (
	"encoding/json"
	"math"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"

	"pgregory.net/rapid"

	"github.com/plrank/plrank/datasets"
	"github.com/plrank/plrank/transforms"
)

// quantileSample is how many training documents knots are made of, at most.
const quantileSample = 32768

func TestBinsAreAtTrainingQuantiles(t *testing.T) {
	nan := float32(math.NaN())
	d := &datasets.Dataset{Labels: make([]float32, 9), Offsets: []int{0, 9}, FeatureIDs: []int{1, 2, 3, 4}}
	for i := range 9 { // 0, 10, … 80; two values; missing in two; the same except in one
		d.Features = append(d.Features, float32(10*i), float32(i%2), []float32{1, 2, 4, nan}[i%4], float32(i/8))
	}
	tr, err := datasets.FitTransform("none", d)
	if err == nil {
		err = datasets.FitBins(tr, d, 4)
	}
	if err != nil {
		t.Fatal(err)
	}
	if got, want := tr.BinCounts(), []int{4, 1, 3, 1}; !slices.Equal(got, want) {
		t.Errorf("bins %v, want %v: knots at 0, 20, 40, 60, 80, one bin between two values, one more for missing ones", got, want)
	}
	for _, c := range []struct{ row, want []float32 }{
		{[]float32{20, 0, 1, 0}, []float32{1, 0, 1, 0}},
		{[]float32{65, 1, 3, .25}, []float32{3.25, 1, 2.5, .25}},
		{[]float32{-1, 2, 9, 0}, []float32{0, 1, 3, 0}},
		{[]float32{nan, nan, nan, nan}, []float32{2, .5, 0, .5}},
	} {
		got := make([]float32, 4)
		if tr.Query(got, c.row); !slices.Equal(got, c.want) {
			t.Errorf("%v becomes %v, want %v", c.row, got, c.want)
		}
	}
	for _, bins := range []int{0, -1, transforms.MostBins} {
		if err := datasets.FitBins(tr, d, bins); err == nil || !strings.Contains(err.Error(), "want 1 to 125") {
			t.Errorf("%d bins: %v", bins, err)
		}
	}
}

// Knots come from a sample of large data; a gap counts wherever it is. Bins are fitted anew to what the parts give.
func TestBinsOfRareGaps(t *testing.T) {
	const queries = quantileSample // of two documents
	d := &datasets.Dataset{Labels: make([]float32, 2*queries), FeatureIDs: []int{1}}
	for i := range queries {
		d.Features = append(d.Features, float32(i%101), float32((i+1)%101))
		d.Offsets = append(d.Offsets, 2*i)
	}
	d.Offsets = append(d.Offsets, len(d.Features))
	d.Features[3] = float32(math.NaN()) // every other document is in the sample, from the first on
	tr, err := datasets.FitTransform("standard+missing", d)
	for range 2 {
		if err == nil {
			err = datasets.FitBins(tr, d, 4)
		}
	}
	if err != nil {
		t.Fatal(err)
	}
	if got, want := tr.BinCounts(), []int{5, 1}; !slices.Equal(got, want) || !tr.Bins[0].Missing || !tr.Bins[1].Missing {
		t.Errorf("bins %v, want %v, one of each for documents without a value", got, want)
	}
	for x, want := range map[float32]float32{25: 2, 50: 3} {
		got := make([]float32, 2)
		if tr.Query(got, []float32{x}); math.Abs(float64(got[0]-want)) > .01 || got[1] != 1 {
			t.Errorf("%v is at %v, want %v and 1", x, got, want)
		}
	}
}

// The sample is of documents, of whichever query: a feature may be the same in all others.
func TestBinsOfLongQueries(t *testing.T) {
	const long = quantileSample / 2
	d := &datasets.Dataset{Labels: make([]float32, 3*long), Offsets: []int{0, long, 2 * long, 3 * long}, FeatureIDs: []int{1, 2, 3}}
	for i := range 3 * long {
		x, rare := float32(.5), float32(0)
		if i/long == 1 {
			x = float32(i%1000) / 1000
		}
		if i == long+1 || i == long+3 { // between the documents of the sample
			rare = 1
		}
		d.Features = append(d.Features, x, float32(i), rare)
	}
	for _, spec := range []string{"none", "minmax"} {
		tr, err := datasets.FitTransform(spec, d)
		if err == nil {
			err = datasets.FitBins(tr, d, 8)
		}
		if err != nil {
			t.Fatal(err)
		}
		// A third of the documents of the first have other values, the second rises, the third is 1 in two documents.
		if got := tr.BinCounts(); got[0] < 2 || got[1] != 8 || got[2] != 1 || len(tr.Bins[2].Knots) != 2 {
			t.Errorf("%s: bins %v, knots %v and %v", spec, got, tr.Bins[0].Knots, tr.Bins[2].Knots)
		}
	}
}

// Documents at equal distances are in quantiles and bins, whatever the distance, and so are values that the sample lacks.
func TestQuantilesOfDocumentsAtEqualDistances(t *testing.T) {
	for _, apart := range []int{2, 3, 4, 7, 10} {
		const n = 4 * quantileSample
		d := &datasets.Dataset{Labels: make([]float32, n), FeatureIDs: []int{1, 2}}
		for i := range n {
			x := float32(.5)
			if i%apart == apart-1 {
				x = float32(i*7919%100_003) / 100_003
			}
			d.Features = append(d.Features, x, 0)
			if i%apart == 0 {
				d.Offsets = append(d.Offsets, i)
			}
		}
		d.Offsets = append(d.Offsets, n)
		d.Features[2*(n/3)+1], d.Features[2*(n/2)+1] = 1, 1
		tr, err := datasets.FitTransform("quantile", d)
		if err == nil {
			err = datasets.FitBins(tr, d, 8)
		}
		if err != nil {
			t.Fatal(err)
		}
		score := func(below float64) float64 { return math.Sqrt2 * math.Erfinv(2*below-1) }
		scores := tr.Parts[0].Scores
		if want := []float64{score((n - 2) / 2. / n), score(1 - 1./n)}; len(scores[1]) != 2 || math.Abs(float64(scores[1][0])-want[0])+math.Abs(float64(scores[1][1])-want[1]) > 1e-6 {
			t.Errorf("1 in two documents: scores %v, want %v", scores[1], want)
		}
		got := make([]float32, 2*3)
		plain := *tr
		plain.Bins = nil
		plain.Query(got, []float32{.25, 0, .5, 0, .75, 0})
		for i, below := range []float64{.25 / float64(apart), .5, 1 - .25/float64(apart)} {
			if math.Abs(float64(got[2*i])-score(below)) > .05 {
				t.Errorf("every %d-th document: score %v, want %v", apart, got[2*i], score(below))
			}
		}
		if counts := tr.BinCounts(); counts[0] < 2 || counts[1] != 1 {
			t.Errorf("every %d-th document: bins %v", apart, counts)
		}
	}
}

// Positions lie within the bins, are multiples of 2^−16, rise with what the parts give, and are the same
// after the transform went through a file.
func TestPositionsOfAnyView(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		r := rand.New(rand.NewPCG(rapid.Uint64().Draw(t, "seed"), 0))
		queries, bins := rapid.IntRange(2, 8).Draw(t, "queries"), rapid.IntRange(1, transforms.MostBins-1).Draw(t, "bins")
		d := &datasets.Dataset{Offsets: []int{0}, FeatureIDs: []int{1, 2, 3}}
		for q := range queries {
			for range 1 + r.IntN(40) {
				d.Features = append(d.Features, float32(r.NormFloat64()), float32(r.IntN(3)), float32(math.Exp(20*r.NormFloat64())))
				if r.IntN(5) == 0 {
					d.Features[len(d.Features)-1-r.IntN(3)] = []float32{float32(math.NaN()), float32(math.Inf(1)), -math.MaxFloat32}[r.IntN(3)]
				}
			}
			d.Offsets = append(d.Offsets, len(d.Features)/3)
			_ = q
		}
		d.Labels = make([]float32, d.Offsets[queries])
		plain, err := datasets.FitTransform("none+minmax+rank", d)
		if err != nil {
			t.Skip("no feature varies")
		}
		tr := *plain
		if err := datasets.FitBins(&tr, d, bins); err != nil {
			t.Fatal(err)
		}
		text, err := json.Marshal(tr)
		var read transforms.Transform
		if err == nil {
			err = json.Unmarshal(text, &read)
		}
		if err == nil {
			err = read.Validate()
		}
		if err != nil {
			t.Fatal(err)
		}
		rows := d.Features[:d.Offsets[1]*3]
		width := tr.Width()
		raw, got, again := make([]float32, d.Offsets[1]*width), make([]float32, d.Offsets[1]*width), make([]float32, d.Offsets[1]*width)
		plain.Query(raw, rows)
		tr.Query(got, rows)
		read.Query(again, rows)
		if !equalBits(got, again) {
			t.Fatal("other positions after a file")
		}
		counts := tr.BinCounts()
		for i, p := range got {
			if p < 0 || p > float32(counts[i%width]) || p*(1<<16) != float32(math.Trunc(float64(p*(1<<16)))) {
				t.Fatalf("position %v of %d bins", p, counts[i%width])
			}
			missing := func(i int) bool { x := rows[i/width*3+tr.Columns[i%width%len(tr.Columns)]]; return x != x }
			if other := i % width; !missing(i) && !missing(other) && raw[i] < raw[other] && p > got[other] {
				t.Fatalf("%v is at %v, and %v at %v", raw[i], p, raw[other], got[other])
			}
		}
	})
}

func TestDamagedBinsAreErrors(t *testing.T) {
	for _, c := range []struct {
		bins []transforms.Bins
		want string
	}{
		{[]transforms.Bins{{Knots: []float32{1}}}, "bins of 1 outputs, want 2"},
		{[]transforms.Bins{{Knots: []float32{1}}, {}}, "0 knots of output 1"},
		{[]transforms.Bins{{Knots: make([]float32, transforms.MostBins+2)}, {}}, "128 knots of output 0"},
		{[]transforms.Bins{{Knots: []float32{1, 1}}, {Knots: []float32{1}}}, "must ascend"},
		{[]transforms.Bins{{Knots: []float32{float32(math.Inf(1))}}, {Knots: []float32{1}}}, "be finite"},
	} {
		tr := &transforms.Transform{Spec: "none", Inputs: 2, Columns: []int{0, 1}, Parts: []transforms.Part{{Name: "none"}}, Bins: c.bins}
		if err := tr.Validate(); err == nil || !strings.Contains(err.Error(), c.want) {
			t.Errorf("got %v, want an error with %q", err, c.want)
		}
	}
}
