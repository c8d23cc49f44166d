package table

import "bytes"

// A Format is a text format. It looks at the first line of a text, and gives the layout of the
// text, or nil if the text is of another format. If no format has a layout, as of a blank
// line, the next line tells it.
type Format func(line []byte, o Options, b Beside) (*Layout, error)

// Beside is what files beside a text say of it.
type Beside struct {
	Sized bool           // there are query sizes: it needs no query ids
	Names map[int]string // of features by id; nil: there are none
}

// A Layout says how the lines of a text become rows.
type Layout struct {
	Read    func(b *Builder, line []byte) // reads a line, without its newline, and adds its row to b
	Header  bool                          // the first line is not a row
	IDs     []int                         // features of all rows, in the order of Builder.Row; others turn up in lines
	Names   map[int]string                // of columns by feature id; nil: the format names no columns
	Ignored []string                      // columns that are not wanted
	Text    []string                      // columns of text that are no features
	Wants   func(id int) bool             // whether a feature is to be read; nil: Options.Wants

	Categorical  []int             // of IDs, those whose values are text, in the order of Builder.Level
	GroupFeature string            // the feature whose values are groups; "": none
	Look         func(text []byte) // looks at the first lines, to leave out columns of text; nil: there is no need
}

// NewParser gives a function that reads text into the fields of a chunk, whose size is that
// of the text. It serves one goroutine, chunk after chunk, and keeps its scratch space.
func (l *Layout) NewParser(o Options) func(c *Chunk, text []byte) {
	b := &Builder{options: o, wants: l.Wants, far: map[int]int32{}}
	if b.wants == nil {
		b.wants = o.Wants
	}
	return func(c *Chunk, text []byte) {
		b.begin(c, l.IDs)
		c.Levels = make([]Levels, len(l.Categorical))
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
