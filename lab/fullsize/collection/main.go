// Command collection writes a synthetic collection as arrays for NumPy: of each split
// SPLIT.features and SPLIT.labels, float32 by document, and SPLIT.offsets, int64, where
// the documents of each query begin.
//
// SHAPE may have a truth, as in mslr/trees.
//
//	collection SHAPE SCALE SEED FOLDER
package main

import (
	"encoding/binary"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"strconv"

	"github.com/plrank/plrank/datasets"
	"github.com/plrank/plrank/internal/file"
)

func main() {
	if err := run(os.Args[1:]); err != nil {
		fmt.Fprintln(os.Stderr, "collection:", err)
		os.Exit(1)
	}
}

func run(args []string) error {
	if len(args) != 4 {
		return errors.New("want a shape, a scale, a seed and a folder")
	}
	scale, err := strconv.ParseFloat(args[1], 64)
	if err != nil {
		return fmt.Errorf("scale: %w", err)
	}
	seed, err := strconv.ParseUint(args[2], 10, 64)
	if err != nil {
		return fmt.Errorf("seed: %w", err)
	}
	splits, err := datasets.SyntheticShape(args[0], scale, seed)
	if err != nil {
		return err
	}
	if err := os.MkdirAll(args[3], 0o777); err != nil {
		return err
	}
	for name, d := range map[string]*datasets.Dataset{"train": splits.Train, "vali": splits.Vali, "test": splits.Test} {
		offsets := make([]int64, len(d.Offsets))
		for q, row := range d.Offsets {
			offsets[q] = int64(row)
		}
		for ending, values := range map[string]any{"features": d.Features, "labels": d.Labels, "offsets": offsets} {
			path := filepath.Join(args[3], name+"."+ending)
			if err := file.Write(path, func(w io.Writer) error { return binary.Write(w, binary.LittleEndian, values) }); err != nil {
				return err
			}
		}
	}
	return nil
}
