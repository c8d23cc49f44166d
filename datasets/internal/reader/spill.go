package reader

import (
	"fmt"
	"os"

	"github.com/plrank/plrank/internal/file"
	"github.com/plrank/plrank/internal/memory"
)

// A spill is a file without a name for features, which may be too many for memory. It is mapped when all are there: the system
// keeps as much in memory as there is room for.
type spill struct {
	path string // of the table
	file *os.File
}

func (t *Table) newSpill() (*spill, error) {
	f, err := os.CreateTemp(t.Scratch, ".plrank-features.*")
	if err != nil {
		return nil, fmt.Errorf("datasets: %s: features to the disk: %w", t.Path, err)
	}
	os.Remove(f.Name()) // it lives on without a name; not on Windows, see close
	return &spill{t.Path, f}, nil
}

// write writes values from the given one of the file on.
func (s *spill) write(values []float32, at int) error {
	if _, err := s.file.WriteAt(memory.Bytes(values), 4*int64(at)); err != nil {
		return fmt.Errorf("datasets: %s: features to the disk: %w", s.path, err)
	}
	return nil
}

// mapped returns all values, until unmap is called. There must be some.
func (s *spill) mapped() (values []float32, unmap func(), err error) {
	b, err := file.MapOpen(s.file)
	if err != nil {
		return nil, nil, fmt.Errorf("datasets: %s: features from the disk: %w", s.path, err)
	}
	return memory.Numbers[float32](b), func() { file.Unmap(b) }, nil
}

// close gives up the file, except what is mapped of it.
func (s *spill) close() {
	s.file.Close()
	os.Remove(s.file.Name())
}

// spill moves the features of a chunk to the disk if they are to go there.
func (t *Table) spill(c *Chunk) error {
	if t.Scratch == "" || len(c.Values.Values) == 0 {
		return nil
	}
	s, err := t.newSpill()
	if err != nil {
		return err
	}
	defer s.close()
	if err := s.write(c.Values.Values, 0); err != nil {
		return err
	}
	values, unmap, err := s.mapped()
	if err == nil {
		c.Free()
		c.Values.Values, c.unmap = values, unmap
	}
	return err
}
