package reader

import (
	"bytes"
	"errors"
	"fmt"

	"github.com/plrank/plrank/datasets/schema"
	"github.com/plrank/plrank/internal/npzfile"
)

// RowIDs are files of the ids of the rows of a .npy file: the name of their column, and then an id a line.
const RowIDs Kind = ".ids"

// readArray reads a matrix of NumPy as a table of two columns, ids and vectors. See [ReadBinary].
func readArray(file []byte, o Options, sidecar Sidecar, size int, each func(c *Chunk, l *Layout, part float64) error) error {
	rows, width, number, err := npzfile.Matrix(file)
	if err != nil {
		return err
	}
	path, ids, err := readRowIDs(o, sidecar.Path, rows)
	if err != nil {
		return err
	}
	columns, err := NewColumns([]string{string(ids[0]), "array"}, o, sidecar.Sized, Look{
		Lists: []bool{false, true}, Dimension: func(int) (int, error) { return width, nil },
		Kind: func(int) (string, error) { return schema.Text, nil },
	})
	if err != nil {
		return err
	}
	if columns.roleAt(0) == nil {
		return fmt.Errorf("%s:1: %w: want qid, docid or another name of a column of query ids or of document ids in the first line", path,
			ErrColumns)
	}
	switch n := len(ids) - 1; {
	case n > rows:
		return fmt.Errorf("%d rows, but %s has more ids: want one for each row", rows, path)
	case n < rows:
		return fmt.Errorf("%d rows, but %s has %d ids below its first line: want one for each row", rows, path, n)
	}
	b := columns.NewBuilder(o)
	for done := 0; done < rows; {
		if err := o.Ctx().Err(); err != nil {
			return err
		}
		n := min(rows-done, max(1, size/4/max(1, width)))
		c := &Chunk{Line: 1 + done, Remaining: rows - done - n, Size: int64(4 * n * width)}
		b.Begin(c)
		v := &c.Vectors[columns.Vector[1]]
		for ; c.Lines < n; c.Lines++ {
			b.Row()
			line, err := 1+done+c.Lines, errors.New("an empty id: want one for each row of the array")
			if len(ids[line]) > 0 {
				err = columns.Set(b, 0, ids[line])
			}
			if err != nil {
				return fmt.Errorf("%s:%d: %w", path, line+1, err)
			}
			b.EndRow()
			for i := range width {
				v.Values = append(v.Values, number((done+c.Lines)*width+i))
			}
			v.Ends = append(v.Ends, len(v.Values))
		}
		b.Finish()
		done += n
		if err := each(c, &columns.Layout, float64(done)/float64(rows)); err != nil {
			return err
		}
	}
	return nil
}

// readRowIDs reads the file next to an array: a name, and then an id for each row, unless there are more or fewer.
func readRowIDs(o Options, array string, rows int) (path string, ids [][]byte, err error) {
	path, ids, err = readKind(o.Ctx(), RowIDs, array, func(line []byte) ([]byte, error) { return bytes.Clone(bytes.TrimSpace(line)), nil })
	switch {
	case err != nil:
	case path == "":
		err = fmt.Errorf("an array needs a file %s: want the name of a column of query ids or of document ids, such as qid or docid, "+
			"and below it the id of each row", RowIDs.Sidecar(array))
	case len(ids) == 0:
		ids = [][]byte{nil}
	case len(ids) == rows+2 && len(ids[rows+1]) == 0: // an empty line at the end
		ids = ids[:rows+1]
	}
	return path, ids, err
}
