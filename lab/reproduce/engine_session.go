package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"

	"github.com/plrank/plrank/internal/file"
)

// A session is one call of the command.
type session struct {
	*options
	command  string   // the subcommand
	args     []string // the command line
	data     *collection
	chapters []chapter  // of its report
	leftOut  []string   // what is not run, and why
	lock     *file.Lock // of the folder of -out; nil: none

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
	if err := s.hold(); err != nil {
		return err
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

// hold keeps other calls out of the folder until release.
func (s *session) hold() error {
	lock, err := file.TakeLock(s.file(".lock"))
	var held *file.LockHeldError
	switch {
	case errors.As(err, &held):
		return fmt.Errorf(
			"reproduce: another call is at work in %s: %s: wait until it has ended, or name another folder with -out",
			s.out,
			held.Owner,
		)
	case errors.Is(err, file.ErrNoLocks):
		fmt.Fprintf(s.stderr, "warning: %s: %v: start no other call in it before this one has ended\n", s.out, err)
	case err != nil:
		return fmt.Errorf("reproduce: %w", err)
	}
	s.lock = lock
	return nil
}

// release lets other calls into the folder of -out.
func (s *session) release() {
	if s.lock != nil {
		s.lock.Release()
	}
}

// file is the path of a file of the folder of -out.
func (s *session) file(name string) string { return filepath.Join(s.out, name) }
