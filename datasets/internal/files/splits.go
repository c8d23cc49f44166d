package files

import (
	"cmp"
	"fmt"
	"path/filepath"
	"slices"
	"strings"
)

// Splits are the paths of a collection's files; "" if there is none.
type Splits struct {
	Train, Vali, Test string
	Parts             [3][]string // the files of splits that are in several; the path is then only a name
}

// All is the files in the order of Splits.
func (f Splits) All() [3]string { return [3]string{f.Train, f.Vali, f.Test} }

// Source is the file that split i comes from: its own, or that of the training split.
func (f Splits) Source(i int) string { return cmp.Or(f.All()[i], f.Train) }

// Files are the files of split i.
func (f Splits) Files(i int) []string {
	if f.Parts[i] != nil {
		return f.Parts[i]
	}
	return []string{f.All()[i]}
}

// Sources are the files that split i comes from.
func (f Splits) Sources(i int) []string {
	if f.All()[i] == "" {
		i = 0
	}
	return f.Files(i)
}

// Finder finds files by their names.
type Finder struct {
	Endings []string // that a data file may have, among them none
}

// Splits by number, as their files are named, and the words that name them.
var (
	splitNames = [3]string{"train", "vali", "test"}
	splitWords = [3][]string{
		{"train", "training", "trainingset"},
		{"vali", "valid", "validation", "validationset", "val", "dev"},
		{"test", "testing", "testset"},
	}
)

// splitOf is the split that a file name stands for, −1 for none, and what comes before the
// word that names it.
func (f Finder) splitOf(name string) (prefix string, split int) {
	lower := withoutCompression(strings.ToLower(name))
	for _, ending := range f.Endings {
		stem, ok := strings.CutSuffix(lower, ending)
		if !ok {
			continue
		}
		start := strings.LastIndexAny(stem, "._- ") + 1
		for split, words := range splitWords {
			if slices.Contains(words, stem[start:]) {
				return lower[:start], split
			}
		}
	}
	return "", -1
}

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
