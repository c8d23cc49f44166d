package datasets

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"reflect"
	"strings"

	"github.com/plrank/plrank/datasets/internal/reader"
	"github.com/plrank/plrank/datasets/internal/store"
)

// folderMode is the mode of a folder that is made for caches: nobody else can see the copies of
// data, which may come from a private folder. To share caches, make the folder yourself.
const folderMode fs.FileMode = 0o700

// A splitCache keeps the splits of files.
type splitCache struct {
	key    store.Key
	files  reader.Splits
	folder string // see Options.Cache
}

// open gives the splits from the cache, or else from read, for the next time. A cache that cannot be read or written costs a
// warning, no more.
func (c splitCache) open(read func() (splits, error)) (s splits, err error) {
	if err := c.key.Find(c.files); err != nil {
		return read() // whose error says more
	}
	path, warning := filepath.Join(c.folder, c.key.FileName()), ""
	if s, err = c.load(path); err == nil {
		return s, nil
	}
	if stopped := c.key.Read.Stopped(c.files[0].Path); stopped != nil {
		return s, stopped
	}
	if !errors.Is(err, fs.ErrNotExist) && !errors.Is(err, store.ErrStale) {
		warning = fmt.Sprintf("%s: the cache is built anew: %v", path, err)
	}
	if s, err = read(); err != nil {
		return s, err
	}
	now := c.key
	if err := now.Find(c.files); err == nil && reflect.DeepEqual(now, c.key) { // unless they changed meanwhile
		if err = os.MkdirAll(c.folder, folderMode); err == nil {
			err = store.Save(c.key.Read.Ctx(), path, c.key, s.lists())
		}
		if err != nil {
			warning = "no cache was written: " + strings.ReplaceAll(err.Error(), "\n", "; ")
		}
	}
	if err := c.key.Read.Stopped(c.files[0].Path); err != nil {
		return s, err
	}
	if warning != "" {
		s[0].Warnings = append(s[0].Warnings, warning)
	}
	return s, nil
}

// load maps a cache file and makes splits of it, whose numbers are read-only. It returns an
// error unless they are valid, whatever the bytes.
func (c splitCache) load(path string) (splits, error) {
	s := splits{{}, {}, {}}
	has, unmap, err := store.Load(c.key.Read.Ctx(), path, c.key, s.lists())
	if err != nil {
		return splits{}, err
	}
	if err := c.complete(&s, has); err != nil {
		unmap()
		return splits{}, err
	}
	return s, nil
}

// complete sets what is not in the file, for the splits that it has, and checks the whole.
func (c splitCache) complete(s *splits, has [3]bool) error {
	k := c.key
	if !has[0] || has[1] != (k.Roles[1] || k.HoldOut > 0 || k.Folds > 0) {
		return errors.New("a split is absent")
	}
	for i, d := range s {
		if !has[i] {
			s[i] = nil
			continue
		}
		from := c.files.Source(i)
		d.Name, d.origin.Path = from.Path, from.Path
		if d.origin.Starts != nil {
			d.origin.Parts = from.Files
		}
		d.Vectors.Values = s[0].Vectors.Values
		if err := d.Validate(); err != nil {
			return err
		}
		if n := len(d.origin.Starts); n != len(d.origin.Parts) {
			return fmt.Errorf("%d parts of %d files", n, len(d.origin.Parts))
		}
	}
	return nil
}

// lists are what a cache keeps of splits.
func (s splits) lists() (all store.Lists) {
	for i, d := range s {
		if d == nil {
			continue
		}
		vectors := &d.Vectors.Values
		if i > 0 { // all splits share them
			vectors = new([]float32)
		}
		all[i] = []any{
			&d.Features, &d.Sparse.Starts, &d.Sparse.Columns, &d.Sparse.Values, &d.Offsets, &d.FeatureIDs, &d.NumberLevels,
			&d.origin.Starts, &d.Vectors.Dimensions, &d.Vectors.Names, vectors,
			&d.Warnings, &d.FeatureNames, &d.GroupNames, &d.Levels, &d.LeftOut, &d.origin.LabelColumns, &d.Roles,
			&d.Products,
		}
		for _, c := range columns {
			all[i] = append(all[i], c.list(d))
		}
	}
	return all
}
