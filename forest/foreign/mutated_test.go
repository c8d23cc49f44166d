package foreign

import (
	"bytes"
	"encoding/binary"
	"encoding/json"
	"fmt"
	"maps"
	"math"
	"math/rand/v2"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"
)

// parse returns the content of a model file as lists and maps: those of its JSON, or a list of the lines of LightGBM's text, each a
// list of the key and the words of its value.
func parse(t testing.TB, path string, data []byte) any {
	read := func(data []byte) (root any) {
		d := json.NewDecoder(bytes.NewReader(data))
		d.UseNumber()
		if err := d.Decode(&root); err != nil {
			t.Fatal(path, err)
		}
		return root
	}
	switch {
	case strings.HasSuffix(path, ".ubj"):
		text, err := fromUBJ(data)
		if err != nil {
			t.Fatal(path, err)
		}
		return read(text)
	case strings.HasSuffix(path, ".json"):
		return read(data)
	}
	var lines []any
	for line := range strings.SplitSeq(string(data), "\n") {
		words := []any{line}
		if key, value, found := strings.Cut(line, "="); found {
			words = []any{key}
			for word := range strings.SplitSeq(value, " ") {
				words = append(words, word)
			}
		} else if list, found := strings.CutPrefix(line, pandas); found {
			words = []any{pandas, read([]byte(list))}
		}
		lines = append(lines, words)
	}
	return lines
}

const pandas = "pandas_categorical:"

// encode is the inverse of parse.
func encode(t testing.TB, path string, root any) []byte {
	toJSON := func(v any) []byte {
		data, err := json.Marshal(v)
		if err != nil {
			t.Fatal(path, err)
		}
		return data
	}
	switch {
	case strings.HasSuffix(path, ".ubj"):
		return appendUBJ(nil, root)
	case strings.HasSuffix(path, ".json"):
		return toJSON(root)
	}
	var text []byte
	lines, _ := root.([]any)
	for i, line := range lines {
		if i > 0 {
			text = append(text, '\n')
		}
		words, _ := line.([]any)
		for j, word := range words {
			switch {
			case j == 1 && words[0] == pandas:
				text = append(text, toJSON(word)...)
			case j == 1:
				text = fmt.Append(text, "=", word)
			case j > 1:
				text = fmt.Append(text, " ", word)
			default:
				text = fmt.Append(text, word)
			}
		}
	}
	return text
}

func appendUBJ(out []byte, v any) []byte {
	text := func(s string) {
		out = append(binary.BigEndian.AppendUint64(append(out, 'L'), uint64(len(s))), s...)
	}
	switch v := v.(type) {
	case nil:
		out = append(out, 'Z')
	case bool:
		out = append(out, map[bool]byte{true: 'T', false: 'F'}[v])
	case string:
		out = append(out, 'S')
		text(v)
	case json.Number:
		if n, err := v.Int64(); err == nil {
			return binary.BigEndian.AppendUint64(append(out, 'L'), uint64(n))
		}
		f, _ := v.Float64()
		out = binary.BigEndian.AppendUint64(append(out, 'D'), math.Float64bits(f))
	case []any:
		out = append(out, '[')
		for _, e := range v {
			out = appendUBJ(out, e)
		}
		out = append(out, ']')
	case map[string]any:
		out = append(out, '{')
		for _, key := range slices.Sorted(maps.Keys(v)) {
			text(key)
			out = appendUBJ(out, v[key])
		}
		out = append(out, '}')
	}
	return out
}

// A spot is a list or a map in a document: the keys and positions that lead to it. Its name has the keys alone.
type spot []any

// spots adds all lists and maps of a value by name.
func spots(v any, at spot, name string, to map[string][]spot) {
	down := func(key any, name string, v any) { spots(v, append(at[:len(at):len(at)], key), name, to) }
	switch v := v.(type) {
	case []any:
		to[name] = append(to[name], at)
		for i, e := range v {
			if line, ok := e.([]any); ok && len(at) == 0 { // of text
				down(i, fmt.Sprint(line[0]), e)
			} else {
				down(i, name+".", e)
			}
		}
	case map[string]any:
		to[name] = append(to[name], at)
		for _, key := range slices.Sorted(maps.Keys(v)) {
			down(key, name+"."+key, v[key])
		}
	}
}

// change returns a copy of a value with a change at a spot. Mutations of it that came before may have removed the spot.
func change(v any, at spot, how func(any) any) any {
	if len(at) == 0 {
		return how(v)
	}
	switch v := v.(type) {
	case []any:
		if i, ok := at[0].(int); ok && i < len(v) {
			v = slices.Clone(v)
			v[i] = change(v[i], at[1:], how)
		}
		return v
	case map[string]any:
		if key, ok := at[0].(string); ok && v[key] != nil {
			v = maps.Clone(v)
			v[key] = change(v[key], at[1:], how)
		}
		return v
	}
	return v
}

// odd are values that no list expects.
var odd = []any{nil, "", "nan", "x", "-1", "9223372036854775807", true, []any{}, map[string]any{},
	json.Number("-1"), json.Number("0"), json.Number("1"), json.Number("2"), json.Number("64"), json.Number("65536"), json.Number("2147483647"),
	json.Number("4294967296"),
	json.Number("9223372036854775807"), json.Number("-9223372036854775808"), json.Number("1e300"), json.Number("0.5")}

// recount gives a list an entry more, or takes one away, at a part of its length.
func recount(more bool, part float64) func(any) any {
	return func(v any) any {
		list, ok := v.([]any)
		if !ok || len(list) == 0 {
			return v
		}
		i := int(part * float64(len(list)-1))
		if more {
			return slices.Insert(slices.Clone(list), i, list[i])
		}
		return slices.Delete(slices.Clone(list), i, i+1)
	}
}

// mangle changes a list or a map in any way.
func mangle(r *rand.Rand) func(any) any {
	return func(v any) any {
		strange := odd[r.IntN(len(odd))]
		switch v := v.(type) {
		case []any:
			if len(v) == 0 || r.IntN(5) == 0 {
				return slices.Insert(slices.Clone(v), r.IntN(len(v)+1), strange)
			}
			v = slices.Clone(v)
			i, j := r.IntN(len(v)), r.IntN(len(v))
			switch r.IntN(4) {
			case 0:
				return v[:i]
			case 1:
				v[i], v[j] = v[j], v[i]
			case 2:
				v[i] = strange
			default:
				return recount(r.IntN(2) == 0, r.Float64())(v)
			}
			return v
		case map[string]any:
			if len(v) == 0 {
				return v
			}
			keys := slices.Sorted(maps.Keys(v))
			v = maps.Clone(v)
			switch a, b := keys[r.IntN(len(keys))], keys[r.IntN(len(keys))]; r.IntN(3) {
			case 0:
				delete(v, a)
			case 1:
				v[a] = strange
			default:
				v[a], v[b] = v[b], v[a]
			}
			return v
		}
		return v
	}
}

// uncounted are the lists whose length nothing in a file declares: the lines of text, for which average_output is a word and without
// pandas_categorical categories are numbers; the iterations of XGBoost; and the trees of CatBoost. Files of other engines declare none.
var uncounted = regexp.MustCompile(`^$|^average_output$|^pandas_categorical:\.?$|iteration_indptr$|^\.(oblivious_)?trees$`)

// One entry more or less in any list of a file returns an error, or no score depends on the list. No other change to the structure of
// a file makes reading panic or take memory out of proportion to it, and a model that is read scores.
func TestMutatedFilesAreRefusedOrScore(t *testing.T) {
	mangles, recounts := 150, 6
	if testing.Short() {
		mangles, recounts = 30, 2
	}
	engines, err := filepath.Glob("testdata/engines/*.[tj][xs]*")
	if err != nil || len(engines) < 9 {
		t.Fatal(engines, err)
	}
	for _, path := range slices.Concat(models(t), []string{"testdata/shop/lightgbm.txt", "testdata/shop/catboost.json"}, engines) {
		data, err := os.ReadFile(path)
		if err != nil {
			t.Fatal(err)
		}
		root := parse(t, path, data)
		original, err := Read(encode(t, path, root))
		if err != nil {
			t.Fatal(path, err)
		}
		rows := probe(len(original.IDs))
		want := make([]float64, len(rows)/len(original.IDs))
		original.Score(want, rows)
		at := map[string][]spot{}
		spots(root, nil, "", at)
		names := slices.Sorted(maps.Keys(at))
		r := rand.New(rand.NewPCG(1, uint64(len(data))))
		any := func(name string) spot { return at[name][r.IntN(len(at[name]))] }
		for _, name := range names {
			for i := range recounts {
				how := recount(i%2 == 0, []float64{0, 1, r.Float64()}[i/2])
				m := readMutated(t, path, name, encode(t, path, change(root, any(name), how)))
				if m != nil && !slices.Contains(engines, path) && !uncounted.MatchString(name) && !scoresAre(m, rows, want) {
					t.Errorf("%s: a list %s has an entry more or less: want an error, or the same scores", path, name)
					break
				}
			}
		}
		for range mangles {
			mutated, where := root, ""
			for range 1 + r.IntN(3) {
				where = names[r.IntN(len(names))]
				mutated = change(mutated, any(where), mangle(r))
			}
			readMutated(t, path, where, encode(t, path, mutated))
		}
	}
}

// probe returns rows with values that tell trees apart.
func probe(inputs int) []float32 {
	r := rand.New(rand.NewPCG(1, 2))
	rows := make([]float32, 200*inputs)
	for i := range rows {
		switch r.IntN(4) {
		case 0:
			rows[i] = float32(r.IntN(40))
		case 1:
			rows[i] = []float32{0, float32(math.NaN()), -1, 1e9, float32(math.Inf(1)), -2.5}[r.IntN(6)]
		default:
			rows[i] = float32(r.NormFloat64())
		}
	}
	return rows
}

// readMutated returns the model of a file, nil if there is an error, and scores with it.
func readMutated(t *testing.T, path, where string, data []byte) (m *Model) {
	defer func() {
		if p := recover(); p != nil {
			t.Errorf("%s, changed at %s: panic: %v", path, where, p)
		}
	}()
	var err error
	if n, most := allocated(func() { m, err = Read(data) }), mostAllocated(len(data)); n > most {
		t.Errorf("%s, changed at %s: %d bytes were allocated for a file of %d, want %d at most", path, where, n, len(data), most)
	}
	if err != nil {
		return nil
	}
	if n := len(m.IDs); n < 1000 {
		m.Score(make([]float64, 3), make([]float32, 3*n))
	}
	return m
}

// scoresAre reports whether a model gives rows the scores that are wanted. It may lack the last columns.
func scoresAre(m *Model, rows []float32, want []float64) bool {
	n, width := len(m.IDs), len(rows)/len(want)
	if n > width {
		return false
	}
	var narrow []float32
	for row := range slices.Chunk(rows, width) {
		narrow = append(narrow, row[:n]...)
	}
	got := make([]float64, len(want))
	m.Score(got, narrow)
	for i := range got {
		if !(math.Abs(got[i]-want[i]) <= 1e-9) {
			return false
		}
	}
	return true
}
