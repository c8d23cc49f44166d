package main

import (
	"bytes"
	"errors"
	"fmt"
	"io/fs"
	"log/slog"
	"os"
	"slices"
	"sync"
	"sync/atomic"
	"time"

	"github.com/plrank/plrank/ranker"
)

// A Live is the model of a file that may be replaced at any time, by this program or another one.
type Live struct {
	path    string
	current atomic.Pointer[ranker.Model] // nil: there is no file yet
	reading sync.Mutex
	tried   []byte // the content that was read last
}

// Model returns the model. A request calls it once.
func (l *Live) Model() *ranker.Model { return l.current.Load() }

// Reload reads the file if its content has changed. A file that cannot be used leaves the model as it is.
func (l *Live) Reload() error {
	l.reading.Lock()
	defer l.reading.Unlock()
	content, err := os.ReadFile(l.path)
	if errors.Is(err, fs.ErrNotExist) {
		return nil // the fusion ranks
	}
	if err != nil || bytes.Equal(content, l.tried) {
		return err
	}
	l.tried = content
	model, err := readModel(content)
	if err != nil {
		return fmt.Errorf("%s: %w", l.path, err)
	}
	l.current.Store(model)
	slog.Info("read model", "version", model.Digest())
	return nil
}

// readModel reads a model and tries it on two products. A panic becomes an error: a bad file must not close the shop.
func readModel(content []byte) (m *ranker.Model, err error) {
	defer func() {
		if r := recover(); r != nil {
			err = fmt.Errorf("panic: %v", r)
		}
	}()
	if m, err = ranker.Read(bytes.NewReader(content)); err != nil {
		return nil, err
	}
	if !slices.Equal(m.FeatureNames(), columns.FeatureNames) {
		return nil, fmt.Errorf("the features are %q, want %q", m.FeatureNames(), columns.FeatureNames)
	}
	_, err = byScore(m, make([]float32, 2*len(columns.FeatureIDs)))
	return m, err
}

// Watch reloads the file when it changes. It never returns.
func (l *Live) Watch() {
	for last := ""; ; time.Sleep(time.Second) {
		if err := l.Reload(); err != nil && err.Error() != last {
			slog.Error("the model stays as it is", "error", err)
			last = err.Error()
		}
	}
}
