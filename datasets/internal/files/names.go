package files

import (
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
)

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
