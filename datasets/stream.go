package datasets

import (
	"bytes"
	"context"
	"fmt"
	"io"
	"runtime"
	"slices"
	"sync"
)

// chunkSize is how much text is parsed at once: large enough to make scheduling
// cheap, small enough to keep few texts in memory. A variable for tests.
var chunkSize = 1 << 20

const maxLine = 1 << 26

// text is what was parsed.
type text struct {
	chunks []*chunk
	size   int64 // bytes, decompressed
	layout *layout
}

// free gives the memory of the chunks back.
func (t *text) free() {
	for _, c := range t.chunks {
		c.values.free()
	}
	t.chunks = nil
}

// parseStream reads r to its end in chunks of whole lines, parsed on all cores.
// The layout of the text comes from its first line.
func parseStream(ctx context.Context, r io.Reader, begin func(line []byte) (*layout, error), newParser func(*layout) *parser) (t text, err error) {
	workers := runtime.GOMAXPROCS(0)
	work := make(chan *chunk, workers)
	free := make(chan []byte, 2*workers+1) // buffers to use again
	var wg sync.WaitGroup
	for range workers {
		wg.Go(func() {
			var p *parser
			for c := range work {
				if p == nil { // the layout is known by now
					p = newParser(t.layout)
				}
				buffer := c.text
				p.parse(c)
				c.text = nil
				select {
				case free <- buffer:
				default:
				}
			}
		})
	}
	defer func() {
		close(work)
		wg.Wait()
		if err != nil {
			t.free()
		}
	}()

	var rest []byte // the beginning of a line whose end is still to be read
	skipped := 0    // lines before the next chunk
	for first := true; ; {
		if err := ctx.Err(); err != nil {
			return t, err
		}
		var buffer []byte
		select {
		case buffer = <-free:
		default:
		}
		lines, after, err := readLines(r, buffer[:0], rest)
		if err != nil && err != io.EOF {
			return t, err
		}
		t.size += int64(len(lines) - len(rest) + len(after))
		rest = after
		if first {
			lines = bytes.TrimPrefix(lines, []byte("\ufeff"))
			first = false
		}
		if t.layout == nil {
			n, line := firstLine(lines)
			if line != nil {
				var problem error
				if t.layout, problem = begin(bytes.TrimSuffix(line, []byte("\r"))); problem != nil {
					return t, problem
				}
				if t.layout.header {
					n += min(len(line)+1, len(lines)-n)
				}
			}
			skipped += bytes.Count(lines[:n], []byte("\n"))
			lines = lines[n:]
		}
		if len(lines) > 0 {
			c := &chunk{text: lines, first: skipped}
			skipped = 0
			t.chunks = append(t.chunks, c)
			work <- c
		}
		if err == io.EOF {
			return t, nil
		}
	}
}

// firstLine is the first line that is neither blank nor a comment, and the number of
// bytes before it; nil if there is none.
func firstLine(text []byte) (before int, line []byte) {
	for before < len(text) {
		line, _, _ := bytes.Cut(text[before:], []byte("\n"))
		if i := skipBlanks(line, 0); i < len(line) && line[i] != '#' {
			return before, line
		}
		before = min(before+len(line)+1, len(text))
	}
	return before, nil
}

// readLines fills buffer with rest and about chunkSize bytes more, and returns
// the whole lines and a copy of what follows them. At the end of r the last
// line is whole without a newline, and the error is io.EOF.
func readLines(r io.Reader, buffer, rest []byte) (lines, after []byte, err error) {
	buffer = slices.Grow(append(buffer, rest...), chunkSize)
	for {
		start := len(buffer)
		for len(buffer) < cap(buffer) && err == nil { // not io.ReadFull: a compressed file cut short is no end
			var n int
			n, err = r.Read(buffer[len(buffer):cap(buffer)])
			buffer = buffer[:len(buffer)+n]
		}
		if err != nil {
			return buffer, nil, err
		}
		if end := bytes.LastIndexByte(buffer[start:], '\n'); end >= 0 {
			end += start + 1
			return buffer[:end], bytes.Clone(buffer[end:]), nil
		}
		if len(buffer) > maxLine {
			return nil, nil, fmt.Errorf("a line of more than %d MB", maxLine>>20)
		}
		buffer = slices.Grow(buffer, len(buffer)) // a long line
	}
}
