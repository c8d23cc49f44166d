package main

import (
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"

	"github.com/plrank/plrank/internal/file"
)

// What the folder of -out has.
const (
	dataFile    = "data.json"
	trialFolder = "trials"
)

func writeJSON(path string, v any) error {
	err := file.Write(path, func(w io.Writer) error {
		enc := json.NewEncoder(w)
		enc.SetIndent("", " ")
		enc.SetEscapeHTML(false)
		return enc.Encode(v)
	})
	if err != nil {
		return fmt.Errorf("reproduce: %w", err)
	}
	return nil
}

// readJSON reports whether there is such a file.
func readJSON(path string, v any) (found bool, err error) {
	data, err := os.ReadFile(path)
	if errors.Is(err, fs.ErrNotExist) {
		return false, nil
	}
	if err == nil {
		err = json.Unmarshal(data, v)
	}
	if err != nil {
		return true, fmt.Errorf("reproduce: %s: %w", path, err)
	}
	return true, nil
}

// writeText writes a file in the place of one that was there.
func writeText(path, text string) error {
	err := file.Write(path, func(w io.Writer) error {
		_, err := io.WriteString(w, text)
		return err
	})
	if err != nil {
		return fmt.Errorf("reproduce: %w", err)
	}
	return nil
}
