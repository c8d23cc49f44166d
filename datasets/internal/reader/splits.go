package reader

import (
	"fmt"
	"path/filepath"
	"slices"
	"strings"
)

// Split is where a split comes from; the zero value means that there is none.
type Split struct {
	Path  string
	Files []string // Path alone, or several, for which it is only a name
}

// Splits are the training, validation and test splits.
type Splits [3]Split

// Source is where split i comes from: itself, or the training split.
func (s Splits) Source(i int) Split {
	if s[i].Path == "" {
		return s[0]
	}
	return s[i]
}

// isPattern reports whether the files are parts with a name in common.
func (s Split) isPattern() bool { return strings.HasSuffix(s.Path, "*") }

// endings are those that the name of a data file may have.
var endings = []string{"", ".txt", ".dat", ".data", ".svm", ".svmlight", ".libsvm", ".letor", ".csv", ".tsv", ".parquet"}

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
func splitOf(name string) (prefix string, split int) {
	lower := withoutCompression(strings.ToLower(name))
	for _, ending := range endings {
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

// fileSet is the files of splits with one prefix.
type fileSet struct {
	prefix string
	Splits
}

// splitSets finds the sets of files that have a training file.
func splitSets(folder string, names []string) ([]fileSet, error) {
	var sets []fileSet
	for _, name := range names {
		path := filepath.Join(folder, name)
		stem, isFolder := strings.CutSuffix(name, string(filepath.Separator))
		prefix, number := splitOf(stem)
		isPart := false
		if number < 0 && !isFolder {
			prefix, number = partOf(name)
			isPart = number >= 0
		}
		if number < 0 || isFolder && !holdsParts(path) {
			continue
		}
		i := slices.IndexFunc(sets, func(s fileSet) bool { return s.prefix == prefix })
		if i < 0 {
			i = len(sets)
			sets = append(sets, fileSet{prefix: prefix})
		}
		split := &sets[i].Splits[number]
		if isPart && (split.Path == "" || split.isPattern()) {
			split.Path = filepath.Join(folder, prefix+splitNames[number]+"*")
			split.Files = append(split.Files, path)
			continue
		}
		if split.Path != "" {
			return nil, fmt.Errorf("datasets: %s: both %s and %s could be the %s split: please name the files",
				folder, filepath.Base(split.Path), name, splitNames[number])
		}
		var err error
		if *split, err = SplitOf(path); err != nil {
			return nil, err
		}
	}
	for _, set := range sets {
		for _, split := range set.Splits {
			if !split.isPattern() {
				continue
			}
			if err := orderParts(split.Files); err != nil {
				return nil, err
			}
		}
	}
	return slices.DeleteFunc(sets, func(s fileSet) bool { return s.Splits[0].Path == "" }), nil
}
