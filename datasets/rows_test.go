package datasets

import (
	"encoding/json"
	"math"
	"slices"
	"testing"

	"pgregory.net/rapid"
)

// The vector instructions give the bits of plain Go: for any values, numbers of columns
// and columns that are left out.
func TestRowsByVectorInstructions(t *testing.T) {
	if !wide {
		t.Skip("this machine has no AVX-512")
	}
	defer func() { wide = true }()
	special := []float32{0, float32(math.Copysign(0, -1)), 1, -1, 1e-45, -1e-45, 1e-8, -9.99999e-9, 1e-3, 1e8, math.MaxFloat32, -math.MaxFloat32,
		float32(math.Inf(1)), float32(math.Inf(-1)), float32(math.NaN()), math.Float32frombits(0xffffffff)}
	number := rapid.OneOf(rapid.Float32(), rapid.Float32Range(-1, 1), rapid.Float32Range(0, 1e4), rapid.SampledFrom(special))
	rapid.Check(t, func(r *rapid.T) {
		width := rapid.IntRange(1, 37).Draw(r, "width")
		rows := rapid.IntRange(2, 40).Draw(r, "rows")
		d := &Dataset{Name: "d", Offsets: []int{0, rows}, Labels: make([]float32, rows)}
		for id := range width {
			d.FeatureIDs = append(d.FeatureIDs, id)
		}
		d.Features = rapid.SliceOfN(number, rows*width, rows*width).Draw(r, "features")
		if len(d.varying(alone)) == 0 {
			return
		}
		for _, spec := range []string{"minmax", "log-standard", "quantile", "rank", "minmax+log-standard+quantile+rank"} {
			wide = true
			transform, err := FitTransform(spec, d)
			if err != nil {
				r.Fatal(err)
			}
			x := append(rapid.SliceOfN(number, width, width).Draw(r, "another"), d.Features...)
			got, want := make([]float32, (rows+1)*transform.Width()), make([]float32, (rows+1)*transform.Width())
			for i := range got {
				got[i] = -77 // what was there does not matter
			}
			transform.Query(got, x)
			wide = false
			transform.Query(want, x)
			if !slices.Equal(got, want) {
				r.Fatalf("%s of %v:\n%v, want\n%v", spec, x, got, want)
			}
		}
	})
}

// Numbers by column are read as package json reads them.
func TestCurvesJSON(t *testing.T) {
	rapid.Check(t, func(r *rapid.T) {
		finite := rapid.Float32().Filter(func(v float32) bool { return v-v == 0 })
		want := rapid.SliceOfN(rapid.SliceOfN(finite, 1, 5), 1, 5).Draw(r, "numbers")
		text, err := json.MarshalIndent(want, "", rapid.SampledFrom([]string{"", " ", "\t"}).Draw(r, "indent"))
		if err != nil {
			r.Fatal(err)
		}
		var got Curves
		if err := json.Unmarshal(text, &got); err != nil || !slices.EqualFunc(got, want, slices.Equal) {
			r.Fatalf("%s: %v, %v", text, got, err)
		}
	})
	for _, text := range []string{`[1]`, `[["x"]]`, `[[null]]`, `[[1e39]]`, `[[[1]]]`, `{}`, `"1"`, `[[true]]`, `7`} {
		var got Curves
		if err := json.Unmarshal([]byte(text), &got); err == nil {
			t.Errorf("%s is %v", text, got)
		}
	}
	got := Curves{{1}}
	if err := json.Unmarshal([]byte("null"), &got); err != nil || got != nil {
		t.Errorf("null is %v, %v", got, err)
	}
}
