package main

import (
	"encoding/json"
	"fmt"
	"math"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/plrank/plrank/internal/command"
)

const peersFolder = "../peers"

// The documents say what the CSV files of peers say.
func TestPeersAreFresh(t *testing.T) {
	r, err := readPeers(peersFolder)
	if err != nil {
		t.Fatal(err)
	}
	areFresh(t, peers, r, "../README.md", "peers.md", "../docs/serving.md")
}

// areFresh fails for parts of documents, and files, that are not what the results of a
// sub-command give.
func areFresh[Results any](t *testing.T, c tablesCommand[Results], r Results, documents ...string) {
	t.Helper()
	var paths []string
	for _, path := range documents {
		paths = append(paths, "../"+path)
	}
	if stale, err := c.stale(r, "../"+c.name, paths...); err != nil || stale != nil {
		t.Errorf("%v are not what %s gives (%v): go run ./bench %s -write %s", stale, c.name, err, c.name, strings.Join(documents, ","))
	}
}

// Our metrics and independent tools agree on the scores of every run.
func TestPeersAgree(t *testing.T) {
	r, err := readPeers(peersFolder)
	if err != nil {
		t.Fatal(err)
	}
	for _, run := range r.runs {
		for _, m := range peerMeasures {
			if other, ok := r.others[run.key()]; !ok || math.Abs(run.values[m]-other[m]) > 1e-6 {
				t.Errorf("%s of %s: %v, another tool's %v", m, run.key(), run.values[m], other[m])
			}
		}
	}
}

// The figures of queries.csv have the means that runs.csv has.
func TestPeersQueriesAreOfTheRuns(t *testing.T) {
	r, err := readPeers(peersFolder)
	if err != nil {
		t.Fatal(err)
	}
	for _, set := range r.sets() {
		if len(r.folds(set)) > 1 {
			continue // a mean over folds differs from the mean over their queries
		}
		for _, method := range r.methods() {
			runs := r.of(set, method)
			if runs == nil {
				continue
			}
			values, err := r.perQuery(set, method)
			if err != nil {
				t.Fatal(err)
			}
			want := mean(bySeed(runs, func(run *peerRun) float64 { return run.values["ndcg@5"] }))
			if got := mean(values); math.Abs(got-want) > 1e-6 {
				t.Errorf("%s on %s: %v by queries, %v by runs", method, set, got, want)
			}
		}
	}
}

// writePeers makes a working folder with two queries that count and one that does not.
// Method "a" ranks the relevant document first, "plrank" second in query 1; ties are in query 2.
func writePeers(t *testing.T) (work string) {
	t.Helper()
	work = t.TempDir()
	write := func(path, text string) {
		t.Helper()
		path = filepath.Join(work, path)
		if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(path, []byte(text), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	// The third document of query 1 stands after a break.
	write("data/test.txt", "1 qid:1 1:1\n0 qid:1 1:2\n0 qid:2 1:1\n1 qid:2 1:1\n0 qid:3 1:5\n0 qid:1 1:3\n")
	write("folds/set/all.path", filepath.Join(work, "data"))
	for method, scores := range map[string]string{"a": "3\n2\n1\n1\n7\n1\n", "plrank": "2\n3\n1\n1\n7\n1\n"} {
		for seed := 1; seed <= 2; seed++ {
			text, err := json.Marshal(peerRun{Set: "set", Fold: "all", Method: method, Seed: seed, TrainSeconds: 1})
			if err != nil {
				t.Fatal(err)
			}
			path := fmt.Sprintf("runs/set/all/%s/%d", method, seed)
			write(path+".json", string(text))
			write(path+".scores", scores)
		}
	}
	return work
}

func TestMeasurePeers(t *testing.T) {
	work, results := writePeers(t), t.TempDir()
	if status, _, stderr := runIn(t, pretend, "peers", "-measure", work, "-results", results); status != 0 {
		t.Fatal(stderr)
	}
	rows, err := readCSV(filepath.Join(results, runsFile))
	if err != nil || len(rows) != 4 {
		t.Fatal(rows, err)
	}
	second := 1 / math.Log2(3)
	for at, want := range map[int]map[string]float64{
		0: {"ndcg@5": (1 + (1+second)/2) / 2, "ordered-ndcg@5": (1 + second) / 2},
		2: {"ndcg@5": (second + (1+second)/2) / 2, "ordered-ndcg@5": second},
	} {
		for name, value := range want {
			if rows[at][name] != fmt.Sprintf("%.8f", value) {
				t.Errorf("row %d: %s %s, want %v", at, name, rows[at][name], value)
			}
		}
	}
	queries, err := readCSV(filepath.Join(results, queriesFile))
	if err != nil || len(queries) != 2 || queries[0]["a"] != "1.000000" || queries[0]["plrank"] != fmt.Sprintf("%.6f", second) {
		t.Errorf("%v, %v", queries, err)
	}

	if err := os.WriteFile(filepath.Join(work, "runs/set/all/a/2.scores"), []byte("1\n2\n"), 0o644); err != nil {
		t.Fatal(err)
	}
	if status, _, stderr := runIn(t, pretend, "peers", "-measure", work, "-results", results); status != command.ExitError || !strings.Contains(stderr, "2.scores: 2 scores for the 6 documents of") {
		t.Errorf("too few scores: %d, %s", status, stderr)
	}
	if status, _, stderr := runIn(t, pretend, "peers", "-measure", t.TempDir()); status != command.ExitError || !strings.Contains(stderr, "has no runs") {
		t.Errorf("an empty folder: %d, %s", status, stderr)
	}
	if status, _, stderr := runIn(t, pretend, "peers", "-measure", work, "-write", "x"); status != command.ExitUsage || !strings.Contains(stderr, "cannot be used together") {
		t.Errorf("measure and write: %d, %s", status, stderr)
	}
}

// What a folder of results has of other fits stays when a working folder is measured into it,
// byte for byte; what it has of the same fits does not.
func TestMeasurePeersKeepsOtherFits(t *testing.T) {
	work, results := writePeers(t), t.TempDir()
	measureAll := func() (text string) {
		t.Helper()
		if status, _, stderr := runIn(t, pretend, "peers", "-measure", work, "-results", results); status != 0 {
			t.Fatal(stderr)
		}
		for _, name := range []string{runsFile, queriesFile} {
			file, err := os.ReadFile(filepath.Join(results, name))
			if err != nil {
				t.Fatal(err)
			}
			text += string(file)
		}
		return text
	}
	both := measureAll()
	if err := os.RemoveAll(filepath.Join(work, "runs/set/all/a")); err != nil {
		t.Fatal(err)
	}
	if one := measureAll(); one != both {
		t.Errorf("without method a in the working folder:\n%s\nwith it:\n%s", one, both)
	}
	for seed := 1; seed <= 2; seed++ { // plrank ranks as a did
		if err := os.WriteFile(filepath.Join(work, fmt.Sprintf("runs/set/all/plrank/%d.scores", seed)), []byte("3\n2\n1\n1\n7\n1\n"), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	measureAll()
	queries, err := readCSV(filepath.Join(results, queriesFile))
	if err != nil || len(queries) != 2 || queries[0]["a"] != "1.000000" || queries[0]["plrank"] != "1.000000" {
		t.Errorf("%v, %v", queries, err)
	}
	if err := os.WriteFile(filepath.Join(results, queriesFile), []byte("set,fold,query,b\nset,all,first,1\n"), 0o644); err != nil {
		t.Fatal(err)
	}
	if status, _, stderr := runIn(t, pretend, "peers", "-measure", work, "-results", results); status != command.ExitError || !strings.Contains(stderr, "queries.csv: row 1: column query") {
		t.Errorf("earlier results that are not: %d, %s", status, stderr)
	}
}

// results of three methods on two sets: b was not run on all folds of the second.
func someResults() *peerResults {
	r := &peerResults{folder: peersFolder, queries: map[string]map[string][]string{}, others: map[string]map[string]float64{}}
	for _, c := range []struct {
		set, fold, method string
		value             float64
	}{
		{"x", "all", "LightGBM lambdarank", .5}, {"x", "all", "XGBoost rank:ndcg", .3}, {"x", "all", ourMethod, .5},
		{"y", "1", "LightGBM lambdarank", .2}, {"y", "2", "LightGBM lambdarank", .4},
		{"y", "1", "XGBoost rank:ndcg", .2},
		{"y", "1", ourMethod, .6}, {"y", "2", ourMethod, .8},
	} {
		for seed := 1; seed <= 2; seed++ {
			v := c.value + float64(seed-1)/100
			run := &peerRun{Set: c.set, Fold: c.fold, Method: c.method, Seed: seed, TrainSeconds: 2, PredictSeconds: .004, MemoryMB: 100, values: map[string]float64{"ndcg@5": v, "ndcg@10": v, "ordered-ndcg@5": v, "ordered-ndcg@10": v}}
			r.runs = append(r.runs, run)
			r.others[run.key()] = map[string]float64{"ndcg@5": v, "ndcg@10": v, "ordered-ndcg@5": v, "ordered-ndcg@10": v + 1e-7}
		}
	}
	for set, columns := range map[string]map[string]string{
		"x": {"LightGBM lambdarank": ".5 .4 .6 .5", "XGBoost rank:ndcg": ".1 .2 .1 .2", ourMethod: ".4 .5 .5 .6"},
		"y": {"LightGBM lambdarank": ".1 .2 .1 .2", ourMethod: ".9 .8 .8 .9"},
	} {
		r.queries[set] = map[string][]string{}
		for method, values := range columns {
			r.queries[set][method] = strings.Fields(values)
		}
	}
	return r
}

func TestPeersTables(t *testing.T) {
	r := someResults()
	for name, want := range map[string]string{
		"peers-ndcg5": "| NDCG@5 | y | x |\n|---|---|---|\n" +
			"| LightGBM lambdarank | .3050 ± .0071 | .5050 ± .0071 |\n| XGBoost rank:ndcg | – | .3050 ± .0071 |\n| plrank | .7050 ± .0071 | .5050 ± .0071 |\n",
		"peers-summary": "| NDCG@5 | y | x |\n|---|---|---|\n" +
			"| LightGBM | .3050 ± .0071 | .5050 ± .0071 |\n| XGBoost | – | .3050 ± .0071 |\n| plrank | .7050 ± .0071 | .5050 ± .0071 |\n",
		"peers-agreement": "In 16 runs, NDCG@5 and NDCG@10 differ from pytrec_eval's by at most 1e-07, equal scores in the order of the file, and from scikit-learn's by at most 1e-08, the mean over all orders of equal scores.\n",
	} {
		for _, table := range peersTables {
			if table.name != name {
				continue
			}
			if got, err := table.text(r); err != nil || got != want {
				t.Errorf("%s: %v\n%s\nwant\n%s", name, err, got, want)
			}
		}
	}
	files, err := r.files()
	// scipy.stats.ttest_rel gives .00043, 1 and .00121; Holm's factors are 3, 1 and 2.
	if want := "plrank −,y,x\n" +
		"LightGBM lambdarank,\"+.7000, p .001: plrank ahead\",\"+.0000, p 1.000: level\"\nXGBoost rank:ndcg,–,\"+.3500, p .002: plrank ahead\"\n"; err != nil || files["tests.csv"] != want {
		t.Errorf("tests.csv: %v\n%s\nwant\n%s", err, files["tests.csv"], want)
	}
	if !strings.Contains(files["cost.csv"], "\nLightGBM lambdarank,2.00,4.00,2.00,4.00,100,") || !strings.Contains(files["cost.csv"], ",1 command\n") {
		t.Errorf("cost.csv:\n%s", files["cost.csv"])
	}
	if !strings.HasPrefix(files["ndcg10.csv"], "NDCG@10,y,x\nLightGBM lambdarank,.3050 ± .0071,.5050 ± .0071\n") {
		t.Errorf("ndcg10.csv:\n%s", files["ndcg10.csv"])
	}
	for _, run := range r.runs {
		if run.Set == "y" {
			run.Set = "f1"
		}
	}
	for tables, want := range map[bool]string{false: "| NDCG@5 | x |", true: "| NDCG@5 | f1 |\n|---|---|\n| LightGBM | .3050 ± .0071 |\n| plrank | .7050 ± .0071 |\n"} {
		if got, err := r.part(tables).summary("ndcg@5"); err != nil || !strings.HasPrefix(got, want) {
			t.Errorf("a part: %v\n%s", err, got)
		}
	}
	r = someResults()
	r.runs[0].Method, r.runs[1].Method = "XGBoost rank:pairwise", "XGBoost rank:pairwise" // LightGBM's on x, which are better than XGBoost's
	if got, err := r.summary("ndcg@5"); err != nil || !strings.Contains(got, "| LightGBM | .3050 ± .0071 | – |\n| XGBoost | – | .5050 ± .0071 |\n") {
		t.Errorf("the best of two methods: %v\n%s", err, got)
	}
	r = someResults()
	r.runs[0].Method = "nobody's"
	if _, err := r.agreement(); err == nil || !strings.Contains(err.Error(), "no row for x, all, nobody's, 1") {
		t.Error(err)
	}
	if _, err := r.lines("nobody's"); err == nil || !strings.Contains(err.Error(), `the method "nobody's"`) {
		t.Error(err)
	}
}
