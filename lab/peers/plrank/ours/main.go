// Command ours writes what authors.py repeats with the authors' code: estimates for given
// rankings, and a training run on given noise.
//
//	ours FOLDER
package main

import (
	"errors"
	"fmt"
	"os"
)

func main() {
	if err := run(os.Args[1:]); err != nil {
		fmt.Fprintln(os.Stderr, "ours:", err)
		os.Exit(1)
	}
}

func run(args []string) error {
	if len(args) != 1 {
		return errors.New("want a folder")
	}
	if err := writeEstimates(args[0] + "/estimates.npz"); err != nil {
		return err
	}
	return writeTraining(args[0] + "/training.npz")
}
