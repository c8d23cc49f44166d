package main

import (
	"context"
	"fmt"
	"io"
	"os"
	"path/filepath"
)

// A session is one call of the command.
type session struct {
	*options
	command string   // the subcommand
	args    []string // the command line
	data    *collection
	leftOut []string // what is not run, and why

	stdout, stderr io.Writer
}

// open reads the data and makes the folder of -out, which may hold what an earlier
// call with the same data left.
func (s *session) open(ctx context.Context) error {
	if s.data != nil {
		return nil // by subcommand all
	}
	var err error
	if s.data, err = openCollection(ctx, s.options, s.stderr); err != nil {
		return err
	}
	return s.openFolder()
}

// openFolder makes the folder of -out for the data.
func (s *session) openFolder() error {
	if s.out == "" {
		s.out = filepath.Join("reproduce", s.data.ID.Name)
	}
	if err := os.MkdirAll(filepath.Join(s.out, trialFolder), 0o755); err != nil {
		return fmt.Errorf("reproduce: %w", err)
	}
	was := identity{}
	switch found, err := readJSON(s.file(dataFile), &was); {
	case err != nil:
		return err
	case !found:
		return writeJSON(s.file(dataFile), s.data.ID)
	case was != s.data.ID:
		return fmt.Errorf("reproduce: %s has results of other data, %v instead of %v: choose another folder with -out", s.out, was, s.data.ID)
	}
	return nil
}

const (
	dataFile    = "data.json"
	trialFolder = "trials"
)

// file is the path of a file of the folder of -out.
func (s *session) file(name string) string { return filepath.Join(s.out, name) }
