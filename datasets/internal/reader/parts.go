package reader

import (
	"fmt"
	"maps"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
	"strings"

	"github.com/plrank/plrank/internal/text"
)

// A split may be in many part files: all files of a folder that is named after it, or files
// such as train-00003-of-00010.txt and train.part7.csv.gz. Spark and its relatives write
// folders of files such as part-00003.csv.gz.
var (
	partNumber = regexp.MustCompile(`^(.*?)[._-](?:part[._-]?)?(\d+)(?:-of-(\d+))?$`)
	sparkName  = regexp.MustCompile(`^part[._-]?\d`)
	partOfAll  = regexp.MustCompile(`^(.*?)(\d+)-of-(\d+)|^(.*?)(\d+)\D*$`)
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
// underscore, and files that belong to others, such as weights.
func partsIn(folder string) ([]string, error) {
	names, err := listFolder(folder)
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

// holdsParts reports whether a folder that is named after a split has its parts, rather
// than files for several splits.
func holdsParts(folder string) bool {
	names, err := listFolder(folder)
	return err == nil && len(names) > 0 && !slices.ContainsFunc(names, func(name string) bool {
		_, split := splitOf(strings.TrimSuffix(name, string(filepath.Separator)))
		return split >= 0
	})
}

// An export is the part files whose names begin alike.
type export struct {
	total   int // how many parts there are, by the names; 0: they do not say
	numbers map[int]bool
	files   []string
}

// orderParts sorts part files by the numbers in their names. Where the names say how many parts there are, all must be
// there, and no others.
func orderParts(paths []string) error {
	key := func(path string) string {
		return digits.ReplaceAllStringFunc(filepath.Base(path), func(n string) string { return fmt.Sprintf("%020s", n) })
	}
	slices.SortFunc(paths, func(a, b string) int { return strings.Compare(key(a), key(b)) })
	exports := map[string]*export{} // by what their names begin with
	for _, path := range paths {
		name := filepath.Base(path)
		m := partOfAll.FindStringSubmatch(name)
		if m == nil {
			continue
		}
		begin := m[1] + m[4]
		number, _ := strconv.Atoi(m[2])
		total, err := strconv.Atoi(m[3])
		if m[3] != "" && err != nil {
			return fmt.Errorf("datasets: %s: the number of parts: %w", path, err)
		}
		e := exports[begin]
		if e == nil {
			e = &export{total: total, numbers: map[int]bool{}}
			exports[begin] = e
		}
		if e.files, e.numbers[number] = append(e.files, name), true; total != e.total {
			return fmt.Errorf("datasets: %s: parts of two exports: %s and %s", filepath.Dir(path), e.files[0], name)
		}
	}
	for _, begin := range slices.Sorted(maps.Keys(exports)) {
		if err := exports[begin].check(); err != nil {
			return fmt.Errorf("datasets: %s: %w", filepath.Dir(paths[0]), err)
		}
	}
	return nil
}

// check returns an error if a part is missing, or there are more. They are counted from 0 or from 1.
func (e *export) check() error {
	from := 0
	if e.numbers[e.total] && !e.numbers[0] {
		from = 1
	}
	for i := range e.total {
		if !e.numbers[from+i] {
			return fmt.Errorf("of %d parts, number %d is missing", e.total, from+i)
		}
	}
	if e.total > 0 && len(e.files) > e.total {
		return fmt.Errorf("%d files for %d parts, which are counted from %d: %s", len(e.files), e.total, from, text.List(e.files))
	}
	return nil
}

// SplitOf is the split at a path: a file, or those in a folder.
func SplitOf(path string) (Split, error) {
	if info, _ := os.Stat(path); info == nil || !info.IsDir() { // reading it gives the error
		return Split{path, []string{path}}, nil
	}
	parts, err := partsIn(path)
	return Split{path, parts}, err
}
