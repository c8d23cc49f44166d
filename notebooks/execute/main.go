// Command execute runs notebooks headless with a kernel built from the tree as it
// is, and compares what their cells print with the outputs saved in them. Run it
// in plrank's folder notebooks:
//
//	go run ./execute                       all notebooks here
//	go run ./execute 01_plackett_luce.ipynb
//	go run ./execute -update               saves the new outputs
//
// The first cell error ends it. See compare.go for what counts as the same; cells
// tagged nbval-ignore-output, such as those that measure time, are not compared.
package main

import (
	"flag"
	"fmt"
	"log"
	"os"
	"path/filepath"
	"time"

	"github.com/plrank/plrank/notebooks/internal/jupyter"
	"github.com/plrank/plrank/notebooks/internal/kernel"
)

func main() {
	log.SetFlags(0)
	log.SetPrefix("execute: ")
	update := flag.Bool("update", false, "save the outputs in the notebooks instead of comparing them")
	flag.Parse()
	if err := run(flag.Args(), *update); err != nil {
		log.Fatal(err)
	}
}

func run(notebooks []string, update bool) error {
	if err := jupyter.Available(); err != nil {
		return err
	}
	module, err := kernel.Module()
	if err != nil {
		return err
	}
	if len(notebooks) == 0 {
		if notebooks, err = filepath.Glob(filepath.Join(module, "*.ipynb")); err != nil {
			return err
		}
	}
	program, err := kernel.Build(module)
	if err != nil {
		return err
	}
	scratch, err := os.MkdirTemp("", "plrank-notebooks")
	if err != nil {
		return err
	}
	defer os.RemoveAll(scratch)
	if _, err := jupyter.Install(scratch, program); err != nil {
		return err
	}
	different := 0
	for _, path := range notebooks {
		out := filepath.Join(scratch, filepath.Base(path))
		start := time.Now()
		if err := jupyter.Execute(scratch, path, out); err != nil {
			return err
		}
		fmt.Printf("%s: %.1f s\n", filepath.Base(path), time.Since(start).Seconds())
		n, err := finish(path, out, update)
		if err != nil {
			return err
		}
		different += n
	}
	if different > 0 {
		return fmt.Errorf("%d outputs differ from the saved ones; if they should, save them with `go run ./execute -update`", different)
	}
	return nil
}

// finish compares an executed notebook with the saved one, or saves it. It prints
// what is different and returns how much.
func finish(saved, executed string, update bool) (int, error) {
	after, err := readNotebook(executed)
	if err != nil {
		return 0, err
	}
	if update {
		return 0, after.write(saved)
	}
	before, err := readNotebook(saved)
	if err != nil {
		return 0, err
	}
	differences := compare(before, after)
	for _, d := range differences {
		fmt.Printf("%s: %s\n", filepath.Base(saved), d)
	}
	return len(differences), nil
}
