package transforms_test

import (
	"bytes"
	"encoding/json"
	"errors"
	"math"
	"reflect"
	"slices"
	"strings"
	"testing"

	"pgregory.net/rapid"

	"github.com/plrank/plrank/datasets"
	"github.com/plrank/plrank/internal/memory"
	"github.com/plrank/plrank/transforms"
)

// hard is a dataset of difficult numbers.
func hard() *datasets.Dataset {
	nan, inf := float32(math.NaN()), float32(math.Inf(1))
	return &datasets.Dataset{
		Features: []float32{
			// large, tiny, constant, constant in each query, missing, infinite, extreme
			1.6e8, 1e-9, 5, 1, nan, 1, math.MaxFloat32,
			1, 2e-9, 5, 1, 2, inf, -math.MaxFloat32,
			-3e7, 0, 5, 1, 4, -inf, 0,
			7, 1e-45, 5, 2, nan, 3, 1, // a query of one document
			0, 3e-9, 5, 3, nan, 0, 1,
			2, 3e-9, 5, 3, nan, 0, 2,
		},
		Labels: make([]float32, 6), Offsets: []int{0, 3, 3, 4, 6}, QueryIDs: []string{"a", "empty", "b", "c"},
		FeatureIDs: []int{1, 2, 3, 4, 5, 6, 7},
	}
}

var allParts = "none+minmax+standard+log-standard+quantile+rank+missing"

func TestTransformIsFinite(t *testing.T) {
	d := hard()
	tr, err := datasets.FitTransform(allParts, d)
	if err != nil {
		t.Fatal(err)
	}
	if !slices.Equal(tr.Columns, []int{0, 1, 3, 4, 5, 6}) {
		t.Errorf("columns %v: constants must go, the others stay", tr.Columns)
	}
	var b datasets.Batch
	b.Pack(d, tr, []int{3, 1, 0, 2}, 9, 6)
	for i, v := range b.X {
		if math.IsNaN(float64(v)) || math.IsInf(float64(v), 0) {
			t.Fatalf("value %d of row %d is %v", i%tr.Width(), i/tr.Width(), v)
		}
	}
}

func TestTransformFollowsItsFormulas(t *testing.T) {
	d := &datasets.Dataset{Features: []float32{0, 4, 10, 4, 5, 8, -1, 2}, Labels: make([]float32, 4), Offsets: []int{0, 3, 4}, FeatureIDs: []int{1, 2}}
	tr, err := datasets.FitTransform("minmax+standard+log-standard", d)
	if err != nil {
		t.Fatal(err)
	}
	got := make([]float32, 3*tr.Width())
	tr.Query(got, d.Features[:6])

	standardised := func(c, r int, f func(float64) float64) float64 {
		mean, square := 0.0, 0.0
		for i := range 4 {
			mean += f(float64(d.Row(i)[c])) / 4
		}
		for i := range 4 {
			square += math.Pow(f(float64(d.Row(i)[c]))-mean, 2) / 4
		}
		return (f(float64(d.Row(r)[c])) - mean) / math.Sqrt(square)
	}
	log := func(x float64) float64 { return math.Copysign(math.Log1p(math.Abs(x)), x) }
	minmax := [3][2]float64{{0, 0}, {1, 0}, {.5, 1}}
	for r := range 3 {
		for c := range 2 {
			for part, want := range []float64{minmax[r][c], standardised(c, r, func(x float64) float64 { return x }), standardised(c, r, log)} {
				if v := got[r*6+part*2+c]; math.Abs(float64(v)-want) > 1e-6 {
					t.Errorf("part %d, row %d, column %d: %v, want %v", part, r, c, v, want)
				}
			}
		}
	}
	// What was never seen is clamped.
	tr.Query(got[:6], []float32{1e30, -1e30})
	if got[2] != 10 || got[3] != -10 {
		t.Errorf("unseen values become %v and %v", got[2], got[3])
	}
}

func TestTransformReadsBackBitForBit(t *testing.T) {
	tr, err := datasets.FitTransform(allParts, hard())
	if err != nil {
		t.Fatal(err)
	}
	text, err := json.Marshal(tr)
	if err != nil {
		t.Fatal(err)
	}
	var back transforms.Transform
	if err := json.Unmarshal(text, &back); err != nil {
		t.Fatal(err)
	}
	if err := back.Validate(); err != nil {
		t.Error(err)
	}
	if !reflect.DeepEqual(*tr, back) {
		t.Error("the transform came back as another one")
	}
	for i, spoil := range []func(t *transforms.Transform){
		func(t *transforms.Transform) { t.Parts = nil },
		func(t *transforms.Transform) { t.Columns[0] = 99 },
		func(t *transforms.Transform) { t.Columns[1] = t.Columns[0] },
		func(t *transforms.Transform) { t.Parts[0].Name = "nun" },
		func(t *transforms.Transform) { t.Parts[2].Shift = t.Parts[2].Shift[1:] },
		func(t *transforms.Transform) { t.Parts[2].Scale[0] = math.Inf(1) },
		func(t *transforms.Transform) { t.Parts[4].Knots[0] = nil },
		func(t *transforms.Transform) { t.Parts[4].Knots[0][1] = t.Parts[4].Knots[0][0] },
		func(t *transforms.Transform) { t.Parts[4].Scores = t.Parts[4].Scores[1:] },
		func(t *transforms.Transform) { t.Parts[6].Columns[0] = 2 }, // not used
		func(t *transforms.Transform) { t.Parts[6].Columns = []int{4, 4} },
		func(t *transforms.Transform) { t.Parts[4].Columns = []int{4} }, // it has all
	} {
		var bad transforms.Transform
		if err := json.Unmarshal(text, &bad); err != nil {
			t.Fatal(err)
		}
		spoil(&bad)
		if bad.Validate() == nil {
			t.Errorf("damage %d was not noticed", i)
		}
	}
}

func TestFitTransformRefusesUnknownPartsAndConstantData(t *testing.T) {
	if _, err := datasets.FitTransform("minmax+log", hard()); err == nil || !strings.Contains(err.Error(), `"log": want one of log-standard, maxabs, minmax, missing, none, `) {
		t.Errorf("an unknown part: %v", err)
	}
	if _, err := datasets.FitTransform("minmax+none+minmax", hard()); err == nil || !strings.Contains(err.Error(), `duplicate transform "minmax"`) {
		t.Errorf("error %v", err)
	}
	complete := &datasets.Dataset{Features: []float32{1, 2}, Labels: make([]float32, 2), Offsets: []int{0, 2}, FeatureIDs: []int{1}}
	if _, err := datasets.FitTransform("missing", complete); err == nil || !strings.Contains(err.Error(), "no training value is missing") {
		t.Errorf("no inputs: %v", err)
	}
	for want, features := range map[string][]float32{
		"no feature varies: there is nothing":                                                {1, 1},
		"no feature varies within any query: features of the query alone, such as 1, cannot": {1, 2},
	} {
		flat := &datasets.Dataset{Features: features, Labels: make([]float32, 2), Offsets: []int{0, 1, 2}, FeatureIDs: []int{1}}
		if _, err := datasets.FitTransform("none", flat); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%v: %v, want %s", features, err, want)
		}
	}
}

// Features of the query are inputs, except of the parts that compare its documents; those that never vary are none, be
// they categories.
func TestQueryFeaturesStayExceptWhereDocumentsAreCompared(t *testing.T) {
	d := &datasets.Dataset{
		// of the query, own, constant, category of the query, constant category
		Features: []float32{
			1, 5, 9, 1, 4,
			1, 6, 9, 1, 4,
			2, 6, 9, 3, 4,
			2, 7, 9, 3, 4,
		},
		Labels: make([]float32, 4), Offsets: []int{0, 2, 4}, QueryIDs: []string{"a", "b"}, FeatureIDs: []int{1, 2, 3, 4, 5},
	}
	fitted, err := datasets.FitTransform("none+minmax+rank", d, 4, 5)
	if err != nil {
		t.Fatal(err)
	}
	text, err := json.Marshal(fitted)
	if err != nil {
		t.Fatal(err)
	}
	read := &transforms.Transform{}
	if err := errors.Join(json.Unmarshal(text, read), read.Validate()); err != nil {
		t.Fatal(err)
	}
	const low, high, unseen = -0.8660254, 0.8660254, transforms.UnseenValue // ±√3/2
	for _, tr := range []*transforms.Transform{fitted, read} {
		got := make([]float32, 2*tr.Width())
		tr.Query(got, d.Features[10:])
		want := []float32{2, 6, 0, low, unseen, 2, 7, 1, high, unseen} // 3 is of a single query
		if !slices.Equal(got, want) || !slices.Equal(tr.Used(), []int{0, 1, 3}) {
			t.Errorf("%v, want %v; used %v", got, want, tr.Used())
		}
	}
	// A part that has no columns is read back as one that has none.
	if tr, err := datasets.FitTransform("minmax+none", d, 2); err != nil || len(tr.PartColumns(0)) != 0 || tr.Width() != 3 {
		t.Errorf("%+v, error %v", tr, err)
	} else if text, err = json.Marshal(tr); err != nil || !strings.Contains(string(text), `"Columns":[]`) {
		t.Errorf("%s, error %v", text, err)
	}
	// Files of older versions list no columns for minmax: it has all.
	tr, err := datasets.FitTransform("minmax", d, 4)
	if err != nil {
		t.Fatal(err)
	}
	tr.Parts[0].Columns, tr.Columns = nil, []int{0, 1}
	if err := tr.Validate(); err != nil || !slices.Equal(tr.PartColumns(0), tr.Columns) {
		t.Errorf("columns %v, error %v", tr.PartColumns(0), err)
	}
}

func TestMissingIsTheFeaturesWithGapsInTraining(t *testing.T) {
	nan := float32(math.NaN())
	d := &datasets.Dataset{Features: []float32{1, nan, 3, 2, 4, nan, 1, 2, nan}, Labels: make([]float32, 3), Offsets: []int{0, 3}, FeatureIDs: []int{1, 2, 3}}
	tr, err := datasets.FitTransform("missing+none", d)
	if err != nil {
		t.Fatal(err)
	}
	if got := tr.PartColumns(0); !slices.Equal(got, []int{1, 2}) {
		t.Errorf("columns %v, want 1 and 2", got)
	}
	got := make([]float32, 2*5)
	tr.Query(got, []float32{nan, nan, 5, 6, float32(math.Inf(1)), nan})
	if want := []float32{1, 0, 0, 0, 5, 0, 1, 6, math.MaxFloat32, 0}; !slices.Equal(got, want) {
		t.Errorf("%v, want %v", got, want)
	}
	if err := datasets.FitBins(tr, d, 4); err != nil {
		t.Fatal(err)
	}
	tr.Query(got[:5], []float32{nan, nan, 3})
	if want := []float32{0, 1, .5, 0, 1}; !slices.Equal(got[:5], want) {
		t.Errorf("positions %v, want %v", got[:5], want)
	}

	for i, x := range d.Features { // no gaps: no columns
		if x != x {
			d.Features[i] = 0
		}
	}
	with, err := datasets.FitTransform("none+missing", d)
	if err != nil {
		t.Fatal(err)
	}
	without, err := datasets.FitTransform("none", d)
	if err != nil {
		t.Fatal(err)
	}
	if with.Width() != without.Width() {
		t.Errorf("%d columns, want %d: nothing is missing", with.Width(), without.Width())
	}
}

func TestTransformDoesNotAllocate(t *testing.T) {
	d := hard()
	tr, err := datasets.FitTransform(allParts, d)
	if err != nil {
		t.Fatal(err)
	}
	dst := make([]float32, 3*tr.Width())
	if n := testing.AllocsPerRun(10, func() { tr.Query(dst, d.Features[:3*d.Width()]) }); n != 0 {
		t.Errorf("%v allocations", n)
	}
}

func BenchmarkTransform(b *testing.B) {
	d := datasets.Synthetic(datasets.SyntheticOptions{Train: 8, Vali: 1, Test: 1}).Train
	for _, spec := range []string{"none", "minmax", "standard", "log-standard", "quantile", "rank"} {
		tr, err := datasets.FitTransform(spec, d)
		if err != nil {
			b.Fatal(err)
		}
		dst := make([]float32, d.Offsets[1]*tr.Width())
		b.Run(spec, func(b *testing.B) {
			for b.Loop() {
				tr.Query(dst, d.Features[:d.Offsets[1]*d.Width()])
			}
			b.ReportMetric(float64(b.Elapsed().Nanoseconds())/float64(b.N)/float64(d.Offsets[1]), "ns/document")
		})
	}
}

// bounded is x, infinite values being the largest numbers.
func bounded(x float32) float32 { return max(-math.MaxFloat32, min(math.MaxFloat32, x)) }

// Ranks are counts of the query's documents with lower and with higher values, in queries of any size.
func TestTransformOfRanksCountsLowerAndHigher(t *testing.T) {
	special := []float32{0, float32(math.Copysign(0, -1)), 1e-45, math.MaxFloat32, float32(math.Inf(1)), float32(math.Inf(-1)), float32(math.NaN())}
	number := rapid.OneOf(rapid.SampledFrom(special), rapid.Float32Range(-2, 2), rapid.Map(rapid.IntRange(-3, 3), func(v int) float32 { return float32(v) }))
	rapid.Check(t, func(r *rapid.T) {
		const width = 3
		n := rapid.OneOf(rapid.IntRange(2, 9), rapid.IntRange(256-2, 256+2)).Draw(r, "documents")
		x := rapid.SliceOfN(number, n*width, n*width).Draw(r, "features")
		d := &datasets.Dataset{Name: "d", Features: x, Labels: make([]float32, n), Offsets: []int{0, n}, FeatureIDs: []int{1, 2, 3}}
		tr, err := datasets.FitTransform("rank", d)
		if err != nil {
			if !strings.Contains(err.Error(), "no feature varies") {
				r.Fatal(err)
			}
			return
		}
		got := make([]float32, n*tr.Width())
		tr.Query(got, x)
		for i, c := range tr.Columns {
			for a := range n {
				below, above, present := 0, 0, 0
				v := bounded(x[a*width+c])
				for b := range n {
					if w := bounded(x[b*width+c]); w == w {
						present++
						if w < v {
							below++
						} else if w > v {
							above++
						}
					}
				}
				want := 0.0
				if v == v {
					want = math.Sqrt(3) * float64(below-above) / float64(present)
				}
				if at := got[a*tr.Width()+i]; at != float32(want) {
					r.Fatalf("document %d, column %d: %v, want %v", a, c, at, want)
				}
			}
		}
	})
}

// Training data becomes normal, whatever its distribution; order and ties stay.
func TestQuantileMakesTrainingDataNormal(t *testing.T) {
	const n = 20000
	d := &datasets.Dataset{Labels: make([]float32, n), Offsets: []int{0, n}, FeatureIDs: []int{1, 2, 3}}
	for i := range n {
		u := (float64(i) + .5) / n
		d.Features = append(d.Features,
			float32(math.Exp(20*u)), // heavy-tailed
			float32(i*2/n),          // 0 or 1
			float32(-1e-9*u))        // tiny and falling
	}
	tr, err := datasets.FitTransform("quantile", d)
	if err != nil {
		t.Fatal(err)
	}
	out := make([]float32, n*3)
	tr.Query(out, d.Features)
	for i := range n {
		u := (float64(i) + .5) / n
		normal := math.Sqrt2 * math.Erfinv(2*u-1)
		if math.Abs(normal) < 2 { // between the last knots the tails are straight lines
			if got := float64(out[3*i]); math.Abs(got-normal) > .02 {
				t.Fatalf("row %d: %v, want %v", i, got, normal)
			}
			if got := float64(out[3*i+2]); math.Abs(got+normal) > .02 {
				t.Fatalf("row %d, falling: %v, want %v", i, got, -normal)
			}
		}
		// The mid-ranks of two values are 1/4 and 3/4.
		if want := math.Copysign(.67449, float64(i)-n/2+.5); math.Abs(float64(out[3*i+1])-want) > 1e-4 {
			t.Fatalf("row %d, two values: %v, want %v", i, out[3*i+1], want)
		}
		if i > 0 && out[3*i] < out[3*i-3] {
			t.Fatalf("row %d: the order has changed", i)
		}
	}
}

// Neither outliers nor an offset harm mean and deviation.
func TestMomentsSurviveOutliersAndOffsets(t *testing.T) {
	rapid.Check(t, func(r *rapid.T) {
		n := rapid.IntRange(2, 9000).Draw(r, "n")
		offset := rapid.SampledFrom([]float64{0, 1, -1e6, 1e-9}).Draw(r, "offset")
		outlier := rapid.SampledFrom([]float64{1.6e8, 1, -3e38}).Draw(r, "outlier")
		d := &datasets.Dataset{Labels: make([]float32, n), Offsets: []int{0, n}, FeatureIDs: []int{1}}
		sum, square := 0.0, 0.0
		for i := range n {
			v := float32(offset + math.Sin(float64(i))*math.Max(1e-9, math.Abs(offset)*1e-3))
			if i == 0 {
				v = float32(outlier)
			}
			d.Features = append(d.Features, v)
			sum += float64(v)
		}
		mean := sum / float64(n)
		for _, v := range d.Features {
			square += (float64(v) - mean) * (float64(v) - mean)
		}
		tr, err := datasets.FitTransform("standard", d)
		if err != nil {
			r.Fatal(err)
		}
		sd := math.Sqrt(square / float64(n))
		if p := tr.Parts[0]; math.Abs(p.Shift[0]-mean) > 1e-9*sd || math.Abs(p.Scale[0]*sd-1) > 1e-9 {
			r.Errorf("shift %v and scale %v, want %v and %v", p.Shift[0], p.Scale[0], mean, 1/sd)
		}
	})
}

// Package json takes null for 0.
func TestNullInAListOfATransformIsAnError(t *testing.T) {
	for _, part := range []string{
		`{"Name":"quantile","Knots":[[null,1]],"Scores":[[0,1]]}`,
		`{"Name":"quantile","Knots":[[-1, null]],"Scores":[[0,1]]}`,
		`{"Name":"quantile","Knots":[[1]],"Scores":[[ null]]}`,
		`{"Name":"standard","Shift":[0,null],"Scale":[1,1]}`,
	} {
		if err := json.Unmarshal([]byte(part), &transforms.Part{}); err == nil || !strings.Contains(err.Error(), "null") {
			t.Errorf("%s: error %v", part, err)
		}
	}
	if err := json.Unmarshal([]byte(`{"Name":"none","Shift":null}`), &transforms.Part{}); err != nil {
		t.Errorf("a list that is absent: %v", err)
	}
}

// A transform of raw values remembers which features missed a value in training, also that none did; a file may not lie about columns.
func TestRawTransformsRememberGaps(t *testing.T) {
	d := hard()
	for spec, want := range map[string]string{"raw": `"Gaps":[4]`, "raw+minmax": `"Gaps":[4]`, "standard": ""} {
		tr, err := datasets.FitTransform(spec, d)
		if err != nil {
			t.Fatal(err)
		}
		text, err := json.Marshal(tr)
		if err != nil || want == "" && strings.Contains(string(text), "Gaps") || !strings.Contains(string(text), want) {
			t.Errorf("%s: %s, want %s; %v", spec, text, want, err)
		}
	}
	d.Features = slices.Clone(d.Features)
	for i, v := range d.Features {
		if v != v {
			d.Features[i] = 0
		}
	}
	tr, err := datasets.FitTransform("raw", d)
	if err != nil || tr.Gaps == nil || len(tr.Gaps) > 0 {
		t.Fatalf("%v, %v", tr.Gaps, err)
	}
	for _, gaps := range [][]int{{2}, {3, 1}, {-1}, {7}} { // column 2 is constant
		tr.Gaps = gaps
		if err := tr.Validate(); err == nil || !strings.Contains(err.Error(), "want used columns") {
			t.Errorf("gaps %v: %v", gaps, err)
		}
	}
}

// equalBits reports whether two lists of numbers are the same, bit for bit.
func equalBits(a, b []float32) bool { return bytes.Equal(memory.Bytes(a), memory.Bytes(b)) }
