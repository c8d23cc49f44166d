package nn

import (
	"runtime"
	"strings"
	"testing"

	"gorgonia.org/tensor"

	"github.com/plrank/plrank/internal/model"
)

// Settings that multiply to very many arrays are refused before these are named.
func TestReadRefusesSettingsBeyondTheArrays(t *testing.T) {
	w, err := NewWeights(tensor.Float32, Array{Name: "w0", Shape: []int{1}}, Array{Name: "b0", Shape: []int{1}})
	if err != nil {
		t.Fatal(err)
	}
	layers := `"features":1,"hidden":[` + strings.Repeat("1,", 5000) + `1]`
	for kind, settings := range map[string]string{
		model.MLP:         `{` + layers + `,"members":1000}`,
		model.Transformer: `{` + layers + `,"members":1000,"blocks":1000}`,
	} {
		var before, after runtime.MemStats
		runtime.ReadMemStats(&before)
		_, err := Read(kind, []byte(settings), w)
		runtime.ReadMemStats(&after)
		if err == nil || !strings.Contains(err.Error(), "arrays of weights: want 100000 at most") {
			t.Errorf("%s: error %v", kind, err)
		}
		if n := after.TotalAlloc - before.TotalAlloc; n > 10<<20 {
			t.Errorf("%s: %d bytes were allocated for %d of settings", kind, n, len(settings))
		}
	}
}
