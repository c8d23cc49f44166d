package table

import "bytes"

// A Format is a text format. It looks at the first line of a text, and gives the layout of the
// text, or nil if the text is of another format. If no format has a layout, as of a blank
// line, the next line tells it. The text is sized if there is a file of query sizes beside it:
// it then needs no query ids.
type Format func(line []byte, o Options, sized bool) (*Layout, error)

// A Layout says how the lines of a text become rows.
type Layout struct {
	Read    func(b *Builder, line []byte) // reads a line, without its newline, and adds its row to b
	Header  bool                          // the first line is not a row
	IDs     []int                         // features of all rows, in the order of Builder.Row; others turn up in lines
	Names   map[int]string                // of columns by feature id; nil: the format names no columns
	Ignored []string                      // columns that are not wanted

	GroupFeature string // the feature whose values are groups; "": none
}

// NewParser gives a function that reads text into the fields of a chunk, whose size is that
// of the text. It serves one goroutine, chunk after chunk, and keeps its scratch space.
func (l *Layout) NewParser(o Options) func(c *Chunk, text []byte) {
	b := &Builder{options: o, far: map[int]int32{}}
	return func(c *Chunk, text []byte) {
		b.begin(c, l.IDs)
		for len(text) > 0 && c.Err == nil {
			line := text
			if end := bytes.IndexByte(text, '\n'); end >= 0 {
				line, text = text[:end], text[end+1:]
			} else {
				text = nil
			}
			l.Read(b, line)
			c.Lines++
		}
		b.finish()
	}
}
