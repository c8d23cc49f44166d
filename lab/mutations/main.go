// Command mutations shows that the tests of losses and of metrics know every formula: for each row of their tables it
// divides the result by 1.7, runs the tests of the package, and reports the rows that no test missed.
//
//	go run ./mutations [losses|metrics]
//
// The files of the packages stay as they are: go test -overlay adds one that wraps the row which an environment variable
// names. The tests are compiled once. It takes some minutes, and is not part of CI.
package main

import (
	"embed"
	"encoding/json"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
)

//go:embed *.go.txt
var mutants embed.FS

func main() {
	packages := os.Args[1:]
	if len(packages) == 0 {
		packages = []string{"losses", "metrics"}
	}
	survivors := 0
	for _, p := range packages {
		n, err := mutate(p)
		if err != nil {
			fmt.Fprintln(os.Stderr, "mutations:", err)
			os.Exit(1)
		}
		survivors += n
	}
	if survivors > 0 {
		os.Exit(1)
	}
}

// mutate tests a package with each of its rows mutated, and returns the number of survivors.
func mutate(name string) (survivors int, err error) {
	folder, err := os.MkdirTemp("", "mutations")
	if err != nil {
		return 0, err
	}
	defer os.RemoveAll(folder)
	tests, err := compile(name, folder)
	if err != nil {
		return 0, err
	}
	run := func(mutation string, arguments ...string) (string, error) {
		c := exec.Command(tests, arguments...)
		c.Dir, c.Env = filepath.Join("..", name), append(os.Environ(), "MUTATE="+mutation)
		out, err := c.CombinedOutput()
		return string(out), err
	}
	// Without a mutation all tests must pass, or else a failure says nothing.
	if out, err := run(""); err != nil {
		return 0, fmt.Errorf("the tests of %s fail without a mutation: %w\n%s", name, err, out)
	}
	rows, err := run("list")
	if err != nil {
		return 0, err
	}
	for _, row := range strings.Split(strings.TrimSpace(rows), "\n") {
		out, err := run(row, "-test.failfast")
		found := "SURVIVES"
		if err != nil {
			_, after, _ := strings.Cut(out, "--- FAIL: ")
			found, _, _ = strings.Cut(after, " ")
		} else {
			survivors++
		}
		fmt.Printf("%s\t%s\t%s\n", name, row, found)
	}
	return survivors, nil
}

// compile returns the path of the tests of a package with its mutant, made in a folder.
func compile(name, folder string) (string, error) {
	mutant, err := mutants.ReadFile(name + ".go.txt")
	if err != nil {
		return "", fmt.Errorf("no mutant of package %q: want losses or metrics", name)
	}
	added, err := filepath.Abs(filepath.Join("..", name, "mutant.go"))
	if err != nil {
		return "", err
	}
	source, overlay, tests := filepath.Join(folder, "mutant.go"), filepath.Join(folder, "overlay.json"), filepath.Join(folder, "tests")
	replace, err := json.Marshal(map[string]any{"Replace": map[string]string{added: source}})
	if err != nil {
		return "", err
	}
	for path, text := range map[string][]byte{source: mutant, overlay: replace} {
		if err := os.WriteFile(path, text, 0o666); err != nil {
			return "", err
		}
	}
	c := exec.Command("go", "test", "-c", "-overlay", overlay, "-o", tests, "./"+name)
	c.Dir = ".."
	if out, err := c.CombinedOutput(); err != nil {
		return "", fmt.Errorf("compiling the tests of %s: %w\n%s", name, err, out)
	}
	return tests, nil
}
