// Command ours writes what authors.py repeats with the authors' code: estimates for given
// rankings, a training run on given noise, and runs of package train.
//
//	ours FOLDER estimates|training|runs|fairness
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
	parts := map[string]func(path string) error{"estimates": writeEstimates, "training": writeTraining, "runs": writeRuns, "fairness": writeFairness}
	if len(args) != 2 || parts[args[1]] == nil {
		return errors.New("want a folder and one of estimates, training, runs, fairness")
	}
	return parts[args[1]](args[0] + "/" + args[1])
}
