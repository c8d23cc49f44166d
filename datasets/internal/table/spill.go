package table

import (
	"fmt"
	"os"
	"sync"

	"github.com/plrank/plrank/datasets/internal/memory"
	"github.com/plrank/plrank/internal/mapped"
)

// A Spill is a file without a name for features of a table, which may be too many for memory.
// It is mapped when all are there: the system keeps as much in memory as there is room for.
type Spill struct {
	path string // of the table
	file *os.File
}

// NewSpill makes the file in a folder.
func NewSpill(path, folder string) (*Spill, error) {
	f, err := os.CreateTemp(folder, ".plrank-features.*")
	if err != nil {
		return nil, fmt.Errorf("datasets: %s: features to the disk: %w", path, err)
	}
	os.Remove(f.Name()) // it lives on without a name; not on Windows, see Close
	return &Spill{path, f}, nil
}

// Write writes values from the given one of the file on.
func (s *Spill) Write(values []float32, at int) error {
	if _, err := s.file.WriteAt(memory.Bytes(values), 4*int64(at)); err != nil {
		return fmt.Errorf("datasets: %s: features to the disk: %w", s.path, err)
	}
	return nil
}

// Map is all values, of which there must be some, until unmap is called.
func (s *Spill) Map() (values []float32, unmap func(), err error) {
	b, err := mapped.File(s.file)
	if err != nil {
		return nil, nil, fmt.Errorf("datasets: %s: features from the disk: %w", s.path, err)
	}
	return memory.Numbers[float32](b), sync.OnceFunc(func() { mapped.Close(b) }), nil
}

// Close gives up the file, except what is mapped of it.
func (s *Spill) Close() {
	s.file.Close()
	os.Remove(s.file.Name())
}
