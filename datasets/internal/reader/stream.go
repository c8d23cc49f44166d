package reader

import (
	"bytes"
	"cmp"
	"fmt"
	"io"
	"runtime"
	"slices"

	"github.com/plrank/plrank/internal/parallel"
	"github.com/plrank/plrank/internal/textfile"
)

const (
	// chunkSize is how much text is parsed at once: large enough to make scheduling
	// cheap, small enough to keep few texts in memory.
	chunkSize = 1 << 20

	maxLine = 1 << 26
)

// piece is whole lines of a file, on their way to become a chunk.
type piece struct {
	chunk   Chunk
	text    []byte // nil once parsed
	layout  *Layout
	skipped int           // lines of the file between the piece before and this one (a header)
	parsed  chan struct{} // closed then
}

// parseChunks reads the text of a file to its end in chunks of whole lines, parsed on all
// cores, and calls each with them, in the order of the text. An error of each is the result,
// but the text is read on to its end, unless the context is done.
func parseChunks(path string, r io.Reader, sidecar Sidecar, o FileOptions, each func(*Chunk, *Layout) error) error {
	workers := runtime.GOMAXPROCS(0)
	work, inOrder := make(chan *piece, workers), make(chan *piece, 2*workers)
	free := make(chan []byte, 4*workers) // buffers to use again
	for range workers {
		go func() {
			var parse func(*Chunk, []byte)
			for p := range work {
				if parse == nil {
					parse = p.layout.NewParser(o.Options)
				}
				parse(&p.chunk, p.text)
				select {
				case free <- p.text:
				default:
				}
				p.text = nil
				close(p.parsed)
			}
		}()
	}
	var ended error // of the reading
	wait := parallel.Go(func() {
		defer close(work)
		defer close(inOrder)
		ended = readChunks(r, free, sidecar, o, func(p *piece) {
			inOrder <- p
			work <- p
		})
	})
	var err error
	line := 1
	for p := range inOrder {
		<-p.parsed
		c := &p.chunk
		c.Line = line + p.skipped
		line = c.Line + c.Lines
		if err != nil {
			c.Free()
		} else {
			err = each(c, p.layout)
		}
	}
	wait()
	if err == nil && ended != nil {
		return fmt.Errorf("datasets: %w", textfile.At(path, ended))
	}
	return err
}

// readChunks cuts the text of r into chunks, and gives them away one after another.
func readChunks(r io.Reader, free <-chan []byte, sidecar Sidecar, o FileOptions, give func(*piece)) error {
	var l *Layout
	var rest []byte // the beginning of a line whose end is still to be read
	skipped := 0    // lines before the next chunk
	for first := true; ; {
		if err := o.Ctx().Err(); err != nil {
			return err
		}
		var buffer []byte
		select {
		case buffer = <-free:
		default:
		}
		lines, after, err := readLines(r, append(buffer[:0], rest...), cmp.Or(o.ChunkSize, chunkSize))
		if err != nil && err != io.EOF {
			return err
		}
		if l == nil && err == nil && bytes.Count(lines, []byte("\n")) < 2 { // a layout looks at the lines after the first, too
			rest = slices.Concat(lines, after)
			continue
		}
		rest = after
		if first {
			lines, first = bytes.TrimPrefix(lines, []byte("\ufeff")), false
		}
		for l == nil && len(lines) > 0 {
			line, next, _ := bytes.Cut(lines, []byte("\n"))
			var problem error
			if l, problem = findLayout(bytes.TrimSuffix(line, []byte("\r")), next, o, sidecar); problem != nil {
				return problem
			}
			if l == nil || l.Header {
				lines = next
				skipped++
			}
		}
		if l != nil && l.Comma != 0 && err == nil {
			n := wholeRows(lines, l.Comma)
			lines, rest = lines[:n], slices.Concat(lines[n:], rest)
		}
		if len(lines) > 0 {
			chunk := Chunk{Size: int64(len(lines))}
			give(&piece{chunk: chunk, text: lines, layout: l, skipped: skipped, parsed: make(chan struct{})})
			skipped = 0
		}
		if err == io.EOF {
			return nil
		}
	}
}

// readLines appends about size bytes to the buffer, and returns its whole lines and a
// copy of what follows them. At the end of r the last line is whole without a newline, and
// the error is io.EOF.
func readLines(r io.Reader, buffer []byte, size int) (lines, after []byte, err error) {
	buffer = slices.Grow(buffer, size)
	for {
		start := len(buffer)
		// Not io.ReadFull: its error for a truncated compressed file would be taken for the end.
		for len(buffer) < cap(buffer) && err == nil {
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

// findLayout finds the layout of a text by its first line; nil if the next line tells it.
func findLayout(line, after []byte, o FileOptions, sidecar Sidecar) (*Layout, error) {
	for _, layout := range formats {
		if l, err := layout(line, after, o.Options, sidecar); l != nil || err != nil {
			return l, err
		}
	}
	return nil, nil
}
