// Command collection writes a synthetic collection for all libraries: of each split
// letor/SPLIT.txt in LETOR format, and SPLIT.f32, the same features as little-endian
// float32, a row for each document.
//
// SHAPE may have a truth, as in mslr/trees.
//
//	collection SHAPE SCALE SEED FOLDER
package main

import (
	"bufio"
	"encoding/binary"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"strconv"

	"github.com/plrank/plrank/datasets"
	"github.com/plrank/plrank/internal/atomicfile"
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
	for name, d := range map[string]*datasets.Dataset{"train": splits.Train, "vali": splits.Vali, "test": splits.Test} {
		letor, rows := filepath.Join(args[3], "letor", name+".txt"), filepath.Join(args[3], name+".f32")
		if err := os.MkdirAll(filepath.Dir(letor), 0o777); err != nil {
			return err
		}
		if err := atomicfile.Write(letor, func(w io.Writer) error { return datasets.WriteLETOR(w, d) }); err != nil {
			return err
		}
		if err := atomicfile.Write(rows, func(w io.Writer) error { return writeRows(w, d) }); err != nil {
			return err
		}
	}
	return nil
}

func writeRows(w io.Writer, d *datasets.Dataset) error {
	out := bufio.NewWriterSize(w, 1<<16)
	for row := range d.Labels {
		if err := binary.Write(out, binary.LittleEndian, d.Row(row)); err != nil {
			return err
		}
	}
	return out.Flush()
}
