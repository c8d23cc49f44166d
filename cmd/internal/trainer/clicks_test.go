package trainer

import (
	"encoding/json"
	"fmt"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/plrank/plrank/cmd/internal/clicks"
	"github.com/plrank/plrank/cmd/internal/commandtest"
	"github.com/plrank/plrank/ranker"
)

var onLogs = commandtest.Command(clicks.Run)

// logged is data, the log of a policy on them, and the bias of its users.
func logged(t *testing.T, more ...string) (data, log, bias string) {
	t.Helper()
	dir := t.TempDir()
	data, log, bias = filepath.Join(dir, "data.txt"), filepath.Join(dir, "logs", "log.jsonl"), filepath.Join(dir, "bias.json")
	letor(t, data, 40, 1)
	write(t, bias, `{"alpha": [1, 0.5, 0.25]}`)
	write(t, filepath.Join(dir, "logs", ".lock"), "")
	onLogs.Must(t, append([]string{"simulate", "-data", data, "-cutoff", "3", "-n", "600", "-bias", bias, "-out", log}, more...)...)
	return data, log, bias
}

// A run on clicks holds out queries of the log, keeps what it began with, and goes on.
func TestClicksAreLearned(t *testing.T) {
	t.Parallel()
	_, log, bias := logged(t)
	out := filepath.Join(t.TempDir(), "run")
	stdout, stderr := callQuick(t, "-clicks", filepath.Dir(log), "-bias", bias, "-loss", "plrank-exact+0.1*exposure-risk(0.95)", "-cutoff", "3", "-out", out)
	for _, want := range []string{"32 queries", "(held out): 8 queries", "the best loss"} {
		if !strings.Contains(stderr, want) {
			t.Errorf("no %q in\n%s", want, stderr)
		}
	}
	if strings.Contains(stdout, "ndcg@") && strings.Contains(strings.Split(stdout, "queries without")[0], "ndcg@") {
		t.Errorf("metrics of labels in\n%s", stdout)
	}
	var config struct {
		Clicks, Bias, Metric, Loss string
		NormalizeGains             bool
	}
	if err := json.Unmarshal([]byte(read(t, filepath.Join(out, "config.json"))), &config); err != nil || config.Clicks != filepath.Dir(log) || config.Bias != bias || config.Metric != "loss" || config.NormalizeGains {
		t.Errorf("%+v, %v", config, err)
	}
	must(t, "-resume", "-out", out, "-epochs", "3")
	other := filepath.Join(t.TempDir(), "run")
	callQuick(t, "-config", filepath.Join(out, "config.json"), "-epochs", "3", "-out", other)
	if a, b := read(t, filepath.Join(out, "model.npz")), read(t, filepath.Join(other, "model.npz")); a != b {
		t.Error("the model is another one after going on than at once")
	}
	write(t, bias, `{"alpha": [1, 0.5, 0.2]}`)
	if status, _, stderr := call("-resume", "-out", out, "-epochs", "4"); status != 1 || !strings.Contains(stderr, "gains of the training split") {
		t.Errorf("another bias: %d, %s", status, stderr)
	}
}

// Features come from the data where the log has none, and labelled data are for validation.
func TestFeaturesOfClicksAreThoseOfTheData(t *testing.T) {
	t.Parallel()
	data, log, bias := logged(t, "-without-features")
	vali := filepath.Join(t.TempDir(), "vali.txt")
	letor(t, vali, 10, 2)
	stdout, stderr := callQuick(t, "-clicks", log, "-bias", bias, "-estimator", "policy-aware", "-data", data, "-vali", vali)
	if !strings.Contains(stderr, "40 queries") || !strings.Contains(stdout, "vali: 10 queries") || !strings.Contains(stdout, "expected-ndcg@10") {
		t.Errorf("%s\n%s", stdout, stderr)
	}
	if _, stderr = callQuick(t, "-clicks", log, "-data", data, "-estimator", "naive", "-bias", bias); !strings.Contains(stderr, "32 queries") || !strings.Contains(stderr, "-bias has no effect with -estimator naive") {
		t.Errorf("naive: %s", stderr)
	}
	fewer := filepath.Join(t.TempDir(), "fewer.txt")
	lines := strings.SplitAfter(read(t, data), "\n")
	write(t, fewer, strings.Join(lines[:len(lines)/2], ""))
	if _, stderr = callQuick(t, "-clicks", log, "-data", fewer); !strings.Contains(stderr, "impressions are left out: "+fewer+" lacks their query, or a candidate") {
		t.Error(stderr)
	}
	others := filepath.Join(t.TempDir(), "others.txt")
	write(t, others, "1 qid:1000 1:1\n0 qid:1000 1:0\n")
	for _, c := range []struct {
		args   []string
		status int
		want   string
	}{
		{[]string{"-clicks", log}, 1, "the log has no features of documents: -data names a file with them"},
		{[]string{"-clicks", log, "-data", vali + ".none"}, 1, "no such file"},
		{[]string{"-clicks", log, "-data", others}, 1, "no impressions to learn from"},
		{[]string{"-clicks", log, "-data", data, "-estimator", "dr"}, 2, "-estimator dr needs -bias"},
		{[]string{"-clicks", log, "-data", data, "-estimator", "drr", "-bias", bias}, 1, "did you mean dr?"},
		{[]string{"-bias", bias}, 2, "-bias and -estimator need -clicks"},
		{[]string{"-clicks", log, "-data", data, "-folds", "5"}, 2, "-folds and -clicks exclude each other"},
		{[]string{"-clicks", log, "-data", data, "-metric", "ndcg@5"}, 1, "has gains from clicks, and no labels for ndcg@5"},
		{[]string{"-clicks", log, "-data", data, "-loss", "exposure-risk"}, 1, "the loss exposure-risk goes by the exposure of documents in a log"},
		{[]string{"-data", data, "-loss", "prpo"}, 1, "the loss prpo goes by the scores of the policy of a log"},
		{[]string{"-clicks", filepath.Dir(vali), "-data", data}, 1, "no line is a query or an event of UBI"},
	} {
		if status, _, stderr := call(c.args...); status != c.status || !strings.Contains(stderr, c.want) {
			t.Errorf("%v: %d, %s; want %d, %q", c.args, status, stderr, c.status, c.want)
		}
	}
}

// One query cannot be divided.
func TestLogsOfOneQueryNeedLabelledValidation(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	one, log := filepath.Join(dir, "one.txt"), filepath.Join(dir, "log.jsonl")
	var text strings.Builder
	for d := range 4 {
		fmt.Fprintf(&text, "%d qid:1 1:%d\n", d%2, d)
	}
	write(t, one, text.String())
	onLogs.Must(t, "simulate", "-data", one, "-n", "50", "-out", log)
	if status, _, stderr := call("-clicks", log); status != 1 || !strings.Contains(stderr, "1 queries: want two at least") {
		t.Errorf("%d, %s", status, stderr)
	}
}

// Learning from clicks needs no label: a column that may be one is not guessed to be the label, and is not a feature either.
func TestLabelsAreNoFeaturesBesideClicks(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	data, log, out := filepath.Join(dir, "data.csv"), filepath.Join(dir, "log.jsonl"), filepath.Join(dir, "run")
	table := func(label string) string {
		var text strings.Builder
		fmt.Fprintf(&text, "query,docid,%s,price\n", label)
		for i := range 240 {
			fmt.Fprintf(&text, "%d,d%d,%d,%d.5\n", i/6, i, i%3, i*7%11)
		}
		return text.String()
	}
	write(t, data, table("label"))
	onLogs.Must(t, "simulate", "-data", data, "-cutoff", "3", "-n", "500", "-without-features", "-out", log)
	for label, flags := range map[string][]string{"label": nil, "Relevance": nil, "rating": nil, "purchased": {"-label-column", "purchased"}} {
		write(t, data, table(label))
		_, stderr := callQuick(t, append(flags, "-clicks", log, "-data", data, "-cache", "off", "-out", out+label)...)
		m, err := ranker.Open(filepath.Join(out+label, "model.npz"))
		if err != nil || !slices.Equal(m.FeatureNames(), []string{"price"}) || m.File().Columns["query"] != "query" || m.File().Columns["document"] != "docid" {
			t.Fatalf("%s: features %q, columns %v, %v", label, m.FeatureNames(), m.File().Columns, err)
		}
		if told := strings.Contains(stderr, "were left out: "+label); told != (flags == nil) {
			t.Errorf("%s: warnings\n%s", label, stderr)
		}
		if flags != nil && m.File().Columns["label"] != "purchased" {
			t.Errorf("columns %v", m.File().Columns)
		}
	}
}
