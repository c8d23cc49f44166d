// Package cache keeps splits as they are in memory in files, which are mapped when the same
// splits are opened again.
package cache

import (
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"github.com/plrank/plrank/datasets/internal/files"
	"github.com/plrank/plrank/datasets/internal/table"
	"github.com/plrank/plrank/internal/atomicfile"
	"github.com/plrank/plrank/internal/mapped"
)

// Auto stands for the folder of the data, or, if that cannot be written, for the user's
// cache folder.
const Auto = "auto"

// folderMode is that of a folder which is made for caches: it lets nobody see copies of
// data that may lie in a folder of such a kind. Who wants to share caches makes one.
const folderMode fs.FileMode = 0o700

// Splits are the training, the validation and the test split; nil if there is none.
type Splits [3]*table.Data

// onDisk tells whether features are not in memory.
func (s Splits) onDisk() bool {
	return slices.ContainsFunc(s[:], func(d *table.Data) bool { return d != nil && d.Unmap != nil })
}

// free gives up the features that are not in memory.
func (s Splits) free() {
	for _, d := range s {
		if d != nil && d.Unmap != nil {
			d.Unmap()
		}
	}
}

// paths are the paths that a cache may have, the preferred one first.
func paths(folder, name string, of files.Splits) []string {
	if folder != Auto {
		return []string{filepath.Join(folder, name)}
	}
	paths := []string{filepath.Join(filepath.Dir(of.Train), name)}
	if user, err := os.UserCacheDir(); err == nil {
		paths = append(paths, filepath.Join(user, "plrank", name))
	}
	return paths
}

// Open gives the splits of files: from a cache in a folder, or else from read, for the
// next time. Read may leave features in files in a folder of scratch, if it is given one.
// A cache that cannot be read or written costs a warning, no more.
func Open(folder string, key Key, of files.Splits, read func(scratch string) (Splits, error)) (s Splits, err error) {
	if err := key.find(of); err != nil {
		return read("") // whose error says more
	}
	places := paths(folder, key.fileName(), of)
	var warnings []string
	for _, path := range places {
		s, err := load(key.Read.Ctx(), path, key.text(), of)
		if err == nil {
			return s, nil
		}
		if stopped := key.Read.Stopped(of.Train); stopped != nil {
			return s, stopped
		}
		if !errors.Is(err, fs.ErrNotExist) && !errors.Is(err, errStale) {
			warnings = append(warnings, fmt.Sprintf("%s: the cache is built anew: %v", path, err))
		}
	}
	scratch := filepath.Dir(places[len(places)-1])
	if err := os.MkdirAll(scratch, folderMode); err != nil {
		scratch = ""
	}
	s, err = read(scratch)
	defer s.free()
	if err != nil {
		return s, err
	}
	now := key
	if err := now.find(of); err == nil && now.text() == key.text() { // unless they changed meanwhile
		if s, err = keep(places, folder, key, s, of); err != nil {
			warnings = append(warnings, "no cache was written: "+strings.ReplaceAll(err.Error(), "\n", "; "))
		}
	}
	if err := key.Read.Stopped(of.Train); err != nil {
		return s, err
	}
	for _, d := range s {
		if d != nil && d.Unmap != nil {
			d.Features = slices.Clone(d.Features)
		}
	}
	s[0].Warnings = append(s[0].Warnings, warnings...)
	return s, nil
}

// keep writes the splits to the first place that can be written. If features are not in
// memory, it gives the splits as they are in the cache.
func keep(places []string, folder string, key Key, s Splits, of files.Splits) (Splits, error) {
	var failed error
	for i, path := range places {
		var err error
		if folder != Auto || i > 0 {
			err = os.MkdirAll(filepath.Dir(path), folderMode)
		}
		if err == nil {
			err = save(key.Read.Ctx(), path, key.text(), key.permissions(), s, of)
		}
		kept := s
		if err == nil && s.onDisk() {
			kept, err = load(key.Read.Ctx(), path, key.text(), of)
		}
		if err == nil {
			return kept, nil
		}
		failed = errors.Join(failed, err)
	}
	return s, failed
}

// load maps a cache file and makes splits of it, whose numbers are
// read-only. Every byte is checked before it is used.
func load(ctx context.Context, path, key string, of files.Splits) (s Splits, err error) {
	b, err := mapped.Open(path)
	if err != nil {
		return s, err
	}
	if s, err = Decode(ctx, b, key); err != nil {
		mapped.Close(b)
		return s, err
	}
	for i, d := range s {
		if d != nil {
			d.Path = of.Source(i)
			d.Name = d.Path + d.Name
			for j, path := range of.Sources(i) {
				if len(d.Parts) > j {
					d.Parts[j].Path = path
				}
			}
		}
	}
	return s, nil
}

// save writes a cache file. A machine that goes down may leave one with bytes that
// were never written; its checksums tell. It gets no permissions but those of most.
func save(ctx context.Context, path, key string, most fs.FileMode, s Splits, of files.Splits) error {
	const abandoned = time.Hour // since the last byte: whoever wrote it is gone
	for _, left := range atomicfile.Leftovers(path) {
		if info, err := os.Stat(left); err == nil && time.Since(info.ModTime()) > abandoned {
			os.Remove(left)
		}
	}
	return atomicfile.WriteUnsynced(path, most, func(w io.Writer) error { return Encode(ctx, w, key, s, of) })
}
