package ranker

import (
	"bytes"
	"encoding/json"
	"fmt"
	"maps"
	"runtime"
	"slices"
	"strings"
	"testing"

	"github.com/plrank/plrank/internal/model"
	"github.com/plrank/plrank/internal/npzfile"
)

// crafted is a file with a header that is changed, and some arrays.
func crafted(t testing.TB, change map[string]any, arrays ...npzfile.Array) []byte {
	t.Helper()
	header := map[string]any{
		"format": fileFormat, "version": fileVersion, "kind": model.MLP, "dtype": "float32", "gain": "exp2",
		"settings":   map[string]any{"features": 1, "activation": "relu"},
		"transform":  map[string]any{"Spec": "none", "Inputs": 1, "Columns": []int{0}, "Parts": []any{map[string]any{"Name": "none"}}},
		"featureIDs": []int{1},
	}
	maps.Copy(header, change)
	var b bytes.Buffer
	if err := npzfile.Encode(&b, header, arrays); err != nil {
		t.Fatal(err)
	}
	return b.Bytes()
}

// allocated is how many bytes f allocates.
func allocated(f func()) int {
	var before, after runtime.MemStats
	runtime.ReadMemStats(&before)
	f()
	runtime.ReadMemStats(&after)
	return int(after.TotalAlloc - before.TotalAlloc)
}

// mostAllocated is the most that reading a file of that size may allocate, garbage included.
func mostAllocated(size int) int { return 64<<20 + 100*size }

func repeat(n int, v any) []any {
	list := make([]any, n)
	for i := range list {
		list[i] = v
	}
	return list
}

func numbers(n int) []int {
	list := make([]int, n)
	for i := range list {
		list[i] = i
	}
	return list
}

// A file that asks for more than it has is refused before anything of that size is made.
func TestCraftedFilesAllocateLittle(t *testing.T) {
	ones := func(n int) any { return repeat(n, 1) }
	settings := func(kind string, more string, hidden any) map[string]any {
		list, err := json.Marshal(hidden)
		if err != nil {
			t.Fatal(err)
		}
		text := fmt.Sprintf(`{"features":1,"activation":"relu","hidden":%s%s}`, list, more)
		return map[string]any{"kind": kind, "settings": json.RawMessage(text)}
	}
	weights := []npzfile.Array{{Name: "w0", Shape: []int{1}, Data: []float64{1}}, {Name: "b0", Shape: []int{1}, Data: []float64{0}}}
	columns := 20_000
	transform := func(parts any, categories any) map[string]any {
		return map[string]any{"featureIDs": numbers(columns), "transform": map[string]any{
			"Spec": "x", "Inputs": columns, "Columns": numbers(columns), "Parts": parts, "Categories": categories}}
	}
	curve := repeat(columns, []int{0})
	quantile := map[string]any{"Name": "quantile", "Knots": curve, "Scores": curve}
	for name, c := range map[string]struct {
		change map[string]any
		want   string
	}{
		"layers × members":      {settings(model.MLP, `,"members":1000`, ones(20_000)), "40002000"},
		"blocks × members":      {settings(model.Transformer, `,"members":1000,"blocks":1000`, ones(1)), "arrays of weights: want 100000 at most"},
		"layers × members, att": {settings(model.Transformer, `,"members":1000`, ones(20_000)), "arrays of weights: want 100000 at most"},
		"members":               {settings(model.MLP, `,"members":1000000000`, ones(1)), "1000000000 members"},
		"shared members":        {settings(model.MLP, `,"sharedMembers":1001`, ones(1)), "1001 shared members: not computed from v0.1.0 on: want plrank "},
		"latent cross":          {settings(model.Transformer, `,"latentCross":true`, ones(1)), "a latent cross: not computed from v0.1.0 on: want plrank "},
		"blocks":                {settings(model.Transformer, `,"blocks":1000000000`, ones(1)), "1000000000 blocks"},
		"wide layers":           {settings(model.MLP, ``, []int{1 << 40, 1 << 40}), "has shape"},
		"wide attention":        {settings(model.Transformer, `,"heads":1099511627776`, []int{1 << 40}), "has shape"},
		"many heads":            {settings(model.Transformer, `,"heads":1000000`, ones(1)), "1000000 heads"},
		"wide embeddings":       {settings(model.MLP, `,"embeddings":[{"codes":4000000000,"width":4000000000}]`, ones(1)), "1 embeddings and a transform of 0"},
		"features":              {map[string]any{"settings": json.RawMessage(`{"features":1000000000000,"activation":"relu"}`)}, "1000000000000 features"},
		"parts × columns":       {transform(repeat(20_000, map[string]any{"Name": "none"}), nil), `duplicate transform "none"`},
		"unknown parts":         {transform(repeat(20_000, map[string]any{"Name": "x"}), nil), `unknown transform "x"`},
		"quantile tables":       {transform([]any{quantile}, nil), "a model of 1 features"},
		"quantile twice":        {transform([]any{quantile, quantile}, nil), `duplicate transform "quantile"`},
		"empty parts":           {transform(repeat(500_000, map[string]any{}), nil), "objects in"},
		"empty categories":      {transform(repeat(1, map[string]any{"Name": "none"}), repeat(500_000, map[string]any{})), "objects in"},
		"inputs":                {map[string]any{"transform": map[string]any{"Inputs": 1 << 50, "Columns": []int{0}, "Parts": []any{map[string]any{"Name": "none"}}}}, "1 feature ids and a transform"},
		"depth":                 {map[string]any{"settings": json.RawMessage(strings.Repeat(`[`, 9000) + strings.Repeat(`]`, 9000))}, "settings of an MLP"},
	} {
		data := crafted(t, c.change, weights...)
		var err error
		bytes := allocated(func() { _, err = Read(bytes.NewReader(data)) })
		if err == nil || !strings.Contains(err.Error(), c.want) || len(err.Error()) > 1000 {
			t.Errorf("%s: error %.300v, want %q", name, err, c.want)
		}
		if most := mostAllocated(len(data)); bytes > most {
			t.Errorf("%s: %d bytes were allocated for a file of %d, want %d at most", name, bytes, len(data), most)
		}
		t.Logf("%s: %d KB for %d KB", name, bytes>>10, len(data)>>10)
	}
}

// Scoring takes memory in proportion to a model's weights, too: not 128 times as much.
func TestScoringWithWideLayersAllocatesLittle(t *testing.T) {
	const width = 200_000
	ones := func(n int) []float64 { return slices.Repeat([]float64{1}, n) }
	settings := map[string]any{"settings": map[string]any{"features": 1, "activation": "relu", "hidden": []int{width, 1, width}}, "dtype": "float64"}
	data := crafted(t, settings,
		npzfile.Array{Name: "w0", Shape: []int{1, width}, Data: ones(width)}, npzfile.Array{Name: "b0", Shape: []int{width}, Data: ones(width)},
		npzfile.Array{Name: "w1", Shape: []int{width, 1}, Data: ones(width)}, npzfile.Array{Name: "b1", Shape: []int{1}, Data: ones(1)},
		npzfile.Array{Name: "w2", Shape: []int{1, width}, Data: ones(width)}, npzfile.Array{Name: "b2", Shape: []int{width}, Data: ones(width)},
		npzfile.Array{Name: "w3", Shape: []int{width}, Data: ones(width)}, npzfile.Array{Name: "b3", Shape: []int{1}, Data: ones(1)})
	m, err := Read(bytes.NewReader(data))
	if err != nil {
		t.Fatal(err)
	}
	var one, many []float64
	n := allocated(func() { one, err = m.Score(nil, []float32{2}) })
	if most := 10 * len(data); n > most || err != nil {
		t.Errorf("%d bytes were allocated for a model of %d, want %d at most (%v)", n, len(data), most, err)
	}
	if many, err = m.Score(nil, []float32{1, 2, 3, 4, 5, 6, 7, 8, 9, 2}); err != nil || many[9] != one[0] || many[1] != one[0] {
		t.Errorf("scores %v (%v), alone %v", many, err, one)
	}
}
