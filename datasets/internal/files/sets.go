package files

import (
	"fmt"
	"path/filepath"
	"slices"
	"strings"
)

// fileSet is the files of splits with one prefix.
type fileSet struct {
	prefix string
	files  Splits
}

// splitSets finds the sets of files that have a training file.
func (f Finder) splitSets(folder string, names []string) ([]fileSet, error) {
	var sets []fileSet
	for _, name := range names {
		stem, isFolder := strings.CutSuffix(name, string(filepath.Separator))
		prefix, split := f.splitOf(stem)
		isPart := false
		if split == "" && !isFolder {
			prefix, split = f.partOf(name)
			isPart = split != ""
		}
		if split == "" || isFolder && !f.holdsParts(filepath.Join(folder, name)) {
			continue
		}
		i := slices.IndexFunc(sets, func(s fileSet) bool { return s.prefix == prefix })
		if i < 0 {
			i = len(sets)
			sets = append(sets, fileSet{prefix: prefix})
		}
		file := map[string]*string{"train": &sets[i].files.Train, "vali": &sets[i].files.Vali, "test": &sets[i].files.Test}[split]
		parts := &sets[i].files.Parts[slices.Index([]string{"train", "vali", "test"}, split)]
		if isPart && (*file == "" || *parts != nil && strings.HasSuffix(*file, "*")) {
			*file = filepath.Join(folder, prefix+split+"*")
			*parts = append(*parts, filepath.Join(folder, name))
			continue
		}
		if *file != "" {
			return nil, fmt.Errorf("datasets: %s: both %s and %s could be the %s split: please name the files",
				folder, filepath.Base(*file), name, split)
		}
		*file = filepath.Join(folder, name)
		if isFolder {
			var err error
			if *parts, err = partsIn(*file); err != nil {
				return nil, err
			}
		}
	}
	for _, s := range sets {
		for _, parts := range s.files.Parts {
			if err := orderParts(parts); err != nil {
				return nil, err
			}
		}
	}
	return slices.DeleteFunc(sets, func(s fileSet) bool { return s.files.Train == "" }), nil
}
