package main

import (
	"encoding/json"
	"fmt"
	"net/http/httptest"
	"os"
	"path/filepath"
	"reflect"
	"slices"
	"strconv"
	"strings"
	"testing"

	"github.com/parquet-go/parquet-go"

	"github.com/plrank/plrank/clicks"
	"github.com/plrank/plrank/forest"
	"github.com/plrank/plrank/ranker"
	"github.com/plrank/plrank/serve"
	"github.com/plrank/plrank/transforms"
)

// nastyTexts look like numbers, like missing values or like each other. The empty one is last.
var nastyTexts = []string{
	"1.1", "1.10", "1.100", "7", "007", "7.0", "+7", "100", "1E2", "1e2", "1", "01", "true", "True", "0", "-0", "16777216", "16777217",
	"NA", "NULL", "null", "NaN", "nan", "?", "None", "Oslo", "oslo", " Oslo", "Oslo ", " ", "\t", "é", "日本", "١", "inf", "-inf",
	"0x10", "1_000", "a,b", `a"b`, `"`, "'", "#x", "1:2", "qid:1", "a;b", `\`, "<b>", "\u2028", "",
}

// unknownTexts are none of them.
var unknownTexts = []string{"1.1000", "7.00", "1e02", "TRUE", "OSLO", "  Oslo", "e", "10"}

// A textCase is a model with the texts as levels. The score of a document is the position of its text, from 1.
type textCase struct {
	name, path string
	missing    string // the score of no text
}

// write writes a file into the folder of a test, and returns its path.
func writeText(t *testing.T, name, text string) string {
	t.Helper()
	path := filepath.Join(t.TempDir(), name)
	if err := os.WriteFile(path, []byte(text), 0o666); err != nil {
		t.Fatal(err)
	}
	return path
}

// tableOf returns a table of a query for each of the texts, which quote writes.
func tableOf(t *testing.T, texts []string, quote func(string) string) string {
	t.Helper()
	table := "label,qid,city\n"
	for i, text := range texts {
		table += fmt.Sprintf("%d,q%d,%s\n", i%2, i/2, quote(text))
	}
	return writeText(t, "texts.csv", table)
}

func quoted(text string) string { return `"` + strings.ReplaceAll(text, `"`, `""`) + `"` }

// plain quotes only what needs it.
func plain(text string) string {
	if strings.ContainsAny(text, `",`) {
		return quoted(text)
	}
	return text
}

type textRow struct {
	Label int32   `parquet:"label"`
	Query string  `parquet:"qid,dict"`
	City  *string `parquet:"city,optional,dict"`
}

// parquetOf is tableOf in Parquet, with a row of no text at the end.
func parquetOf(t *testing.T, texts []string) string {
	t.Helper()
	var rows []textRow
	for i := range texts {
		rows = append(rows, textRow{int32(i % 2), fmt.Sprint("q", i/2), &texts[i]})
	}
	path := filepath.Join(t.TempDir(), "texts.parquet")
	if err := parquet.WriteFile(path, append(rows, textRow{0, "last", nil})); err != nil {
		t.Fatal(err)
	}
	return path
}

// trainedOn returns the file of a model that was trained on the data, with a forest in place of its own: −1 for no text, 0 for one
// that is not known.
func trainedOn(t *testing.T, data string, texts []string) string {
	t.Helper()
	out := filepath.Join(t.TempDir(), "run")
	args := "train -categorical city -scorer forest -epochs 1 -cache off"
	if status, _, stderr := call(append(strings.Fields(args), "-data", data, "-out", out)...); status != 0 {
		t.Fatal(stderr)
	}
	path := filepath.Join(out, "model.npz")
	m, err := ranker.Open(path)
	if err != nil {
		t.Fatal(err)
	}
	if !slices.Equal(m.Levels()[0], texts) || m.NumberLevels() == nil || len(m.NumberLevels()) > 0 {
		t.Fatalf("levels %q, numbers %v, want %q", m.Levels(), m.NumberLevels(), texts)
	}
	f := *m.File()
	f.Transform = transforms.Raw(1)
	tree := forest.Tree{Leaves: []float64{-1}, Nodes: []forest.Node{{Threshold: -1, MissingLeft: true, Left: ^0, Right: 1}}}
	for i := range texts {
		tree.Nodes = append(tree.Nodes, forest.Node{Threshold: float64(i), Left: ^(i + 1), Right: i + 2})
		tree.Leaves = append(tree.Leaves, float64(i))
	}
	tree.Nodes[len(texts)].Right, tree.Leaves = ^(len(texts) + 1), append(tree.Leaves, float64(len(texts)))
	if err := f.SetForest(&forest.Forest{Inputs: 1, Trees: []forest.Tree{tree}}); err != nil {
		t.Fatal(err)
	}
	if err := f.Save(path); err != nil {
		t.Fatal(err)
	}
	return path
}

// join returns the values of a function for 0 to n−1, with a separator between.
func join(n int, by string, value func(i int) string) string {
	var list []string
	for i := range n {
		list = append(list, value(i))
	}
	return strings.Join(list, by)
}

// lightGBMOf is a model of LightGBM with these levels, in JSON: node i sends category i to leaf i, and others on.
func lightGBMOf(t *testing.T, levels string, n int) string {
	t.Helper()
	starts, at := "0", 0
	for i := range n {
		at += i/32 + 1
		starts += fmt.Sprint(" ", at)
	}
	constant := func(value string) string { return join(n, " ", func(int) string { return value }) }
	var text strings.Builder
	for _, line := range []string{
		"tree", "version=v4", "num_class=1", "num_tree_per_iteration=1", "label_index=0", "max_feature_idx=0", "objective=lambdarank",
		"feature_names=city", "feature_infos=" + join(n, ":", strconv.Itoa), "",
		"Tree=0", fmt.Sprintf("num_leaves=%d", n+1), fmt.Sprintf("num_cat=%d", n),
		"split_feature=" + constant("0"), "split_gain=" + constant("1"), "threshold=" + join(n, " ", strconv.Itoa),
		"decision_type=" + constant("1"),
		"left_child=" + join(n, " ", func(i int) string { return strconv.Itoa(^i) }),
		"right_child=" + join(n-1, " ", func(i int) string { return strconv.Itoa(i + 1) }) + fmt.Sprint(" ", ^n),
		"leaf_value=" + join(n, " ", func(i int) string { return strconv.Itoa(i + 1) }) + " 0", "cat_boundaries=" + starts,
		"cat_threshold=" + join(n, " ", func(i int) string { return strings.Repeat("0 ", i/32) + strconv.FormatUint(1<<(i%32), 10) }),
		"is_linear=0", "shrinkage=1", "", "", "end of trees", "", "pandas_categorical:[" + levels + "]",
	} {
		text.WriteString(line + "\n")
	}
	return writeText(t, "lightgbm.txt", text.String())
}

// xgboostOf is a model of XGBoost with these levels, in the JSON of its encoding: node 2i sends category i to leaf 2i+1.
func xgboostOf(t *testing.T, encoding string, n int) string {
	t.Helper()
	var tree struct {
		Left       []int     `json:"left_children"`
		Right      []int     `json:"right_children"`
		Columns    []int     `json:"split_indices"`
		Conditions []float64 `json:"split_conditions"`
		Default    []int     `json:"default_left"`
		Types      []int     `json:"split_type"`
		Categories []int     `json:"categories"`
		Nodes      []int     `json:"categories_nodes"`
		Segments   []int     `json:"categories_segments"`
		Sizes      []int     `json:"categories_sizes"`
	}
	add := func(left, right int, value float64, kind int) {
		tree.Left, tree.Right, tree.Columns = append(tree.Left, left), append(tree.Right, right), append(tree.Columns, 0)
		tree.Conditions, tree.Default, tree.Types = append(tree.Conditions, value), append(tree.Default, 1), append(tree.Types, kind)
	}
	for i := range n {
		tree.Categories, tree.Nodes = append(tree.Categories, i), append(tree.Nodes, 2*i)
		tree.Segments, tree.Sizes = append(tree.Segments, i), append(tree.Sizes, 1)
		add(2*i+2, 2*i+1, 0, 1)
		add(-1, -1, float64(i+1), 0)
	}
	add(-1, -1, 0, 0)
	nodes, err := json.Marshal(tree)
	if err != nil {
		t.Fatal(err)
	}
	return writeText(t, "xgboost.json", fmt.Sprintf(`{"learner": {"attributes": {}, "feature_names": ["city"], "feature_types": ["c"],
		"gradient_booster": {"name": "gbtree", "model": {"gbtree_model_param": {"num_parallel_tree": "1", "num_trees": "1"},
			"iteration_indptr": [0, 1], "tree_info": [0], "trees": [%s], "cats": {"enc": [%s]}}},
		"learner_model_param": {"base_score": "0", "num_class": "0", "num_feature": "1", "num_target": "1"},
		"objective": {"name": "rank:ndcg"}}, "version": [3, 4, 0]}`, nodes, encoding))
}

// catBoostOf is a model of CatBoost with a tree for each text, whose hash is its position.
func catBoostOf(t *testing.T, texts []string) string {
	t.Helper()
	hash := func(i int) string {
		text, err := json.Marshal(texts[i])
		if err != nil {
			t.Fatal(err)
		}
		return fmt.Sprintf(`{"hash": %d, "value": %s}`, i, text)
	}
	tree := func(i int) string {
		return fmt.Sprintf(`{"leaf_values": [0, %d],
			"splits": [{"split_type": "OneHotFeature", "cat_feature_index": 0, "value": %d, "split_index": %[2]d}]}`, i+1, i)
	}
	return writeText(t, "catboost.json", fmt.Sprintf(`{"features_info": {
		"categorical_features": [{"feature_id": "city", "feature_index": 0, "flat_feature_index": 0, "values": [%s]}], "cat_features_hash": [%s]},
		"model_info": {"params": {}}, "oblivious_trees": [%s], "scale_and_bias": [1, [0]]}`,
		join(len(texts), ",", strconv.Itoa), join(len(texts), ",", hash), join(len(texts), ",", tree)))
}

// textCases are models of all kinds with these texts.
func textCases(t *testing.T) []textCase {
	levels, err := json.Marshal(nastyTexts)
	if err != nil {
		t.Fatal(err)
	}
	offsets, all := "0", strings.Join(nastyTexts, "")
	at := 0
	for _, text := range nastyTexts {
		at += len(text)
		offsets += fmt.Sprint(",", at)
	}
	signed := func(i int) string { return strconv.Itoa(int(int8(all[i]))) }
	encoding := fmt.Sprintf(`{"offsets": [%s], "values": [%s]}`, offsets, join(len(all), ",", signed))
	n := len(nastyTexts)
	return []textCase{
		{"a model of CSV", trainedOn(t, tableOf(t, nastyTexts[:n-1], plain), nastyTexts[:n-1]), "-1"}, // which has no empty text
		{"a model of quoted CSV", trainedOn(t, tableOf(t, nastyTexts[:n-1], quoted), nastyTexts[:n-1]), "-1"},
		{"a model of Parquet", trainedOn(t, parquetOf(t, nastyTexts), nastyTexts), "-1"},
		{"LightGBM", lightGBMOf(t, string(levels), n), "0"},
		{"XGBoost", xgboostOf(t, encoding, n), "0"},
		{"CatBoost", catBoostOf(t, nastyTexts), "0"},
	}
}

// checkScores scores a file, and returns what is on standard error.
func checkScores(t *testing.T, c textCase, data string, want []string) (stderr string) {
	t.Helper()
	status, stdout, stderr := call("score", "-model", c.path, "-data", data)
	if got := strings.Fields(stdout); status != 0 || !slices.Equal(got, want) {
		t.Errorf("%s, %s: scores %v, want %v; %s", c.name, filepath.Base(data), got, want, stderr)
	}
	return stderr
}

// served returns the scores that a service gives to documents of these texts, the last without one.
func served(t *testing.T, c textCase, texts []string) (scores []string, log *clicks.Log, metrics string) {
	t.Helper()
	folder := t.TempDir()
	s, err := serve.New(serve.Options{Models: map[string]string{"default": c.path}, Clicks: folder})
	if err != nil {
		t.Fatal(err)
	}
	var documents []any
	var ids []string
	for i, text := range texts {
		documents, ids = append(documents, map[string]any{"city": text}), append(ids, strconv.Itoa(i))
	}
	body, err := json.Marshal(map[string]any{"query": "q", "draw": map[string]int{"cutoff": 1},
		"documents": append(documents, map[string]any{"city": nil}), "document_ids": append(ids, "last")})
	if err != nil {
		t.Fatal(err)
	}
	send := func(method, path, body string) string {
		w := httptest.NewRecorder()
		r := httptest.NewRequest(method, path, strings.NewReader(body))
		r.Header.Set("Content-Type", "application/json")
		if s.ServeHTTP(w, r); w.Code != 200 {
			t.Fatalf("%s: %s", c.name, w.Body)
		}
		return w.Body.String()
	}
	var answer struct{ Scores []float64 }
	if err := json.Unmarshal([]byte(send("POST", "/v1/rank", string(body))), &answer); err != nil {
		t.Fatal(err)
	}
	metrics = send("GET", "/metrics", "")
	s.Close()
	if log, err = clicks.Read(folder); err != nil {
		t.Fatal(err)
	}
	for _, score := range answer.Scores {
		scores = append(scores, strconv.FormatFloat(score, 'g', -1, 64))
	}
	return scores, log, metrics
}

// Every text is itself on every path: in training, in tables of both formats, quoted or not, in requests, in their log, in ONNX,
// and in the models of every library. A text that a model does not know is counted and named.
func TestTextsAreThemselvesOnEveryPath(t *testing.T) {
	t.Parallel()
	for _, c := range textCases(t) {
		m, err := ranker.Open(c.path)
		if err != nil {
			t.Errorf("%s: %v", c.name, err)
			continue
		}
		n := len(nastyTexts)
		want := strings.Fields(join(n, " ", func(i int) string { return strconv.Itoa(1 + i) }))
		if !slices.Contains(m.Levels()[0], "") {
			want[n-1] = c.missing
		}
		withMissing := append(slices.Clone(want), c.missing)
		for name, quote := range map[string]func(string) string{"plain": plain, "quoted": quoted} {
			data := tableOf(t, nastyTexts, quote)
			if stderr := checkScores(t, c, data, want); strings.Contains(stderr, "know") {
				t.Errorf("%s, %s: %s", c.name, name, stderr)
			}
		}
		inParquet := slices.Clone(withMissing)
		if want[n-1] == c.missing { // only null is missing: the empty text is not known
			inParquet[n-1] = "0"
		}
		checkScores(t, c, parquetOf(t, nastyTexts), inParquet)
		checkScores(t, c, parquetOf(t, []string{"Null"}), []string{"0", c.missing})
		checkScores(t, c, tableOf(t, []string{"Null"}, plain), []string{c.missing})
		scores, log, _ := served(t, c, nastyTexts)
		if !slices.Equal(scores, withMissing) {
			t.Errorf("%s, served: %v, want %v", c.name, scores, withMissing)
		}
		logged := nastyTexts
		if want[n-1] == c.missing {
			logged = nastyTexts[:n-1]
		}
		if !reflect.DeepEqual(log.Levels, [][]string{logged}) {
			t.Errorf("%s: logged %q, want %q", c.name, log.Levels, logged)
		}
		checkUnknown(t, c)
		checkONNX(t, c, m)
	}
}

// checkUnknown checks that texts which the model does not know are counted and named by each command.
func checkUnknown(t *testing.T, c textCase) {
	t.Helper()
	zeros := strings.Fields(strings.Repeat("0 ", len(unknownTexts)))
	data := tableOf(t, unknownTexts, plain)
	stderr := checkScores(t, c, data, zeros)
	_, _, evaluated := call("evaluate", "-model", c.path, "-data", data, "-cache", "off")
	want := fmt.Sprintf("%d values of the feature city are categories that the model does not know: ", len(unknownTexts))
	for command, stderr := range map[string]string{"score": stderr, "evaluate": evaluated} {
		if !strings.Contains(stderr, want) || !strings.Contains(stderr, `"7.00" (1)`) {
			t.Errorf("%s, %s: %s", c.name, command, stderr)
		}
	}
	scores, log, metrics := served(t, c, unknownTexts)
	if !slices.Equal(scores, append(zeros, c.missing)) || !reflect.DeepEqual(log.Levels, [][]string{unknownTexts}) {
		t.Errorf("%s, served: %v of %q", c.name, scores, log.Levels)
	}
	want = fmt.Sprintf("plrank_unknown_categories_total{feature=\"city\",model=\"default\"} %d\n", len(unknownTexts))
	if !strings.Contains(metrics, want) {
		t.Errorf("%s: no %s in %s", c.name, want, metrics)
	}
}

// checkONNX checks that ONNX has the texts, whose positions are the values that the model gives them.
func checkONNX(t *testing.T, c textCase, m *ranker.Model) {
	t.Helper()
	levels, err := json.Marshal(m.Levels())
	if err != nil {
		t.Fatal(err)
	}
	path := filepath.Join(t.TempDir(), "m.onnx")
	if status, _, stderr := call("export", "-model", c.path, "-onnx", path); status != 0 {
		t.Fatal(c.name, stderr)
	}
	if exported, err := os.ReadFile(path); err != nil || !strings.Contains(string(exported), string(levels)) {
		t.Errorf("%s: ONNX is without %s", c.name, levels)
	}
	for i, text := range m.Levels()[0] {
		if v, ok := m.Level(0, text); !ok || v != float32(i+1) {
			t.Errorf("%s: %q is %v, want %d", c.name, text, v, i+1)
		}
	}
}

func readText(t *testing.T, path string) string {
	t.Helper()
	text, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	return string(text)
}
