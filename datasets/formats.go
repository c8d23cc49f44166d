package datasets

// formats are the text formats, each a look at the first line that is neither blank
// nor a comment: the layout of the text, nil where it is of another format. They are
// asked in turn.
var formats = []func(line []byte, o ReadOptions, sized bool) (*layout, error){separatedLayout, letorLayout}

// A layout says how the lines of a text become rows.
type layout struct {
	line    func(p *parser, b []byte) // adds a row to p's chunk, if the line is one; without its newline
	header  bool                      // the first line is no row
	ids     []int                     // feature ids that all rows have, in the order of the parser's columns; others turn up in lines
	names   map[int]string            // of columns by feature id; nil: the format names no columns
	ignored []string                  // columns that are not wanted
}

// findLayout finds the format of a text by its first line. The text is sized if there
// is a file of query sizes beside it: it need then not tell queries.
func findLayout(line []byte, o ReadOptions, sized bool) (*layout, error) {
	for _, format := range formats {
		if l, err := format(line, o, sized); l != nil || err != nil {
			return l, err
		}
	}
	panic("datasets: LETOR text is what nothing else is")
}
