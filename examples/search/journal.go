package main

import (
	"bytes"
	"errors"
	"os"
	"path/filepath"
	"strconv"
	"time"
)

// A Journal appends lines to files of a folder. Lines that come while the disk is at work are written and synced together.
type Journal struct {
	folder string
	prefix func() string // of the names of files: a new one begins a new file
	file   *os.File      // the newest
	begins string        // its prefix
	size   int64         // of its lines, which are on the disk
	lines  chan waiting
}

type waiting struct {
	text []byte
	done chan error
}

func newJournal(folder string, prefix func() string) (*Journal, error) {
	j := &Journal{folder: folder, prefix: prefix, lines: make(chan waiting, 1000)}
	go j.run()
	return j, os.MkdirAll(folder, 0o755)
}

// Add writes whole lines, and returns when they are on the disk: they survive the end of the program and of the machine.
func (j *Journal) Add(text []byte) error {
	w := waiting{text, make(chan error, 1)}
	j.lines <- w
	return <-w.done
}

func (j *Journal) run() {
	for w := range j.lines {
		batch, text := []waiting{w}, bytes.Clone(w.text)
		for ; len(j.lines) > 0; text = append(text, batch[len(batch)-1].text...) {
			batch = append(batch, <-j.lines)
		}
		err := j.write(j.prefix(), text)
		for _, w := range batch {
			w.done <- err
		}
	}
}

// write takes back lines after an error, since users do not see what they say. If it cannot, a new file begins.
func (j *Journal) write(prefix string, text []byte) (err error) {
	if j.file == nil || j.begins != prefix {
		j.file.Close() // which is allowed of nil
		name := filepath.Join(j.folder, prefix+"-"+strconv.FormatInt(time.Now().UnixNano(), 36)+".jsonl")
		if j.file, err = os.OpenFile(name, os.O_CREATE|os.O_EXCL|os.O_WRONLY|os.O_APPEND, 0o644); err != nil {
			return err
		}
		j.begins, j.size, err = prefix, 0, syncFolder(j.folder)
	}
	_, failed := j.file.Write(text)
	if err = errors.Join(err, failed, j.file.Sync()); err == nil {
		j.size += int64(len(text))
	} else if j.file.Truncate(j.size) != nil {
		j.begins = "" // of the next file
	}
	return err
}
