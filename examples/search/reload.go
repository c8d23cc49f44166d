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
		return nil
	}
	if err != nil || bytes.Equal(content, l.tried) {
		return err
	}
	l.tried = content
	model, err := ranker.Read(bytes.NewReader(content))
	if err != nil {
		return fmt.Errorf("%s: %w", l.path, err)
	}
	if !slices.Equal(model.FeatureNames(), columns.FeatureNames) {
		return fmt.Errorf("%s: the features are %q, want %q", l.path, model.FeatureNames(), columns.FeatureNames)
	}
	l.current.Store(model)
	slog.Info("read model", "version", model.Digest())
	return nil
}

// Watch reloads the file when it changes. It never returns.
func (l *Live) Watch() {
	for range time.Tick(time.Second) {
		if err := l.Reload(); err != nil {
			slog.Error("the model stays as it is", "error", err)
		}
	}
}

// version names a model in the log.
func version(m *ranker.Model) string {
	if m == nil {
		return "bm25"
	}
	return m.Digest()
}
