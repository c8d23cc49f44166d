package reader

import (
	"errors"
	"fmt"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"

	"github.com/plrank/plrank/internal/text"
)

// ErrFolds is returned for a folder of folds if none is chosen.
var ErrFolds = errors.New("holds folds: please choose one")

// FindSplits finds the files of the splits; see datasets.Open.
func FindSplits(path string, fold int) (Splits, error) {
	folder, prefix := path, ""
	info, missing := os.Stat(path)
	switch {
	case missing != nil:
		// DIR/set1 stands for DIR/set1.train.txt, DIR/set1.vali.txt and DIR/set1.test.txt.
		folder, prefix = filepath.Dir(path), strings.ToLower(filepath.Base(path))
		if up, err := os.Stat(folder); err != nil || !up.IsDir() {
			return Splits{}, fmt.Errorf("datasets: %w", missing)
		}
	case info.IsDir():
	case fold != 0:
		return Splits{}, fmt.Errorf("datasets: %s is a file: it has no fold %d", path, fold)
	default:
		return Splits{{path, []string{path}}}, nil
	}
	names, err := listFolder(folder)
	if err != nil {
		return Splits{}, err
	}
	if prefix != "" { // other files of the folder may be wrong
		names = slices.DeleteFunc(names, func(name string) bool { return !strings.HasPrefix(strings.ToLower(name), prefix) })
	}
	sets, err := splitSets(folder, names)
	if err != nil {
		return Splits{}, err
	}
	if prefix != "" {
		sets = slices.DeleteFunc(sets, func(s fileSet) bool { return strings.TrimRight(s.prefix, "._-") != prefix })
		if len(sets) == 0 {
			return Splits{}, fmt.Errorf("datasets: %w", missing)
		}
	}
	return chooseSplits(path, folder, names, sets, fold)
}

// chooseSplits chooses the files of a fold among the names in a folder; if the fold is 0, the files of
// the only set, or of the only folder.
func chooseSplits(path, folder string, names []string, sets []fileSet, fold int) (Splits, error) {
	folds := foldsOf(names)
	switch {
	case fold != 0:
		name, found := folds[fold]
		if !found {
			return Splits{}, fmt.Errorf("datasets: %s: no fold %d: looked for Fold%d, found %s", path, fold, fold, text.List(names))
		}
		return FindSplits(filepath.Join(folder, name), 0)
	case len(sets) == 1:
		return sets[0].Splits, nil
	case len(sets) > 1:
		var choices []string
		for _, s := range sets {
			choices = append(choices, filepath.Join(folder, strings.TrimRight(s.prefix, "._-")))
		}
		return Splits{}, fmt.Errorf("datasets: %s holds several sets: please choose one of %s", path, strings.Join(choices, ", "))
	case len(folds) > 0:
		numbers := slices.Sorted(maps.Keys(folds))
		return Splits{}, fmt.Errorf("datasets: %s %w (fold %d to %d), or a folder such as %s",
			path, ErrFolds, numbers[0], numbers[len(numbers)-1], filepath.Join(path, folds[numbers[0]]))
	}
	if slices.ContainsFunc(names, sparkName.MatchString) {
		parts, err := SplitOf(folder)
		return Splits{parts}, err
	}
	// Some archives unpack to a single folder with the files (Istella: full, sample).
	isFile := func(name string) bool { return !strings.HasSuffix(name, string(filepath.Separator)) }
	if folders := slices.DeleteFunc(slices.Clone(names), isFile); len(folders) == 1 {
		return FindSplits(filepath.Join(folder, folders[0]), 0)
	}
	return Splits{}, fmt.Errorf("datasets: %s: no training file: looked for %s (with a prefix or an ending such as .txt, maybe "+
		"compressed; or a folder, or parts such as train-0.txt), found %s",
		path, strings.Join(splitWords[0], ", "), text.List(names))
}

// FoldsIn lists the folds of a collection: the numbers of the folders Fold1, Fold2,
// … in a folder, ascending; none for a file or a folder without folds.
func FoldsIn(path string) ([]int, error) {
	info, err := os.Stat(path)
	if err != nil {
		return nil, fmt.Errorf("datasets: %w", err)
	}
	if !info.IsDir() {
		return nil, nil
	}
	names, err := listFolder(path)
	return slices.Sorted(maps.Keys(foldsOf(names))), err
}

// foldsOf returns the folders named Fold1, fold_2, …, by number.
func foldsOf(names []string) map[int]string {
	folds := map[int]string{}
	for _, name := range names {
		stem, isFolder := strings.CutSuffix(name, string(filepath.Separator))
		digits, isFold := strings.CutPrefix(strings.ToLower(stem), "fold")
		n, err := strconv.Atoi(strings.TrimLeft(digits, " _-"))
		if isFolder && isFold && err == nil && n > 0 {
			folds[n] = stem
		}
	}
	return folds
}

// listFolder returns the names in a folder; names of folders end in a separator.
func listFolder(folder string) ([]string, error) {
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
