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

// documents are the texts of all Markdown files of the project, by their paths.
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

// anchors are the names that GitHub gives the headings of a text.
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

// around is what the Go code of the README has around it.
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

// The Go code of the README compiles.
func TestCodeCompiles(t *testing.T) {
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

// Links within the project lead to files and headings that there are.
func TestLinks(t *testing.T) {
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

var (
	command   = regexp.MustCompile("(?m)(?:^|`| )(go (?:run|test) [^`\n]*)")
	inCommand = regexp.MustCompile(` --?([a-z][a-z0-9-]*)`)
	ofPackage = regexp.MustCompile(` (\./\S*)`)
	ofTests   = regexp.MustCompile(` -(?:run|bench) +(?:'([^']*)'|"([^"]*)"|(\S+))`)
	function  = regexp.MustCompile(`(?m)^func (\w+)`)
	flagName  = regexp.MustCompile(`(?:Var|Func|String|Bool|Int|Int64|Uint64|Float64|Duration)\((?:[^"\n]*, )?"([a-z0-9][a-z0-9-]*)"`)
)

// The commands of documents are of packages, flags, tests and benchmarks that there are.
func TestCommandsOfDocuments(t *testing.T) {
	cache := map[string][2][]string{}
	// of gives the flags and the functions of a pattern of files.
	of := func(pattern string) (flags, functions []string) {
		found, ok := cache[pattern]
		if !ok {
			text := source(t, pattern)
			for i, name := range []*regexp.Regexp{flagName, function} {
				for _, match := range name.FindAllStringSubmatch(text, -1) {
					found[i] = append(found[i], match[1])
				}
			}
			cache[pattern] = found
		}
		return found[0], found[1]
	}
	shared, _ := of("cmd/internal/*/*.go")
	checked := 0
	for path, text := range documents(t) {
		for _, found := range command.FindAllStringSubmatch(text, -1) {
			line, _, _ := strings.Cut(found[1], "#")
			packages := ofPackage.FindAllStringSubmatch(line, -1)
			if len(packages) == 0 || strings.Contains(packages[0][1], "...") {
				continue
			}
			checked++
			flags, functions := append([]string{"help"}, shared...), []string(nil)
			for _, p := range packages {
				folder := p[1]
				if _, err := os.Stat(folder); err != nil { // a module of its own
					folder = filepath.Join(filepath.Dir(path), folder)
				}
				own, names := of(folder + "/*.go")
				if names == nil {
					t.Errorf("%s: %s: there is no package %s", path, line, p[1])
				}
				flags, functions = append(flags, own...), append(functions, names...)
			}
			if strings.HasPrefix(line, "go run") {
				_, args, _ := strings.Cut(line, packages[0][1])
				for _, f := range inCommand.FindAllStringSubmatch(args, -1) {
					if !slices.Contains(flags, f[1]) {
						t.Errorf("%s: %s: there is no flag -%s", path, line, f[1])
					}
				}
			}
			for _, s := range ofTests.FindAllStringSubmatch(line, -1) {
				names, _, _ := strings.Cut(s[1]+s[2]+s[3], "/")
				for name := range strings.SplitSeq(strings.Trim(names, "()^$"), "|") {
					if name != "xxx" && !slices.ContainsFunc(functions, func(f string) bool { return strings.Contains(f, name) }) {
						t.Errorf("%s: %s: nothing is called %s", path, line, name)
					}
				}
			}
		}
	}
	if checked < 50 {
		t.Errorf("%d commands", checked)
	}
}

var (
	ofCode    = regexp.MustCompile("(?s)```go\n.*?```|`[^`\n]+`")
	testName  = regexp.MustCompile(`^(?:Test|Benchmark)[A-Z]\w+`)
	qualified = regexp.MustCompile(`\b(plackett|ops|nn|losses|datasets|metrics|train|ranker|viz)\.([A-Z]\w*)`)
	exported  = regexp.MustCompile(`(?m)^(?:func|type|var|const|\t) ?([A-Z]\w*)`)
)

// Tests, and names of packages such as ops.Dense, that documents have as code, are there.
func TestNamesOfDocuments(t *testing.T) {
	var tests []string
	for _, pattern := range []string{"*_test.go", "*/*_test.go", "*/*/*_test.go", "*/*/*/*_test.go"} {
		for _, match := range function.FindAllStringSubmatch(source(t, pattern), -1) {
			tests = append(tests, match[1])
		}
	}
	names := map[string][]string{} // by package
	checked := 0
	for path, text := range documents(t) {
		for _, code := range ofCode.FindAllString(text, -1) {
			if name := testName.FindString(strings.Trim(code, "`")); name != "" && !slices.Contains(tests, name) {
				t.Errorf("%s: there is no %s", path, name)
			}
			for _, q := range qualified.FindAllStringSubmatch(code, -1) {
				if names[q[1]] == nil {
					for _, match := range exported.FindAllStringSubmatch(source(t, q[1]+"/*.go"), -1) {
						names[q[1]] = append(names[q[1]], match[1])
					}
				}
				if !slices.Contains(names[q[1]], q[2]) {
					t.Errorf("%s: there is no %s", path, q[0])
				}
				checked++
			}
		}
	}
	if checked < 30 {
		t.Errorf("%d names", checked)
	}
}

// source is the text of the files of a pattern.
func source(t *testing.T, pattern string) string {
	t.Helper()
	paths, err := filepath.Glob(pattern)
	if err != nil {
		t.Fatal(err)
	}
	var all strings.Builder
	for _, path := range paths {
		text, err := os.ReadFile(path)
		if err != nil {
			t.Fatal(err)
		}
		all.Write(text)
	}
	return all.String()
}

// The table of folders in docs/ARCHITECTURE.md has each folder with packages.
func TestArchitectureHasEveryFolder(t *testing.T) {
	text, err := os.ReadFile("docs/ARCHITECTURE.md")
	if err != nil {
		t.Fatal(err)
	}
	for _, pattern := range []string{"*/*.go", "cmd/*/*.go", "cmd/internal/*/*.go", "internal/*/*.go"} {
		paths, err := filepath.Glob(pattern)
		if err != nil || len(paths) == 0 {
			t.Fatal(pattern, err)
		}
		for _, path := range paths {
			folder := filepath.Dir(path)
			if !strings.Contains(string(text), "`"+folder+"`") && !strings.Contains(string(text), "`"+filepath.Base(folder)+"`") {
				t.Errorf("docs/ARCHITECTURE.md says nothing of %s", folder)
			}
		}
	}
}
