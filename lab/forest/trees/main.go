// Command trees trains a forest by package train for libraries.py: it reads FOLDER's train.features, train.labels and train.offsets,
// says "ready", and for each line that it reads it takes a step, which grows a tree, and prints its processor seconds.
//
//	trees FOLDER WIDTH BINS LEAVES LOSS CUTOFF
package main

import (
	"bufio"
	"context"
	"encoding/binary"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"runtime/debug"
	"strconv"
	"syscall"

	"github.com/plrank/plrank/datasets"
	"github.com/plrank/plrank/train"
)

func main() {
	if err := run(os.Args[1:]); err != nil && !errors.Is(err, context.Canceled) {
		fmt.Fprintln(os.Stderr, "trees:", err)
		os.Exit(1)
	}
}

func run(args []string) error {
	if len(args) != 6 {
		return fmt.Errorf("%d arguments, want a folder, a width, a number of bins, of leaves, a loss and a cutoff", len(args))
	}
	var numbers [4]int
	for i, text := range []string{args[1], args[2], args[3], args[5]} {
		n, err := strconv.Atoi(text)
		if err != nil {
			return err
		}
		numbers[i] = n
	}
	debug.SetGCPercent(10)
	d, err := read(args[0], numbers[0])
	if err != nil {
		return err
	}
	c := train.Config{Seed: 1}
	c.Scorer, c.Bins, c.Leaves, c.Loss, c.Cutoff = "forest", numbers[1], numbers[2], args[4], train.RankCount(numbers[3])
	c.Trees, c.Epochs, c.LearningRate = 10_000, 1, .1
	t, err := train.New(c.Plain(), train.Custom{}, &datasets.Splits{Train: d, Vali: d.Select([]int{0, 1})})
	if err != nil {
		return err
	}
	ctx, stop := context.WithCancel(context.Background())
	lines, last := bufio.NewScanner(os.Stdin), 0.
	turn := func(train.Step) {
		fmt.Println(processorSeconds() - last)
		if !lines.Scan() {
			stop()
		}
		last = processorSeconds()
	}
	fmt.Println("ready")
	lines.Scan()
	last = processorSeconds()
	_, err = t.Run(ctx, train.Hooks{Step: turn})
	return err
}

// read reads the training split.
func read(folder string, width int) (*datasets.Dataset, error) {
	d := &datasets.Dataset{Name: "train"}
	for c := range width {
		d.FeatureIDs = append(d.FeatureIDs, c+1)
	}
	var offsets []int64
	for name, values := range map[string]any{"features": &d.Features, "labels": &d.Labels, "offsets": &offsets} {
		bytes, err := os.ReadFile(filepath.Join(folder, "train."+name))
		if err != nil {
			return nil, err
		}
		switch v := values.(type) {
		case *[]float32:
			*v = make([]float32, len(bytes)/4)
		case *[]int64:
			*v = make([]int64, len(bytes)/8)
		}
		if _, err := binary.Decode(bytes, binary.LittleEndian, values); err != nil {
			return nil, err
		}
	}
	for q, row := range offsets {
		d.Offsets = append(d.Offsets, int(row))
		if q > 0 {
			d.QueryIDs = append(d.QueryIDs, strconv.Itoa(q))
		}
	}
	return d, nil
}

func processorSeconds() float64 {
	var u syscall.Rusage
	if err := syscall.Getrusage(syscall.RUSAGE_SELF, &u); err != nil {
		panic(err)
	}
	return float64(u.Utime.Nano()+u.Stime.Nano()) / 1e9
}
