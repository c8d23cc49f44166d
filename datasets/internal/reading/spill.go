package reading

import (
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
	path string // of the table
	file *os.File
}

func newSpill(path, folder string) (*spill, error) {
	f, err := os.CreateTemp(folder, ".plrank-features.*")
	if err != nil {
		return nil, fmt.Errorf("datasets: %s: features to the disk: %w", path, err)
	}
	os.Remove(f.Name()) // it lives on without a name; not on Windows, see close
	return &spill{path, f}, nil
}

// add takes the features of the next chunk.
func (s *spill) add(c *table.Chunk) error {
	if s == nil {
		return nil
	}
	_, err := s.file.Write(memory.Bytes(c.Values.Values))
	c.Values.Free()
	if err != nil {
		return fmt.Errorf("datasets: %s: features to the disk: %w", s.path, err)
	}
	return nil
}

// giveBack gives the features back to the chunks of t, of which all were added.
func (s *spill) giveBack(t *table.Table) error {
	if s == nil || len(t.IDs) == 0 { // an empty file cannot be mapped
		return nil
	}
	b, err := mapped.File(s.file)
	if err != nil {
		return fmt.Errorf("datasets: %s: features from the disk: %w", s.path, err)
	}
	t.Spilled = append(t.Spilled, b)
	values := memory.Numbers[float32](b)
	for _, c := range t.Chunks {
		n := len(c.Labels) * len(c.IDs)
		c.Values.Values, values = values[:n:n], values[n:]
	}
	return nil
}

// close gives up the file, except what is mapped of it.
func (s *spill) close() {
	s.file.Close()
	os.Remove(s.file.Name())
}
