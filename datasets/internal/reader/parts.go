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
	sparkName = regexp.MustCompile(`^part[._-]?\d`)
	partOfAll = regexp.MustCompile(`^(.*?)(\d+)-of-(\d+)|^(.*?)(\d+)\D*$`)
	digits    = regexp.MustCompile(`\d+`)
)

// partsIn returns the data files of a folder. Files that begin with a dot or an underscore, and files that belong to
// others, such as weights, are not data.
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
		_, split, _ := splitOf(strings.TrimSuffix(name, string(filepath.Separator)))
		return split >= 0
	})
}

// orderParts sorts part files by the numbers in their names. Where the names say how many parts there are, all must be
// there, and no others. They are counted from 0 or from 1.
func orderParts(paths []string) error {
	key := func(path string) string {
		return digits.ReplaceAllStringFunc(filepath.Base(path), func(n string) string { return fmt.Sprintf("%020s", n) })
	}
	slices.SortFunc(paths, func(a, b string) int { return strings.Compare(key(a), key(b)) })
	type export struct { // the files whose names begin alike
		total   string // of parts, by the names; "": they do not say
		numbers map[string]bool
		files   []string
	}
	exports := map[string]*export{}
	bad := func(format string, args ...any) error {
		return fmt.Errorf("datasets: %s: %s", filepath.Dir(paths[0]), fmt.Sprintf(format, args...))
	}
	for _, path := range paths {
		m := partOfAll.FindStringSubmatch(filepath.Base(path))
		if m == nil {
			continue
		}
		number, total := strings.TrimLeft(m[2], "0"), strings.TrimLeft(m[3], "0")
		e := exports[m[1]+m[4]]
		if e == nil {
			e = &export{total: total, numbers: map[string]bool{}}
			exports[m[1]+m[4]] = e
		}
		if e.files, e.numbers[number] = append(e.files, filepath.Base(path)), true; total != e.total {
			return bad("parts of two exports: %s and %s", e.files[0], e.files[len(e.files)-1])
		}
	}
	for _, begin := range slices.Sorted(maps.Keys(exports)) {
		e, from := exports[begin], 0
		total, err := strconv.Atoi(cmp.Or(e.total, "0"))
		if e.numbers[e.total] && !e.numbers[""] {
			from = 1
		}
		for i := 0; i < total && err == nil; i++ {
			if !e.numbers[strings.TrimLeft(strconv.Itoa(from+i), "0")] {
				err = fmt.Errorf("of %d parts, number %d is missing", total, from+i)
			}
		}
		if err == nil && total > 0 && len(e.files) > total {
			err = fmt.Errorf("%d files for %d parts, which are counted from %d: %s", len(e.files), total, from, text.List(e.files))
		}
		if err != nil {
			return bad("%v", err)
		}
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
