package datasets

import (
	"fmt"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
	"strings"
)

// A split may be in many part files: those of a folder that is named after it, or files
// such as train-00003-of-00010.txt and train.part7.csv.gz. Spark and its relatives write
// folders of files such as part-00003.csv.gz.
var (
	partNumber = regexp.MustCompile(`^(.*?)[._-](?:part[._-]?)?(\d+)(?:-of-(\d+))?$`)
	sparkName  = regexp.MustCompile(`^part[._-]?\d`)
	digits     = regexp.MustCompile(`\d+`)
)

// partOf is the split that a part file stands for by its name, and what comes before
// that word.
func partOf(name string) (prefix, split string) {
	for _, ending := range endings {
		stem, ok := strings.CutSuffix(withoutCompression(strings.ToLower(name)), ending)
		if m := partNumber.FindStringSubmatch(stem); ok && m != nil {
			if prefix, split := splitOf(m[1]); split != "" {
				return prefix, split
			}
		}
	}
	return "", ""
}

// besides are the endings of files that lie beside a data file.
var besides = []string{".query", ".group", ".groups", ".weight", ".position", ".init"}

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
		case strings.HasPrefix(name, "."), strings.HasPrefix(name, "_"), slices.Contains(besides, filepath.Ext(name)):
		case strings.HasSuffix(name, string(filepath.Separator)):
			return nil, fmt.Errorf("datasets: %s holds the folder %s: want part files alone", folder, name)
		default:
			parts = append(parts, filepath.Join(folder, name))
		}
	}
	if parts == nil {
		return nil, fmt.Errorf("datasets: %s holds no data files: found %s", folder, listNames(names))
	}
	return parts, orderParts(parts)
}

// holdsParts tells whether a folder that is named after a split holds its parts, rather
// than files for several splits.
func holdsParts(folder string) bool {
	names, err := list(folder)
	return err == nil && len(names) > 0 && !slices.ContainsFunc(names, func(name string) bool {
		_, split := splitOf(strings.TrimSuffix(name, string(filepath.Separator)))
		return split != ""
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

// partsOf are the parts of a path that is given for a split: itself, or those in a folder.
func partsOf(path string) ([]string, error) {
	if info, err := os.Stat(path); err != nil || !info.IsDir() {
		return []string{path}, nil // reading it says what is wrong
	}
	return partsIn(path)
}

// part is a file of several that a dataset comes from.
type part struct {
	path string
	line int // of all parts together, one after another: the line before its first
}

// join adds the tables of more parts to t, the table of the first. All must be of one
// kind, and a query must be in one part.
func (t *table) join(name string, more []*table) error {
	parts := []part{{t.path, 0}}
	in := map[string]string{} // the part that a query is in
	for _, q := range t.queries {
		in[q.id] = t.path
	}
	first := t.path
	for _, next := range more {
		last := t.chunks[len(t.chunks)-1]
		parts = append(parts, part{next.path, last.line + last.lines - 1})
		switch {
		case next.sized != t.sized:
			return unlike(first, next.path, "query ids", !t.sized)
		case next.weights.documents != t.weights.documents:
			return unlike(first, next.path, "weights of documents", t.weights.documents)
		case next.weights.queries != t.weights.queries:
			return unlike(first, next.path, "weights of queries", t.weights.queries)
		case (next.groups != nil) != (t.groups != nil):
			return unlike(first, next.path, "groups", t.groups != nil)
		}
		for _, q := range next.queries {
			if t.sized {
				q.id = sizedID(len(t.queries))
			} else if other, twice := in[q.id]; twice {
				return fmt.Errorf("datasets: query %s is in %s and in %s: want all documents of a query in one part, and other ids for other queries", quote([]byte(q.id)), other, next.path)
			}
			in[q.id] = next.path
			for i := range q.runs {
				q.runs[i].from += t.rows
				q.runs[i].to += t.rows
			}
			t.queries = append(t.queries, q)
		}
		for _, c := range next.chunks {
			c.line += parts[len(parts)-1].line
		}
		t.chunks = append(t.chunks, next.chunks...)
		t.rows += next.rows
		t.size += next.size
		t.ids = union(t.ids, next.ids)
		t.breaks += next.breaks
		t.warnings = append(t.warnings, next.warnings...)
		t.spilled = append(t.spilled, next.spilled...)
		next.chunks, next.spilled = nil, nil
	}
	t.path, t.parts = name, parts
	return nil
}

func unlike(first, next, what string, has bool) error {
	if has {
		return fmt.Errorf("datasets: %s has %s, but %s has none: want them in all parts, or in none", first, what, next)
	}
	return fmt.Errorf("datasets: %s has %s, but %s has none: want them in all parts, or in none", next, what, first)
}

// readParts reads the files of a split as one table. The features of many parts go to
// files in the folder of scratch, if there is one.
func readParts(name string, paths []string, o ReadOptions, groups *groupNumbers, scratch string) (t *table, err error) {
	var tables []*table
	defer func() {
		if err != nil {
			for _, t := range tables {
				t.free()
			}
		}
	}()
	if len(paths) == 1 {
		scratch = ""
	}
	for i, path := range paths {
		t, err := readTable(path, o, groups, scratch)
		if err != nil {
			return nil, err
		}
		tables = append(tables, t)
		if i == 0 {
			o = o.byNames(t.ids, t.layout)
		}
	}
	if paths[0] == name {
		return tables[0], nil
	}
	return tables[0], tables[0].join(name, tables[1:])
}

// byNames is o for files that are to be read by the names of the columns of the first, if
// it has names.
func (o ReadOptions) byNames(ids []int, l *layout) ReadOptions {
	if l.names == nil || o.FeatureIDs != nil {
		return o
	}
	o.FeatureIDs, o.FeatureNames = ids, nil
	for _, id := range ids {
		o.FeatureNames = append(o.FeatureNames, l.names[id])
	}
	return o
}
