package main

import (
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"github.com/plrank/plrank/cmd/internal/markdown"
)

// handMade are the tables with measures that no command makes, by their first lines, and why.
var handMade = map[string]string{
	"| $K$ | 1 | 5 | 10 | 50 | 125 | 1000 |":                              "steps of the quadrature, which TestDocumentedSteps of package plackett computes",
	"| | Yahoo N = 10 | 100 | 1000 | MSLR N = 10 | 100 | 1000 |":          "the paper's figures",
	"| | | N = 1 | N = 10 | N = 100 | N = 1000 |":                         "the paper's figures",
	"| | Yahoo, 100 minutes | MSLR, 120 minutes | Istella, 200 minutes |": "the paper's figures",
}

var decimal = regexp.MustCompile(`\d*\.\d`)

// Every table with measures stands between comments, and so is made from a CSV file by a command
// whose test compares the two.
func TestTablesAreMade(t *testing.T) {
	documents, err := filepath.Glob("../../docs/*.md")
	if err != nil {
		t.Fatal(err)
	}
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
		head := ""
		for line := range strings.Lines(text) {
			line = strings.TrimSpace(line)
			switch {
			case !strings.HasPrefix(line, "|"):
				head = ""
				continue
			case head == "":
				head = line
			}
			measures := regexp.MustCompile("`[^`]*`").ReplaceAllString(line, "")
			if _, known := handMade[head]; !known && decimal.MatchString(measures) {
				t.Errorf("%s: the table %q has measures, but no CSV file: put them into one, and <!-- FOLDER/FILE.csv --> and <!-- /FOLDER/FILE.csv --> in the table's place; go run ./cmd/reproduce document -document %s", path, head, strings.TrimPrefix(path, "../../"))
				handMade[head] = "reported"
			}
		}
	}
}
