package reader

import (
	"cmp"
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
	partOfAll  = regexp.MustCompile(`^(.*?)(\d+)-of-(\d+)`)
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

// orderParts sorts part files by the numbers in their names. Where the names say how many parts there are, all must be
// there, and no others.
func orderParts(paths []string) error {
	key := func(path string) string {
		return digits.ReplaceAllStringFunc(filepath.Base(path), func(n string) string { return fmt.Sprintf("%020s", n) })
	}
	slices.SortFunc(paths, func(a, b string) int { return strings.Compare(key(a), key(b)) })
	exports := map[string]*export{} // by what their names begin with
	for _, path := range paths {
		m := partOfAll.FindStringSubmatch(filepath.Base(path))
		if m == nil {
			continue
		}
		number, bad := strconv.Atoi(m[2])
		of, err := strconv.Atoi(m[3])
		if err = cmp.Or(bad, err); err != nil {
			return fmt.Errorf("datasets: %s: the number of a part: %w", path, err)
		}
		e := exports[m[1]]
		if e == nil {
			e = &export{of: of, parts: map[int]string{}}
			exports[m[1]] = e
		}
		name := filepath.Base(path)
		switch other, twice := e.parts[number]; {
		case of != e.of:
			return fmt.Errorf("datasets: %s: parts of two exports: %s and %s", filepath.Dir(path), e.first(), name)
		case twice:
			return fmt.Errorf("datasets: %s: %s and %s are the same part", filepath.Dir(path), other, name)
		}
		e.parts[number] = name
	}
	for _, path := range paths {
		name := filepath.Base(path)
		for begin, e := range exports {
			if rest, ok := strings.CutPrefix(name, begin); ok && digits.MatchString(rest[:min(1, len(rest))]) && !partOfAll.MatchString(name) {
				return fmt.Errorf("datasets: %s: parts of two exports: %s and %s", filepath.Dir(path), name, e.first())
			}
		}
	}
	for _, begin := range slices.Sorted(maps.Keys(exports)) {
		if err := exports[begin].check(); err != nil {
			return fmt.Errorf("datasets: %s: %w", filepath.Dir(paths[0]), err)
		}
	}
	return nil
}

// An export is a set of files whose names say how many there are.
type export struct {
	of    int            // how many
	parts map[int]string // their names by number
}

// first is the name of the first part.
func (e *export) first() string { return e.parts[slices.Min(slices.Collect(maps.Keys(e.parts)))] }

// check returns an error if a part is missing, or there are more. They are counted from 0 or from 1.
func (e *export) check() error {
	from := 0
	if e.parts[e.of] != "" && e.parts[0] == "" {
		from = 1
	}
	for i := range e.of {
		if e.parts[from+i] == "" {
			return fmt.Errorf("of %d parts, number %d is missing", e.of, from+i)
		}
	}
	if last := slices.Max(slices.Collect(maps.Keys(e.parts))); last >= from+e.of {
		return fmt.Errorf("%s is beyond the %d parts, which are counted from %d", e.parts[last], e.of, from)
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
