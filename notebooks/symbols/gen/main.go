// Command gen writes gomacro's symbol tables of the packages in packages.txt, with
// which an interpreter that they are linked into resolves imports by itself. It
// needs nothing but the go command: types are read from the compiler's own export
// data. `go generate ./symbols` runs it, and so does the installation of the kernel.
package main

import (
	"bufio"
	"bytes"
	"encoding/json"
	"errors"
	"flag"
	"fmt"
	"go/importer"
	"go/token"
	"io"
	"log"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
)

func main() {
	log.SetFlags(0)
	log.SetPrefix("gen: ")
	dir := flag.String("dir", ".", "the folder of packages.txt and of the tables")
	flag.Parse()
	if flag.NArg() > 0 {
		log.Fatalf("unexpected argument %q: packages.txt lists the packages", flag.Arg(0))
	}
	changes, err := update(*dir)
	if err != nil {
		log.Fatal(err)
	}
	for _, c := range changes {
		log.Print(c)
	}
}

// update makes the tables in a folder what they should be, and leaves alone those that
// are. It returns a line for every change.
func update(dir string) (changes []string, err error) {
	paths, err := readList(filepath.Join(dir, "packages.txt"))
	if err != nil {
		return nil, err
	}
	tables, err := generate(dir, paths)
	if err != nil {
		return nil, err
	}
	old, err := filepath.Glob(filepath.Join(dir, "z_*.go"))
	if err != nil {
		return nil, err
	}
	for _, file := range old {
		if _, ok := tables[filepath.Base(file)]; ok {
			continue
		}
		changes = append(changes, filepath.Base(file)+": its package is no longer in packages.txt")
		if err := os.Remove(file); err != nil {
			return nil, err
		}
	}
	for _, path := range paths {
		name := fileName(path)
		file := filepath.Join(dir, name)
		b, err := os.ReadFile(file)
		if err == nil && bytes.Equal(b, tables[name]) {
			continue
		}
		if errors.Is(err, os.ErrNotExist) {
			changes = append(changes, name+": "+path+" is new")
		} else if err != nil {
			return nil, err
		} else {
			changes = append(changes, name+": "+path+" has changed")
		}
		if err := os.WriteFile(file, tables[name], 0o644); err != nil {
			return nil, err
		}
	}
	return changes, nil
}

// readList reads import paths, one a line; # begins a comment.
func readList(file string) ([]string, error) {
	f, err := os.Open(file)
	if err != nil {
		return nil, err
	}
	defer f.Close()
	var paths []string
	for s := bufio.NewScanner(f); s.Scan(); {
		line, _, _ := strings.Cut(s.Text(), "#")
		if line = strings.TrimSpace(line); line != "" {
			paths = append(paths, line)
		}
	}
	return paths, nil
}

// fileName is the name of the table of a package. The z_ keeps them together.
func fileName(path string) string { return "z_" + identifier(path) + ".go" }

// generate makes the tables of packages, by file name.
func generate(dir string, paths []string) (map[string][]byte, error) {
	exports, err := exportData(dir, paths)
	if err != nil {
		return nil, err
	}
	imp := importer.ForCompiler(token.NewFileSet(), "gc", func(path string) (io.ReadCloser, error) {
		f, ok := exports[path]
		if !ok {
			return nil, fmt.Errorf("no export data of %q", path)
		}
		return os.Open(f)
	})
	tables := map[string][]byte{}
	for _, path := range paths {
		pkg, err := imp.Import(path)
		if err != nil {
			return nil, err
		}
		b, err := newTable(pkg).source()
		if err != nil {
			return nil, fmt.Errorf("%s: %w", path, err)
		}
		tables[fileName(path)] = b
	}
	return tables, nil
}

// exportData finds the compiler's files of packages and all that they import.
func exportData(dir string, paths []string) (map[string]string, error) {
	cmd := exec.Command("go", append([]string{"list", "-export", "-deps", "-json=ImportPath,Export", "--"}, paths...)...)
	cmd.Dir, cmd.Stderr = dir, os.Stderr
	// As the kernel is built: where it makes a difference, tables must not depend on
	// whether there is a C compiler.
	cmd.Env = append(os.Environ(), "CGO_ENABLED=0")
	b, err := cmd.Output()
	if err != nil {
		return nil, fmt.Errorf("go list: %w; a package that no module in notebooks/go.mod has is added by `go get`", err)
	}
	exports := map[string]string{}
	for d := json.NewDecoder(bytes.NewReader(b)); ; {
		var p struct{ ImportPath, Export string }
		err := d.Decode(&p)
		if err == io.EOF {
			return exports, nil
		}
		if err != nil {
			return nil, fmt.Errorf("go list: %w", err)
		}
		exports[p.ImportPath] = p.Export
	}
}
