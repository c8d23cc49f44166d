package datasets

import (
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"slices"
	"strings"
)

// table is a file that has been read, in chunks whose columns are their own.
type table struct {
	path    string
	options ReadOptions
	text
	rows     int
	ids      []int // feature ids in use, ascending
	queries  []query
	breaks   int           // runs of rows of a query that had already ended
	groups   *groupNumbers // of the rows; nil: they are of none
	weights  weightsOf
	warnings []string
}

// query is where the rows of a query are: runs of rows of the whole file.
type query struct {
	id     string
	weight float32
	rows   int
	runs   []span
}

type span struct{ from, to int } // rows of the file

// readTable reads a file and those beside it, and numbers its groups together with
// those before.
func readTable(path string, o ReadOptions, groups *groupNumbers) (t *table, err error) {
	if err := o.check(); err != nil {
		return nil, err
	}
	defer func() {
		if stopped := o.stopped(path); err != nil && stopped != nil {
			err = stopped // rather than that the file is closed
		}
	}()
	f, err := openSource(o.context(), path)
	if err != nil {
		return nil, fmt.Errorf("datasets: %w", at(path, err))
	}
	defer f.close()
	sizes, err := readSizes(path)
	if err != nil {
		return nil, err
	}
	if t, err = newTable(path, f, sizes, o); err != nil {
		return nil, err
	}
	err = t.setWeights(sizes)
	if err == nil {
		err = t.setGroups(o, groups)
	}
	if err != nil {
		t.free()
		return nil, err
	}
	for _, unused := range unusedPaths(path) {
		if _, err := os.Stat(unused); err == nil {
			t.warn("%s is not used", unused)
		}
	}
	return t, nil
}

// unusedPaths are the names of files that other programs read beside a data file.
func unusedPaths(path string) []string {
	plain := withoutCompression(path)
	return []string{plain + ".position", plain + ".init"}
}

// newTable reads the text of a table. The sizes are those of its queries, nil if
// there is no such file.
func newTable(path string, r io.Reader, sizes *querySizes, o ReadOptions) (*table, error) {
	t := &table{path: path, options: o}
	var err error
	t.text, err = parseStream(o.context(), r,
		func(line []byte) (*layout, error) { return findLayout(line, o, sizes != nil) },
		func(l *layout) *parser {
			return &parser{known: columns{o.FeatureIDs}, layout: l, lastWins: o.Duplicates == "last", irrelevant: o.MinusOne == "irrelevant"}
		})
	if err != nil {
		return nil, fmt.Errorf("datasets: %w", at(path, err))
	}
	if err := t.check(sizes); err != nil {
		t.free()
		return nil, err
	}
	return t, nil
}

// at is err with the path, unless it has it already.
func at(path string, err error) error {
	if pathError := new(fs.PathError); errors.As(err, &pathError) {
		return err
	}
	return fmt.Errorf("%s: %w", path, err)
}

// check sums up the chunks, and finds the queries.
func (t *table) check(sizes *querySizes) error {
	if err := t.faults(); err != nil {
		return err
	}
	ignored, least, most := 0, 0, 0
	for _, c := range t.chunks {
		if c.err != nil {
			return fmt.Errorf("datasets: %s: %w", t.path, c.err)
		}
		t.rows += len(c.labels)
		t.ids = union(t.ids, c.ids)
		if c.ignored > 0 {
			if ignored == 0 {
				least = c.least
			}
			ignored, least, most = ignored+c.ignored, min(least, c.least), max(most, c.most)
		}
		if err := tooSparse(t.rows, len(t.ids), t.size); err != nil {
			return fmt.Errorf("datasets: %s: %w", t.path, err)
		}
	}
	if t.rows == 0 {
		return fmt.Errorf("datasets: %s: no documents in the file; want lines such as %q", t.path, "2 qid:1 1:0.5 2:0.1")
	}
	if err := t.group(sizes); err != nil {
		return err
	}
	if ignored > 0 {
		ids := fmt.Sprintf("ids %d to %d", least, most)
		if len(t.ids) == 0 {
			return fmt.Errorf("datasets: %s has %s, and none of the features that are wanted", t.path, ids)
		}
		t.warn("%d values of features that are not wanted were left out (%s)", ignored, ids)
	}
	if len(t.layout.ignored) > 0 {
		t.warn("columns that are not wanted were left out: %s", listNames(t.layout.ignored))
	}
	if t.breaks > 0 {
		t.warn("%d times a query came back after another one; its documents were put together", t.breaks)
	}
	return nil
}

func (t *table) warn(format string, args ...any) {
	t.warnings = append(t.warnings, t.path+": "+fmt.Sprintf(format, args...))
}

// faults counts the lines, and is the error for the malformed ones, nil if there are none: a line for
// each of the first maxFaults, then their number.
func (t *table) faults() error {
	var lines []string
	count, line := 0, 1
	for _, c := range t.chunks {
		line += c.first
		c.line = line
		for _, f := range c.faults {
			if len(lines) < maxFaults {
				lines = append(lines, fmt.Sprintf("datasets: %s:%d: column %d: %s", t.path, line+f.line, f.column+1, f.reason))
			}
		}
		count += c.faultCount
		line += c.lines
	}
	if count == 0 {
		return nil
	}
	if count > len(lines) {
		lines = append(lines, fmt.Sprintf("datasets: %s: %d malformed lines in all", t.path, count))
	}
	return errors.New(strings.Join(lines, "\n"))
}

// union merges two ascending lists.
func union(a, b []int) []int {
	if slices.Equal(a, b) {
		return a
	}
	u := slices.Concat(a, b)
	slices.Sort(u)
	return slices.Compact(u)
}
