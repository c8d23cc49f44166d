package datasets

import (
	"encoding/json"
	"slices"
	"testing"

	"pgregory.net/rapid"
)

// Numbers by column are read as package json reads them.
func TestCurvesReadAsPackageJSONReadsThem(t *testing.T) {
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
