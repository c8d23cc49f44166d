package reader

import (
	"fmt"
	"sort"
)

// Origin is the files and lines of rows.
type Origin struct {
	Path   string   // of the file, or the name of several
	Parts  []string // the paths of several; nil: there is one
	Starts []int    // by part: the line before its first, of all parts one after another
	Lines  []int32  // [rows] of the file, or of all parts, from 1; 0 and nil: not known

	LabelColumns []string // by part: the name of the column of labels; nil: it has none
}

// Where is the file and the line of a row, as in "train.txt:812"; "" if it is not known.
func (o *Origin) Where(row int) string {
	if row >= len(o.Lines) || o.Lines[row] == 0 {
		return ""
	}
	path, line := o.Path, int(o.Lines[row])
	if o.Parts != nil {
		part := max(0, sort.SearchInts(o.Starts, line)-1) // a cache may have lines below 1
		path, line = o.Parts[part], line-o.Starts[part]
	}
	return fmt.Sprintf("%s:%d", path, line)
}
