package reading

import (
	"bufio"
	"fmt"
	"os"

	"github.com/plrank/plrank/datasets/internal/memory"
	"github.com/plrank/plrank/datasets/internal/table"
	"github.com/plrank/plrank/internal/mapped"
)

// A spill takes the features of a table, chunk by chunk as they are parsed, from memory to
// a file without a name in a folder. It is mapped when all are there: the system keeps
// as much in memory as there is room for. Nil leaves them where they are.
type spill struct {
	path  string // of the table
	file  *os.File
	out   *bufio.Writer
	sizes []int // of the chunks: values
}

func newSpill(path, folder string) (*spill, error) {
	f, err := os.CreateTemp(folder, ".plrank-features.*")
	if err != nil {
		return nil, fmt.Errorf("datasets: %s: features to the disk: %w", path, err)
	}
	os.Remove(f.Name()) // it lives on without a name; not on Windows, see close
	return &spill{path: path, file: f, out: bufio.NewWriterSize(f, 1<<20)}, nil
}

// add takes the features of the next chunk.
func (s *spill) add(c *table.Chunk) error {
	if s == nil {
		return nil
	}
	s.sizes = append(s.sizes, len(c.Values.Values))
	_, err := s.out.Write(memory.Bytes(c.Values.Values))
	c.Values.Free()
	if err != nil {
		return fmt.Errorf("datasets: %s: features to the disk: %w", s.path, err)
	}
	return nil
}

// giveBack gives the features back to the chunks of t, of which all were added.
func (s *spill) giveBack(t *table.Table) error {
	if s == nil {
		return nil
	}
	if err := s.out.Flush(); err != nil {
		return fmt.Errorf("datasets: %s: features to the disk: %w", s.path, err)
	}
	total := 0
	for _, n := range s.sizes {
		total += n
	}
	if total == 0 {
		return nil // nothing to map
	}
	b, err := mapped.File(s.file)
	if err != nil {
		return fmt.Errorf("datasets: %s: features from the disk: %w", s.path, err)
	}
	t.Spilled = append(t.Spilled, b)
	values := memory.Numbers[float32](b)[:total]
	for i, n := range s.sizes {
		t.Chunks[i].Values.Values, values = values[:n:n], values[n:]
	}
	return nil
}

// close gives up the file, except what is mapped of it.
func (s *spill) close() {
	s.file.Close()
	os.Remove(s.file.Name())
}
