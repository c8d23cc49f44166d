package reader

import (
	"bytes"
	"context"
	"fmt"
	"slices"
	"strconv"
	"strings"

	"github.com/plrank/plrank/internal/text"
	"github.com/plrank/plrank/internal/textfile"
)

// readValues reads the file of a kind next to a data file, with a value a line, and returns its name; "": there is none.
func readValues(ctx context.Context, kind Kind, data string, add func(line []byte) error) (path string, err error) {
	f, err := openRowsBeside(ctx, kind, data)
	if f == nil || err != nil {
		return "", err
	}
	defer f.file.Close()
	for f.next() {
		if err := add(f.lines.Bytes()); err != nil {
			return f.path, f.at(err)
		}
	}
	return f.path, f.err()
}

// querySizes is a file with the number of rows of each query.
type querySizes struct {
	path  string
	sizes []int
}

// readSizes reads the file of query sizes next to a data file; nil if there is none. LightGBM and XGBoost name it
// otherwise: of two that differ, it is not known which is meant.
func readSizes(ctx context.Context, path string) (first *querySizes, err error) {
	for _, kind := range []Kind{QuerySizes, GroupSizes} {
		s := &querySizes{}
		s.path, err = readValues(ctx, kind, path, func(line []byte) error {
			if line = bytes.TrimSpace(line); len(line) == 0 {
				return nil
			}
			n, err := strconv.ParseInt(string(line), 10, 32)
			if err != nil || n < 0 {
				return fmt.Errorf("%s is not a query size: want the number of documents of a query", text.Quote(line))
			}
			s.sizes = append(s.sizes, int(n))
			return nil
		})
		switch {
		case err != nil:
			return nil, err
		case s.path == "":
		case first == nil:
			first = s
		case !slices.Equal(first.sizes, s.sizes):
			return nil, fmt.Errorf("datasets: %s and %s have different query sizes: want one of the two", first.path, s.path)
		}
	}
	return first, nil
}

// check checks that the sizes add up to the rows of a file.
func (s *querySizes) check(t *Table) error {
	if s == nil {
		return nil
	}
	sum := 0
	for _, n := range s.sizes {
		sum += n
	}
	if sum != t.Rows {
		return fmt.Errorf("datasets: %s: the sizes sum to %d, but %s has %d documents", s.path, sum, t.Path, t.Rows)
	}
	return nil
}

// A namedFeature is a line of a file of names.
type namedFeature struct {
	line int
	id   int
	name string
	typ  string // the last word of a name of several, where that is a type of XGBoost's feature maps
}

// featureTypes are the types in XGBoost's feature maps.
var featureTypes = []string{"i", "q", "int", "float", "c"}

// readNames reads the file of the names of features next to a data file, by id; nil if there is none. A line is an id and
// a name, which may have blanks in it; what follows a tab after the name is not read. In a feature map of XGBoost every
// line ends in a type, which is not part of the name. A blank before it is one within a name where other lines have no
// type, or where a tab stands before the name.
func readNames(ctx context.Context, path string) (map[int]string, error) {
	var lines []namedFeature
	number := 0
	path, err := readValues(ctx, NameFile, path, func(line []byte) error {
		number++
		line = bytes.TrimSpace(line)
		if len(line) == 0 {
			return nil
		}
		word := line[:max(0, bytes.IndexAny(line, " \t"))]
		rest := bytes.TrimLeft(line[len(word):], " \t")
		name, _, _ := bytes.Cut(rest, []byte("\t"))
		name = bytes.TrimSpace(name)
		id, isID := text.ParseFeatureID(string(word))
		if !isID || len(name) == 0 {
			return fmt.Errorf("%s: want the id of a feature and its name, such as 3 bm25", text.Quote(line))
		}
		if err := text.CheckUTF8(name); err != nil {
			return err
		}
		f := namedFeature{line: number, id: id, name: string(name)}
		last := string(rest[bytes.LastIndexByte(rest, ' ')+1:])
		if len(last) < len(rest) && bytes.IndexByte(line, '\t') < 0 && slices.Contains(featureTypes, last) {
			f.typ = last
		}
		lines = append(lines, f)
		return nil
	})
	if path == "" || err != nil {
		return nil, err
	}
	isMap := !slices.ContainsFunc(lines, func(f namedFeature) bool { return f.typ == "" })
	names, ids := map[int]string{}, map[string]int{}
	for _, f := range lines {
		if isMap {
			f.name = strings.TrimSpace(strings.TrimSuffix(f.name, f.typ))
		}
		if other, twice := ids[f.name]; twice && other != f.id {
			return nil, fmt.Errorf("datasets: %s:%d: features %d and %d are both named %s", path, f.line, other, f.id, text.Quote([]byte(f.name)))
		}
		if other, twice := names[f.id]; twice && other != f.name {
			return nil, fmt.Errorf("datasets: %s:%d: feature %d is named %s and %s", path, f.line, f.id, text.Quote([]byte(other)),
				text.Quote([]byte(f.name)))
		}
		names[f.id], ids[f.name] = f.name, f.id
	}
	return names, nil
}

// setWeights sets the weights that are in the file next to the data, if there is one.
func setWeights(t *Table, sizes *querySizes) error {
	column := slices.IndexFunc(numbers, func(n *Number) bool { return n.Queries })
	var weights []float32
	path, err := readValues(t.Options.Ctx(), numbers[column].File, t.Path, func(line []byte) error {
		w, err := numbers[column].parse(line)
		weights = append(weights, w)
		return err
	})
	if path == "" || err != nil {
		return err
	}
	if sizes != nil && len(weights) == len(sizes.sizes) && len(weights) != t.Rows {
		q := -1 // queries of size 0 are not in the table
		weights = slices.DeleteFunc(weights, func(float32) bool { q++; return sizes.sizes[q] == 0 })
	}
	switch {
	case len(weights) == t.Rows && t.Has[column]:
		return fmt.Errorf("datasets: %s: the weights of documents are in column %q: want one of the two", path,
			t.Layout.Roles[numbers[column].Role])
	case len(weights) == t.Rows:
		for _, c := range t.Chunks {
			c.Numbers[column], weights = weights[:len(c.Labels)], weights[len(c.Labels):]
		}
		t.Has[column] = true
	case len(weights) == len(t.Queries):
		for q, w := range weights {
			t.Queries[q].Weight = w
		}
		t.HasQueryWeights = true
	default:
		return fmt.Errorf("datasets: %s: %d weights, but %s has %d documents and %d queries: want one weight a line, of every document or "+
			"of every query",
			path, len(weights), t.Path, t.Rows, len(t.Queries))
	}
	return nil
}

// warnUnused adds a warning if a file of a kind is next to the data but not used, with the reason.
func warnUnused(t *Table, kind Kind, reason string) error {
	path, err := kind.Find(t.Path)
	if path != "" && !textfile.SamePath(path, t.Options.Groups) {
		t.Warnings = append(t.Warnings, fmt.Sprintf("%s is not used: %s", path, reason))
	}
	return err
}
