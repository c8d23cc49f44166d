// Package textfile reads files of text, compressed or not.
package textfile

import (
	"bufio"
	"bytes"
	"cmp"
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"sync/atomic"

	"github.com/klauspost/compress/gzip"
	"github.com/klauspost/compress/zstd"

	"github.com/plrank/plrank/internal/filekind"
)

// File is the text of a file, decompressed if need be.
type File struct {
	io.Reader
	packed *counter
	close  func()
}

// Open opens a file and tells by its first bytes whether it is compressed. The
// end of the context closes it, which also ends a read that waits, from a pipe.
func Open(ctx context.Context, path string) (*File, error) {
	f, err := os.Open(path)
	if err != nil {
		return nil, err
	}
	unwatch := context.AfterFunc(ctx, func() { f.Close() })
	packed := &counter{r: f}
	text, stop, err := decompress(packed)
	if err != nil {
		unwatch()
		f.Close()
		return nil, cmp.Or(ctx.Err(), err) // the file may have been closed under it
	}
	return &File{text, packed, func() { unwatch(); stop(); f.Close() }}, nil
}

// Consumed is the number of bytes of the file, compressed ones, that were read so far.
func (f *File) Consumed() int64 { return f.packed.n.Load() }

// Close ends the reading.
func (f *File) Close() { f.close() }

// At returns an error with the path it is about, unless it has it already.
func At(path string, err error) error {
	if pathError := new(fs.PathError); errors.As(err, &pathError) {
		return err
	}
	return fmt.Errorf("%s: %w", path, err)
}

// WithoutMark is a text without the byte order mark at its start, if it has one: the mark would be
// taken for a part of the first word.
func WithoutMark(text io.Reader) io.Reader {
	b := bufio.NewReader(text)
	if first, _ := b.Peek(3); string(first) == "\ufeff" { // an error comes again with the next read
		_, _ = b.Discard(3) // they are there
	}
	return b
}

// decompress is the text of a file, which may be gzip, zstd or plain, without a byte order mark.
func decompress(packed *counter) (text io.Reader, stop func(), err error) {
	b := bufio.NewReaderSize(packed, 1<<16)
	magic, err := b.Peek(filekind.Enough)
	if err != nil && err != io.EOF {
		return nil, nil, err
	}
	var z io.Reader
	stop, how := func() {}, ""
	switch {
	case bytes.HasPrefix(magic, []byte{0x1f, 0x8b}):
		if z, err = gzip.NewReader(b); err != nil {
			return nil, nil, err
		}
		how = "gzip"
	case bytes.HasPrefix(magic, []byte{0x28, 0xb5, 0x2f, 0xfd}):
		// 128 MB is the window of zstd --long; a file that claims more is refused.
		d, err := zstd.NewReader(b, zstd.WithDecoderMaxWindow(1<<27), zstd.WithDecoderLowmem(true))
		if err != nil {
			return nil, nil, err
		}
		z, stop, how = d, d.Close, "zstd"
	default:
		return WithoutMark(b), stop, checkForeign(magic, "")
	}
	b = bufio.NewReaderSize(&bounded{r: z, packed: packed}, 1<<16)
	magic, _ = b.Peek(filekind.Enough) // an error comes again with the next read
	if err := checkForeign(magic, how); err != nil {
		stop()
		return nil, nil, err
	}
	return WithoutMark(b), stop, nil
}

// checkForeign returns an error for a file that is known not to be text, by its first bytes, after it was decompressed if it is
// said how it is compressed.
func checkForeign(first []byte, how string) error {
	kind, known := filekind.Of(first)
	if !known {
		return nil
	}
	if how != "" {
		how = " within " + how
	}
	return fmt.Errorf("the file is %s%s: %s", kind.Name, how, cmp.Or(kind.Data, "want text in UTF-8, as it is or compressed by gzip or zstd"))
}

// counter counts the bytes that were read.
type counter struct {
	r io.Reader
	n atomic.Int64 // zstd reads ahead in another goroutine
}

func (c *counter) Read(b []byte) (int, error) {
	n, err := c.r.Read(b)
	c.n.Add(int64(n))
	return n, err
}

// bounded is decompressed text, which ends in an error if a few bytes claim
// to be a lot of it.
type bounded struct {
	r      io.Reader
	packed *counter
	n      int64
}

func (b *bounded) Read(p []byte) (int, error) {
	const floor, ratio = 1 << 26, 2000
	n, err := b.r.Read(p)
	if errors.Is(err, io.ErrUnexpectedEOF) {
		err = fmt.Errorf("%w: the compressed file is cut short, or has something else at its end", err)
	}
	if b.n += int64(n); b.n > floor && b.n > ratio*b.packed.n.Load() {
		return 0, fmt.Errorf("decompresses to more than %d times its size: this is not data", ratio)
	}
	return n, err
}

// SamePath reports whether two paths are one, however spelt. The file need not exist: the paths have the same name, by
// which the files that belong to it are found, and the same folder, which exists.
func SamePath(a, b string) bool {
	if filepath.Base(a) != filepath.Base(b) {
		return false
	}
	folder, err := os.Stat(filepath.Dir(a))
	other, failed := os.Stat(filepath.Dir(b))
	return err == nil && failed == nil && os.SameFile(folder, other)
}
