package foreign

import (
	"bytes"
	"encoding/json"
	"fmt"
	"math"
	"math/rand/v2"
	"os"
	"regexp"
	"slices"
	"strings"
	"testing"
)

// engines are models of RankLib and of search engines, which lab/foreign/engines.py writes.
const engines = "testdata/engines"

var nan = float32(math.NaN())

// rankLibText is a model of RankLib of two trees. Feature 3 decides first, then 2.
const rankLibText = `## LambdaMART
## No. of trees = 2

<ensemble>
	<tree id="1" weight="0.5">
		<split>
			<feature> 3 </feature>
			<threshold> 0.25 </threshold>
			<split pos="left">
				<output> -1.0 </output>
			</split>
			<split pos="right">
				<feature> 2 </feature>
				<threshold> -1.5 </threshold>
				<split pos="left">
					<output> 3.0 </output>
				</split>
				<split pos="right">
					<output> 8.0 </output>
				</split>
			</split>
		</split>
	</tree>
	<tree id="2" weight="2.0">
		<split>
			<output> 0.25 </output>
		</split>
	</tree>
</ensemble>
`

const solrText = `{"class": "org.apache.solr.ltr.model.MultipleAdditiveTreesModel", "name": "m", "features": [{"name": "b"}, {"name": "a"}],
	"params": {"trees": [
		{"weight": "0.5", "root": {"feature": "a", "threshold": "0.25", "left": {"value": "-1"}, "right": {"value": "3"}}},
		{"weight": "2f", "root": {"value": "0.25f"}}]}}`

const dumpText = `[{"nodeid": 0, "depth": 0, "split": "a", "split_condition": 0.25, "yes": 1, "no": 2, "missing": 2, "children": [
	{"nodeid": 1, "leaf": -1}, {"nodeid": 2, "leaf": 3}]}]`

// The scores are added up by hand.
func TestModelsOfEnginesScoreAsTheyAreDefined(t *testing.T) {
	wrapped := func(kind, definition string) string {
		return fmt.Sprintf(`{"model": {"name": "m", "model": {"type": %q, "definition": %s}}}`, kind, definition)
	}
	text := func(s string) string {
		b, err := json.Marshal(s)
		if err != nil {
			t.Fatal(err)
		}
		return string(b)
	}
	null := strings.Replace(solrText, `"params": {`, `"params": {"isNullSameAsZero": false, `, 1)
	up := math.Nextafter32(.25, 1)
	slack := float32(.25) + 1e-6
	for _, c := range []struct {
		name, data string
		ids        []int
		names      []string
		rows       []float32
		want       []float64
	}{
		{"RankLib, columns 2 and 3, where what is missing is 0", rankLibText, []int{2, 3}, nil,
			[]float32{0, .25, nan, up, -1.5, 1, -2, nan}, []float64{0, 4.5, 2, 0}},
		{"RankLib without its first lines and blanks", regexp.MustCompile(`#.*|[\n\t]`).ReplaceAllString(rankLibText, ""), []int{2, 3}, nil,
			[]float32{0, .25}, []float64{0}},
		{"random forests are means of bags", strings.Replace(rankLibText, "LambdaMART", "Random Forests", 1) +
			"<ensemble><tree weight=\"1\"><split><output>4</output></split></tree></ensemble>",
			[]int{2, 3}, nil, []float32{0, .25, 0, 1}, []float64{2, 4.25}},
		{"a linear regression has a bias", "## Linear Regression\n## Lambda = 1\n0:0.5 10:2 3:-1.0E-1 4:0.0 # more", []int{3, 10}, nil,
			[]float32{10, 1, nan, nan}, []float64{1.5, .5}},
		{"weights of a feature add up", "## AdaRank\n2:0.5 1:1 2:0.25", []int{1, 2}, nil, []float32{1, 4}, []float64{4}},
		{"Solr adds 1e-6 to thresholds", solrText, []int{1, 2}, []string{"b", "a"},
			[]float32{9, slack, 9, math.Nextafter32(slack, 1), 9, nan}, []float64{0, 2, 0}},
		{"Solr with null, without a side", null, []int{1, 2}, []string{"b", "a"}, []float32{9, 0, 9, nan}, []float64{0, 2}},
		{"Solr with null and a side", strings.NewReplacer("false", `"false"`, `"threshold"`, `"missing": "left", "threshold"`).Replace(null),
			[]int{1, 2}, []string{"b", "a"}, []float32{9, 0, 9, nan}, []float64{0, 0}},
		{"linear of Solr", `{"class": "LinearModel", "features": [{"name": "a"}, {"name": "b"}], "params": {"weights": {"b": 2, "a": 0.5}}}`,
			[]int{1, 2}, []string{"a", "b"}, []float32{4, nan, 2, 1}, []float64{2, 3}},
		{"a dump goes left below", dumpText, []int{1}, []string{"a"}, []float32{.25, math.Nextafter32(.25, 0), nan}, []float64{3, -1, 3}},
		{"the side of missing values", strings.Replace(dumpText, `"missing": 2`, `"missing": 1`, 1), []int{1}, []string{"a"},
			[]float32{nan}, []float64{-1}},
		{"no such side is right", strings.Replace(dumpText, `"missing": 2, `, ``, 1), []int{1}, []string{"a"}, []float32{nan}, []float64{3}},
		{"features of a dump without names", strings.Replace(dumpText, `"a"`, `"f6"`, 1), []int{7}, nil, []float32{1}, []float64{3}},
		{"features of an old dump", strings.Replace(dumpText, `"a"`, `6`, 1), []int{7}, nil, []float32{1}, []float64{3}},
		{"names that are whole numbers are ids", strings.Replace(dumpText, `"a"`, `"17"`, 1), []int{17}, nil, []float32{1}, []float64{3}},
		{"a dump within an object", `{"objective": "binary:logistic", "splits": ` + dumpText + `}`, []int{1}, []string{"a"}, []float32{1},
			[]float64{3}},
		{"missing values as zeros", `{"missing_as_zero": true, "splits": ` + dumpText + `}`, []int{1}, []string{"a"}, []float32{nan},
			[]float64{-1}},
		{"a definition", wrapped(dumpType, dumpText), []int{1}, []string{"a"}, []float32{1}, []float64{3}},
		{"a definition that is a text", wrapped(dumpType, text(dumpText)), []int{1}, []string{"a"}, []float32{1}, []float64{3}},
		{"what is stored", `{"_id": "model-m", "_source": ` + wrapped(dumpType, text(dumpText)) + `}`, []int{1}, []string{"a"},
			[]float32{1}, []float64{3}},
		{"f0 of a store is a name", wrapped(dumpType, strings.Replace(dumpText, `"a"`, `"f0"`, 1)), []int{1}, []string{"f0"}, []float32{1},
			[]float64{3}},
		{"RankLib in Elasticsearch", wrapped("model/ranklib", text(rankLibText)), []int{2, 3}, nil, []float32{-1.5, 1}, []float64{2}},
		{"weights in Elasticsearch", wrapped(linearType, `{"a": 0.5, "b": 2}`), []int{1, 2}, []string{"a", "b"}, []float32{4, 1}, []float64{4}},
		{"weights alone", ` {"b": 2, "a": 0.5}`, []int{1, 2}, []string{"a", "b"}, []float32{4, 1}, []float64{4}},
	} {
		m, err := Read([]byte(c.data))
		if err != nil {
			t.Errorf("%s: %v", c.name, err)
			continue
		}
		if warns := m.Library == "RankLib" || m.Library == "XGBoost"; (m.Warnings != nil) != warns {
			t.Errorf("%s: warnings %q", c.name, m.Warnings)
		}
		got := make([]float64, len(c.want))
		if m.Score(got, c.rows); !slices.Equal(got, c.want) || !slices.Equal(m.IDs, c.ids) || !slices.Equal(m.Names, c.names) {
			t.Errorf("%s: scores %v of features %v %q, want %v of %v %q", c.name, got, m.IDs, m.Names, c.want, c.ids, c.names)
		}
	}
}

func TestCraftedModelsOfEnginesAreRefused(t *testing.T) {
	rank := func(old, new string) string { return strings.Replace(rankLibText, old, new, 1) }
	solr := func(old, new string) string { return strings.Replace(solrText, old, new, 1) }
	dumped := func(old, new string) string { return strings.Replace(dumpText, old, new, 1) }
	deep := strings.Repeat(`{"nodeid":0,"split":"a","split_condition":1,"yes":0,"no":1,"children":[`, 20_000)
	for data, want := range map[string]string{
		"":                                     "the file is empty",
		"## RankNet\n## Epochs = 2\n1 2\n0":    "a model of ranknet is not read: want LambdaMART",
		"## LambdaMART\n":                      "no ensemble",
		"## Coordinate Ascent\n# nothing\n":    "no feature has a weight",
		"## Coordinate Ascent\n0:1 1:2":        `feature "0"`,
		"## Coordinate Ascent\n1:x":            `"1:x", want FEATURE:WEIGHT`,
		"## Coordinate Ascent\n1:NaN":          "finite",
		"## Coordinate Ascent\n1:1e999":        "FEATURE:WEIGHT",
		"## Linear Regression\n1:1 -2:1":       `feature "-2"`,
		"## Linear Regression\n0:1":            "no feature has a weight",
		rank("</ensemble>", ""):                "unexpected EOF",
		rank("</split>\n\t</tree>", "</tree>"): "split",
		rank(" 3 ", " 0 "):                     `feature "0"`,
		rank(" 3 ", " 99999999999 "):           `feature "99999999999"`,
		rank("-1.5", "NaN"):                    `"NaN", want a finite number`,
		rank("-1.0", "Infinity"):               `"Infinity", want a finite number`,
		rank(`"0.5"`, `"1e39"`):                "weight",
		rank("<output> 3.0 </output>", ""):     "want a finite number",
		rank(`<split pos="left">
				<output> -1.0 </output>
			</split>`, ""): "a split with 1 children",
		rank("\t<tree id=\"2\"", "<tree weight=\"1\"></tree><tree id=\"2\""): "0 roots",
		"## Random Forests\n## No. of bags = 2\n<ensemble></ensemble>":       "1 ensembles of trees, and No. of bags = 2",
		"LambdaMART\n":                        "it begins with",
		rankLibText + "<ensemble></ensemble>": "2 ensembles of trees, want one",
		"## MART\n" + strings.Repeat("<ensemble><tree weight=\"1\">", 1) + strings.Repeat("<split>", 20_000): "depth",
		"## LambdaMART\n<ensemble><tree weight=\"1\"><split><output>1</output></split></tree></ensemble>":    "no tree asks for a feature",

		solr(solrTrees, "NeuralNetworkModel"):                                           "NeuralNetworkModel are not read",
		solr(`{"name": "b"}`, `{"name": "b", "norm": {"class": "x.MinMaxNormalizer"}}`): `feature "b" has a norm`,
		solr(`{"name": "a"}`, `{"name": "c"}`):                                          `feature "a" is not in the list`,
		solr(`"threshold": "0.25", `, ``):                                               "no threshold",
		solr(`"left"`, `"lift"`):                                                        "no left",
		solr(`"feature": "a",`, ``):                                                     "has no feature",
		solr(`"weight": "0.5",`, ``):                                                    "no weight",
		solr(`{"value": "0.25f"}`, `null`):                                              "no root",
		solr(`"0.25"`, `"NaN"`):                                                         "want a finite number",
		solr(`"-1"`, `"x"`):                                                             "want a finite number",
		strings.Replace(solrText, solrTrees, solrLinear, 1):                             `feature "b" has no weight`,
		`{"class": "x"}`:                                                                "models of class x are not read",
		solr(`"features": [{"name": "b"}, {"name": "a"}]`, `"features": 1`):             "features",

		"[]":                                        "no trees",
		"[1]":                                       "cannot unmarshal number",
		"[null]":                                    "without a nodeid",
		`[{"label": 1}]`:                            "want a JSON dump of XGBoost",
		dumped(`"leaf": 3`, `"leaf": [1, 2]`):       "neither a split nor a number as leaf",
		dumped(`0.25`, `[0, 2]`):                    "the condition is [0, 2], want a number, or a model by save_model",
		dumped(`"split_condition": 0.25,`, ``):      "want a number, or a model by save_model",
		dumped(`0.25`, `1e39`):                      "the condition is 1e39",
		dumped(`"yes": 1`, `"yes": 2`):              "yes is 2, no 2 and missing 2, which are not its children",
		dumped(`"missing": 2`, `"missing": 3`):      "missing 3",
		dumped(`, {"nodeid": 2, "leaf": 3}`, ``):    "no two children",
		dumped(`{"nodeid": 1, "leaf": -1}`, `null`): "no two children",
		`[{"nodeid": 0, "leaf": 1}]`:                "no tree asks for a feature",
		"[" + deep:                                  "depth",
		`{"tree_info": [], "name": "tree"}`:         `want the text of save_model("model.txt")`,

		`{"model": {"name": "m"}}`: "no model in it",
		`{"model": 1}`:             "Elasticsearch model",
		`{"model": {"model": {"type": "model/x", "definition": "1"}}}`:                                 `models of type "model/x" are not read`,
		`{"model": {"model": {"type": "model/ranklib", "definition": "1"}}}`:                           `models of type "model/ranklib"`,
		`{"model": {"model": {"type": "model/linear", "feature_normalizers": {"a": {"min_max": 1}}}}}`: `feature "a" has a normalizer`,
		`{"a": 1, "b": "2"}`: "JSON that is no model",
		`{"a": 1e300}`:       "JSON that is no model",
		`{"a": 0}`:           "JSON that is no model",
		"{}":                 "JSON that is no model",
	} {
		var err error
		n := allocated(func() { _, err = Read([]byte(data)) })
		if err == nil || !strings.Contains(err.Error(), want) || len(err.Error()) > 1000 {
			t.Errorf("%.300s\nerror %v, want %q", data, err, want)
		}
		if most := mostAllocated(len(data)); n > most {
			t.Errorf("%d bytes were allocated for a file of %d, want %d at most: %v", n, len(data), most, err)
		}
	}
}

func TestFilesThatAreNotReadAreNamed(t *testing.T) {
	for data, want := range map[string]string{
		"version https://git-lfs.github.com/spec/v1\noid": "the file is a pointer of Git LFS: want the file itself, by git lfs pull",
		"<html>":                                "the file is HTML: want the file itself, in whose place a server sent this",
		"binf\x00\x00\x00?\x07\x00\x00\x00\x00": "the file is an old binary model of XGBoost: with XGBoost 3.0 or older, in Python: xgboost.Booster(",
		"\x08\x08\x12\x07pytorch":               "the file is ONNX: want the model that it was made of",
		"PAR1":                                  "the file is Parquet: want a model.npz, or a model of LightGBM",
		"\x1f\x8b\x08\x00\x00\x00\x00\x00\x00\x03+\xcas": "the file is compressed by gzip: want it decompressed",
		"2 qid:1 1:0.5\n": "not a model.npz, or a model of LightGBM, XGBoost, CatBoost, RankLib, Solr or Elasticsearch: it begins with \"2 qid",
	} {
		if _, err := Read([]byte(data)); err == nil || !strings.HasPrefix(err.Error(), want) {
			t.Errorf("%q: %v, want %q", data, err, want)
		}
	}
}

// A file with much of what takes few bytes is read in memory in proportion to it.
func TestCraftedModelsOfEnginesAllocateLittle(t *testing.T) {
	const n = 400_000
	for name, data := range map[string]string{
		"dump":      "[{}" + strings.Repeat(",{}", n) + "]",
		"children":  `[{"children":[{}` + strings.Repeat(",{}", n) + `]}]`,
		"Solr":      `{"class":"x","params":{"trees":[{}` + strings.Repeat(",{}", n) + `]}}`,
		"features":  `{"class":"x","features":[{}` + strings.Repeat(",{}", n) + `]}`,
		"weights":   `{"a":1` + strings.Repeat(`,"a":1`, n) + `}`,
		"ensembles": "## Random Forests\n" + strings.Repeat("<ensemble/>", n/4),
		"trees":     "## MART\n<ensemble>" + strings.Repeat("<tree/>", n/2) + "</ensemble>",
		"splits":    "## MART\n<ensemble><tree>" + strings.Repeat("<split/>", n/2) + "</tree></ensemble>",
		"others":    "## MART\n<ensemble>" + strings.Repeat("<a/>", n/2) + "</ensemble>",
		"words":     "## AdaRank\n" + strings.Repeat("1:1 ", n),
	} {
		var err error
		if got, most := allocated(func() { _, err = Read([]byte(data)) }), mostAllocated(len(data)); got > most {
			t.Errorf("%s: %d bytes were allocated for a file of %d, want %d at most: %.100v", name, got, len(data), most, err)
		}
	}
}

// No change to the words of a file makes reading panic or take memory out of proportion to it, and a model that is read scores.
func TestMutatedModelsOfEnginesAreRefusedOrScore(t *testing.T) {
	words := regexp.MustCompile(`[\w.+-]+|\s+|.`)
	odd := []string{"", "NaN", "1e39", "-1", "0", "2147483648", "9223372036854775808", "x", `"`, "{", "]", "<split>", "</tree>", "null",
		"[]", "\x00"}
	for _, path := range modelsIn(t, engines) {
		data, err := os.ReadFile(path)
		if err != nil {
			t.Fatal(err)
		}
		r := rand.New(rand.NewPCG(7, uint64(len(data))))
		original := words.FindAll(data, -1)
		read := 0
		for range 300 {
			mutated := slices.Clone(original)
			for range 1 + r.IntN(3) {
				i, j := r.IntN(len(mutated)), r.IntN(len(mutated))
				switch r.IntN(5) {
				case 0:
					mutated = slices.Delete(mutated, i, i+1)
				case 1:
					mutated[i], mutated[j] = mutated[j], mutated[i]
				case 2:
					mutated = mutated[:max(1, i)]
				case 3:
					mutated = slices.Insert(mutated, i, mutated[j:min(j+r.IntN(40), len(mutated))]...)
				default:
					mutated[i] = []byte(odd[r.IntN(len(odd))])
				}
			}
			file := bytes.Join(mutated, nil)
			var m *Model
			if n, most := allocated(func() { m, err = Read(file) }), mostAllocated(len(file)); n > most {
				t.Errorf("%s: %d bytes were allocated for a file of %d, want %d at most", path, n, len(file), most)
			}
			if err != nil {
				continue
			}
			read++
			scores := make([]float64, 3)
			m.Score(scores, make([]float32, 3*m.Forest.Inputs))
			if math.IsNaN(scores[0]) || math.IsInf(scores[0], 0) {
				t.Errorf("%s: score %v of\n%s", path, scores[0], file)
			}
		}
		t.Logf("%s: %d of 300 mutations are models", path, read)
	}
}
