package main

import (
	"fmt"
	"math/rand/v2"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/plrank/plrank/cmd/internal/commandtest"
)

// lamps writes a table with columns in some order.
func lamps(t *testing.T, seed uint64, columns ...string) string {
	t.Helper()
	rng := rand.New(rand.NewPCG(seed, 0))
	text := strings.Join(columns, ",") + "\n"
	for q := range 30 {
		for d := range 6 {
			city, price := rng.IntN(3), 100*rng.Float64()
			is := map[string]string{
				"qid": fmt.Sprintf("q%d-%d", seed, q), "label": fmt.Sprint(city), "title": fmt.Sprintf("lamp no %d", d),
				"city": []string{"Rome", "Bern", "Oslo"}[(city+int(seed))%3], "price": fmt.Sprintf("%.2f", price), "noise": fmt.Sprint(rng.IntN(9)),
			}
			var row []string
			for _, c := range columns {
				row = append(row, is[c])
			}
			text += strings.Join(row, ",") + "\n"
		}
	}
	path := filepath.Join(t.TempDir(), "lamps.csv")
	if err := os.WriteFile(path, []byte(text), 0o666); err != nil {
		t.Fatal(err)
	}
	return path
}

// A run that is resumed, a file whose columns stand in another order, and a model that another
// training begins with all have the same columns by name, and the same numbers for texts.
func TestColumnsAreTheSameByName(t *testing.T) {
	data, out := lamps(t, 3, "qid", "label", "title", "city", "price", "noise"), filepath.Join(t.TempDir(), "run")
	must := func(args ...string) (stdout, stderr string) {
		t.Helper()
		status, stdout, stderr := call(args...)
		if status != 0 {
			t.Fatalf("%q: %s", args, stderr)
		}
		return stdout, stderr
	}
	_, stderr := must("train", "-data", data, "-categorical", "city", "-ignore", "no*", "-epochs", "2", "-scorer", "mlp", "-hidden", "8", "-members", "1", "-cache", "off", "-out", out)
	if strings.Count(stderr, "title") != 1 || strings.Contains(stderr, "noise") {
		t.Errorf("warnings: %s", stderr)
	}
	must("train", "-resume", "-out", out, "-epochs", "3", "-cache", "off")
	model := filepath.Join(out, "model.npz")
	want, _ := must("score", "-model", model, "-data", data)
	got, _ := must("score", "-model", model, "-data", lamps(t, 3, "noise", "price", "city", "label", "qid"))
	if got != want || strings.Count(want, "\n") != 180 {
		t.Errorf("other scores of the same columns in another order")
	}
	must("evaluate", "-model", model, "-data", lamps(t, 4, "city", "price", "label", "qid"), "-cache", "off")
	if status, _, stderr := call("score", "-model", model, "-data", lamps(t, 3, "qid", "price")); status != 1 || !strings.Contains(stderr, `no column for feature "city"`) {
		t.Errorf("%d, %s", status, stderr)
	}
	// The texts of these data come in another order.
	other := lamps(t, 5, "price", "qid", "city", "label")
	_, stderr = must("train", "-data", other, "-categorical", "city", "-init-model", model, "-epochs", "1", "-hidden", "8", "-members", "1", "-cache", "off")
	if !strings.Contains(stderr, "2 features") {
		t.Errorf("from an initial model: %s", stderr)
	}
	if status, _, stderr := call("train", "-data", other, "-categorical", "city", "-ignore", "pri*", "-init-model", model); status != 1 || !strings.Contains(stderr, "-ignore pri*: the model has the feature price") {
		t.Errorf("%d, %s", status, stderr)
	}
	if status, _, stderr := call("train", "-data", other, "-features", "price", "-init-model", model); status != 1 || !strings.Contains(stderr, "-features: the model has the feature city, too") {
		t.Errorf("%d, %s", status, stderr)
	}
	config, err := os.ReadFile(filepath.Join(out, "config.json"))
	if words := strings.Fields(string(config)); err != nil || !slices.Contains(words, `"no*",`) {
		t.Errorf("config.json: %v, %s", err, config)
	}
}

// Numbers alone are read in the order of an initial model, too.
func TestInitialModelReadsByName(t *testing.T) {
	out, inOrder, reversed := filepath.Join(t.TempDir(), "run"), lamps(t, 3, "qid", "label", "price", "noise"), lamps(t, 3, "noise", "price", "label", "qid")
	train := func(args ...string) (initial string) {
		t.Helper()
		status, stdout, stderr := call(append([]string{"train", "-json", "-epochs", "2", "-scorer", "mlp", "-hidden", "8", "-members", "1", "-cache", "off"}, args...)...)
		if status != 0 {
			t.Fatalf("%q: %s", args, stderr)
		}
		initial, _, _ = strings.Cut(stdout, "}")
		return initial
	}
	train("-data", inOrder, "-out", out)
	model := filepath.Join(out, "model.npz")
	want := train("-data", inOrder, "-init-model", model)
	if got := train("-data", reversed, "-init-model", model); got != want || !strings.HasPrefix(got, `{"initial":{`) {
		t.Errorf("the initial model has %s in another order of columns, and %s in its own", got, want)
	}
}

// unnamed writes models of other libraries whose two features have no names: the score is 2 where the second is above .5, else 1.
func unnamed(t *testing.T) (xgboost, lightgbm string) {
	dir := t.TempDir()
	xgboost, lightgbm = filepath.Join(dir, "m.json"), filepath.Join(dir, "m.txt")
	commandtest.Write(t, xgboost, `{"learner": {"learner_model_param": {"base_score": "0", "num_feature": "2"},
		"gradient_booster": {"model": {"trees": [{"left_children": [1, -1, -1], "right_children": [2, -1, -1], "split_indices": [1, 0, 0],
		"split_conditions": [0.5, 1, 2],
		"default_left": [0, 0, 0]}]}}}}`)
	commandtest.Write(t, lightgbm, "tree\nnum_tree_per_iteration=1\nmax_feature_idx=1\nfeature_names=Column_0 Column_1\n"+
		"feature_infos=none [0:1]\n\nTree=0\nnum_leaves=2\nnum_cat=0\nsplit_feature=1\nthreshold=0.5\ndecision_type=2\nleft_child=-1\n"+
		"right_child=-2\nleaf_value=1 2\n\nend of trees\n")
	return xgboost, lightgbm
}

// A model without names takes the columns of a table from left to right if there are as many as it has features, which -features
// and -ignore can see to.
func TestModelsWithoutNamesTakeAsManyColumnsAsTheyHave(t *testing.T) {
	xgboost, lightgbm := unnamed(t)
	for _, model := range []string{xgboost, lightgbm} {
		for _, c := range []struct{ header, row, flags, want string }{
			{"qid,a,b", "1,0,1", "", ""},
			{"qid,0,1", "1,0,1", "", ""}, // of a data frame
			{"b,qid,a", "0,1,1", "", ""},
			{"qid,url,a,b", "1,u,0,1", "", "the model has 2 features without names, and 3 columns may be these: url, a, b (-features and " +
				"-ignore choose columns)"},
			{"qid,url,a,b", "1,u,0,1", "-ignore url", ""},
			{"qid,url,a,b", "1,u,0,1", "-ignore ur*", ""},
			{"qid,url,a,b", "1,u,0,1", "-features a,b", ""},
			{"qid,url,a,b", "1,u,0,1", "-ignore ulr", `no feature "ulr": want one of url, a, b (did you mean url?)`},
			{"qid,url,a,b", "1,u,0,1", "-ignore u*,a", "and 1 columns may be these: b"},
			{"qid,0,1,2", "1,0,1,1", "", "and 3 columns may be these: 0, 1, 2"},
			{"qid,a", "1,1", "", "and 1 columns may be these: a"},
			{"qid,a,rating", "1,0,1", "", "and 1 columns may be these: a, and only if -features lists them rating"},
			{"qid,a,rating", "1,0,1", "-features *,rating", ""},
			{"1,0,1", "", "-headerless -query-column 1", ""},
			{"5,1,0,1", "", "-headerless -query-column 2", "and 3 columns may be these: 1, 3, 4"},
			{"5,1,0,1", "", "-headerless -query-column 2 -label-column 1", ""},
			{"5,1,0,1", "", "-headerless -query-column 2 -ignore 1", ""},
		} {
			data := filepath.Join(t.TempDir(), "d.csv")
			commandtest.Write(t, data, c.header+"\n"+c.row+"\n")
			status, stdout, stderr := call(append([]string{"score", "-model", model, "-data", data}, strings.Fields(c.flags)...)...)
			if c.want == "" && (status != 0 || stdout != "2\n") || c.want != "" && (status != 1 || !strings.Contains(stderr, c.want)) {
				t.Errorf("%s %q %s: %d, %s%s", filepath.Base(model), c.header, c.flags, status, stdout, stderr)
			}
		}
	}
}

// Whatever command scores the documents of a table.
func TestColumnsAreChosenInAllCommandsThatScore(t *testing.T) {
	model, _ := unnamed(t)
	dir := t.TempDir()
	data, log := filepath.Join(dir, "d.csv"), filepath.Join(dir, "log.jsonl")
	text := "label,qid,docid,url,a,b\n"
	for i := range 40 {
		text += fmt.Sprintf("%d,%d,d%d,u,%d,%d\n", i*7%3, i/4, i, i%5, i*7%3)
	}
	commandtest.Write(t, data, text)
	if status, _, stderr := call("clicks", "simulate", "-data", data, "-ignore", "url", "-n", "200", "-out", log); status != 0 {
		t.Fatal(stderr)
	}
	for _, line := range []string{
		"score -model M -data D", "evaluate -model M -data D", "compare M M -data D", "explain -model M -data D -query 1",
		"mix M M -data D -out O", "report M -data D -out O", "clicks simulate -model M -data D -n 10 -out O",
		"clicks evaluate L -model M -data D",
		"train -init-model M -data D -scorer forest -epochs 1 -out O",
	} {
		run := func(flags ...string) (int, string) {
			replaced := strings.NewReplacer(" M", " "+model, " D", " "+data, " L", " "+log, " O", " "+filepath.Join(t.TempDir(), "out"))
			status, _, stderr := call(append(strings.Fields(replaced.Replace(" "+line)), flags...)...)
			return status, stderr
		}
		if status, stderr := run(); status != 1 || !strings.Contains(stderr, "3 columns may be these: url, a, b") {
			t.Errorf("%s: %d, %s", line, status, stderr)
		}
		if status, stderr := run("-ignore", "url"); status != 0 {
			t.Errorf("%s -ignore url: %d, %s", line, status, stderr)
		}
		if status, stderr := run("-ignore", "url", "-features", "a"); status != 1 || !strings.Contains(stderr, "1 columns may be these: a") {
			t.Errorf("%s -features a: %d, %s", line, status, stderr)
		}
	}
}

// LightGBM writes _ for the blanks in names.
func TestBlanksInNamesAreThoseOfLightGBM(t *testing.T) {
	_, model := unnamed(t)
	text, err := os.ReadFile(model)
	if err != nil {
		t.Fatal(err)
	}
	commandtest.Write(t, model, strings.Replace(string(text), "Column_0 Column_1", "the_price page_rank", 1))
	letor := filepath.Join(t.TempDir(), "letor.txt")
	commandtest.Write(t, letor, "1 qid:1 1:0 2:1\n")
	commandtest.Write(t, letor+".names", "1 the price\n2 page rank\n")
	for _, c := range []struct{ header, row, flags, want string }{
		{"qid,page rank,the price", "1,1,0", "", "the blanks in their names, as LightGBM writes these: the price, page rank"},
		{"qid,page_rank,the price,page rank", "1,1,0,0", "", "as LightGBM writes these: the price"},
		{"qid,page_rank,the price,url", "1,1,0,u", "-ignore u*", ""},
		{"qid,page-rank,the_price", "1,1,0", "", `no column for feature "page_rank"`},
		{"qid,page_rank,the_price", "1,1,0", "-ignore page*", "-ignore page*: the model has the feature page_rank"},
		{"qid,page_rank,the_price", "1,1,0", "-features page_rank", "-features: the model has the feature the_price, too: want all of its " +
			"features, or no -features"},
		{"qid,page_rank,the_price", "1,1,0", "-features *,url", `-features: the model has no feature "url": want one of the_price, page_rank`},
		{"qid,page_rank,the_price", "1,1,0", "-features *", ""},
		{"", "", "", ""},
		{"", "", "-ignore 2", "-ignore 2: the model has the feature page_rank"},
	} {
		data := letor
		if c.header != "" {
			data = filepath.Join(t.TempDir(), "d.csv")
			commandtest.Write(t, data, c.header+"\n"+c.row+"\n")
		}
		status, stdout, stderr := call(append([]string{"score", "-model", model, "-data", data}, strings.Fields(c.flags)...)...)
		isError := strings.HasPrefix(c.want, "-") || strings.HasPrefix(c.want, "no ")
		if isError != (status == 1) || !isError && stdout != "2\n" || !strings.Contains(stderr, c.want) {
			t.Errorf("%q %s: %d, %s%s", c.header, c.flags, status, stdout, stderr)
		}
		if strings.Contains(stderr, "u*") || c.want == "" && strings.Contains(stderr, "url") {
			t.Errorf("%q %s: %s", c.header, c.flags, stderr)
		}
	}
}

// The features of a log without ids are found by position, too.
func TestLogsWithoutIdsHaveAsManyFeaturesAsTheModel(t *testing.T) {
	xgboost, lightgbm := unnamed(t)
	log := func(line string) string {
		data, log := filepath.Join(t.TempDir(), "d.txt"), filepath.Join(t.TempDir(), "log.jsonl")
		var text strings.Builder
		for i := range 40 {
			fmt.Fprintf(&text, line, i%3, i/4, i%5, i%2)
		}
		commandtest.Write(t, data, text.String())
		if status, _, stderr := call("clicks", "simulate", "-data", data, "-n", "500", "-out", log); status != 0 {
			t.Fatal(stderr)
		}
		with, err := os.ReadFile(log)
		without := regexp.MustCompile(`,"feature_ids":\[[^]]*\]`).ReplaceAllString(string(with), "")
		if err != nil || without == string(with) {
			t.Fatal("no ids of features in the log", err)
		}
		commandtest.Write(t, log, without)
		return log
	}
	two, three := log("%d qid:%d 1:%d 2:%d\n"), log("%d qid:%d 1:%d 2:%d 3:1\n")
	var values []string
	for _, model := range []string{xgboost, lightgbm} {
		status, stdout, stderr := call("clicks", "evaluate", two, "-model", model, "-temperature", ".5", "-resamples", "100")
		if status != 0 {
			t.Fatal(stderr)
		}
		_, value, _ := strings.Cut(stdout, "value")
		values = append(values, value)
		status, _, stderr = call("clicks", "evaluate", three, "-model", model)
		if status != 1 || !strings.Contains(stderr, "has 2 features without names, and the log 3 without ids") {
			t.Errorf("%s: %d, %s", model, status, stderr)
		}
	}
	if values[0] != values[1] || values[0] == "" {
		t.Errorf("%s, and of LightGBM %s", values[0], values[1])
	}
}
