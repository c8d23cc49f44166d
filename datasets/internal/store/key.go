package store

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"errors"
	"io/fs"
	"os"
	"path/filepath"

	"github.com/plrank/plrank/datasets/internal/reader"
)

// Key is everything a cache depends on. A cache is fresh when its key is
// equal to the key of the files as they are now.
type Key struct {
	Format  int
	Sources []source
	Read    reader.Options
	Schema  bool    // the caller has found columns
	Roles   [3]bool // which splits have a file
	HoldOut float64 // 0: nothing is held out
	Seed    uint64
	Folds   int // 0: no folds of one file
	Fold    int

	Unlabelled   string
	FeaturesOnly bool
}

// source is a file as it is now. Its time and inode do not count: some file systems
// keep them when the content changes, others change them for a mere copy.
type source struct {
	Path string // absolute
	Size int64
	Hash string // of all bytes
	mode fs.FileMode
}

// format is raised where caches, or what is read of the same files, become others.
const format = 23

// Find completes the key with the files of the splits, and the files that belong to them.
func (k *Key) Find(splits reader.Splits) error {
	k.Format, k.Sources = format, nil
	for i, split := range splits {
		k.Roles[i] = split.Path != ""
		for _, file := range split.Files {
			paths := append([]string{file}, reader.BesideFiles(file)...)
			for _, v := range k.Read.Vectors {
				if i == 0 && v.File != "" {
					paths = append(append(paths, v.File), reader.BesideFiles(v.File)...)
				}
			}
			for _, path := range paths {
				s, err := newSource(k.Read.Ctx(), path)
				if errors.Is(err, fs.ErrNotExist) && path != file {
					continue
				}
				if err != nil {
					return err
				}
				k.Sources = append(k.Sources, s)
			}
		}
	}
	return nil
}

func newSource(ctx context.Context, path string) (s source, err error) {
	if s.Path, err = filepath.Abs(path); err != nil {
		return s, err
	}
	info, err := os.Stat(path)
	if err != nil {
		return s, err
	}
	if !info.Mode().IsRegular() {
		return s, errors.New("not a regular file") // a pipe can be read once
	}
	f, err := os.Open(path)
	if err != nil {
		return s, err
	}
	defer f.Close()
	s.Size, s.mode = info.Size(), info.Mode().Perm()
	s.Hash, err = DigestFile(ctx, f, s.Size)
	return s, err
}

func (k *Key) text() string {
	text, err := json.Marshal(k)
	if err != nil {
		panic(err) // plain fields only
	}
	return string(text)
}

// FileName returns the name of the cache. It depends on what is opened and how, but not on the state of the
// sources: a stale cache is replaced by its successor.
func (k *Key) FileName() string {
	lasting := *k
	lasting.Sources = nil
	for _, s := range k.Sources {
		lasting.Sources = append(lasting.Sources, source{Path: s.Path})
	}
	sum := sha256.Sum256([]byte(lasting.text()))
	return ".plrank-" + hex.EncodeToString(sum[:8]) + ".cache"
}

// permissions returns the permissions that all sources have: nobody may read a copy of data who cannot read the data.
func (k *Key) permissions() fs.FileMode {
	mode := fs.FileMode(0o666)
	for _, s := range k.Sources {
		mode &= s.mode | 0o600
	}
	return mode
}
