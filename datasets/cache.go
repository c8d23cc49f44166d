package datasets

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"github.com/plrank/plrank/internal/atomicfile"
	"github.com/plrank/plrank/internal/mapped"
	par "github.com/plrank/plrank/internal/parallel"
)

// CacheAuto as Options.Cache puts the cache beside the data, or, where that
// folder cannot be written, in the user's cache folder.
const CacheAuto = "auto"

// cacheKey is everything a cache depends on. A cache is fresh when its key is
// equal to that of the files as they are now.
type cacheKey struct {
	Format  int
	Sources []cacheSource
	Read    ReadOptions
	Roles   [3]bool // which splits have a file
	HoldOut float64 // 0: nothing is held out
	Seed    uint64
	Folds   int // 0: no folds of one file
	Fold    int

	Unlabelled string
}

// cacheSource is a file as it is now. Neither times nor inodes are asked for: some file
// systems keep them where the content has changed, others change them for a mere copy.
type cacheSource struct {
	Path string // absolute
	Size int64
	Hash string // of all bytes
}

const cacheFormat = 5

// newCacheKey looks at the files of the splits, and at those beside them.
func newCacheKey(files splitFiles, holdOut float64, o Options) (*cacheKey, error) {
	k := &cacheKey{Format: cacheFormat, Read: o.Read, Unlabelled: o.Unlabelled}
	switch {
	case o.Folds > 0:
		k.Folds, k.Fold, k.Seed = o.Folds, o.Fold, o.Seed
	case files.vali == "":
		k.HoldOut, k.Seed = holdOut, o.Seed
	}
	for i, file := range files.all() {
		if file == "" {
			continue
		}
		k.Roles[i] = true
		for _, file := range files.files(i) {
			if err := k.addFile(file, i == 0); err != nil {
				return nil, err
			}
		}
	}
	return k, nil
}

// addFile adds a file of data and those beside it.
func (k *cacheKey) addFile(file string, training bool) error {
	paths := slices.Concat([]string{file, groupsPath(file), weightPath(file)}, sizePaths(file), unusedPaths(file))
	if training && k.Read.Groups != "" {
		paths = append(paths, k.Read.Groups)
	}
	for _, path := range paths {
		source, err := newCacheSource(k.Read.context(), path)
		if errors.Is(err, fs.ErrNotExist) && path != file {
			continue
		}
		if err != nil {
			return err
		}
		k.Sources = append(k.Sources, source)
	}
	return nil
}

func newCacheSource(ctx context.Context, path string) (s cacheSource, err error) {
	if s.Path, err = filepath.Abs(path); err != nil {
		return s, err
	}
	info, err := os.Stat(path)
	if err != nil {
		return s, err
	}
	if !info.Mode().IsRegular() {
		return s, errNotRegular // a pipe can be read once
	}
	f, err := os.Open(path)
	if err != nil {
		return s, err
	}
	defer f.Close()
	s.Size = info.Size()
	s.Hash, err = hashFile(ctx, f, s.Size)
	return s, err
}

var errNotRegular = errors.New("not a regular file")

// hashFile reads all of a file, on all cores, for two checksums of each block: at the speed
// of reading, where SHA-256 would take several times as long.
func hashFile(ctx context.Context, f *os.File, size int64) (string, error) {
	n := int((size + hashBlock - 1) / hashBlock)
	sums := make([]uint64, n)
	workers := par.Workers(n)
	blocks := make([]byte, workers*hashBlock)
	err := par.Each(n, workers, func(worker, i int) error {
		if err := ctx.Err(); err != nil {
			return err
		}
		from := int64(i) * hashBlock
		block := blocks[worker*hashBlock:][:min(hashBlock, size-from)]
		if _, err := f.ReadAt(block, from); err != nil {
			return err
		}
		sums[i] = checksums(block)
		return nil
	})
	return hashOf(sums).String(), err
}

func (k *cacheKey) text() string {
	text, err := json.Marshal(k)
	if err != nil {
		panic(err) // plain fields only
	}
	return string(text)
}

// fileName depends on what is opened and how, but not on the state of the
// sources: a stale cache is replaced by its successor.
func (k *cacheKey) fileName() string {
	lasting := *k
	lasting.Sources = nil
	for _, s := range k.Sources {
		lasting.Sources = append(lasting.Sources, cacheSource{Path: s.Path})
	}
	sum := sha256.Sum256([]byte(lasting.text()))
	return ".plrank-" + hex.EncodeToString(sum[:8]) + ".cache"
}

// permissions are those that the files of all sources have: a copy of data is not for those
// who cannot read the data.
func (k *cacheKey) permissions() fs.FileMode {
	mode := fs.FileMode(0o666)
	for _, s := range k.Sources {
		of := fs.FileMode(0)
		if info, err := os.Stat(s.Path); err == nil {
			of = info.Mode().Perm()
		}
		mode &= of | 0o600
	}
	return mode
}

// cacheFolderMode is that of a folder which is made for caches: it lets nobody see copies of
// data that may lie in a folder of such a kind. Who wants to share caches makes one.
const cacheFolderMode fs.FileMode = 0o700

// cachePaths are where a cache may lie, the preferred place first.
func cachePaths(cache, name string, files splitFiles) []string {
	if cache != CacheAuto {
		return []string{filepath.Join(cache, name)}
	}
	paths := []string{filepath.Join(filepath.Dir(files.train), name)}
	if user, err := os.UserCacheDir(); err == nil {
		paths = append(paths, filepath.Join(user, "plrank", name))
	}
	return paths
}

// errStale says that a cache is whole but belongs to another state of the files.
var errStale = errors.New("the cache is stale")

// openCached is open with a cache before it. A cache that cannot be read or
// written costs a warning, no more.
func openCached(files splitFiles, known *collection, holdOut float64, o Options) (*Splits, error) {
	key, err := newCacheKey(files, holdOut, o)
	if err != nil {
		return open(files, known, holdOut, o, "") // whose error says more
	}
	paths := cachePaths(o.Cache, key.fileName(), files)
	var warnings []string
	for _, path := range paths {
		s, err := loadCache(o.Read.context(), path, key.text(), files)
		if err == nil {
			return s, nil
		}
		if stopped := o.Read.stopped(files.train); stopped != nil {
			return nil, stopped
		}
		if !errors.Is(err, fs.ErrNotExist) && !errors.Is(err, errStale) {
			warnings = append(warnings, fmt.Sprintf("%s: the cache is built anew: %v", path, err))
		}
	}
	scratch := filepath.Dir(paths[len(paths)-1])
	if err := os.MkdirAll(scratch, cacheFolderMode); err != nil {
		scratch = ""
	}
	s, err := open(files, known, holdOut, o, scratch)
	if err != nil {
		return nil, err
	}
	defer s.free()
	if now, err := newCacheKey(files, holdOut, o); err == nil && now.text() == key.text() { // unless they changed meanwhile
		var failed error
		for i, path := range paths {
			if o.Cache != CacheAuto || i > 0 {
				err = os.MkdirAll(filepath.Dir(path), cacheFolderMode)
			}
			if err == nil {
				err = saveCache(o.Read.context(), path, key.text(), key.permissions(), s, files)
			}
			if err == nil && len(s.onDisk()) > 0 {
				var mapped *Splits
				if mapped, err = loadCache(o.Read.context(), path, key.text(), files); err == nil {
					mapped.Train.Warnings = append(mapped.Train.Warnings, warnings...)
					return mapped, nil
				}
			}
			if err == nil {
				failed = nil
				break
			}
			failed = errors.Join(failed, err)
		}
		if failed != nil {
			warnings = append(warnings, fmt.Sprintf("no cache was written: %v", oneLine(failed)))
		}
	}
	if err := o.Read.stopped(files.train); err != nil {
		return nil, err
	}
	s.gather()
	s.Train.Warnings = append(s.Train.Warnings, warnings...)
	return s, nil
}

// loadCache maps a cache file and makes splits of it, whose numbers are
// read-only. Every byte is checked before it is used.
func loadCache(ctx context.Context, path, key string, files splitFiles) (*Splits, error) {
	b, err := mapped.Open(path)
	if err != nil {
		return nil, err
	}
	s, err := decodeCache(ctx, b, key)
	if err != nil {
		mapped.Close(b)
		return nil, err
	}
	for i, d := range s.all() {
		if d != nil {
			d.path = files.source(i)
			d.Name = d.path + d.Name
			for j, path := range files.sources(i) {
				if len(d.parts) > j {
					d.parts[j].path = path
				}
			}
		}
	}
	return s, nil
}

// saveCache writes a cache file. A machine that goes down may leave one with bytes that
// were never written; its checksums tell. It gets no permissions but those of most.
func saveCache(ctx context.Context, path, key string, most fs.FileMode, s *Splits, files splitFiles) error {
	const abandoned = time.Hour // since the last byte: whoever wrote it is gone
	for _, left := range atomicfile.Leftovers(path) {
		if info, err := os.Stat(left); err == nil && time.Since(info.ModTime()) > abandoned {
			os.Remove(left)
		}
	}
	return atomicfile.WriteUnsynced(path, most, func(w io.Writer) error { return encodeCache(stoppable{ctx, w}, key, s, files) })
}

// stoppable is a writer that fails once its context is done.
type stoppable struct {
	ctx context.Context
	io.Writer
}

func (s stoppable) Write(b []byte) (int, error) {
	const most = 1 << 24 // bytes at once
	n := 0
	for len(b) > 0 {
		if err := s.ctx.Err(); err != nil {
			return n, err
		}
		written, err := s.Writer.Write(b[:min(most, len(b))])
		if n += written; err != nil {
			return n, err
		}
		b = b[written:]
	}
	return n, nil
}

// oneLine is the text of an error without line breaks.
func oneLine(err error) string { return strings.ReplaceAll(err.Error(), "\n", "; ") }
