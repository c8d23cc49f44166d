//go:build onnxruntime

package ranker

import (
	"bytes"
	"cmp"
	"encoding/binary"
	"encoding/json"
	"fmt"
	"math"
	"math/rand/v2"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"testing"

	"github.com/plrank/plrank/datasets"
	"github.com/plrank/plrank/forest"
	"github.com/plrank/plrank/internal/forward"
	"github.com/plrank/plrank/internal/model"
	"github.com/plrank/plrank/transforms"
)

// python is the Python with ONNX Runtime: PLRANK_PYTHON, or python3.
func python(t *testing.T) string {
	t.Helper()
	name := cmp.Or(os.Getenv("PLRANK_PYTHON"), "python3")
	if out, err := exec.Command(name, "-c", "import numpy, onnx, onnxruntime").CombinedOutput(); err != nil {
		t.Fatalf("%s: %v: %s(pip install numpy onnx onnxruntime, or name another Python in PLRANK_PYTHON)", name, err, out)
	}
	return name
}

// hardRows has queries of features as they are in MQ2008 (within [0, 1], many zeros) and in
// MSLR (counts, large numbers, negative ones), with missing values, constants and 1e8.
func hardRows(width int, sizes []int) *datasets.Dataset {
	rng := rand.New(rand.NewPCG(5, 6))
	d := queries(width, sizes...)
	for i := range d.Features {
		v := rng.Float64()
		switch i % width % 6 {
		case 0:
			v = math.Floor(20 * v)
		case 1:
			v = math.Exp(12 * v)
		case 2:
			v = -v
		case 3:
			v = 3
		}
		switch rng.IntN(25) {
		case 0:
			v = math.NaN()
		case 1:
			v = 1e8
		case 2, 3, 4:
			v = 0
		}
		d.Features[i] = float32(v)
	}
	for q := range sizes { // a feature of the query
		for r := d.Offsets[q]; r < d.Offsets[q+1]; r++ {
			d.Row(r)[width-1] = float32(q)
		}
	}
	return d
}

// tolerance is by how much of their size scores may differ: with float64, inputs that are rounded otherwise would show.
var tolerance = map[string]float64{"float32": 1e-5, "float64": 1e-10}

// ONNX Runtime gives the scores of the model, to the tolerance.
func TestONNXRuntimeGivesTheSameScores(t *testing.T) {
	name := python(t)
	dir := t.TempDir()
	sizes := []int{1, 2, 40, 200}
	for i, c := range []struct {
		transform, activation, dtype string
		width                        int
		blocks                       int // of attention; 0: an MLP
		bins                         int // 0: none
	}{
		{"quantile", "relu", "float32", 46, 0, 0},
		{"quantile", "relu", "float32", 136, 0, 0},
		{"minmax", "sigmoid", "float32", 46, 0, 0},
		{"minmax+log-standard+quantile", "tanh", "float32", 136, 0, 0},
		{"standard", "gelu", "float32", 46, 0, 0},
		{"log-standard", "relu", "float64", 46, 0, 0},
		{"none", "none", "float32", 7, 0, 0},
		{"minmax+quantile+rank", "relu", "float32", 46, 0, 0},
		{"rank", "relu", "float64", 46, 0, 0},
		{"minmax+quantile+missing", "relu", "float32", 46, 0, 0},
		{"missing+rank", "relu", "float64", 46, 0, 6},
		{"quantile", "relu", "float32", 46, 1, 0},
		{"minmax+quantile", "tanh", "float32", 46, 2, 0},
		{"log-standard", "sigmoid", "float64", 46, 1, 0},
		{"none", "relu", "float32", 136, 0, 16},
		{"quantile+minmax+rank", "relu", "float64", 46, 0, 5},
		{"minmax", "gelu", "float32", 46, 1, 30},
		{"none", "relu", "float32", 136, 0, 16},
		{"quantile", "sigmoid", "float64", 46, 0, 0},
		{"none", "swiglu", "float32", 136, 0, 16},
		{"quantile", "swiglu", "float64", 46, 1, 0},
		{"minmax", "gelu", "float32", 46, 1, 0},
		{"maxabs", "relu", "float32", 46, 0, 0},
		{"maxabs", "tanh", "float64", 46, 1, 0},
	} {
		d := hardRows(c.width, sizes)
		f := network(t, c.transform, c.dtype, d, 1+i%3, 64, 16)
		if c.blocks > 0 {
			f = attending(t, c.transform, c.dtype, d, 1+i%3, c.blocks, 4, 64, 16)
		}
		if c.bins > 0 {
			withBins(t, f, d, c.bins)
		}
		act, err := forward.ParseActivation(c.activation)
		if err != nil {
			t.Fatal(err)
		}
		activated(t, f, act)
		f.FeatureNames = make([]string, c.width)
		f.FeatureNames[0] = "naïve"
		if f.BaseScores = i%3 == 1; f.BaseScores {
			rng := rand.New(rand.NewPCG(7, 8))
			for range d.Rows() {
				d.BaseScores = append(d.BaseScores, float32(10*rng.NormFloat64()))
			}
		}
		m := reopen(t, f)
		got, metadata, err := runtimeScores(name, dir, m, d, sizes)
		if err != nil {
			t.Fatalf("%+v: %v", c, err)
		}
		if metadata["kind"] != f.Kind || !strings.HasPrefix(metadata["feature_ids"], "[1,2,3") || !strings.HasPrefix(metadata["feature_names"], `["naïve"`) || metadata["plrank_version"] == "" || metadata["digest"] != m.Digest() {
			t.Errorf("metadata %v", metadata)
		}
		if want := c.blocks > 0 || strings.Contains(c.transform, "minmax") || strings.Contains(c.transform, "rank"); metadata["compares_documents"] != strconv.FormatBool(want) {
			t.Errorf("%+v: compares documents: %s", c, metadata["compares_documents"])
		}
		if len(got) != d.Rows() {
			t.Fatalf("%+v: %d scores, want %d", c, len(got), d.Rows())
		}
		row, worst := 0, 0.0
		for q := range sizes {
			var base []float32
			if f.BaseScores {
				base = d.BaseScores[d.Offsets[q]:d.Offsets[q+1]]
			}
			want, err := m.ScoreOn(t.Context(), nil, features(d, q), base)
			if err != nil {
				t.Fatal(err)
			}
			size := 0.0 // of the scores of the query
			for _, s := range want {
				size = max(size, math.Abs(s))
			}
			for _, s := range want {
				worst = max(worst, math.Abs(got[row]-s)/size)
				row++
			}
		}
		t.Logf("%+v: %.1e", c, worst)
		if !(worst <= tolerance[c.dtype]) {
			t.Errorf("%+v: scores differ by %v of their size", c, worst)
		}
	}
}

// runtimeScores are the scores of d, whose queries have these sizes, by the model that m
// writes as ONNX, and the metadata of that file. Other inputs are INPUT=FILE.
func runtimeScores(python, dir string, m *Model, d *datasets.Dataset, sizes []int, others ...string) (scores []float64, metadata map[string]string, err error) {
	var file, rows bytes.Buffer
	if err := m.WriteONNX(&file); err != nil {
		return nil, nil, err
	}
	if err := binary.Write(&rows, binary.LittleEndian, d.Features); err != nil {
		return nil, nil, err
	}
	onnx, data := filepath.Join(dir, "model.onnx"), filepath.Join(dir, "rows")
	for path, content := range map[string][]byte{onnx: file.Bytes(), data: rows.Bytes()} {
		if err := os.WriteFile(path, content, 0o644); err != nil {
			return nil, nil, err
		}
	}
	list, err := json.Marshal(sizes)
	if err != nil {
		return nil, nil, err
	}
	command := exec.Command(python, append([]string{"testdata/onnx_scores.py", onnx, data, string(list)}, others...)...)
	if d.BaseScores != nil {
		var base bytes.Buffer
		binary.Write(&base, binary.LittleEndian, d.BaseScores)
		path := filepath.Join(dir, "base")
		if err := os.WriteFile(path, base.Bytes(), 0o644); err != nil {
			return nil, nil, err
		}
		command.Args = append(command.Args, "base_scores="+path)
	}
	command.Stderr = os.Stderr
	out, err := command.Output()
	if err != nil {
		return nil, nil, err
	}
	first, lines, _ := bytes.Cut(out, []byte("\n"))
	if err := json.Unmarshal(first, &metadata); err != nil {
		return nil, nil, err
	}
	for _, line := range strings.Fields(string(lines)) {
		s, err := strconv.ParseFloat(line, 64)
		if err != nil {
			return nil, nil, err
		}
		scores = append(scores, s)
	}
	return scores, metadata, nil
}

// ONNX Runtime looks up the same vectors: for known, unseen and missing values, with no
// other feature, and in front of attention.
func TestONNXRuntimeLooksUpEmbeddings(t *testing.T) {
	python := python(t)
	dir := t.TempDir()
	for i, c := range []struct {
		transform, dtype string
		ids              []int
		attention        bool
		bins             int
	}{
		{"minmax+quantile", "float32", []int{2, 4}, false, 0},
		{"standard", "float64", []int{4}, false, 0},
		{"none", "float32", []int{1, 2, 3, 4, 5}, false, 0},
		{"minmax", "float32", []int{2, 4}, true, 0},
		{"none", "float32", []int{2, 4}, false, 7},
		{"missing", "float32", []int{2, 4}, false, 0}, // of other features, without missing values
	} {
		sizes := []int{1, 2, 40, 200}
		d := names(sizes...)
		for r := 0; c.transform == "missing" && r < d.Rows(); r++ {
			d.Row(r)[0], d.Row(r)[2], d.Row(r)[4] = float32(r), float32(r%3), float32(r%5)
		}
		f := categorical(t, c.transform, c.dtype, d, c.ids, 1+i%2, 16, 8)
		if c.attention {
			withAttention(t, f, model.Attention{Blocks: 1, Heads: 2})
		}
		if c.bins > 0 {
			withBins(t, f, d, c.bins)
		}
		m := reopen(t, f)
		other := names(sizes...) // with values that were not seen
		for r := range other.Rows() {
			other.Row(r)[3] = float32(r%17) - 2
		}
		got, _, err := runtimeScores(python, dir, m, other, sizes)
		if err != nil {
			t.Fatalf("%+v: %v", c, err)
		}
		row := 0
		for q := range sizes {
			want, err := m.Score(nil, features(other, q))
			if err != nil {
				t.Fatal(err)
			}
			for _, s := range want {
				if !(math.Abs(got[row]-s) <= 1e-5*(1+math.Abs(s))) {
					t.Fatalf("%+v: row %d: %v by ONNX Runtime, want %v", c, row, got[row], s)
				}
				row++
			}
		}
	}
}

// ONNX Runtime makes the products of a query's vector and its documents'. One document has no vector, one has a vector of 0, and one
// has a product beyond float32.
func TestONNXRuntimeMultipliesVectors(t *testing.T) {
	name, dir := python(t), t.TempDir()
	const n = 5
	f := network(t, "none", "float64", queries(6, n), 1, 8)
	f.FeatureNames = []string{"f", "cosine(q,d)", "dot(q,d)", "distance(d,q)", "bilinear(q,d,2)", "dot(d,d)"}
	f.Vectors = []transforms.Vector{{Name: "q", Dimension: 3}, {Name: "d", Dimension: 3}}
	for _, p := range f.FeatureNames[1:] {
		f.Products = append(f.Products, transforms.Product{Name: p})
	}
	f.Products[3].Left, f.Products[3].Right = [][]float32{{1, 2, 3}, {0, -1, 1}}, [][]float32{{.5, 0, 1}, {2, 1, 0}}
	m := reopen(t, f)
	nan := float32(math.NaN())
	q, d := []float32{.5, -2, 1}, []float32{1, 2, 3, 0, 0, 0, nan, nan, nan, 3e38, 3e38, 3e38, -1, .1, .3}
	rows, own := make([]float32, n*6), make([]float32, n)
	for i := range n {
		own[i] = float32(i) + .5
		rows[i*6] = own[i]
	}
	if err := m.Multiply(rows, func(vector, document int) []float32 {
		switch {
		case vector == 0:
			return q
		case document == 2:
			return nil
		}
		return d[3*document : 3*document+3]
	}); err != nil {
		t.Fatal(err)
	}
	want, err := m.Score(nil, rows)
	if err != nil {
		t.Fatal(err)
	}
	var others []string
	for input, values := range map[string][]float32{"vector_q": q, "vector_d": d} {
		var b bytes.Buffer
		binary.Write(&b, binary.LittleEndian, values)
		if err := os.WriteFile(filepath.Join(dir, input), b.Bytes(), 0o644); err != nil {
			t.Fatal(err)
		}
		others = append(others, input+"="+filepath.Join(dir, input))
	}
	got, metadata, err := runtimeScores(name, dir, m, &datasets.Dataset{Features: own}, []int{n}, others...)
	if err != nil {
		t.Fatal(err)
	}
	for i, s := range want {
		if !(math.Abs(got[i]-s) <= 1e-6*max(1, math.Abs(s))) {
			t.Errorf("document %d: %v by ONNX Runtime, want %v", i, got[i], s)
		}
	}
	if metadata["vectors"] != `{"vector_d":3,"vector_q":3}` || metadata["feature_names"] != `["f"]` {
		t.Errorf("metadata %v", metadata)
	}
}

// checkRuntime checks that ONNX Runtime gives documents of one query the scores of a model.
func checkRuntime(t *testing.T, python, dir, name string, m *Model, rows []float32) {
	t.Helper()
	d := &datasets.Dataset{Features: rows}
	n := len(rows) / len(m.FeatureIDs())
	got, _, err := runtimeScores(python, dir, m, d, []int{n})
	if err != nil {
		t.Fatalf("%s: %v", name, err)
	}
	want, err := m.Score(nil, rows)
	if err != nil {
		t.Fatalf("%s: %v", name, err)
	}
	worst := 0.0
	for i, s := range want {
		worst = max(worst, math.Abs(got[i]-s)/max(1, math.Abs(s)))
	}
	t.Logf("%s, %d documents: %.0e", name, n, worst)
	if !(worst <= 1e-6) {
		t.Errorf("%s: scores differ by %v of their size", name, worst)
	}
}

// ONNX Runtime gives the scores of forests: behind any transform, of mixtures, and of other libraries, also of values
// that are missing, infinite or no category.
func TestONNXRuntimeGivesTheScoresOfForests(t *testing.T) {
	python := python(t)
	dir := t.TempDir()
	check := func(name string, m *Model, rows []float32) { t.Helper(); checkRuntime(t, python, dir, name, m, rows) }
	const inputs, documents = 5, 5000
	rows := wholeRows(inputs, documents)
	grown := reopen(t, ofForest(t, anyForest(inputs, 200), transforms.Raw(inputs)))
	check("a forest", grown, rows)
	check("no trees", reopen(t, ofForest(t, &forest.Forest{Inputs: inputs, Bias: 2}, transforms.Raw(inputs))), rows)
	d := names(1, 2, 40, 200)
	for _, spec := range []string{"raw", "raw+rank", "minmax+missing"} {
		as, err := datasets.FitTransform(spec, d, 2, 4)
		if err != nil {
			t.Fatal(err)
		}
		m := reopen(t, ofForest(t, anyForest(as.Width(), 100), as))
		check(spec, m, features(d, 3))
		check(spec, m, rows[:300*inputs])
	}
	d = &datasets.Dataset{FeatureIDs: grown.FeatureIDs(), Features: rows[:300*inputs], Offsets: []int{0, 300}, Labels: make([]float32, 300)}
	mixed, err := Mix([]float64{.5, -2, 1}, grown,
		reopen(t, network(t, "quantile", "float64", d, 2, 8)), reopen(t, network(t, "minmax+rank", "float64", d, 1, 8)))
	if err != nil {
		t.Fatal(err)
	}
	check("a mixture", reopen(t, mixed), d.Features)
	files, err := filepath.Glob("../forest/foreign/testdata/*.*")
	if err != nil {
		t.Fatal(err)
	}
	written := 0
	for _, file := range files {
		if filepath.Ext(file) == ".csv" {
			continue
		}
		m, err := Open(file)
		if err != nil {
			t.Fatal(err)
		}
		if _, err := m.file.Forest(); err != nil {
			if m.WriteONNX(new(bytes.Buffer)) == nil {
				t.Errorf("%s is written: %v", file, err)
			}
			continue
		}
		rows := wholeRows(len(m.FeatureIDs()), 2000)
		for i := range rows {
			switch i % 40 {
			case 0:
				rows[i] = float32(math.Inf(1))
			case 1:
				rows[i] = float32(math.Inf(-1))
			case 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14:
				rows[i] = float32(int(rows[i]) % 7)
			case 15, 16, 17, 18, 19, 20, 21, 22, 23:
				rows[i] = rows[i]/100 - 1
			}
		}
		check(filepath.Base(file), m, rows)
		written++
	}
	if written < 12 {
		t.Errorf("%d models of other libraries are written", written)
	}
}

// ONNX Runtime gives the scores of trees that put sets of thousands of levels aside, also of values that are no level.
func TestONNXRuntimeGivesTheScoresOfWideSets(t *testing.T) {
	python, dir := python(t), t.TempDir()
	const levels, n = 3000, 9000
	rng := rand.New(rand.NewPCG(9, 3))
	rows, gradient, curvature := make([]float32, 2*n), make([]float32, n), make([]float32, n)
	for i := range n {
		level := 1 + i%levels
		rows[2*i], rows[2*i+1] = float32(rng.NormFloat64()), float32(level)
		gradient[i], curvature[i] = float32(math.Sin(float64(level)))+rows[2*i], 1
	}
	binned, err := forest.Bin(rows, 2, map[int]int{1: levels}, 64)
	if err != nil {
		t.Fatal(err)
	}
	for _, c := range []forest.Config{{Depth: 4}, {Leaves: 12}} {
		g, err := forest.NewGrower(binned, c)
		if err != nil {
			t.Fatal(err)
		}
		f, scores, widest := &forest.Forest{Inputs: 2}, make([]float64, n), 0
		for range 5 {
			tree, err := g.Grow(gradient, curvature, scores)
			if err != nil {
				t.Fatal(err)
			}
			f.Trees = append(f.Trees, tree)
			for _, node := range tree.Nodes {
				widest = max(widest, len(node.Set))
			}
		}
		if widest < levels/64 {
			t.Fatalf("the widest set has %d words", widest)
		}
		m := reopen(t, ofForest(t, f, transforms.Raw(2)))
		x := append([]float32{0, 0, 0, -3, 0, levels + 5, 0, 1e9, 0, 2.5, 0, float32(math.NaN())}, rows[:2*levels]...)
		checkRuntime(t, python, dir, fmt.Sprintf("%+v", c), m, x)
	}
}

// ONNX Runtime gives a mixture for sparse documents the scores that it gives them by their values that are not 0.
func TestONNXRuntimeGivesTheScoresOfSparseDocuments(t *testing.T) {
	python, dir := python(t), t.TempDir()
	const width, n = 300, 200
	rng := rand.New(rand.NewPCG(9, 4))
	d := queries(width, n/2, n/2)
	clear(d.Features)
	rows := &Sparse{}
	for r := range n {
		var columns []int32
		var values []float32
		for c := range width {
			if rng.IntN(20) == 0 || c == r {
				v := float32(rng.IntN(9) - 3)
				if rng.IntN(30) == 0 {
					v = float32(math.NaN())
				}
				d.Row(r)[c], columns, values = v, append(columns, int32(c)), append(values, v)
			}
		}
		rows.Append(columns, values)
	}
	as, err := datasets.FitTransform("raw", d)
	if err != nil {
		t.Fatal(err)
	}
	mixed, err := Mix([]float64{.5, 2}, reopen(t, ofForest(t, anyForest(as.Width(), 60), as)), reopen(t, network(t, "maxabs", "float32", d, 2, 16)))
	if err != nil {
		t.Fatal(err)
	}
	m := reopen(t, mixed)
	dense, err := m.Score(nil, d.Features)
	if err != nil {
		t.Fatal(err)
	}
	if scores, err := m.ScoreSparse(t.Context(), nil, rows, nil); err != nil || !slices.Equal(scores, dense) {
		t.Errorf("sparse documents have other scores: %v", err)
	}
	checkRuntime(t, python, dir, "a mixture", m, d.Features)
}
