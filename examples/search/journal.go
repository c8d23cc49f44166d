package main

import (
	"errors"
	"os"
	"path/filepath"
	"strconv"
	"time"
)

// A Journal appends lines to files of a folder. Lines that come while the disk is at work are written and synced together.
type Journal struct {
	folder, prefix string // of the newest file
	file           *os.File
	lines          chan waiting
}

type waiting struct {
	prefix string
	text   []byte
	done   chan error
}

func newJournal(folder string) (*Journal, error) {
	j := &Journal{folder: folder, lines: make(chan waiting, 1000)}
	go j.run()
	return j, os.MkdirAll(folder, 0o755)
}

// Add writes whole lines to a file whose name begins with the prefix. It returns when they are on the disk: then they survive
// whatever happens to the program.
func (j *Journal) Add(prefix string, text []byte) error {
	w := waiting{prefix, text, make(chan error, 1)}
	j.lines <- w
	return <-w.done
}

func (j *Journal) run() {
	for w := range j.lines {
		batch, text := []waiting{w}, w.text
		for len(j.lines) > 0 {
			more := <-j.lines
			batch, text = append(batch, more), append(text, more.text...)
		}
		err := j.write(w.prefix, text)
		for _, w := range batch {
			w.done <- err
		}
	}
}

// write begins a new file after a start and after an error, which may have left a part of a line.
func (j *Journal) write(prefix string, text []byte) (err error) {
	if j.file == nil || j.prefix != prefix {
		j.file.Close() // which is allowed of nil
		name := filepath.Join(j.folder, prefix+"-"+strconv.FormatInt(time.Now().UnixNano(), 36)+".jsonl")
		if j.file, err = os.OpenFile(name, os.O_CREATE|os.O_EXCL|os.O_WRONLY, 0o644); err != nil {
			return err
		}
		j.prefix = prefix
	}
	_, err = j.file.Write(text)
	if err = errors.Join(err, j.file.Sync()); err != nil {
		err = errors.Join(err, j.file.Close())
		j.file = nil
	}
	return err
}
