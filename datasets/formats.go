package datasets

import "bytes"

// formats are the text formats. Each looks at the first line that is neither blank nor a
// comment, and gives the layout of the text, or nil where it is of another format. They
// are asked in turn. A new format is a file with such a function, and its place in this
// list, before LETOR.
var formats = []func(line []byte, o ReadOptions, sized bool) (*layout, error){separatedLayout, letorLayout}

// A layout says how the lines of a text become rows.
type layout struct {
	line    func(p *parser, b []byte) // reads a line, without its newline, and adds its row to p's chunk
	header  bool                      // the first line is no row
	ids     []int                     // feature ids that all rows have, in the order of the parser's columns; others turn up in lines
	names   map[int]string            // of columns by feature id; nil: the format names no columns
	ignored []string                  // columns that are not wanted

	group     int  // id of the feature of LETOR text whose values are groups; −1: none
	groupOnly bool // it is not wanted as a feature
}

// findLayout finds the format of a text by its first line; nil where that is blank or a
// comment, and the next line tells. The text is sized if there is a file of query sizes
// beside it: it then needs no query ids.
func findLayout(line []byte, o ReadOptions, sized bool) (*layout, error) {
	switch i := skipBlanks(line, 0); {
	case i == len(line) && o.Headerless && bytes.IndexByte(line, '\t') >= 0: // a row of empty fields
	case i == len(line), line[i] == '#' && !separatedComment(line, o):
		return nil, nil
	}
	for _, format := range formats {
		if l, err := format(line, o, sized); l != nil || err != nil {
			return l, err
		}
	}
	panic("datasets: LETOR text is what nothing else is")
}
