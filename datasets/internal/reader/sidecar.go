package reader

import (
	"bufio"
	"bytes"
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"

	"github.com/plrank/plrank/datasets/schema"
	"github.com/plrank/plrank/internal/text"
	"github.com/plrank/plrank/internal/textfile"
)

// A Kind is what a file next to a data file has. It is the ending of its name.
type Kind string

// The kinds of files next to a data file.
const (
	QuerySizes Kind = ".query" // as LightGBM names it
	GroupSizes Kind = ".group" // the same, as XGBoost names it
	GroupFile  Kind = ".groups"
	NameFile   Kind = ".names"
	Positions  Kind = ".position" // of LightGBM; not read
)

// kinds are all; Declare adds the kinds of optional columns.
var kinds = []Kind{QuerySizes, GroupSizes, GroupFile, NameFile, Positions, RowIDs}

var compressions = []string{".gz", ".gzip", ".zst", ".zstd"}

// Sidecar returns the name of a file of the kind next to a data file: the name of the data, without the ending of a
// compression, and the ending of the kind.
func (k Kind) Sidecar(path string) string { return withoutCompression(path) + string(k) }

// names are all names that a file of the kind may have: it may be compressed, and named after the compressed data.
func (k Kind) names(path string) (names []string) {
	for _, name := range slices.Compact([]string{k.Sidecar(path), path + string(k)}) {
		names = append(names, name)
		for _, ending := range compressions {
			names = append(names, name+ending)
		}
	}
	return names
}

// Find returns the file of the kind next to a data file, "" if there is none. It returns an error if there are several.
func (k Kind) Find(path string) (found string, err error) {
	for _, name := range k.names(path) {
		switch _, err := os.Stat(name); {
		case err != nil && !errors.Is(err, fs.ErrPermission): // it is not there
		case found != "":
			return "", fmt.Errorf("datasets: both %s and %s are next to %s: want one of the two", found, name, path)
		default:
			found = name
		}
	}
	return found, nil
}

// BesideFiles returns all names of files that may belong to a data file.
func BesideFiles(path string) (names []string) {
	for _, k := range kinds {
		names = append(names, k.names(path)...)
	}
	return names
}

// isBeside reports whether a file belongs to another one, by its name.
func isBeside(name string) bool {
	return slices.Contains(kinds, Kind(filepath.Ext(withoutCompression(name))))
}

// withoutCompression is a file name without the ending of a compression.
func withoutCompression(path string) string {
	for _, ending := range compressions {
		if n := len(path) - len(ending); n > 0 && strings.EqualFold(path[n:], ending) {
			return path[:n]
		}
	}
	return path
}

// readValues reads a file with a value a line.
func readValues[T any](ctx context.Context, path string, parse func(line []byte) (T, error)) (values []T, err error) {
	f, err := textfile.Open(ctx, path)
	if err != nil {
		return nil, fmt.Errorf("datasets: %w", textfile.At(path, err))
	}
	defer f.Close()
	lines := bufio.NewScanner(f)
	for lines.Scan() && lines.Err() == nil { // after an error it gives what is left as a line
		v, err := parse(lines.Bytes())
		if err != nil {
			return values, fmt.Errorf("datasets: %s:%d: %w", path, len(values)+1, err)
		}
		values = append(values, v)
	}
	if err = lines.Err(); errors.Is(err, bufio.ErrTooLong) {
		err = fmt.Errorf("a line of more than %d bytes", bufio.MaxScanTokenSize-1)
	}
	if err != nil {
		return values, fmt.Errorf("datasets: %s:%d: %w", path, len(values)+1, err)
	}
	return values, nil
}

// readKind is readValues for the file of a kind next to a data file; without a path there is none.
func readKind[T any](ctx context.Context, kind Kind, data string, parse func(line []byte) (T, error)) (path string, values []T, err error) {
	if path, err = kind.Find(data); path != "" && err == nil {
		values, err = readValues(ctx, path, parse)
	}
	return path, values, err
}

// A rowFile is a file with a line for each row of a data file.
type rowFile struct {
	path, want string
	lines      int
	err        error                    // of the first line that is wrong
	set        func(c *Chunk, from int) // gives a chunk its values, from that line on
}

// addFile reads a file with a line for each row, whose values go to chunks.
func addFile[T any](s *scan, path, want string, parse func(line []byte) (T, error), set func(*Chunk, []T)) {
	values, err := readValues(s.o.Ctx(), path, parse)
	s.files = append(s.files, rowFile{path, want, len(values), err, func(c *Chunk, from int) {
		own := make([]T, len(c.Labels))
		copy(own, values[min(from, len(values)):])
		set(c, own)
	}})
}

// addFiles reads the file of each optional column that the table does not have. A file that may be of queries is read at
// the end, see setWeights. Groups go on with the numbers of the files before.
func (s *scan) addFiles() error {
	path, has, err := s.fileOf(GroupFile, "groups", schema.Group)
	if has {
		s.Groups = &s.Names.Groups
	}
	if path != "" {
		addFile(s, path, "the group of one document a line, an empty line for none",
			func(line []byte) (int, error) { return s.Groups.Number(line), nil }, func(c *Chunk, list []int) { c.Groups = list })
	}
	for i, n := range numbers {
		file := n.File
		if n.Queries {
			file = ""
		}
		if path, s.Has[i], err = s.fileOf(file, n.Plural, n.Role); err != nil {
			return err
		}
		if path != "" {
			addFile(s, path, "the "+n.What+" of one document a line", n.parse, func(c *Chunk, list []float32) { c.Numbers[i] = list })
		}
	}
	return err
}

// fileOf finds the file of a kind that has what no column has, and reports whether one of them has it.
func (s *scan) fileOf(kind Kind, what, role string) (path string, has bool, err error) {
	if kind != "" {
		path, err = kind.Find(s.Path)
	}
	column := s.Layout.Roles[role]
	if column != "" {
		s.warnUnused(path, fmt.Sprintf("%s are in column %q", what, column))
		path = ""
	}
	return path, path != "" || column != "", err
}

// checkFiles returns an error unless the files have a line for each row.
func (s *scan) checkFiles() error {
	for _, f := range s.files {
		if rows := s.Rows - s.from.row; f.err == nil && f.lines != rows {
			f.err = fmt.Errorf("datasets: %s: %d lines, but %s has %d documents: want %s", f.path, f.lines, s.Path, rows, f.want)
		}
		if f.err != nil {
			return f.err
		}
	}
	return nil
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
		const blank = -1
		s := &querySizes{}
		s.path, s.sizes, err = readKind(ctx, kind, path, func(line []byte) (int, error) {
			if line = bytes.TrimSpace(line); len(line) == 0 {
				return blank, nil
			}
			n, err := strconv.ParseInt(string(line), 10, 32)
			if err != nil || n < 0 {
				return 0, fmt.Errorf("%s is not a query size: want the number of documents of a query", text.Quote(line))
			}
			return int(n), nil
		})
		s.sizes = slices.DeleteFunc(s.sizes, func(n int) bool { return n == blank })
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

// checkSizes checks that the sizes of queries add up to the rows of the file.
func (s *scan) checkSizes() error {
	if s.sizes == nil {
		return nil
	}
	sum := 0
	for _, n := range s.sizes.sizes {
		sum += n
	}
	if rows := s.Rows - s.from.row; sum != rows {
		return fmt.Errorf("datasets: %s: the sizes sum to %d, but %s has %d documents", s.sizes.path, sum, s.Path, rows)
	}
	return nil
}

// A namedFeature is a line of a file of names.
type namedFeature struct {
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
	path, lines, err := readKind(ctx, NameFile, path, func(line []byte) (f namedFeature, err error) {
		line = bytes.TrimSpace(line)
		if len(line) == 0 {
			return f, nil
		}
		word := line[:max(0, bytes.IndexAny(line, " \t"))]
		rest := bytes.TrimLeft(line[len(word):], " \t")
		name, _, _ := bytes.Cut(rest, []byte("\t"))
		name = bytes.TrimSpace(name)
		id, isID := text.ParseFeatureID(string(word))
		if !isID || len(name) == 0 {
			return f, fmt.Errorf("%s: want the id of a feature and its name, such as 3 bm25", text.Quote(line))
		}
		f = namedFeature{id: id, name: string(name)}
		last := string(rest[bytes.LastIndexByte(rest, ' ')+1:])
		if len(last) < len(rest) && bytes.IndexByte(line, '\t') < 0 && slices.Contains(featureTypes, last) {
			f.typ = last
		}
		return f, text.CheckUTF8(name)
	})
	if path == "" || err != nil {
		return nil, err
	}
	isMap := !slices.ContainsFunc(lines, func(f namedFeature) bool { return f.name != "" && f.typ == "" })
	names, ids := map[int]string{}, map[string]int{}
	for i, f := range lines {
		if f.name == "" {
			continue
		}
		if isMap {
			f.name = strings.TrimSpace(strings.TrimSuffix(f.name, f.typ))
		}
		if other, twice := ids[f.name]; twice && other != f.id {
			return nil, fmt.Errorf("datasets: %s:%d: features %d and %d are both named %s", path, i+1, other, f.id, text.Quote([]byte(f.name)))
		}
		if other, twice := names[f.id]; twice && other != f.name {
			return nil, fmt.Errorf("datasets: %s:%d: feature %d is named %s and %s", path, i+1, f.id, text.Quote([]byte(other)),
				text.Quote([]byte(f.name)))
		}
		names[f.id], ids[f.name] = f.name, f.id
	}
	return names, nil
}

// setWeights sets the weights that are in the file next to the data, if there is one.
func (s *scan) setWeights() error {
	column := slices.IndexFunc(numbers, func(n *Number) bool { return n.Queries })
	n := numbers[column]
	path, weights, err := readKind(s.o.Ctx(), n.File, s.Path, n.parse)
	if path == "" || err != nil {
		return err
	}
	rows, queries := s.Rows-s.from.row, s.Queries[s.from.query:]
	if s.sizes != nil && len(weights) == len(s.sizes.sizes) && len(weights) != rows {
		q := -1 // queries of size 0 are not in the table
		weights = slices.DeleteFunc(weights, func(float32) bool { q++; return s.sizes.sizes[q] == 0 })
	}
	switch {
	case len(weights) == rows && s.Has[column]:
		return fmt.Errorf("datasets: %s: the weights of documents are in column %q: want one of the two", path, s.Layout.Roles[n.Role])
	case len(weights) == rows:
		for _, c := range s.Chunks[s.from.chunk:] {
			c.Numbers[column], weights = weights[:len(c.Labels)], weights[len(c.Labels):]
		}
		s.Has[column] = true
	case len(weights) == len(queries):
		for q, w := range weights {
			queries[q].Weight = w
		}
		s.HasQueryWeights = true
	default:
		return fmt.Errorf("datasets: %s: %d weights, but %s has %d documents and %d queries: want one weight a line, of every document or "+
			"of every query", path, len(weights), s.Path, rows, len(queries))
	}
	return nil
}

// warnUnused adds a warning of a file that is not used, with the reason.
func (s *scan) warnUnused(path, reason string) {
	if path != "" {
		s.Warnings = append(s.Warnings, fmt.Sprintf("%s is not used: %s", path, reason))
	}
}
