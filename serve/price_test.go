package serve

import (
	"bytes"
	"encoding/json"
	"fmt"
	"log/slog"
	"math"
	"math/rand/v2"
	"net/http"
	"net/http/httptest"
	"path/filepath"
	"runtime"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/plrank/plrank/datasets"
	"github.com/plrank/plrank/forest"
	"github.com/plrank/plrank/internal/cputime"
	"github.com/plrank/plrank/internal/forward"
	"github.com/plrank/plrank/internal/model"
	"github.com/plrank/plrank/ranker"
	"github.com/plrank/plrank/transforms"
)

// values returns random values of documents, a fifth of them 0.
func values(documents, width int) []float32 {
	rng := rand.New(rand.NewPCG(1, 2))
	x := make([]float32, documents*width)
	for i := range x {
		if rng.IntN(5) > 0 {
			x[i] = float32(rng.NormFloat64())
		}
	}
	return x
}

func ids(width int) (ids []int) {
	for i := range width {
		ids = append(ids, i+1)
	}
	return ids
}

// network returns the file of a network of random weights, with blocks of attention if there are any.
func network(t testing.TB, spec string, width, members, blocks int, hidden ...int) *ranker.File {
	t.Helper()
	d := &datasets.Dataset{Name: "test", FeatureIDs: ids(width), Features: values(500, width), Labels: make([]float32, 500)}
	for q := range 51 {
		d.Offsets = append(d.Offsets, 10*q)
	}
	transform, err := datasets.FitTransform(spec, d)
	if err != nil {
		t.Fatal(err)
	}
	s := model.Settings{Features: transform.Width(), Hidden: hidden, Activation: forward.ReLU, Members: members}
	f := &ranker.File{Kind: model.MLP, Dtype: "float32", Transform: transform, FeatureIDs: d.FeatureIDs, Gain: "exp2"}
	if blocks > 0 {
		f.Kind, s.Attention = model.Transformer, &model.Attention{Blocks: blocks, Heads: 2}
	}
	if f.Settings, err = json.Marshal(s); err != nil {
		t.Fatal(err)
	}
	rng := rand.New(rand.NewPCG(3, 4))
	for _, a := range s.Arrays() {
		array := ranker.Array{Name: a.Name, Shape: a.Shape, Values: []float64{}}
		size := 1
		for _, n := range a.Shape {
			size *= n
		}
		for range size {
			array.Values = append(array.Values, rng.NormFloat64()/math.Sqrt(float64(a.Shape[0])))
		}
		f.Arrays = append(f.Arrays, array)
	}
	return f
}

// trees returns the file of a forest of random trees, in which a node has a level of its own, or all of a level are the same.
func trees(t testing.TB, width, number, leaves int, symmetric bool) *ranker.File {
	t.Helper()
	rng := rand.New(rand.NewPCG(5, 6))
	random := &forest.Forest{Inputs: width}
	for range number {
		tree := forest.Tree{Nodes: make([]forest.Node, leaves-1)}
		split := forest.Node{}
		for i := range tree.Nodes { // node i has the children 2i+1 and 2i+2
			if !symmetric || i&(i+1) == 0 { // the first of a level
				split = forest.Node{Column: rng.IntN(width), Threshold: rng.NormFloat64()}
			}
			n := &tree.Nodes[i]
			*n = split
			n.Left, n.Right = 2*i+1, 2*i+2
			for _, child := range []*int{&n.Left, &n.Right} {
				if *child >= leaves-1 {
					*child = ^len(tree.Leaves)
					tree.Leaves = append(tree.Leaves, rng.NormFloat64())
				}
			}
		}
		random.Trees = append(random.Trees, tree)
	}
	f := &ranker.File{Transform: transforms.Raw(width), FeatureIDs: ids(width), Gain: "exp2"}
	if err := f.SetForest(random); err != nil {
		t.Fatal(err)
	}
	return f
}

// mixture returns the file of a mixture of models with equal weights.
func mixture(t testing.TB, files ...*ranker.File) *ranker.File {
	t.Helper()
	var models []*ranker.Model
	var weights []float64
	for _, f := range files {
		m, err := ranker.New(f)
		if err != nil {
			t.Fatal(err)
		}
		models, weights = append(models, m), append(weights, 1)
	}
	f, err := ranker.Mix(weights, models...)
	if err != nil {
		t.Fatal(err)
	}
	return f
}

// priced are files of models of each kind.
func priced(t testing.TB) map[string]string {
	t.Helper()
	folder, files := t.TempDir(), map[string]string{}
	for name, f := range map[string]*ranker.File{
		"linear":     network(t, "none", 46, 1, 0),
		"quantile":   network(t, "quantile", 46, 1, 0),
		"recipe":     network(t, "minmax+log-standard+quantile", 46, 3, 0, 64),
		"deep":       network(t, "standard", 136, 1, 0, 512, 256, 128),
		"wide":       network(t, "none", 700, 1, 0, 16),
		"attention":  network(t, "quantile", 46, 1, 2, 64),
		"narrow":     network(t, "minmax", 46, 1, 1, 4),
		"forest":     trees(t, 46, 500, 31, false),
		"symmetric":  trees(t, 46, 500, 64, true),
		"large":      trees(t, 46, 100, 500, false),
		"mixture":    mixture(t, network(t, "quantile", 46, 3, 0, 64), trees(t, 46, 200, 31, false)),
		"comparing":  mixture(t, network(t, "minmax+rank", 46, 1, 0, 16), trees(t, 46, 50, 31, false)),
		"attentions": mixture(t, network(t, "quantile", 46, 1, 1, 16), trees(t, 46, 100, 31, false)),
	} {
		files[name] = filepath.Join(folder, name+".npz")
		if err := f.Save(files[name]); err != nil {
			t.Fatal(err)
		}
	}
	for name, file := range map[string]string{
		"lightgbm": "lightgbm-texts.txt", "xgboost": "xgboost-all.json", "catboost": "catboost-ctr.json",
	} {
		files[name] = "../forest/foreign/testdata/" + file
	}
	return files
}

// body returns a request for a number of documents, as arrays of values of that many digits, or as objects by name if digits
// are below 0; 0: as empty objects.
func body(name string, m *served, documents, digits int, rest string) string {
	var text bytes.Buffer
	fmt.Fprintf(&text, `{"model": %q, "documents": [`, name)
	x, brackets := values(documents, len(m.columns)), "[]"
	if digits <= 0 {
		brackets = "{}"
	}
	for d := range documents {
		if d > 0 {
			text.WriteByte(',')
		}
		text.WriteByte(brackets[0])
		for c := range len(m.columns) {
			if digits == 0 {
				break
			}
			if c > 0 {
				text.WriteByte(',')
			}
			if digits < 0 {
				fmt.Fprintf(&text, `"%d":`, m.FeatureIDs()[c])
			}
			if levels := m.Levels(); levels != nil && levels[c] != nil {
				json.NewEncoder(&text).Encode(levels[c][d%len(levels[c])])
				continue
			}
			text.WriteString(strconv.FormatFloat(float64(x[d*len(m.columns)+c]), 'g', max(digits, -digits), 32))
		}
		text.WriteByte(brackets[1])
	}
	text.WriteString("]" + rest + "}")
	return text.String()
}

// BenchmarkPrices reports prices over times on one core, for models of all kinds and requests of all kinds: from .5 to 2 are
// right. "price-units" is the price.
//
//	go test ./serve -run - -bench Prices -benchtime 1x
func BenchmarkPrices(b *testing.B) {
	defer runtime.GOMAXPROCS(runtime.GOMAXPROCS(1))
	files := priced(b)
	s, err := New(Options{Models: files, Limits: Limits{Work: math.MaxInt, Documents: 100_000}, Log: slog.New(slog.DiscardHandler)})
	if err != nil {
		b.Fatal(err)
	}
	defer s.Close()
	report := func(name, body string) {
		b.Run(name, func(b *testing.B) {
			defer runtime.GOMAXPROCS(runtime.GOMAXPROCS(1))
			for b.Loop() {
				space := new(scratch)
				if err := s.compute(b.Context(), []byte(body), false, space, new(response)); err != nil {
					b.Fatal(err)
				}
				took := cputime.Shortest(20*time.Millisecond, func() {
					w := httptest.NewRecorder()
					if s.ServeHTTP(w, httptest.NewRequest("POST", "/v1/rank", strings.NewReader(body))); w.Code != http.StatusOK {
						b.Fatal(w.Code, w.Body)
					}
				})
				b.ReportMetric(space.spent/float64(took), "price/cost")
				b.ReportMetric(space.spent/unit, "price-units")
			}
		})
	}
	for name, slot := range s.models {
		m := slot.model.Load()
		for _, n := range []int{1, 100, 2000} {
			if len(m.columns) == 700 && n > 100 {
				continue
			}
			report(fmt.Sprintf("%s/rank/D=%d", name, n), body(name, m, n, 4, ""))
		}
		for _, c := range [][2]int{{100, 10}, {100, 100}, {1000, 300}} {
			for _, temperature := range []float64{.1, 100} {
				report(fmt.Sprintf("%s/draw/D=%d/K=%d/T=%g", name, c[0], c[1], temperature),
					body(name, m, c[0], 4, fmt.Sprintf(`, "draw": {"cutoff": %d, "temperature": %g}`, c[1], temperature)))
			}
		}
		for _, c := range []struct {
			documents, permutations int
			against                 string
		}{{2, 1000, `"against": 0, `}, {100, 100, `"against": 0, `}, {100, 10, ""}} {
			in := body(name, m, c.documents, 4, fmt.Sprintf(`, "explain": {"document": 1, %s"permutations": %d}`, c.against, c.permutations))
			space := new(scratch)
			if s.limits.Work = 500_000; s.compute(b.Context(), []byte(in), false, space, new(response)) == nil { // others take long
				report(fmt.Sprintf("%s/explain/D=%d/P=%d/mean=%t", name, c.documents, c.permutations, c.against == ""), in)
			}
			s.limits.Work = math.MaxInt
		}
	}
	linear, wide := s.models["linear"].model.Load(), s.models["wide"].model.Load()
	for name, in := range map[string]string{
		"empty": body("linear", linear, 5000, 0, ""), "digits": body("linear", linear, 500, 9, ""),
		"objects":    body("linear", linear, 500, -4, ""),
		"wide-empty": body("wide", wide, 500, 0, ""), "wide-objects": body("wide", wide, 50, -4, ""),
	} {
		report("bodies/"+name, in)
	}
	if s.clicks, err = openClicks(b.TempDir(), models{"linear": s.models["linear"]}, s.measures, s.log, time.Minute); err != nil {
		b.Fatal(err)
	}
	text, err := json.Marshal(slices.Collect(func(yield func(string) bool) {
		for d := 0; d < 500 && yield(strconv.Itoa(d)); d++ {
		}
	}))
	if err != nil {
		b.Fatal(err)
	}
	rest := `, "draw": {"cutoff": 10}, "query": "q", "document_ids": ` + string(text)
	report("logged/arrays", body("linear", linear, 500, 4, rest))
	report("logged/objects", body("linear", linear, 500, -4, rest))
	report("logged/empty", body("linear", linear, 500, 0, rest))
}
