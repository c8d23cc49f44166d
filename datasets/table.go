package datasets

import (
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"slices"

	"github.com/plrank/plrank/internal/mapped"
)

// table is a file that has been read, in chunks whose columns are their own.
type table struct {
	options ReadOptions
	tally
	layout   *layout
	chunks   []*chunk
	queries  []query
	breaks   int           // runs of rows of a query that had already ended
	sized    bool          // queries have no ids, but sizes
	parts    []part        // the files, where they are several
	spilled  [][]byte      // files that chunks have their features in
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
// those before. Its features go to a file in the folder of scratch, if one is given.
func readTable(path string, o ReadOptions, groups *groupNumbers, scratch string) (t *table, err error) {
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
	if t, err = newTable(path, f, sizes, o, scratch); err != nil {
		return nil, err
	}
	err = t.setWeights(sizes)
	if err == nil {
		err = t.setGroups(groups)
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
// there is no such file. The features go to a file in the folder of scratch, if one is given.
func newTable(path string, r io.Reader, sizes *querySizes, o ReadOptions, scratch string) (t *table, err error) {
	t = &table{options: o, tally: tally{path: path}}
	var features *spill
	if scratch != "" {
		if features, err = newSpill(path, scratch); err != nil {
			return nil, err
		}
		defer features.close()
	}
	err = parseFile(path, r, sizes, o, func(c *chunk) error {
		t.add(c)
		t.layout, t.chunks = c.layout, append(t.chunks, c)
		if features != nil {
			return features.add(c)
		}
		return nil
	})
	if err == nil && features != nil {
		err = features.giveBack(t)
	}
	if err == nil {
		err = t.check(sizes)
	}
	if err != nil {
		t.free()
		return nil, err
	}
	return t, nil
}

// parseFile is parseStream for the text of a file.
func parseFile(path string, r io.Reader, sizes *querySizes, o ReadOptions, each func(*chunk) error) error {
	var failed error // of each
	err := parseStream(o.context(), r,
		func(line []byte) (*layout, error) { return findLayout(line, o, sizes != nil) },
		func(l *layout) *parser {
			return &parser{known: columns{o.FeatureIDs}, layout: l, lastWins: o.Duplicates == "last", irrelevant: o.MinusOne == "irrelevant"}
		},
		func(c *chunk) error { failed = each(c); return failed })
	if err != nil && failed == nil {
		return fmt.Errorf("datasets: %w", at(path, err))
	}
	return err
}

// free gives the memory of the chunks back.
func (t *table) free() {
	for _, c := range t.chunks {
		c.values.free()
	}
	t.chunks = nil
	for _, b := range t.spilled {
		mapped.Close(b)
	}
	t.spilled = nil
}

// at is err with the path, unless it has it already.
func at(path string, err error) error {
	if pathError := new(fs.PathError); errors.As(err, &pathError) {
		return err
	}
	return fmt.Errorf("%s: %w", path, err)
}

// check looks at the whole, and finds the queries.
func (t *table) check(sizes *querySizes) error {
	if err := t.tally.check(); err != nil {
		return err
	}
	if err := t.group(sizes); err != nil {
		return err
	}
	warnings, err := t.leftOut(t.layout)
	t.warnings = append(t.warnings, warnings...)
	if t.breaks > 0 {
		t.warn("%d times a query came back after another one; its documents were put together", t.breaks)
	}
	return err
}

func (t *table) warn(format string, args ...any) {
	t.warnings = append(t.warnings, t.path+": "+fmt.Sprintf(format, args...))
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
