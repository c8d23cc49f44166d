package files

import (
	"fmt"
	"path/filepath"
	"slices"
	"strings"
)

// fileSet is the files of splits with one prefix; see Splits.
type fileSet struct {
	prefix string
	paths  [3]string
	parts  [3][]string
}

// splitSets finds the sets of files that have a training file.
func (f Finder) splitSets(folder string, names []string) ([]fileSet, error) {
	var sets []fileSet
	for _, name := range names {
		stem, isFolder := strings.CutSuffix(name, string(filepath.Separator))
		prefix, split := f.splitOf(stem)
		isPart := false
		if split < 0 && !isFolder {
			prefix, split = f.partOf(name)
			isPart = split >= 0
		}
		if split < 0 || isFolder && !f.holdsParts(filepath.Join(folder, name)) {
			continue
		}
		i := slices.IndexFunc(sets, func(s fileSet) bool { return s.prefix == prefix })
		if i < 0 {
			i = len(sets)
			sets = append(sets, fileSet{prefix: prefix})
		}
		path, parts := &sets[i].paths[split], &sets[i].parts[split]
		if isPart && (*path == "" || *parts != nil && strings.HasSuffix(*path, "*")) {
			*path = filepath.Join(folder, prefix+splitNames[split]+"*")
			*parts = append(*parts, filepath.Join(folder, name))
			continue
		}
		if *path != "" {
			return nil, fmt.Errorf("datasets: %s: both %s and %s could be the %s split: please name the files",
				folder, filepath.Base(*path), name, splitNames[split])
		}
		*path = filepath.Join(folder, name)
		if isFolder {
			var err error
			if *parts, err = partsIn(*path); err != nil {
				return nil, err
			}
		}
	}
	for _, s := range sets {
		for _, parts := range s.parts {
			if err := orderParts(parts); err != nil {
				return nil, err
			}
		}
	}
	return slices.DeleteFunc(sets, func(s fileSet) bool { return s.paths[0] == "" }), nil
}
