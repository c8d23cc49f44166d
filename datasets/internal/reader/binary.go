package reader

import (
	"cmp"
	"context"
	"fmt"
	"io"
	"os"
	"strings"

	"github.com/plrank/plrank/internal/file"
)

// A ReadBinary reads the bytes of a file in chunks of about size bytes, and calls each with them in turn, and with the
// part of the file that has been read.
type ReadBinary func(file []byte, o Options, sidecar Sidecar, size int, each func(c *Chunk, l *Layout, part float64) error) error

// binary is a format of files that are not text.
type binary struct {
	name, from string // the package that reads it
	read       ReadBinary
}

// magicLength is how many bytes tell a binary format.
const magicLength = 4

// binaries are the binary formats, by the first bytes of their files. A program that wants one imports its package.
var binaries = map[string]*binary{
	"PAR1":    {name: "Parquet", from: "github.com/plrank/plrank/datasets/parquet"},
	"\x93NUM": {name: "NumPy", read: readArray},
}

// Register makes a binary format known, as the initialization of its package does.
func Register(magic string, read ReadBinary) { binaries[magic].read = read }

// binaryOf returns the binary format of a file, nil for text. What is not a regular file, such as a pipe, is text.
func binaryOf(path string) *binary {
	info, err := os.Stat(path)
	if err != nil || !info.Mode().IsRegular() {
		return nil
	}
	f, err := os.Open(path)
	if err != nil {
		return nil
	}
	defer f.Close()
	first := make([]byte, magicLength)
	if _, err := io.ReadFull(f, first); err != nil {
		return nil
	}
	return binaries[string(first)]
}

// parse calls each with the chunks of a file of scan s.
func (b *binary) parse(ctx context.Context, s *scan, o FileOptions, each func(*Chunk, *Layout) error) error {
	if b.read == nil {
		return fmt.Errorf("datasets: %s: it is %s, which this program does not read: it needs import _ %q", s.Path, b.name, b.from)
	}
	bytes, err := file.Map(s.Path)
	if err != nil {
		return fmt.Errorf("datasets: %w", err)
	}
	defer file.Unmap(bytes)
	o.Context, s.mostVectors = ctx, len(bytes)
	var failed error // of each
	err = b.read(bytes, o.Options, s.sidecar(), cmp.Or(o.ChunkSize, chunkSize), func(c *Chunk, l *Layout, part float64) error {
		s.consumed = func() int64 { return int64(part * float64(len(bytes))) }
		failed = each(c, l)
		file.Relieve()
		return failed
	})
	if err != nil && failed == nil && !strings.HasPrefix(err.Error(), "datasets: ") { // of a file next to it
		err = fmt.Errorf("datasets: %s: %w", s.Path, err)
	}
	return err
}
