package datasets

import (
	"cmp"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
)

// splitFiles are the paths of a collection's files; "" where there is none.
type splitFiles struct {
	train, vali, test string
	parts             [3][]string // of splits that are in several files, which the path only names
}

// all is the files in the order of Splits.
func (f splitFiles) all() [3]string { return [3]string{f.train, f.vali, f.test} }

// source is the file that split i comes from: its own, or that of the training split.
func (f splitFiles) source(i int) string { return cmp.Or(f.all()[i], f.train) }

// files are the files of split i.
func (f splitFiles) files(i int) []string {
	if f.parts[i] != nil {
		return f.parts[i]
	}
	return []string{f.all()[i]}
}

// sources are the files that split i comes from.
func (f splitFiles) sources(i int) []string {
	if f.all()[i] == "" {
		i = 0
	}
	return f.files(i)
}

// The words that name a split, and the endings a data file may have.
var (
	trainWords = []string{"train", "training", "trainingset"}
	valiWords  = []string{"vali", "valid", "validation", "validationset", "val", "dev"}
	testWords  = []string{"test", "testing", "testset"}
	endings    = []string{"", ".txt", ".dat", ".data", ".svm", ".svmlight", ".libsvm", ".letor", ".csv", ".tsv"}
)

// ErrFolds is the error of [Open] for a folder of folds, none of which is chosen.
var ErrFolds = errors.New("holds folds: please choose one")

// findFiles finds the files of the splits; see Open.
func findFiles(path string, fold int) (splitFiles, error) {
	folder, prefix := path, ""
	info, missing := os.Stat(path)
	if missing != nil {
		// DIR/set1 stands for DIR/set1.train.txt, DIR/set1.vali.txt and DIR/set1.test.txt.
		parent := filepath.Dir(path)
		if up, err := os.Stat(parent); err != nil || !up.IsDir() {
			return splitFiles{}, fmt.Errorf("datasets: %w", missing)
		}
		folder, prefix = parent, strings.ToLower(filepath.Base(path))
	} else if !info.IsDir() {
		if fold != 0 {
			return splitFiles{}, fmt.Errorf("datasets: %s is a file: it has no fold %d", path, fold)
		}
		return splitFiles{train: path}, nil
	}
	names, err := list(folder)
	if err != nil {
		return splitFiles{}, err
	}
	if prefix != "" { // what is wrong with other files of the folder is none of its business
		names = slices.DeleteFunc(names, func(name string) bool { return !strings.HasPrefix(strings.ToLower(name), prefix) })
	}
	sets, err := splitSets(folder, names)
	if err != nil {
		return splitFiles{}, err
	}
	if prefix != "" {
		sets = slices.DeleteFunc(sets, func(s fileSet) bool { return strings.TrimRight(s.prefix, "._-") != prefix })
		if len(sets) == 0 {
			return splitFiles{}, fmt.Errorf("datasets: %w", missing)
		}
	}
	folds := foldsOf(names)
	switch {
	case fold != 0:
		i := slices.IndexFunc(folds, func(f numbered) bool { return f.number == fold })
		if i < 0 {
			return splitFiles{}, fmt.Errorf("datasets: %s: no fold %d: looked for Fold%d, found %s", path, fold, fold, listNames(names))
		}
		return findFiles(filepath.Join(folder, folds[i].name), 0)
	case len(sets) == 1:
		return sets[0].files, nil
	case len(sets) > 1:
		var choices []string
		for _, s := range sets {
			choices = append(choices, filepath.Join(folder, strings.TrimRight(s.prefix, "._-")))
		}
		return splitFiles{}, fmt.Errorf("datasets: %s holds several sets: please choose one of %s", path, strings.Join(choices, ", "))
	case len(folds) > 0:
		return splitFiles{}, fmt.Errorf("datasets: %s %w (fold %d to %d), or a folder such as %s",
			path, ErrFolds, folds[0].number, folds[len(folds)-1].number, filepath.Join(path, folds[0].name))
	}
	if slices.ContainsFunc(names, sparkName.MatchString) {
		parts, err := partsIn(folder)
		return splitFiles{train: folder, parts: [3][]string{parts}}, err
	}
	// Some archives unpack to a single folder with the files (Istella: full, sample).
	if folders := slices.DeleteFunc(slices.Clone(names), func(n string) bool { return !strings.HasSuffix(n, string(filepath.Separator)) }); len(folders) == 1 {
		return findFiles(filepath.Join(folder, folders[0]), 0)
	}
	return splitFiles{}, fmt.Errorf("datasets: %s: no training file: looked for %s (with a prefix or an ending such as .txt, maybe compressed; or a folder, or parts such as train-0.txt), found %s",
		path, strings.Join(trainWords, ", "), listNames(names))
}

// Folds lists the folds of a collection: the numbers of the folders Fold1, Fold2,
// … in a folder, ascending; none for a file or a folder without folds.
func Folds(path string) ([]int, error) {
	info, err := os.Stat(path)
	if err != nil {
		return nil, fmt.Errorf("datasets: %w", err)
	}
	if !info.IsDir() {
		return nil, nil
	}
	names, err := list(path)
	if err != nil {
		return nil, err
	}
	var numbers []int
	for _, f := range foldsOf(names) {
		numbers = append(numbers, f.number)
	}
	return numbers, nil
}

// list is the names in a folder; those of folders end in a separator.
func list(folder string) ([]string, error) {
	entries, err := os.ReadDir(folder)
	if err != nil {
		return nil, fmt.Errorf("datasets: %w", err)
	}
	var names []string
	for _, e := range entries {
		name := e.Name()
		if info, err := os.Stat(filepath.Join(folder, name)); err == nil && info.IsDir() { // also through a link
			name += string(filepath.Separator)
		}
		names = append(names, name)
	}
	return names, nil
}

type numbered struct {
	number int
	name   string
}

// foldsOf are the folders named Fold1, fold_2, …, by number.
func foldsOf(names []string) []numbered {
	var folds []numbered
	for _, name := range names {
		stem, isFolder := strings.CutSuffix(name, string(filepath.Separator))
		digits, isFold := strings.CutPrefix(strings.ToLower(stem), "fold")
		n, err := strconv.Atoi(strings.TrimLeft(digits, " _-"))
		if isFolder && isFold && err == nil && n > 0 {
			folds = append(folds, numbered{n, stem})
		}
	}
	slices.SortFunc(folds, func(a, b numbered) int { return a.number - b.number })
	return folds
}

// fileSet is the files of splits with one prefix.
type fileSet struct {
	prefix string
	files  splitFiles
}

// splitSets finds the sets of files that have a training file.
func splitSets(folder string, names []string) ([]fileSet, error) {
	var sets []fileSet
	for _, name := range names {
		stem, isFolder := strings.CutSuffix(name, string(filepath.Separator))
		prefix, split := splitOf(stem)
		isPart := false
		if split == "" && !isFolder {
			prefix, split = partOf(name)
			isPart = split != ""
		}
		if split == "" || isFolder && !holdsParts(filepath.Join(folder, name)) {
			continue
		}
		i := slices.IndexFunc(sets, func(s fileSet) bool { return s.prefix == prefix })
		if i < 0 {
			i = len(sets)
			sets = append(sets, fileSet{prefix: prefix})
		}
		file := map[string]*string{"train": &sets[i].files.train, "vali": &sets[i].files.vali, "test": &sets[i].files.test}[split]
		parts := &sets[i].files.parts[slices.Index([]string{"train", "vali", "test"}, split)]
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
		for _, parts := range s.files.parts {
			if err := orderParts(parts); err != nil {
				return nil, err
			}
		}
	}
	return slices.DeleteFunc(sets, func(s fileSet) bool { return s.files.train == "" }), nil
}

// splitOf is the split ("train", "vali", "test" or none) that a file name
// stands for, and what comes before that word.
func splitOf(name string) (prefix, split string) {
	lower := withoutCompression(strings.ToLower(name))
	for _, ending := range endings {
		stem, ok := strings.CutSuffix(lower, ending)
		if !ok {
			continue
		}
		start := strings.LastIndexAny(stem, "._- ") + 1
		word := stem[start:]
		switch {
		case slices.Contains(trainWords, word):
			return lower[:start], "train"
		case slices.Contains(valiWords, word):
			return lower[:start], "vali"
		case slices.Contains(testWords, word):
			return lower[:start], "test"
		}
	}
	return "", ""
}

// listNames lists names for a message, quoted where there is something in them that does
// not print.
func listNames(names []string) string {
	const most = 12
	if len(names) == 0 {
		return "nothing"
	}
	var shown []string
	for _, name := range names[:min(len(names), most)] {
		if quoted := strconv.Quote(name); quoted != `"`+name+`"` {
			name = quoted
		}
		shown = append(shown, name)
	}
	list := strings.Join(shown, ", ")
	if len(names) > most {
		list += fmt.Sprintf(", … (%d in all)", len(names))
	}
	return list
}
