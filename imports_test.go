package plrank_test

import (
	"os/exec"
	"slices"
	"strings"
	"testing"
)

const module = "github.com/plrank/plrank/"

// rooms lists the folders of packages, and for each the others that it may import in addition to internal.
var rooms = map[string][]string{
	"plackett":   {},
	"transforms": {},
	"forest":     {},
	"fusion":     {"plackett"},
	"viz":        {},
	"docs":       {},
	"ops":        {"plackett"},
	"nn":         {"ops", "plackett"},
	"losses":     {"ops", "plackett", "metrics"},
	"metrics":    {"plackett"},
	"datasets":   {"transforms"},
	"ranker":     {"transforms", "plackett", "forest"},
	"clicks":     {"datasets", "transforms", "metrics", "plackett"},
	"worth":      {"datasets"},
	"judges":     {},
	"serve":      {"ranker", "clicks", "plackett"},
	"recipe":     {"train", "ops", "datasets", "transforms", "metrics", "ranker", "forest"},
	"train":      {"losses", "nn", "ops", "datasets", "transforms", "metrics", "ranker", "forest"},
	"cmd":        {"serve", "recipe", "train", "losses", "datasets", "metrics", "ranker", "clicks", "worth", "judges", "viz", "plackett", "transforms", "forest", "fusion", "docs"},
	"internal":   {}, // the ground: it imports nothing public
}

// listed returns the lines of go list.
func listed(t *testing.T, args ...string) []string {
	t.Helper()
	out, err := exec.Command("go", append([]string{"list"}, args...)...).CombinedOutput()
	if err != nil {
		t.Fatalf("go list %v: %v: %s", args, err, out)
	}
	return strings.Split(strings.TrimSpace(string(out)), "\n")
}

// roomOf returns the first folder of a package of this module, "" for others.
func roomOf(pkg string) string {
	path, ours := strings.CutPrefix(pkg, module)
	if !ours {
		return ""
	}
	room, _, _ := strings.Cut(path, "/")
	return room
}

func TestImportsRunOneWay(t *testing.T) {
	for _, line := range listed(t, "-f", `{{.ImportPath}} {{join .Imports " "}}`, "./...") {
		pkg, imports, _ := strings.Cut(line, " ")
		from := roomOf(pkg)
		may, known := rooms[from]
		if from != "" && !known {
			t.Errorf("%s: no room is called %s", pkg, from)
		}
		for _, imported := range strings.Fields(imports) {
			if to := roomOf(imported); to != "" && to != from && to != "internal" && !slices.Contains(may, to) {
				t.Errorf("%s imports %s", pkg, imported)
			}
		}
	}
}

func TestInternalImportsNothingPublic(t *testing.T) {
	for _, line := range listed(t, "-f", `{{.ImportPath}} {{join .TestImports " "}} {{join .XTestImports " "}}`, "./internal/...") {
		pkg, imports, _ := strings.Cut(line, " ")
		for _, imported := range strings.Fields(imports) {
			if to := roomOf(imported); to != "" && to != "internal" {
				t.Errorf("tests of %s import %s", pkg, imported)
			}
		}
	}
}

// dependsOn returns the dependencies of packages that begin with one of the prefixes.
func dependsOn(t *testing.T, prefixes []string, packages ...string) []string {
	t.Helper()
	return slices.DeleteFunc(listed(t, append([]string{"-deps"}, packages...)...), func(dep string) bool {
		return !slices.ContainsFunc(prefixes, func(prefix string) bool { return strings.HasPrefix(dep, prefix) })
	})
}

func TestOnlyTrainingKnowsGraphs(t *testing.T) {
	for _, dep := range dependsOn(t, []string{"gorgonia.org/"}, "./plackett/...", "./transforms", "./forest", "./fusion", "./datasets/parquet", "./datasets", "./metrics", "./ranker",
		"./serve", "./clicks", "./worth", "./judges", "./viz", "./internal/forward", "./internal/model") {
		t.Errorf("%s is a dependency", dep)
	}
}

// A program that only scores links no reader of data.
func TestRankerLinksNoReader(t *testing.T) {
	readers := []string{module + "datasets", "github.com/parquet-go/", "encoding/csv", "compress/gzip", "github.com/klauspost/compress", "github.com/prometheus/"}
	for _, dep := range dependsOn(t, readers, "./ranker") {
		t.Errorf("package ranker depends on %s", dep)
	}
	for _, dep := range dependsOn(t, []string{"github.com/parquet-go/"}, "./datasets") {
		t.Errorf("package datasets depends on %s, without an import of datasets/parquet", dep)
	}
}
