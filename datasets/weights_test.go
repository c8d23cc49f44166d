package datasets

import (
	"bytes"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"pgregory.net/rapid"
)

const threeQueries = "2 qid:a 1:1\n0 qid:a 1:2\n-1 qid:b 1:3\n# between\n1 qid:c 1:4\n0 qid:c 1:5\n"

func TestWeightsFromAFile(t *testing.T) {
	for _, test := range []struct {
		data, weights, sizes string
		documents, queries   []float32
		fails                string
	}{
		{threeQueries, "1\n.5\n2\n0\n1e3\n", "", []float32{1, .5, 2, 0, 1000}, nil, ""},
		{threeQueries, "1\n.5\r\n2", "", nil, []float32{1, .5, 2}, ""},
		{threeQueries, "1\n.5\n2", "2\n1\n2\n", nil, []float32{1, .5, 2}, ""},
		{"2 1:1\n0 1:2\n1 1:3\n", "4\n5\n6\n", "2\n0\n1\n", []float32{4, 5, 6}, nil, ""},
		{"2 1:1\n0 1:2\n1 1:3\n1 1:3\n", "4\n5\n6\n", "2\n0\n2\n", nil, []float32{4, 6}, ""},
		{"2 1:1\n0 1:2\n1 1:3\n1 1:3\n", "4\n6\n", "2\n0\n2\n", nil, []float32{4, 6}, ""},
		{threeQueries, "1\n2\n", "", nil, nil, "f.txt.weight: 2 weights, but "},
		{threeQueries, "1\n2\n", "", nil, nil, "f.txt has 5 documents and 3 queries: want one weight a line, of every document or of every query"},
		{threeQueries, "1\n-2\n1\n", "", nil, nil, `f.txt.weight:2: the weight is "-2": want a finite number of 0 or more`},
		{threeQueries, "1\n\x1b[31m\n1\n", "", nil, nil, `f.txt.weight:2: the weight is "\x1b[31m"`},
		{threeQueries, "1\nnan\n1\n", "", nil, nil, `f.txt.weight:2: the weight is "nan"`},
		{threeQueries, "1\n\n1\n", "", nil, nil, `f.txt.weight:2: the weight is ""`},
	} {
		files := map[string]string{"f.txt": test.data, "f.txt.weight": test.weights}
		if test.sizes != "" {
			files["f.txt.query"] = test.sizes
		}
		d, err := readFile(filepath.Join(writeFiles(t, files), "f.txt"), inChunks(ReadOptions{}, few))
		if test.fails != "" {
			if err == nil || !strings.Contains(err.Error(), test.fails) {
				t.Errorf("%q: error %v, want %q", test.weights, err, test.fails)
			}
			continue
		}
		if err != nil {
			t.Fatal(err)
		}
		if !slices.Equal(d.Weights, test.documents) || !slices.Equal(d.QueryWeights, test.queries) {
			t.Errorf("%q: weights %v and %v", test.weights, d.Weights, d.QueryWeights)
		}
	}
}

func TestWeightsFromAColumn(t *testing.T) {
	folder := writeFiles(t, map[string]string{
		"f.csv":        "label,qid,w,x\n1,a,.5,1\n0,a,0,2\n1,b,3,3\n",
		"f.csv.weight": "2\n4\n",
		"bad.csv":      "label,qid,w,x\n1,a,-1,1\n0,a,,2\n",
		"f.txt":        threeQueries,
	})
	d, err := readFile(filepath.Join(folder, "f.csv"), inChunks(ReadOptions{WeightColumn: "w"}, few))
	if err != nil {
		t.Fatal(err)
	}
	if !slices.Equal(d.Weights, []float32{.5, 0, 3}) || !slices.Equal(d.QueryWeights, []float32{2, 4}) || !slices.Equal(d.Features, []float32{1, 2, 3}) {
		t.Errorf("weights %v and %v, features %v", d.Weights, d.QueryWeights, d.Features)
	}
	for what, o := range map[string]ReadOptions{"label": {LabelColumn: "w"}, "query id": {QueryColumn: "w"}, "document id": {DocumentColumn: "w"}} {
		if _, err := ReadFile(filepath.Join(folder, "f.txt"), o); err == nil || !strings.Contains(err.Error(), `no `+what+` column "w": LETOR text names no columns`) {
			t.Errorf("error %v", err)
		}
	}
	for _, test := range []struct{ file, column, want string }{
		{"f.csv", "v", `no weight column "v": there are label, qid, w, x`},
		{"f.csv", "qid", `column "qid" is the query id, and cannot be the weight as well`},
		{"bad.csv", "w", `bad.csv:2: column "w": the weight is "-1": want a finite number of 0 or more`},
		{"bad.csv", "w", `bad.csv:3: column "w": the weight is "": want`},
		{"f.txt", "w", `no weight column "w": LETOR text names no columns`},
	} {
		if _, err := readFile(filepath.Join(folder, test.file), inChunks(ReadOptions{WeightColumn: test.column}, few)); err == nil || !strings.Contains(err.Error(), test.want) {
			t.Errorf("error %v, want %q", err, test.want)
		}
	}
	if err := os.WriteFile(filepath.Join(folder, "f.csv.weight"), []byte("1\n2\n3\n"), 0o666); err != nil {
		t.Fatal(err)
	}
	if _, err := readFile(filepath.Join(folder, "f.csv"), inChunks(ReadOptions{WeightColumn: "w"}, few)); err == nil || !strings.Contains(err.Error(), `the weights of documents are in column "w"`) {
		t.Errorf("error %v", err)
	}
}

// Weights go with their documents and queries through held-out splits, dropped
// documents, folds and the cache.
func TestWeightsInSplits(t *testing.T) {
	var data, documents, queries strings.Builder
	for q := range 20 {
		for r := range 3 {
			label := []string{"1", "-1", "0"}[r]
			data.WriteString(label + " qid:" + string(rune('a'+q)) + " 1:" + formatFloat(float32(3*q+r+1)) + "\n")
			documents.WriteString(formatFloat(float32(3*q+r+1)) + "\n") // the value of the feature
		}
		queries.WriteString(formatFloat(float32(q)) + "\n")
	}
	for _, weights := range []string{documents.String(), queries.String()} {
		folder := writeFiles(t, map[string]string{"train.txt": data.String(), "train.txt.weight": weights})
		for _, o := range []Options{{}, {Folds: 4, Fold: 2}} {
			o.Cache = t.TempDir()
			first, err := Open(filepath.Join(folder, "train.txt"), o)
			if err != nil {
				t.Fatal(err)
			}
			again, err := Open(filepath.Join(folder, "train.txt"), o)
			if err != nil {
				t.Fatal(err)
			}
			same(t, again, first)
			rows := 0
			for _, d := range again.all() {
				if d == nil {
					continue
				}
				rows += d.Rows()
				if weights == documents.String() && (!slices.Equal(d.Weights, d.Features) || d.QueryWeights != nil) {
					t.Errorf("%s: weights %v, want %v; of queries %v", d.Name, d.Weights, d.Features, d.QueryWeights)
				}
				for q, id := range d.QueryIDs {
					if weights == queries.String() && (d.QueryWeights[q] != float32(id[0]-'a') || d.Weights != nil) {
						t.Errorf("%s: weight %v of query %s; of documents %v", d.Name, d.QueryWeights[q], id, d.Weights)
					}
				}
			}
			if rows != 40 {
				t.Errorf("%d rows", rows)
			}
		}
	}
}

func TestWeightsBesideAFileAreRead(t *testing.T) {
	path := filepath.Join(t.TempDir(), "f")
	rapid.Check(t, func(r *rapid.T) {
		sizes := append(rapid.SliceOfN(rapid.IntRange(0, 4), 0, 5).Draw(r, "sizes"), 1)
		d := &Dataset{Offsets: []int{0}}
		var full []int // queries that are not empty, which have no place in the format
		for q, n := range sizes {
			d.Offsets = append(d.Offsets, d.Offsets[q]+n)
			d.QueryIDs = append(d.QueryIDs, string(rune('a'+q)))
			if n > 0 {
				full = append(full, q)
			}
		}
		d.Labels = make([]float32, d.Offsets[len(sizes)])
		weights := func(n int) []float32 {
			return rapid.SliceOfN(rapid.Float32Range(0, 1e9), n, n).Draw(r, "weights")
		}
		if d.Rows() == len(full) || rapid.Bool().Draw(r, "of documents") {
			d.Weights = weights(d.Rows())
		} else {
			d.QueryWeights = weights(d.Queries())
		}
		var text, sidecar bytes.Buffer
		if err := WriteLETOR(&text, d); err != nil {
			r.Fatal(err)
		}
		for _, w := range append(d.Weights, d.Select(full).QueryWeights...) {
			fmt.Fprintln(&sidecar, w)
		}
		for name, b := range map[string][]byte{path: text.Bytes(), path + ".weight": sidecar.Bytes()} {
			if err := os.WriteFile(name, b, 0o666); err != nil {
				r.Fatal(err)
			}
		}
		back, err := ReadFile(path, ReadOptions{})
		if err != nil {
			r.Fatal(err)
		}
		if differ := back.Fingerprint().Differences(d.Select(full).Fingerprint()); differ != "" {
			r.Fatalf("%s differ", differ)
		}
	})
}
