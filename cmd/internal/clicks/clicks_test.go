package clicks

import (
	"encoding/json"
	"fmt"
	"math"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"gonum.org/v1/gonum/floats"

	logs "github.com/plrank/plrank/clicks"
	"github.com/plrank/plrank/cmd/internal/commandtest"
	"github.com/plrank/plrank/cmd/internal/trainer"
)

var (
	call  = commandtest.Command(Run).Call
	must  = commandtest.Command(Run).Must
	fit   = commandtest.Command(trainer.Run)
	write = commandtest.Write
)

func TestMain(m *testing.M) { commandtest.Main(m) }

// folder has what files makes once.
var folder string

// files are data, and two models for them: one learned from the labels, and one that learned nothing. All tests
// read them, and none changes them.
func files(t *testing.T) (data, good, bad string) {
	t.Helper()
	if folder != "" {
		return filepath.Join(folder, "data.txt"), filepath.Join(folder, "good", "model.npz"), filepath.Join(folder, "bad", "model.npz")
	}
	dir, err := os.MkdirTemp(os.Getenv("HOME"), "") // which goes when the tests have ended
	if err != nil {
		t.Fatal(err)
	}
	data = filepath.Join(dir, "data.txt")
	commandtest.Letor(t, data, 60, 1)
	fit.Must(t, "-data", data, "-epochs", "8", "-scorer", "mlp", "-hidden", "8", "-members", "1", "-out", filepath.Join(dir, "good"))
	fit.Must(t, "-data", data, "-epochs", "1", "-scorer", "mlp", "-hidden", "8", "-members", "1", "-lr", "1e-9", "-out", filepath.Join(dir, "bad"))
	folder = dir
	return files(t)
}

// The loop: a log of a weak policy finds the bias of its users, and that another model is better. A
// worse one is refused, and so is one that the log says too little of.
func TestGateRefusesWorseModelsAndShortLogs(t *testing.T) {
	data, good, bad := files(t)
	dir := t.TempDir()
	log, short, bias := filepath.Join(dir, "log.jsonl"), filepath.Join(dir, "short.jsonl"), filepath.Join(dir, "bias.json")
	must(t, "simulate", "-data", data, "-model", bad, "-cutoff", "4", "-n", "2500", "-seed", "1", "-out", log)
	must(t, "simulate", "-data", data, "-model", bad, "-cutoff", "4", "-n", "150", "-out", short)
	must(t, "bias", log, "-out", bias)
	b, err := logs.ReadBias(bias)
	if err != nil {
		t.Fatal(err)
	}
	for k, a := range b.Alpha {
		if want := 1 / float64(k+1); math.Abs(a-want) > .07 {
			t.Errorf("α %v, want 1/rank", b.Alpha)
		}
	}

	var r values
	stdout, _ := must(t, "evaluate", log, good, "-bias", bias, "-require", "0", "-resamples", "500", "-json")
	if err := json.Unmarshal([]byte(stdout), &r); err != nil || len(r.Models) != 1 || len(r.Models[0].Estimates) != 3 || r.Impressions != 2500 {
		t.Fatalf("%s: %v", stdout, err)
	}
	own := filepath.Join(dir, "own.jsonl") // what the model earns in truth
	must(t, "simulate", "-data", data, "-model", good, "-cutoff", "4", "-n", "4000", "-seed", "2", "-without-features", "-out", own)
	l, err := logs.Read(own)
	if err != nil {
		t.Fatal(err)
	}
	truth := 0.0
	for _, im := range l.Impressions {
		truth += floats.Sum(im.Clicks) / float64(len(l.Impressions))
	}
	for _, e := range r.Models[0].Estimates {
		if math.Abs(e.Value.Mean-truth) > 1.5*(e.Value.High-e.Value.Low) || !(e.Difference.Low > 0) || e.EffectiveSize < 100 {
			t.Errorf("%+v, want the value %v", e, truth)
		}
	}
	stdout, _ = must(t, "evaluate", log, "-model", good, "-baseline", bad, "-data", data, "-require", "0.1", "-resamples", "100", "-unit", "impression")
	if !strings.Contains(stdout, "passed: better than "+bad+" by more than 0.1\n") {
		t.Error(stdout)
	}
	if _, stderr := must(t, "evaluate", short, good, "-resamples", "100"); !regexp.MustCompile(`[1-9]\d* of \d+ queries were trained on by `).MatchString(stderr) {
		t.Errorf("a model on its training queries: %s", stderr)
	}
	const idle = "-bias has no effect "
	for estimator, want := range map[string]bool{"iips(.1),rips": true, "iips,dr": false} {
		if _, stderr := must(t, "evaluate", short, good, "-bias", bias, "-estimator", estimator, "-resamples", "100"); strings.Contains(stderr, idle) != want {
			t.Errorf("%s: %s", estimator, stderr)
		}
	}

	for _, c := range []struct {
		args []string
		want string
	}{
		{[]string{log, bad, "-baseline", good}, bad + ": the difference from " + good + " is -"},
		{[]string{log, good, bad}, bad + ": the difference from logged is "},
		{[]string{log, good, "-require", "5"}, "want its lower end above 5"},
		{[]string{short, good}, "the log says too little about this policy"},
	} {
		args := append([]string{"evaluate", "-resamples", "100", "-require", "0"}, c.args...)
		if status, stdout, stderr := call(args...); status != 1 || !strings.Contains(stderr, "clicks evaluate: refused: ") || !strings.Contains(stderr, c.want) || !strings.Contains(stdout, "iips") {
			t.Errorf("%v: %d, %s%s, want %q", c.args, status, stdout, stderr, c.want)
		}
	}
	if status, stdout, _ := call("evaluate", log, bad, "-baseline", good, "-require", "0", "-json", "-resamples", "100"); status != 1 || !strings.Contains(stdout, `"refused": [`) {
		t.Errorf("%d, %s", status, stdout)
	}
}

// The gate refuses intervals that say nothing: of few units, of equal values in all units, and of a baseline
// that the log says nothing about.
func TestGateRefusesEmptyIntervals(t *testing.T) {
	data, good, bad := files(t)
	dir := t.TempDir()
	log, one, silent, far := filepath.Join(dir, "log.jsonl"), filepath.Join(dir, "one.jsonl"), filepath.Join(dir, "silent.jsonl"), filepath.Join(dir, "far.jsonl")
	must(t, "simulate", "-data", data, "-model", bad, "-cutoff", "4", "-n", "600", "-out", log)
	text := commandtest.Read(t, log)
	write(t, one, regexp.MustCompile(`"user_query":"[^"]*"`).ReplaceAllString(text, `"user_query":""`))
	write(t, silent, regexp.MustCompile(`(?m)^.*"action_name":"click".*\n`).ReplaceAllString(text, ""))
	must(t, "simulate", "-data", data, "-model", bad, "-cutoff", "4", "-n", "150", "-out", far)
	for _, c := range []struct {
		args []string
		want string
	}{
		{[]string{one, good}, "the intervals come from 1 units (by query), want at least 20"},
		{[]string{log, good, "-unit", "client"}, "no impression of " + log + " has a client"},
		{[]string{silent, good, "-require", "-0.1"}, "the value is 0.0000 in every unit"},
		{[]string{far, bad, "-baseline", good, "-require", "-5"}, "the effective sample size of the baseline " + good + " is "},
	} {
		if status, stdout, stderr := call(append([]string{"evaluate", "-resamples", "100", "-require", "0"}, c.args...)...); status != 1 || strings.Contains(stdout, "passed") || !strings.Contains(stderr, c.want) {
			t.Errorf("%v: %d, %s%s, want %q", c.args, status, stdout, stderr, c.want)
		}
	}
}

// Each rule of the gate has its bound, and is about the first estimator alone.
func TestRulesOfTheGate(t *testing.T) {
	for _, c := range []struct {
		change func(r *values, e *estimate)
		want   string
	}{
		{func(r *values, e *estimate) {}, ""},
		{func(r *values, e *estimate) { r.Units, e.EffectiveSize = 19, 1 }, "the intervals come from 19 units"},
		{func(r *values, e *estimate) { e.Value = interval{1, 1, 1} }, "the value is 1.0000 in every unit"},
		{func(r *values, e *estimate) { e.EffectiveSize = 99.9 }, "m: the effective sample size is 99.9"},
		{func(r *values, e *estimate) { e.BaselineSize = 99.9 }, "m: the effective sample size of the baseline b is 99.9"},
		{func(r *values, e *estimate) { e.Difference.Low = 0.1 }, "want its lower end above 0.1"},
		{func(r *values, e *estimate) { e.Difference.Low = math.NaN() }, "want its lower end above 0.1"},
		{func(r *values, e *estimate) { r.Models[0].Estimates[1] = estimate{} }, ""},
	} {
		e := estimate{"iips", interval{1, 0.9, 1.1}, interval{0.3, 0.2, 0.4}, 100, 100, 2}
		r := &values{Baseline: "b", Units: 20, Models: []modelValue{{Model: "m", Estimates: []estimate{e, e}}}}
		c.change(r, &r.Models[0].Estimates[0])
		r.gate(0.1)
		if (c.want == "") != (r.Refused == nil) || len(r.Refused) > 1 || !strings.Contains(strings.Join(r.Refused, ""), c.want) {
			t.Errorf("refused: %q, want %q", r.Refused, c.want)
		}
	}
}

// -data is read for each model by its own columns and texts: what is said of a model does not
// depend on the others, and names of columns count, not their places.
func TestDataAreReadForEachModel(t *testing.T) {
	data, models := otherColumns(t)
	dir := t.TempDir()
	log, features := filepath.Join(dir, "log.jsonl"), filepath.Join(dir, "features.jsonl")
	log2 := filepath.Join(dir, "other.jsonl")
	must(t, "simulate", "-data", data, "-model", models[0], "-cutoff", "3", "-n", "300", "-without-features", "-out", log)
	must(t, "simulate", "-data", data, "-model", models[0], "-cutoff", "3", "-n", "300", "-out", features)
	said := func(args ...string) map[string]modelValue {
		stdout, _ := must(t, append([]string{"evaluate", "-resamples", "100", "-json"}, args...)...)
		var r values
		if err := json.Unmarshal([]byte(stdout), &r); err != nil {
			t.Fatal(err)
		}
		byName := map[string]modelValue{}
		for _, m := range r.Models {
			byName[m.Model] = m
		}
		return byName
	}
	var alone [2]estimate
	for i, m := range models {
		alone[i] = said(log, "-data", data, m)[m].Estimates[0]
	}
	if alone[0].Value == alone[1].Value {
		t.Errorf("both models have the value %+v", alone[0].Value)
	}
	for _, source := range [][]string{{log, "-data", data}, {features}} {
		ab, ba := said(append(source, models[0], models[1])...), said(append(source, models[1], models[0])...)
		for i, m := range models {
			for _, got := range []modelValue{ab[m], ba[m], said(append(source, m, "-baseline", models[1-i])...)[m]} {
				if got.Estimates[0].Value != alone[i].Value {
					t.Errorf("%v: model %d: %+v, alone %+v", source, i, got.Estimates[0], alone[i])
				}
			}
		}
		got := said(append(source, models[0], "-baseline", models[1])...)[models[0]].Estimates[0].Difference.Mean
		if want := alone[0].Value.Mean - alone[1].Value.Mean; math.Abs(got-want) > 1e-9 {
			t.Errorf("%v: the difference from a baseline with other columns is %v, want %v", source, got, want)
		}
	}
	// Data that do not fit are errors.
	text, err := os.ReadFile(features)
	if err != nil {
		t.Fatal(err)
	}
	for want, log := range map[string]string{
		"feature names, so features cannot be matched: give the features": regexp.MustCompile(`,"feature_names":\[[^\]]*\]`).ReplaceAllString(string(text), ""),
		`uses feature "city", which the log lacks: give the features`:     strings.ReplaceAll(string(text), `"city"]`, `"town"]`),
		"column 2 of its features and feature 2 of":                       regexp.MustCompile(`"(Oslo|Bergen|Narvik)"`).ReplaceAllString(string(text), "1"),
	} {
		write(t, log2, log)
		if status, _, stderr := call("evaluate", log2, models[0]); status != 1 || !strings.Contains(stderr, want) {
			t.Errorf("status %d, %s, want %s", status, stderr, want)
		}
	}
}

// otherColumns are data, and two models: one of these, and one of the same documents in another file, where columns are in
// other places, and texts in another order.
func otherColumns(t *testing.T) (data string, models [2]string) {
	t.Helper()
	dir := t.TempDir()
	var text [2]strings.Builder // the same documents, with columns in other places, and the texts in another order
	for i := range text {
		text[i].WriteString([]string{"query,label,price,city\n", "query,label,city,price\n"}[i])
		for q := range 40 {
			for d := range 6 {
				label, price, city := (d+q)%3, float64((d*7+q*3)%11), []string{"Oslo", "Bergen", "Narvik"}[(d+q)%3]
				if i == 0 {
					fmt.Fprintf(&text[i], "%d,%d,%v,%s\n", q, label, price, city)
				} else {
					d, label, city = 5-d, (5-d+q)%3, []string{"Oslo", "Bergen", "Narvik"}[(5-d+q)%3]
					fmt.Fprintf(&text[i], "%d,%d,%s,%v\n", q, label, city, float64((d*7+q*3)%11))
				}
			}
		}
	}
	for i, name := range []string{"a", "b"} {
		write(t, filepath.Join(dir, name+".csv"), text[i].String())
		fit.Must(t, "-data", filepath.Join(dir, name+".csv"), "-categorical", "city", "-epochs", "8", "-scorer", "mlp", "-hidden", "8", "-members", "1", "-out", filepath.Join(dir, name))
		models[i] = filepath.Join(dir, name, "model.npz")
	}
	return filepath.Join(dir, "a.csv"), models
}

// Columns that a model without names takes by their position are its own, whatever a file calls them: the value is that
// of the features without names.
func TestColumnsByPositionAreThoseOfTheModel(t *testing.T) {
	dir := t.TempDir()
	data, named, log, namedLog := filepath.Join(dir, "data.txt"), filepath.Join(dir, "named.csv"), filepath.Join(dir, "log.jsonl"), filepath.Join(dir, "named.jsonl")
	commandtest.Letor(t, data, 20, 1)
	fit.Must(t, "-data", data, "-epochs", "2", "-scorer", "mlp", "-hidden", "8", "-members", "1", "-out", filepath.Join(dir, "m"))
	model := filepath.Join(dir, "m", "model.npz")
	text, err := os.ReadFile(data)
	if err != nil {
		t.Fatal(err)
	}
	write(t, named, "label,query,new,price,unused,sold\n"+regexp.MustCompile(` (?:qid|\d):(\S+)`).ReplaceAllString(regexp.MustCompile(` 4:`).ReplaceAllString(string(text), " 3:0 4:"), ",$1"))
	must(t, "simulate", "-data", data, "-model", model, "-cutoff", "3", "-n", "500", "-out", log)
	must(t, "simulate", "-data", named, "-model", model, "-cutoff", "3", "-n", "500", "-out", namedLog)
	var values []string
	for _, args := range [][]string{{log}, {log, "-data", data}, {log, "-data", named}, {namedLog}} {
		stdout, _ := must(t, append([]string{"evaluate", "-resamples", "100", "-temperature", "2", model}, args...)...)
		values = append(values, stdout)
	}
	for _, v := range values[1:] {
		if v != values[0] {
			t.Errorf("%s, want %s", v, values[0])
		}
	}
}

// A report on a log that can tell all, one that can tell little, and one without scores.
func TestCheckSaysWhatALogCanTell(t *testing.T) {
	dir := t.TempDir()
	data, log := filepath.Join(dir, "data.txt"), filepath.Join(dir, "log.jsonl")
	commandtest.Letor(t, data, 20, 1)
	must(t, "simulate", "-data", data, "-cutoff", "3", "-n", "3000", "-out", log)
	var r findings
	stdout, _ := must(t, "check", log, "-json")
	if err := json.Unmarshal([]byte(stdout), &r); err != nil {
		t.Fatal(err)
	}
	if r.Impressions != 3000 || r.Queries != 20 || r.Scored != 3000 || len(r.Ranks) != 3 || fmt.Sprint(r.Connected, r.AllPairs) != "[[1 2 3]] [[1 2 3]]" || len(r.Policies) != 1 {
		t.Errorf("%+v", r)
	}
	for _, k := range r.Ranks { // of a uniform policy, every document is as likely at every rank
		if k.Shown != 3000 || k.Overlap != nil && math.Abs(*k.Overlap-1) > 1e-9 || !(k.ClickRate > 0) {
			t.Errorf("%+v", k)
		}
	}
	if o := r.Other[0]; math.Abs(o.EffectiveSize-3000) > 1e-6 || math.Abs(o.LargestWeight-1) > 1e-9 {
		t.Errorf("the policy of the log: %+v", o)
	}

	var fixed strings.Builder // a ranking that never changes, and events that join nothing
	for i := range 5 {
		fmt.Fprintf(&fixed, `{"query_id": "%d", "user_query": "q", "timestamp": "2026-11-23T10:00:0%[1]dZ", "client_id": "c%[1]d", "query_response_hit_ids": ["a", "b"], "query_attributes": {"plrank": {"seed": "1", "cutoff": 2, "candidates": ["a", "b"], "scores": [3000, 0]}}}`+"\n", i)
		fmt.Fprintf(&fixed, `{"action_name": "click", "query_id": "%d", "event_attributes": {"object": {"object_id": "b"}}}`+"\n", i+1)
	}
	write(t, filepath.Join(dir, "fixed.jsonl"), fixed.String())
	stdout, stderr := must(t, "check", filepath.Join(dir, "fixed.jsonl"))
	for _, want := range []string{"5 impressions of 1 queries by 5 clients, 0.8000 clicks each,\n2026-11-23T10:00:00Z to 2026-11-23T10:00:04Z", "method harvest): not connected: 1 | 2", "0.0000"} {
		if !strings.Contains(stdout, want) {
			t.Errorf("no %q in\n%s", want, stdout)
		}
	}
	if !strings.Contains(stderr, "1 clicks whose query was not kept") {
		t.Error(stderr)
	}
	if status, _, stderr := call("bias", filepath.Join(dir, "fixed.jsonl")); status != 1 || !strings.Contains(stderr, "ranks [2] are not compared with the others") {
		t.Errorf("%d, %s", status, stderr)
	}

	plain := strings.ReplaceAll(fixed.String(), `"scores"`, `"other"`)
	write(t, filepath.Join(dir, "plain.jsonl"), plain)
	if stdout, _ := must(t, "check", filepath.Join(dir, "plain.jsonl")); !strings.Contains(stdout, "5 impressions have no scores") {
		t.Error(stdout)
	}
}

// The bias that users of all click models have is found, and has its files.
func TestBiasOfEveryClickModelIsFound(t *testing.T) {
	dir := t.TempDir()
	data, log, truth := filepath.Join(dir, "data.txt"), filepath.Join(dir, "log.jsonl"), filepath.Join(dir, "truth.json")
	commandtest.Letor(t, data, 50, 1)
	want := logs.Bias{Alpha: []float64{.4, .5, .3}, Beta: []float64{.5, .2, .1}}
	write(t, truth, `{"alpha": [0.4, 0.5, 0.3], "beta": [0.5, 0.2, 0.1]}`)
	must(t, "simulate", "-data", data, "-bias", truth, "-cutoff", "3", "-n", "6000", "-without-features", "-out", log)
	out, plot := filepath.Join(dir, "bias.json"), filepath.Join(dir, "bias.svg")
	stdout, _ := must(t, "bias", log, "-method", "affine", "-data", data, "-out", out, "-plot", plot)
	if !strings.Contains(stdout, "β") || !strings.Contains(stdout, "by affine from 6000 impressions") || !strings.Contains(commandtest.Read(t, plot), "<svg") {
		t.Error(stdout)
	}
	if bands := strings.Count(commandtest.Read(t, plot), "fill-opacity"); bands != 2 { // the intervals of α and β
		t.Errorf("%d bands", bands)
	}
	b, err := logs.ReadBias(out)
	if err != nil {
		t.Fatal(err)
	}
	for k := range want.Alpha {
		if math.Abs(b.Alpha[k]-want.Alpha[k]) > .06 || math.Abs(b.Beta[k]-want.Beta[k]) > .04 {
			t.Errorf("%+v, want %+v", b, want)
		}
	}
	if status, _, stderr := call("bias", log, "-out", out); status != 1 || !strings.Contains(stderr, out+" exists") {
		t.Errorf("%d, %s", status, stderr)
	}
	em, _ := must(t, "bias", log, "-method", "em")
	if !strings.Contains(em, "iterations") {
		t.Error(em)
	}
}

// Users of every name click, and the same seed makes the same log.
func TestEveryUserClicksAndSeedsDecide(t *testing.T) {
	dir := t.TempDir()
	data := filepath.Join(dir, "data.txt")
	commandtest.Letor(t, data, 10, 1)
	for _, user := range users {
		args := []string{"simulate", "-data", data, "-user", user, "-n", "50", "-cutoff", "2", "-out", "-"}
		stdout, stderr := must(t, args...)
		if again, _ := must(t, args...); again != stdout || strings.Count(stdout, `"query_response_hit_ids"`) != 50 || !strings.Contains(stderr, "50 impressions with ") {
			t.Errorf("%s: %s\n%s", user, stderr, stdout)
		}
	}
}

func TestErrorsOfTheCommandLine(t *testing.T) {
	dir := t.TempDir()
	log, empty := filepath.Join(dir, "log.jsonl"), filepath.Join(dir, "empty")
	write(t, log, `{"query_id": "1", "user_query": "q", "query_response_hit_ids": ["a"]}`+"\n")
	if err := os.Mkdir(empty, 0o755); err != nil {
		t.Fatal(err)
	}
	data, model, _ := files(t)
	made := filepath.Join(t.TempDir(), "made.jsonl")
	for _, c := range []struct {
		args   string
		status int
		want   string
	}{
		{"", 2, "want one of check, bias, evaluate, compare, drift, simulate"},
		{"chek", 2, "did you mean check?"},
		{"check", 2, "want a log"},
		{"check " + log + ".none", 1, "no such file"},
		{"check " + empty, 1, "has no files"},
		{"check " + data, 1, "no line is a query or an event of UBI"},
		{"bias", 2, "want a log"},
		{"bias " + log + " -method harvset", 2, "did you mean harvest?"},
		{"bias " + log + " -method affine", 2, "-method affine and -data need each other"},
		{"bias " + log, 1, "no scores"},
		{"bias " + log + " -plot b.gif", 2, ".svg, .png or .pdf"},
		{"evaluate " + log, 2, "want a model"},
		{"evaluate " + model, 2, "want a log"},
		{"evaluate " + log + " " + model + " -unit day", 2, "query, client, impression"},
		{"evaluate " + log + " " + model + " -resamples 99", 2, "-resamples 99: want 100 to 1000000"},
		{"evaluate " + log + " " + model + " -require NaN", 2, "-require NaN"},
		{"evaluate " + log + " " + model + " -bias " + log, 1, "bias file " + log},
		{"evaluate " + log + " " + model + " -bias " + log + " -estimator iips,dr", 1, "bias file " + log},
		{"evaluate " + log + " " + model + " -bias " + log + " -estimator policy", 1, "bias file " + log},
		{"evaluate " + log + " " + model, 1, "which the log lacks: give the features"},
		{"evaluate " + log + " " + model + " -data " + data, 1, "no impressions to evaluate on"},
		{"evaluate " + log + " " + model + " -data " + data + " -features 1", 1, "-features: the model has the feature 2, too"},
		{"evaluate " + log + " " + model + " -data " + data + " -minus-one irrelevant", 2, "there is no flag -minus-one"},
		{"simulate -out x -data " + data + " -vali " + data, 2, "there is no flag -vali"},
		{"simulate -out x -data " + data + " -test " + data, 2, "there is no flag -test"},
		{"simulate -out x -data " + data + " -group-column 1", 2, "there is no flag -group-column"},
		{"simulate -out x -data " + data + " -weight-column 1", 2, "there is no flag -weight-column"},
		{"simulate -out x -data " + data + " -model " + model + " -features 1", 1, "-features: the model has the feature 2, too"},
		{"simulate -out x -data " + data + " -base-column 1", 2, "-base-column has no effect without -model"},
		{"simulate -out x", 2, "-data is needed"},
		{"simulate -data " + data, 2, "-out is needed"},
		{"simulate -out " + log + " -data " + data, 1, log + " exists"},
		{"simulate -out x -data " + data + " -user cascad", 2, "did you mean cascade?"},
		{"simulate -out x -data " + data + " -temperature 0", 2, "-temperature 0"},
		{"simulate -out x -data " + data + " -n 0", 2, "-n 0"},
		{"simulate -out " + made + " -data " + data + " -n 9223372036854775807", 2, "-n 9223372036854775807: want 1 to 16777216"},
		{"simulate -out " + made + " -data " + data + " -n 10000000000", 2, "-n 10000000000: want 1 to 16777216"},
		{"simulate -out " + made + " -data " + data + " -cutoff 9223372036854775807", 2, "-cutoff 9223372036854775807: want 1 to 1048576"},
	} {
		if status, stdout, stderr := call(strings.Fields(c.args)...); status != c.status || stdout != "" || !strings.Contains(stderr, c.want) {
			t.Errorf("%s: %d, %s%s, want %q", c.args, status, stdout, stderr, c.want)
		}
	}
	if left, err := os.ReadDir(filepath.Dir(made)); err != nil || len(left) > 0 {
		t.Errorf("left behind: %v, error %v", left, err)
	}
}

// A caution follows the table, and a mark each interval that it is about.
func TestCautionsMarkTheirIntervals(t *testing.T) {
	var w strings.Builder
	value := interval{1, 0.5, 1.5}
	(&values{Models: []modelValue{{Model: "new.npz", Estimates: []estimate{{Estimator: "iips", Value: value, Difference: value}, {Estimator: "rips", Value: value, Difference: value}}, Cautions: map[logs.Estimator]string{logs.RIPS: "few"}}}}).print(&w)
	if got := w.String(); strings.Count(got, "0.5000 … 1.5000 *") != 2 || strings.Count(got, "0.5000 … 1.5000") != 4 || !strings.HasSuffix(got, "\n* rips: few\n") {
		t.Error(got)
	}
}
