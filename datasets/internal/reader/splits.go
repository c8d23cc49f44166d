package reader

import (
	"fmt"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
)

// Split names the files of a split. The zero value means that there is none.
type Split struct {
	Path  string
	Files []string // Path alone, or several, for which it is only a name
}

// Splits are the training, validation and test splits.
type Splits [3]Split

// Source returns the split whose files have split i, which may be part of the training split.
func (s Splits) Source(i int) Split {
	if s[i].Path == "" {
		return s[0]
	}
	return s[i]
}

// isPattern reports whether the files are parts with a name in common.
func (s Split) isPattern() bool { return strings.HasSuffix(s.Path, "*") }

// Splits by number, as their files are named, and the words that name them.
var (
	splitNames = [3]string{"train", "vali", "test"}
	splitWords = [3][]string{
		{"train", "training", "trainingset"},
		{"vali", "valid", "validation", "validationset", "val", "dev"},
		{"test", "testing", "testset"},
	}
)

// splitName is the name of a file of a split, in lower case and not compressed: a prefix, the word of the split, the number of a part,
// such as 3-of-10 or part7, and an ending.
var splitName = regexp.MustCompile(`^(|.*[._ -])(` + strings.Join(slices.Concat(splitWords[:]...), "|") +
	`)([._-](?:part[._-]?)?\d+(?:-of-\d+)?)?(?:\.(?:txt|dat|data|svm|svmlight|libsvm|letor|csv|tsv|parquet))?$`)

// splitOf returns what comes before the word for a split in a file name, the split, −1 if there is none, and whether the file is a part.
func splitOf(name string) (prefix string, split int, isPart bool) {
	m := splitName.FindStringSubmatch(withoutCompression(strings.ToLower(name)))
	if m == nil {
		return "", -1, false
	}
	return m[1], slices.IndexFunc(splitWords[:], func(words []string) bool { return slices.Contains(words, m[2]) }), m[3] != ""
}

// fileSet holds the files of splits with one prefix.
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
		prefix, number, isPart := splitOf(stem)
		if number < 0 || isFolder && (isPart || !holdsParts(path)) {
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
