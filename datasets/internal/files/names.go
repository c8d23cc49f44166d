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

// The words that name a split.
var (
	trainWords = []string{"train", "training", "trainingset"}
	valiWords  = []string{"vali", "valid", "validation", "validationset", "val", "dev"}
	testWords  = []string{"test", "testing", "testset"}
)

// splitOf is the split ("train", "vali", "test" or none) that a file name
// stands for, and what comes before that word.
func (f Finder) splitOf(name string) (prefix, split string) {
	lower := withoutCompression(strings.ToLower(name))
	for _, ending := range f.Endings {
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
