package plrank_test

import (
	"encoding/json"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"
)

var (
	link        = regexp.MustCompile(`\]\(([^)\s]+)\)`)
	heading     = regexp.MustCompile(`(?m)^#+ +(.*)$`)
	fence       = regexp.MustCompile("(?ms)^ *```.*?^ *```$")
	punctuation = regexp.MustCompile(`[^\p{L}\p{N} _-]`)
)

// documents returns the texts of all Markdown files of the project, by path.
func documents(t *testing.T) map[string]string {
	t.Helper()
	texts := map[string]string{}
	for _, pattern := range []string{"*.md", "*/*.md", "*/*/*.md", "*/*/*/*.md"} {
		paths, err := filepath.Glob(pattern)
		if err != nil {
			t.Fatal(err)
		}
		for _, path := range paths {
			text, err := os.ReadFile(path)
			if err != nil {
				t.Fatal(err)
			}
			texts[path] = string(text)
		}
	}
	return texts
}

// anchors returns the names that GitHub gives the headings of a text.
func anchors(text string) (names []string) {
	for _, h := range heading.FindAllStringSubmatch(fence.ReplaceAllString(text, ""), -1) {
		title := link.ReplaceAllString(strings.ToLower(h[1]), "]")
		name := strings.ReplaceAll(strings.TrimSpace(punctuation.ReplaceAllString(title, "")), " ", "-")
		unique := name
		for n := 1; slices.Contains(names, unique); n++ {
			unique = fmt.Sprintf("%s-%d", name, n)
		}
		names = append(names, unique)
	}
	return names
}

// around stands before the Go code of the README, to make a program of it.
const around = `package snippet

import (
	"context"

	"gorgonia.org/gorgonia"

	"github.com/plrank/plrank/datasets"
	"github.com/plrank/plrank/losses"
	"github.com/plrank/plrank/metrics"
	"github.com/plrank/plrank/nn"
	"github.com/plrank/plrank/ops"
	"github.com/plrank/plrank/train"
)

var (
	_ = losses.Parse
	_ = metrics.Discounts
	_ ops.Lists

	ctx                    context.Context
	scores, offsets, gains *gorgonia.Node
	weights                gorgonia.Nodes
	config                 train.Config
	splits                 *datasets.Splits
	newMachine             func(features int) (nn.Scorer, error)
)
`

var (
	goCode = regexp.MustCompile("(?ms)^```go\n(.*?)^```$")
	made   = regexp.MustCompile(`(?m)^(\w+(?:, \w+)*) :=`)
)

func TestGoCodeOfReadmeCompiles(t *testing.T) {
	program := around
	blocks := goCode.FindAllStringSubmatch(documents(t)["README.md"], -1)
	if len(blocks) < 2 {
		t.Fatalf("%d blocks of Go code", len(blocks))
	}
	for _, block := range blocks {
		program += "\nfunc _() {\n" + block[1]
		for _, names := range made.FindAllStringSubmatch(block[1], -1) {
			program += strings.Repeat("_, ", strings.Count(names[1], ",")) + "_ = " + names[1] + "\n"
		}
		program += "}\n"
	}
	dir := t.TempDir()
	file, overlay := filepath.Join(dir, "snippet.go"), filepath.Join(dir, "overlay.json")
	if err := os.WriteFile(file, []byte(program), 0o600); err != nil {
		t.Fatal(err)
	}
	here, err := filepath.Abs("snippet/snippet.go")
	if err != nil {
		t.Fatal(err)
	}
	replace, err := json.Marshal(map[string]map[string]string{"Replace": {here: file}})
	if err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(overlay, replace, 0o600); err != nil {
		t.Fatal(err)
	}
	if out, err := exec.Command("go", "build", "-overlay", overlay, "./snippet").CombinedOutput(); err != nil {
		t.Errorf("%v\n%s\n%s", err, out, program)
	}
}

// Links within the project lead to files and headings that exist.
func TestLinksLeadSomewhere(t *testing.T) {
	texts := documents(t)
	checked := 0
	for path, text := range texts {
		for _, l := range link.FindAllStringSubmatch(fence.ReplaceAllString(text, ""), -1) {
			if strings.Contains(l[1], "://") || strings.HasPrefix(l[1], "mailto:") {
				continue
			}
			file, anchor, _ := strings.Cut(l[1], "#")
			target := path
			if file != "" {
				target = filepath.Join(filepath.Dir(path), file)
			}
			if _, err := os.Stat(target); err != nil {
				t.Errorf("%s: the link %s leads nowhere: %v", path, l[1], err)
			}
			if anchor != "" && !slices.Contains(anchors(texts[target]), anchor) {
				t.Errorf("%s: %s has no heading #%s", path, target, anchor)
			}
			checked++
		}
	}
	if checked < 100 {
		t.Errorf("%d links in %d documents", checked, len(texts))
	}
}
