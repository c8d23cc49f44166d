// Command grow grows symmetric trees by package forest for cost.py: it reads FOLDER/train.features and
// train.labels, float32 by document, says "ready", and for each line that it reads it grows a tree on the squared error
// and prints the processor seconds, without those of the gradient.
//
//	grow FOLDER WIDTH BINS
package main

import (
	"bufio"
	"encoding/binary"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"runtime/debug"
	"strconv"
	"syscall"

	"gonum.org/v1/gonum/floats"

	"github.com/plrank/plrank/forest"
)

func main() {
	if err := run(os.Args[1:]); err != nil {
		fmt.Fprintln(os.Stderr, "grow:", err)
		os.Exit(1)
	}
}

func run(args []string) error {
	if len(args) != 3 {
		return fmt.Errorf("%d arguments, want a folder, a width and a number of bins", len(args))
	}
	width, err := strconv.Atoi(args[1])
	if err != nil {
		return fmt.Errorf("width: %w", err)
	}
	bins, err := strconv.Atoi(args[2])
	if err != nil {
		return fmt.Errorf("bins: %w", err)
	}
	debug.SetGCPercent(4) // as the programs of plrank do with features in memory
	labels, err := read(filepath.Join(args[0], "train.labels"))
	if err != nil {
		return err
	}
	g, err := grower(filepath.Join(args[0], "train.features"), width, bins)
	if err != nil {
		return err
	}
	gradient, curvature, scores := make([]float32, len(labels)), make([]float32, len(labels)), make([]float64, len(labels))
	fmt.Println("ready")
	for lines := bufio.NewScanner(os.Stdin); lines.Scan(); {
		for i, y := range labels {
			gradient[i], curvature[i] = y-float32(scores[i]), 1
		}
		before, err := processorSeconds()
		if err != nil {
			return err
		}
		values := make([]float64, len(labels))
		if _, err := g.Grow(gradient, curvature, values); err != nil {
			return err
		}
		after, err := processorSeconds()
		if err != nil {
			return err
		}
		fmt.Println(after - before)
		floats.AddScaled(scores, .1, values)
	}
	return nil
}

// grower returns a grower of trees of depth 6. The features themselves are only needed for their bins.
func grower(path string, width, bins int) (*forest.Grower, error) {
	features, err := read(path)
	if err != nil {
		return nil, err
	}
	binned, err := forest.Bin(features, width, nil, bins)
	if err != nil {
		return nil, err
	}
	return forest.NewGrower(binned, forest.Config{Depth: 6})
}

func read(path string) ([]float32, error) {
	f, err := os.Open(path)
	if err != nil {
		return nil, err
	}
	defer f.Close()
	info, err := f.Stat()
	if err != nil {
		return nil, err
	}
	values, buffer := make([]float32, info.Size()/4), make([]byte, 1<<20)
	for rest := values; len(rest) > 0; {
		part := rest[:min(len(rest), len(buffer)/4)]
		if _, err := io.ReadFull(f, buffer[:4*len(part)]); err != nil {
			return nil, err
		}
		if _, err := binary.Decode(buffer, binary.LittleEndian, part); err != nil {
			return nil, err
		}
		rest = rest[len(part):]
	}
	return values, nil
}

func processorSeconds() (float64, error) {
	var u syscall.Rusage
	err := syscall.Getrusage(syscall.RUSAGE_SELF, &u)
	return float64(u.Utime.Nano()+u.Stime.Nano()) / 1e9, err
}
