package transforms

import (
	"math"
	"reflect"
	"strings"
	"testing"
)

// denseAndSparse returns the same documents, mostly 0, in both forms.
func denseAndSparse() (dense, sparse *Data) {
	nan := float32(math.NaN())
	rows := [][]float32{{0, 4, 0, 1, 0}, {0, -8, 0, 1, 0}, {0, 0, 0, 1, nan}, {0, 2, 3, 1, 0}}
	name := func(c int) string { return string(rune('a' + c)) }
	dense = &Data{Name: "d", Offsets: []int{0, 2, 4}, FeatureIDs: []int{1, 2, 3, 4, 5}, FeatureName: name}
	twin := *dense
	sparse = &twin
	for _, row := range rows {
		dense.Features = append(dense.Features, row...)
		var columns []int32
		var values []float32
		for c, v := range row {
			if v != 0 {
				columns, values = append(columns, int32(c)), append(values, v)
			}
		}
		sparse.Sparse.Append(columns, values)
	}
	return dense, sparse
}

func TestSparseDocumentsAreTransformedAsDenseOnes(t *testing.T) {
	dense, sparse := denseAndSparse()
	for _, spec := range []string{"raw", "none", "maxabs"} {
		want, err := Fit(spec, dense)
		if err != nil {
			t.Fatal(err)
		}
		got, err := Fit(spec, sparse)
		if err != nil || !reflect.DeepEqual(got, want) {
			t.Fatalf("%s: %+v, want %+v, %v", spec, got, want, err)
		}
		x, y := make([]float32, 4*want.Width()), make([]float32, 4*want.Width())
		want.Query(x, dense.Features)
		got.Sparse(&sparse.Sparse).Dense(y, got.Width(), nil)
		for i := range x {
			if x[i] != y[i] && (x[i] == x[i] || y[i] == y[i]) {
				t.Errorf("%s: output %d is %v, and of sparse documents %v", spec, i, x[i], y[i])
			}
		}
		if spec == "maxabs" && !reflect.DeepEqual(x, []float32{.5, 0, 0, -1, 0, 0, 0, 0, 0, .25, 1, 0}) {
			t.Errorf("maxabs gives %v", x)
		}
	}
	for _, spec := range []string{"quantile", "minmax", "maxabs+none", "standard"} {
		if _, err := Fit(spec, sparse); err == nil || !strings.Contains(err.Error(), "want raw for a forest or maxabs for a network") {
			t.Errorf("%s: %v", spec, err)
		}
	}
	if _, err := Fit("raw", sparse, 2); err == nil {
		t.Error("a sparse feature is categorical")
	}
	shifted, err := Fit("maxabs", dense)
	if err != nil {
		t.Fatal(err)
	}
	if err := shifted.Validate(); err != nil {
		t.Error(err)
	}
	if shifted.Parts[0].Shift[1] = 1; shifted.Validate() == nil {
		t.Error("maxabs has a shift")
	}
}
