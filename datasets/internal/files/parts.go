package files

import (
	"fmt"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
	"strings"

	"github.com/plrank/plrank/datasets/internal/text"
)

// A split may be in many part files: those of a folder that is named after it, or files
// such as train-00003-of-00010.txt and train.part7.csv.gz. Spark and its relatives write
// folders of files such as part-00003.csv.gz.
var (
	partNumber = regexp.MustCompile(`^(.*?)[._-](?:part[._-]?)?(\d+)(?:-of-(\d+))?$`)
	sparkName  = regexp.MustCompile(`^part[._-]?\d`)
	digits     = regexp.MustCompile(`\d+`)
)

// partOf is splitOf for the name of a part file.
func partOf(name string) (prefix string, split int) {
	for _, ending := range endings {
		stem, ok := strings.CutSuffix(withoutCompression(strings.ToLower(name)), ending)
		if m := partNumber.FindStringSubmatch(stem); ok && m != nil {
			if prefix, split := splitOf(m[1]); split >= 0 {
				return prefix, split
			}
		}
	}
	return "", -1
}

// partsIn are the data files of a folder: all but those that begin with a dot or an
// underscore, and those beside others.
func partsIn(folder string) ([]string, error) {
	names, err := list(folder)
	if err != nil {
		return nil, err
	}
	var parts []string
	for _, name := range names {
		switch {
		case strings.HasPrefix(name, "."), strings.HasPrefix(name, "_"), isBeside(name):
		case strings.HasSuffix(name, string(filepath.Separator)):
			return nil, fmt.Errorf("datasets: %s holds the folder %s: want part files alone", folder, name)
		default:
			parts = append(parts, filepath.Join(folder, name))
		}
	}
	if parts == nil {
		return nil, fmt.Errorf("datasets: %s holds no data files: found %s", folder, text.List(names))
	}
	return parts, orderParts(parts)
}

// holdsParts tells whether a folder that is named after a split holds its parts, rather
// than files for several splits.
func holdsParts(folder string) bool {
	names, err := list(folder)
	return err == nil && len(names) > 0 && !slices.ContainsFunc(names, func(name string) bool {
		_, split := splitOf(strings.TrimSuffix(name, string(filepath.Separator)))
		return split >= 0
	})
}

// orderParts sorts part files by the numbers in their names. Where the names say how many
// parts there are, all must be there.
func orderParts(paths []string) error {
	key := func(path string) string {
		return digits.ReplaceAllStringFunc(filepath.Base(path), func(n string) string { return fmt.Sprintf("%020s", n) })
	}
	slices.SortFunc(paths, func(a, b string) int { return strings.Compare(key(a), key(b)) })
	of, found := 0, map[int]bool{}
	for _, path := range paths {
		stem, _, _ := strings.Cut(filepath.Base(path), ".")
		m := partNumber.FindStringSubmatch(stem)
		if m == nil || m[3] == "" {
			continue
		}
		number, _ := strconv.Atoi(m[2])
		of, _ = strconv.Atoi(m[3])
		found[number] = true
	}
	for i := range of {
		if !found[i] && !(i == 0 && found[of]) { // counted from 0 or from 1
			return fmt.Errorf("datasets: %s: of %d parts, number %d is missing", filepath.Dir(paths[0]), of, i)
		}
	}
	return nil
}

// SplitOf is the split at a path: a file, or those in a folder.
func SplitOf(path string) (Split, error) {
	if info, err := os.Stat(path); err != nil || !info.IsDir() {
		return Split{path, []string{path}}, nil // reading it gives the error
	}
	parts, err := partsIn(path)
	return Split{path, parts}, err
}
