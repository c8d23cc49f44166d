package main

import (
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"testing"

	"github.com/plrank/plrank/datasets"
)

// changesFileOf writes a file of changes.
func changesFileOf(t *testing.T, text string) string {
	t.Helper()
	path := filepath.Join(t.TempDir(), "changes.txt")
	if err := os.WriteFile(path, []byte(text), 0o644); err != nil {
		t.Fatal(err)
	}
	return path
}

// Every labelled query of the training and validation split is measured in every run, the test split
// counts for nothing, and what is finished is not repeated.
func TestChangesHoldOutEveryLabelledQuery(t *testing.T) {
	data, out := folder(t), filepath.Join(t.TempDir(), "out")
	changes := changesFileOf(t, "# two, and one that is the default\n-members 1  -epochs 2\n\n-epochs 1\n-members 3\n")
	args := []string{"changes", "-data", data, "-changes", changes, "-runs", "2"}
	stdout := must(t, append(args, "-out", out)...)
	table, err := readTable(filepath.Join(out, changesFile))
	if err != nil {
		t.Fatal(err)
	}
	if got := strings.Join(table.columns, "|"); got != "query|runs|default|-members 1 -epochs 2|-epochs 1" {
		t.Errorf("columns %q", got)
	}
	for i, row := range table.rows {
		if row[0] != strconv.Itoa(i+1) || row[1] != "2" || slices.Contains(row, "") {
			t.Errorf("row %d: %q", i+1, row)
		}
	}
	if len(table.rows) != 24 {
		t.Errorf("%d queries, want 24", len(table.rows))
	}
	if !strings.Contains(stdout, "-members 1 -epochs 2") || strings.Contains(stdout, "-members 3") {
		t.Errorf("prints %s", stdout)
	}
	before := read(t, filepath.Join(out, changesFile))
	trials, err := filepath.Glob(filepath.Join(out, trialFolder, "*.json"))
	if err != nil || len(trials) != 2*heldOutParts*3 {
		t.Fatalf("%d trials, %v", len(trials), err)
	}
	if err := os.Remove(trials[0]); err != nil {
		t.Fatal(err)
	}
	must(t, append(args, "-out", out)...)
	if after := read(t, filepath.Join(out, changesFile)); after != before {
		t.Error("a trial that is repeated gives another result")
	}
	if err := os.WriteFile(filepath.Join(data, "test.txt"), []byte("2 qid:1 1:0 2:0 4:0\n0 qid:1 1:1 2:1 4:1\n"), 0o644); err != nil {
		t.Fatal(err)
	}
	other := filepath.Join(t.TempDir(), "other")
	must(t, append(args, "-out", other)...)
	if after := read(t, filepath.Join(other, changesFile)); after != before {
		t.Error("another test split gives another result")
	}
}

// No query measures what it trains, and the parts of a run are all queries.
func TestChangeTrialsHoldOutEveryQueryOnce(t *testing.T) {
	all := datasets.Synthetic(datasets.SyntheticOptions{Seed: 3}).Train
	s := &session{options: defaults(), data: &collection{}}
	s.Runs = 2
	trials, err := s.changeTrials([]string{"-members 1"}, all)
	if err != nil {
		t.Fatal(err)
	}
	seen := map[string]map[int]bool{} // by change and run
	orders := map[string]bool{}
	for _, c := range trials {
		if (c.config.Members == 1) != (c.change != "") || c.config.Seed != runSeed(s.Seed, c.run) {
			t.Errorf("%s: %d networks, seed %d", c.name(), c.config.Members, c.config.Seed)
		}
		key := fmt.Sprintf("%q, run %d", c.change, c.run+1)
		if seen[key] == nil {
			seen[key] = map[int]bool{}
		}
		for _, q := range c.queries[0] {
			if seen[key][q] {
				t.Fatalf("%s: query %d is held out twice", c.name(), q)
			}
			seen[key][q] = true
		}
		orders[fmt.Sprint(c.queries[0])] = true
		every := joined(c.queries[:])
		if len(slices.Compact(every)) != all.Queries() || len(every) != all.Queries() {
			t.Errorf("%s: %d queries measure, pick the epoch or train, some twice: want %d", c.name(), len(every), all.Queries())
		}
	}
	if len(trials) != 2*heldOutParts*2 || len(orders) != 2*heldOutParts {
		t.Errorf("%d trials, %d sets held out", len(trials), len(orders))
	}
	for key, queries := range seen {
		if len(queries) != all.Queries() {
			t.Errorf("%s: %d of %d queries held out", key, len(queries), all.Queries())
		}
	}
}

func TestBadChanges(t *testing.T) {
	data := folder(t)
	for text, want := range map[string]string{
		"":                        "has no changes: want lines such as -members 5",
		"-members 5\n-members  5": "-members 5 is repeated",
		"-report ndcg@5":          "-report does not change how a model comes about",
		"-members 5 -seed 3":      "-seed does not change how a model comes about",
		"-loss nonsense":          "nonsense",
		"-nonsense 1":             "-nonsense",
		"-members x":              "-members",
		"-dropout 2":              "-changes: -dropout 2: ",
	} {
		status, _, stderr := call(t.Context(), "changes", "-data", data, "-changes", changesFileOf(t, text), "-out", filepath.Join(t.TempDir(), "out"))
		if status == 0 || !strings.Contains(stderr, want) {
			t.Errorf("%q: status %d, %q, want %q", text, status, stderr, want)
		}
	}
	if status, _, stderr := call(t.Context(), "changes", "-data", data, "-changes", "nowhere.txt"); status == 0 || !strings.Contains(stderr, "nowhere.txt") {
		t.Errorf("status %d, %q", status, stderr)
	}
}

// The table has a column for each folder, differences by query, and marks only what stands after
// Holm's correction.
func TestChangesTables(t *testing.T) {
	root := t.TempDir()
	for set, rows := range map[string]string{
		"a": "query,runs,default,-better 1,-noise 1\n1,3,0.5,0.7,0.6\n2,3,0.25,0.451,0.15\n3,3,0.75,0.949,0.755\n",
		"b": "query,runs,default,-noise 1\n1,2,0.5,0.5\n2,2,0.25,0.26\n4,2,0.75,\n",
	} {
		dir := filepath.Join(root, set)
		if err := os.Mkdir(dir, 0o755); err != nil {
			t.Fatal(err)
		}
		if err := writeText(filepath.Join(dir, changesFile), rows); err != nil {
			t.Fatal(err)
		}
		if err := writeJSON(filepath.Join(dir, dataFile), identity{Name: "set " + set}); err != nil {
			t.Fatal(err)
		}
	}
	tables, err := changesTables(root)
	if err != nil {
		t.Fatal(err)
	}
	want := `|  | set a | set b |
| --- | --- | --- |
| the default | 0.5000 (3 queries, 3 runs) | 0.5000 (3 queries, 2 runs) |
| ` + "`-better 1`" + ` | +0.2000 ± 0.0006 △ | – |
| ` + "`-noise 1`" + ` | +0.0017 ± 0.0578 | +0.0050 ± 0.0050 |
`
	if got := tables[0].Markdown(); !strings.HasSuffix(got, want) {
		t.Errorf("%s\nwant\n%s", got, want)
	}
}
