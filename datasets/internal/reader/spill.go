package reader

import (
	"fmt"
	"os"
	"sync"

	"github.com/plrank/plrank/internal/file"
	"github.com/plrank/plrank/internal/memory"
)

// A Spill is a file without a name for features of a table, which may be too many for memory.
// It is mapped when all are there: the system keeps as much in memory as there is room for.
type Spill struct {
	path  string // of the table
	file  *os.File
	taken int // values of chunks
}

// NewSpill makes the file in a folder.
func NewSpill(path, folder string) (*Spill, error) {
	f, err := os.CreateTemp(folder, ".plrank-features.*")
	if err != nil {
		return nil, fmt.Errorf("datasets: %s: features to the disk: %w", path, err)
	}
	os.Remove(f.Name()) // it lives on without a name; not on Windows, see Close
	return &Spill{path: path, file: f}, nil
}

// write writes values from the given one of the file on.
func (s *Spill) write(values []float32, at int) error {
	if _, err := s.file.WriteAt(memory.Bytes(values), 4*int64(at)); err != nil {
		return fmt.Errorf("datasets: %s: features to the disk: %w", s.path, err)
	}
	return nil
}

// mapped returns all values, until unmap is called. There must be some.
func (s *Spill) mapped() (values []float32, unmap func(), err error) {
	b, err := file.MapOpen(s.file)
	if err != nil {
		return nil, nil, fmt.Errorf("datasets: %s: features from the disk: %w", s.path, err)
	}
	return memory.Numbers[float32](b), sync.OnceFunc(func() { file.Unmap(b) }), nil
}

// Take writes the features of the next chunk, and frees them.
func (s *Spill) Take(c *Chunk) error {
	err := s.write(c.Values.Values, s.taken)
	s.taken += len(c.Values.Values)
	c.Values.Free()
	return err
}

// GiveBack gives the features back to the chunks of t, after all were taken.
func (s *Spill) GiveBack(t *Table) error {
	if s.taken == 0 { // an empty file cannot be mapped
		return nil
	}
	values, unmap, err := s.mapped()
	if err != nil {
		return err
	}
	t.Spilled = append(t.Spilled, unmap)
	for _, c := range t.Chunks {
		n := len(c.Labels) * len(c.IDs)
		if c.Sparse.Starts != nil {
			continue
		}
		c.Values.Values, values = values[:n:n], values[n:]
	}
	return nil
}

// Close gives up the file, except what is mapped of it.
func (s *Spill) Close() {
	s.file.Close()
	os.Remove(s.file.Name())
}
