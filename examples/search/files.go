package main

import (
	"encoding/csv"
	"fmt"
	"os"
	"path/filepath"
	"strconv"
	"strings"

	"gonum.org/v1/gonum/floats"
)

// writeFile writes a file in the place of any that was there. An error leaves the old one. Without an error the new one is
// complete and on the disk, and stays there if the machine goes down.
func writeFile(path string, text []byte) error {
	part := path + ".part"
	f, err := os.OpenFile(part, os.O_CREATE|os.O_WRONLY|os.O_TRUNC, 0o644)
	if err != nil {
		return err
	}
	_, err = f.Write(text)
	if err == nil {
		err = f.Sync() // a disk may say only here that it is full
	}
	if closed := f.Close(); err == nil {
		err = closed
	}
	if err == nil {
		err = os.Rename(part, path)
	}
	if err != nil {
		os.Remove(part)
		return err
	}
	return syncFolder(filepath.Dir(path))
}

// syncFolder puts the names of new files of a folder on the disk.
func syncFolder(folder string) error {
	f, err := os.Open(folder)
	if err != nil {
		return err
	}
	defer f.Close()
	return f.Sync()
}

// readVectors reads CSV without a header: the id of a product, or the text of a query in small letters, and the numbers of its vector.
// Queries that it lacks are searched by words alone.
func readVectors(path string) (*Vectors, error) {
	f, err := os.Open(path)
	if err != nil {
		return nil, err
	}
	defer f.Close()
	rows, err := csv.NewReader(f).ReadAll() // which wants as many columns in every row
	if err != nil {
		return nil, fmt.Errorf("%s: %w", path, err)
	}
	byKey := map[string][]float64{}
	for i, row := range rows {
		vector := make([]float64, len(row)-1)
		for d, text := range row[1:] {
			if vector[d], err = strconv.ParseFloat(text, 64); err != nil {
				return nil, fmt.Errorf("%s:%d: %w", path, i+1, err)
			}
		}
		if length := floats.Norm(vector, 2); length-length != 0 {
			return nil, fmt.Errorf("%s:%d: want finite numbers", path, i+1)
		}
		if _, twice := byKey[row[0]]; twice {
			return nil, fmt.Errorf("%s:%d: %q has two vectors", path, i+1, row[0])
		}
		byKey[row[0]] = unit(vector)
	}
	if len(byKey) == 0 {
		return nil, fmt.Errorf("%s: no vectors", path)
	}
	return &Vectors{byKey, func(text string) []float64 { return byKey[strings.Join(strings.Fields(strings.ToLower(text)), " ")] }}, nil
}
