package columns_test

import (
	"math"
	"slices"
	"testing"

	"pgregory.net/rapid"

	"github.com/plrank/plrank/datasets"
	"github.com/plrank/plrank/transforms/internal/columns"
)

// The vector instructions give the bits of plain Go: for any values, numbers of columns
// and columns that are left out.
func TestVectorInstructionsGiveTheBitsOfGo(t *testing.T) {
	if !*columns.Wide {
		t.Skip("this machine has no AVX-512")
	}
	defer func() { *columns.Wide = true }()
	special := []float32{0, float32(math.Copysign(0, -1)), 1, -1, 1e-45, -1e-45, 1e-8, -9.99999e-9, 1e-3, 1e8, math.MaxFloat32, -math.MaxFloat32,
		float32(math.Inf(1)), float32(math.Inf(-1)), float32(math.NaN()), math.Float32frombits(0xffffffff)}
	number := rapid.OneOf(rapid.Float32(), rapid.Float32Range(-1, 1), rapid.Float32Range(0, 1e4), rapid.SampledFrom(special))
	rapid.Check(t, func(r *rapid.T) {
		width := rapid.IntRange(1, 37).Draw(r, "width")
		rows := rapid.IntRange(2, 40).Draw(r, "rows")
		d := &datasets.Dataset{Name: "d", Offsets: []int{0, rows}, Labels: make([]float32, rows)}
		for id := range width {
			d.FeatureIDs = append(d.FeatureIDs, id)
		}
		d.Features = rapid.SliceOfN(number, rows*width, rows*width).Draw(r, "features")
		for _, spec := range []string{"minmax", "log-standard", "quantile", "rank", "minmax+log-standard+quantile+rank"} {
			*columns.Wide = true
			transform, err := datasets.FitTransform(spec, d)
			if err != nil { // no feature varies
				return
			}
			x := append(rapid.SliceOfN(number, width, width).Draw(r, "another"), d.Features...)
			got, want := make([]float32, (rows+1)*transform.Width()), make([]float32, (rows+1)*transform.Width())
			for i := range got {
				got[i] = -77 // what was there does not matter
			}
			transform.Query(got, x)
			*columns.Wide = false
			transform.Query(want, x)
			if !slices.Equal(got, want) {
				r.Fatalf("%s of %v:\n%v, want\n%v", spec, x, got, want)
			}
		}
	})
}
