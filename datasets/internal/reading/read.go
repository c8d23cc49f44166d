// Package reading reads files of documents, and those that lie beside them, as tables.
package reading

import (
	"fmt"
	"io"
	"os"

	"github.com/plrank/plrank/datasets/internal/files"
	"github.com/plrank/plrank/datasets/internal/table"
	"github.com/plrank/plrank/internal/textfile"
)

// File reads a file and those beside it, and numbers its groups together with those
// before. Its features go to a file in the folder of scratch, if one is given.
func File(path string, o Options, groups *table.GroupNames, scratch string) (t *table.Table, err error) {
	if err := o.Check(); err != nil {
		return nil, err
	}
	defer func() {
		if stopped := o.Stopped(path); err != nil && stopped != nil {
			err = stopped // rather than that the file is closed
		}
	}()
	f, err := textfile.Open(o.Ctx(), path)
	if err != nil {
		return nil, fmt.Errorf("datasets: %w", textfile.At(path, err))
	}
	defer f.Close()
	sizes, err := readSizes(path)
	if err != nil {
		return nil, err
	}
	if t, err = parse(path, f, sizes, o, scratch); err != nil {
		return nil, err
	}
	err = setWeights(t, sizes)
	if err == nil {
		err = setGroups(t, groups)
	}
	if err != nil {
		t.Free()
		return nil, err
	}
	t.Warnings = append(t.Warnings, unused(path)...)
	return t, nil
}

// unused are warnings of files beside a data file that are not read.
func unused(path string) (warnings []string) {
	for _, unused := range files.Unused(path) {
		if _, err := os.Stat(unused); err == nil {
			warnings = append(warnings, fmt.Sprintf("%s: %s is not used", path, unused))
		}
	}
	return warnings
}

// Text reads text as a file of a path, with the text of a file of query sizes beside it, if
// that is not empty, and with no other files.
func Text(path string, r io.Reader, sizes string, o Options) (*table.Table, error) {
	var parsed *querySizes
	if sizes != "" {
		list, err := parseSizes(sizes)
		if err != nil {
			return nil, err
		}
		parsed = &querySizes{path + ".query", list}
	}
	f, err := textfile.Read(r)
	if err != nil {
		return nil, err
	}
	defer f.Close()
	return parse(path, f, parsed, o, "")
}

// parse makes a table of text. The sizes are those of its queries, nil if there is no such
// file. The features go to a file in the folder of scratch, if one is given.
func parse(path string, r io.Reader, sizes *querySizes, o Options, scratch string) (t *table.Table, err error) {
	t = &table.Table{Options: o.Options, Tally: table.Tally{Path: path}}
	var features *spill
	if scratch != "" {
		if features, err = newSpill(path, scratch); err != nil {
			return nil, err
		}
		defer features.close()
	}
	err = parseChunks(path, r, sizes, o, func(c *table.Chunk, l *table.Layout) error {
		t.Add(c)
		t.Layout, t.Chunks = l, append(t.Chunks, c)
		if features != nil {
			return features.add(c)
		}
		return nil
	})
	if err == nil && features != nil {
		err = features.giveBack(t)
	}
	if err == nil {
		err = check(t, sizes)
	}
	if err != nil {
		t.Free()
		return nil, err
	}
	return t, nil
}

// check checks the whole, and finds the queries.
func check(t *table.Table, sizes *querySizes) error {
	if err := t.Check(); err != nil {
		return err
	}
	if err := findQueries(t, sizes); err != nil {
		return err
	}
	warnings, err := t.LeftOut(t.Layout)
	t.Warnings = append(t.Warnings, warnings...)
	if t.Breaks > 0 {
		t.Warn("%d times a query came back after another one; its documents were put together", t.Breaks)
	}
	return err
}
