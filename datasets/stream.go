package datasets

import (
	"bytes"
	"context"
	"fmt"
	"io"
	"runtime"
	"slices"

	par "github.com/plrank/plrank/internal/parallel"
)

// chunkSize is how much text is parsed at once: large enough to make scheduling
// cheap, small enough to keep few texts in memory. A variable for tests.
var chunkSize = 1 << 20

const maxLine = 1 << 26

// parseStream reads r to its end in chunks of whole lines, parsed on all cores, and
// calls each with them, in the order of the text. The layout of the text comes from the
// first line for which begin gives one. An error of each is the result, but r is read on to
// its end, unless the context is done.
func parseStream(ctx context.Context, r io.Reader, begin func(line []byte) (*layout, error), newParser func(*layout) *parser, each func(*chunk) error) error {
	workers := runtime.GOMAXPROCS(0)
	work, inOrder := make(chan *chunk, workers), make(chan *chunk, 2*workers)
	free := make(chan []byte, 4*workers) // buffers to use again
	for range workers {
		go func() {
			var p *parser
			for c := range work {
				if p == nil {
					p = newParser(c.layout)
				}
				buffer := c.text
				p.parse(c)
				c.text = nil
				select {
				case free <- buffer:
				default:
				}
				close(c.parsed)
			}
		}()
	}
	var ended error // of the reading
	wait := par.Go(func() {
		defer close(work)
		defer close(inOrder)
		ended = readChunks(ctx, r, free, begin, func(c *chunk) {
			inOrder <- c
			work <- c
		})
	})
	var err error
	line := 1
	for c := range inOrder {
		<-c.parsed
		line += c.first
		c.line = line
		line += c.lines
		if err != nil {
			c.values.free()
		} else {
			err = each(c)
		}
	}
	wait()
	if err != nil {
		return err
	}
	return ended
}

// readChunks cuts the text of r into chunks, and gives them away one after another.
func readChunks(ctx context.Context, r io.Reader, free <-chan []byte, begin func(line []byte) (*layout, error), give func(*chunk)) error {
	var l *layout
	var rest []byte // the beginning of a line whose end is still to be read
	skipped := 0    // lines before the next chunk
	for first := true; ; {
		if err := ctx.Err(); err != nil {
			return err
		}
		var buffer []byte
		select {
		case buffer = <-free:
		default:
		}
		lines, after, err := readLines(r, buffer[:0], rest)
		if err != nil && err != io.EOF {
			return err
		}
		rest = after
		if first {
			lines = bytes.TrimPrefix(lines, []byte("\ufeff"))
			first = false
		}
		for l == nil && len(lines) > 0 {
			line, next, _ := bytes.Cut(lines, []byte("\n"))
			var problem error
			if l, problem = begin(bytes.TrimSuffix(line, []byte("\r"))); problem != nil {
				return problem
			}
			if l == nil || l.header {
				lines = next
				skipped++
			}
		}
		if len(lines) > 0 {
			give(&chunk{text: lines, size: int64(len(lines)), layout: l, first: skipped, parsed: make(chan struct{})})
			skipped = 0
		}
		if err == io.EOF {
			return nil
		}
	}
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
