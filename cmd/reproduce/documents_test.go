package main

import (
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"github.com/plrank/plrank/cmd/internal/markdown"
)

// handMade are the tables with measures that no command makes, by their first lines without formulas,
// and why.
var handMade = map[string]string{
	"|  | 1 | 5 | 10 | 50 | 125 | 1000 |":                                 "steps of the quadrature, which TestDocumentedSteps of package plackett computes",
	"| | Yahoo N = 10 | 100 | 1000 | MSLR N = 10 | 100 | 1000 |":          "the paper's figures",
	"| | | N = 1 | N = 10 | N = 100 | N = 1000 |":                         "the paper's figures",
	"| on MSLR | N = 1 | N = 10 | N = 100 | N = 1000 |":                   "the paper's figures",
	"| | Yahoo, 100 minutes | MSLR, 120 minutes | Istella, 200 minutes |": "the paper's figures",
	"| what | what happens |":                                             "seconds that internal/mpi waits",
}

// notMeasured are numbers that nobody has measured, though they look like it, and what they are.
var notMeasured = []struct{ text, what string }{
	{"Go 1.26", "a version"},
	{"allRank 1.4.3 requires PyTorch 1.8", "versions"},
	{"the schema of v0.6.0", "a version"},
	{"§14.12.1", "a section of a book"},
	{"20 seconds", "for how long internal/mpi waits"},
	{"1 Gbit/s for each host", "a setting of the measured network"},
}

var (
	// A measure is a decimal, or a number with a unit or of times.
	measure = regexp.MustCompile(`\d*\.\d|\d ?%|\d (times|[kMGT]B|KB|[nµm]?s|seconds?|minutes?|hours?|[kMG]bit|GFLOP)\b`)

	// What is not prose: blocks of code, code, formulas, comments, addresses, and levels of tests.
	notProse = regexp.MustCompile("(?ms)^ *```.*?^ *```$|^ {4,}[^\n]*$|`[^`]*`|\\$[^$]*\\$|<!--[^>]*-->|\\]\\([^)]*\\)|^\\[[^]]*\\]: [^\n]*$|p [<≥] 0?\\.\\d+")
)

// Every measure in a document stands in a part that is made from a CSV file by a command, whose
// test compares the two: in a table of it. Prose says what the tables show.
func TestMeasuresAreMade(t *testing.T) {
	documents, err := filepath.Glob("../../docs/*.md")
	if err != nil {
		t.Fatal(err)
	}
	found := map[string]bool{} // tables and texts that are exempt
	for _, path := range append(documents, "../../README.md") {
		data, err := os.ReadFile(path)
		if err != nil {
			t.Fatal(err)
		}
		text := string(data)
		for _, name := range markdown.Names(text) {
			if text, err = markdown.Replace(text, name, ""); err != nil {
				t.Fatalf("%s: %v", path, err)
			}
		}
		text = notProse.ReplaceAllString(text, "")
		for _, n := range notMeasured {
			found[n.text] = found[n.text] || strings.Contains(text, n.text)
			text = strings.ReplaceAll(text, n.text, "")
		}
		for _, bad := range measures(text, found) {
			t.Errorf("%s: %q has measures, but no CSV file: put them into one, <!-- FOLDER/FILE.csv --> and <!-- /FOLDER/FILE.csv --> where its table is to stand, and go run ./cmd/reproduce document -document %s", path, bad, strings.TrimPrefix(path, "../../"))
		}
	}
	for head := range handMade {
		if !found[head] {
			t.Errorf("handMade has the table %q, which no document has", head)
		}
	}
	for _, n := range notMeasured {
		if !found[n.text] {
			t.Errorf("notMeasured has %q, which no document has", n.text)
		}
	}
}

// measures are the lines of a text that have any, but for tables of handMade, whose first lines
// go to found.
func measures(text string, found map[string]bool) (bad []string) {
	head := ""
	for line := range strings.Lines(text) {
		line = strings.TrimSpace(line)
		if !strings.HasPrefix(line, "|") {
			head = ""
		} else if head == "" {
			head = line
			found[head] = true
		}
		if _, known := handMade[head]; !known && measure.MatchString(line) {
			bad = append(bad, line)
		}
	}
	return bad
}

func TestMeasures(t *testing.T) {
	for line, want := range map[string]bool{
		"it ends at .64": true, "it takes 1.5 of that": true, "in 35 to 60 % of its time": true, "in 80% of it": true,
		"twelve times": false, "5 to 16 times the variance": true, "no more than 284 KB": true, "takes 40 µs": true, "lasts 3 s": true,
		"with 20 runs of 100 queries each, seeds 1 to 3": false, "version 4, N = 10.": false,
		"| a | 1.5 |": true,
		"`-lr 0.1`":   false, "$\\tfrac12 = 0.5$": false, "[here](x-0.1/y.md)": false, "p < 0.01": false, "```\n0.5 s\n```": false, "    go test -x 0.5": false,
	} {
		if bad := measures(notProse.ReplaceAllString(line, ""), map[string]bool{}); (len(bad) > 0) != want {
			t.Errorf("%q: measures %q, want any: %v", line, bad, want)
		}
	}
	const table = "| on MSLR | N = 1 | N = 10 | N = 100 | N = 1000 |\n| a | 1.25 |\n\nand 1.25\n"
	if bad := measures(table, map[string]bool{}); len(bad) != 1 || bad[0] != "and 1.25" {
		t.Errorf("after a table that is exempt: %q", bad)
	}
}
