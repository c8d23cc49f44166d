// Command ours writes what authors.py repeats with the authors' code: estimates for given
// rankings, a training run on given noise, and runs of package train.
//
//	ours FOLDER estimates|training|runs|spread|fairness RUNS
package main

import (
	"errors"
	"fmt"
	"os"
	"strconv"
)

func main() {
	if err := run(os.Args[1:]); err != nil {
		fmt.Fprintln(os.Stderr, "ours:", err)
		os.Exit(1)
	}
}

func run(args []string) error {
	parts := map[string]func(folder string, runs int) error{
		"estimates": writeEstimates,
		"training":  writeTraining,
		"runs":      writeRuns,
		"spread":    printSpread,
		"fairness":  printFairness,
	}
	if len(args) != 3 || parts[args[1]] == nil {
		return errors.New("want a folder, one of estimates, training, runs, spread, fairness, and a number of runs")
	}
	runs, err := strconv.Atoi(args[2])
	if err != nil || runs < 1 {
		return fmt.Errorf("%q: want a number of runs", args[2])
	}
	return parts[args[1]](args[0], runs)
}
