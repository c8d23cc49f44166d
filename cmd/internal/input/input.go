// Package input opens the data of the sub-commands: what all of them do with the flags of
// package source, a cache, and the warnings that reading gives.
package input

import (
	"context"
	"errors"
	"flag"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"runtime"
	"runtime/debug"

	"github.com/plrank/plrank/datasets"
	"github.com/plrank/plrank/internal/command"
	"github.com/plrank/plrank/internal/source"
)

// Cache is the value of -cache: a folder, UserCache or NoCache.
type Cache string

// Values of -cache that are no folders.
const (
	UserCache Cache = "user"
	NoCache   Cache = "off"
)

// Define defines the flag -cache.
func (c *Cache) Define(f *flag.FlagSet) {
	f.StringVar((*string)(c), "cache", string(*c), "`folder` for binary copies of what was read, which open several times sooner the next time: user is plrank in your cache folder, off is none")
}

// folder is the folder that the value stands for, "" if none. The default is not beside
// the data: what a user downloaded, or may only read, stays as it is.
func (c Cache) folder() string {
	switch c {
	case NoCache:
		return ""
	case UserCache:
		folder, err := os.UserCacheDir()
		if err != nil {
			return "" // a user without a home
		}
		return filepath.Join(folder, "plrank")
	}
	return string(c)
}

// Open opens the collection that the flags name. Of o it takes Seed, Folds, Unlabelled, and
// of Read the features that are wanted.
func Open(ctx context.Context, from *source.Source, cache Cache, o datasets.Options, stderr io.Writer) (*datasets.Splits, error) {
	o.Cache = cache.folder()
	splits, err := from.Open(ctx, o)
	if errors.Is(err, datasets.ErrFolds) {
		return nil, fmt.Errorf("%w (such as -fold 1)", err)
	}
	if err != nil {
		return nil, err
	}
	LimitGarbage()
	Warn(stderr, splits.Warnings()...)
	return splits, nil
}

// SingleFile tells whether the data are one file, without others for its splits.
func SingleFile(s *source.Source) bool {
	info, err := os.Stat(s.Data)
	return err == nil && !info.IsDir() && s.Vali == "" && s.Test == "" && s.Fold == 0
}

// Warn prints warnings.
func Warn(stderr io.Writer, warnings ...string) {
	for _, w := range warnings {
		fmt.Fprintln(stderr, "warning:", command.Printable(w))
	}
}

// How much garbage the collector leaves, in percent of the heap. Features hold no pointers, so a
// collection takes no longer beside many of them, and may come as often as beside few.
const (
	mostGarbage   = 40
	leastGarbage  = 4
	enoughGarbage = 64 << 20 // bytes, of which the percentage is between these
)

// garbageBeside is that percentage for a heap of so many bytes.
func garbageBeside(heap uint64) int {
	return int(min(mostGarbage, max(leastGarbage, 100*enoughGarbage/max(1, heap))))
}

// LimitGarbage sets the percentage for the heap as it is: when a command begins, and once the
// features are in memory.
func LimitGarbage() {
	var m runtime.MemStats
	runtime.ReadMemStats(&m)
	debug.SetGCPercent(garbageBeside(m.HeapAlloc))
}
