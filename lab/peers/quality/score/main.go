//go:build unix

// Command score prints the scores of a file by a plrank model, a line each, and on
// standard error the processor seconds of one pass over the documents in memory.
//
//	score model.npz test.txt
package main

import (
	"bufio"
	"errors"
	"fmt"
	"os"
	"runtime"
	"syscall"

	"github.com/plrank/plrank/datasets"
	"github.com/plrank/plrank/ranker"
)

func main() {
	runtime.GOMAXPROCS(1)
	if err := run(os.Args[1:]); err != nil {
		fmt.Fprintln(os.Stderr, "score:", err)
		os.Exit(1)
	}
}

func run(args []string) error {
	if len(args) != 2 {
		return errors.New("want a model and a file")
	}
	model, err := ranker.Open(args[0])
	if err != nil {
		return err
	}
	data, err := datasets.ReadFile(args[1], datasets.OptionsFor(model))
	if err != nil {
		return err
	}
	scores, err := datasets.Score(model, data) // also a first pass, which is not timed
	if err != nil {
		return err
	}
	const least, atLeast = 3, 0.3 // passes, and seconds
	started, passes := processorSeconds(), 0
	for passes < least || processorSeconds()-started < atLeast {
		if _, err := datasets.Score(model, data); err != nil {
			return err
		}
		passes++
	}
	fmt.Fprintln(os.Stderr, (processorSeconds()-started)/float64(passes))
	out := bufio.NewWriter(os.Stdout)
	for _, s := range data.InSourceOrder(scores) {
		fmt.Fprintf(out, "%.9g\n", s)
	}
	return out.Flush()
}

// processorSeconds is the processor time of this process.
func processorSeconds() float64 {
	var used syscall.Rusage
	if err := syscall.Getrusage(syscall.RUSAGE_SELF, &used); err != nil {
		panic(err) // there is no such error for RUSAGE_SELF
	}
	return float64(used.Utime.Nano()+used.Stime.Nano()) / 1e9
}
