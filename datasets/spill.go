package datasets

import (
	"bufio"
	"fmt"
	"os"
	"slices"
	"sort"
	"unsafe"

	"github.com/plrank/plrank/internal/mapped"
)

// A spill takes the features of a table, chunk by chunk as they are parsed, from memory to
// a file without a name in a folder. It is mapped when all are there: the system keeps in
// memory what there is room for.
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
func (s *spill) add(c *chunk) error {
	s.sizes = append(s.sizes, len(c.values.values))
	_, err := s.out.Write(bytesOf(c.values.values))
	c.values.free()
	if err != nil {
		return fmt.Errorf("datasets: %s: features to the disk: %w", s.path, err)
	}
	return nil
}

// giveBack gives the features back to the chunks of t, of which all were added.
func (s *spill) giveBack(t *table) error {
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
	t.spilled = append(t.spilled, b)
	values := unsafe.Slice((*float32)(unsafe.Pointer(&b[0])), total)
	for i, n := range s.sizes {
		t.chunks[i].values.values, values = values[:n:n], values[n:]
	}
	return nil
}

// close gives up the file, but for what is mapped of it.
func (s *spill) close() {
	s.file.Close()
	os.Remove(s.file.Name())
}

// rowSource has the features of a dataset while they are in the chunks of a table.
type rowSource struct {
	table *table
	ids   []int
	first []int  // row of the table that each chunk begins with
	moves []move // ascending by to
	from  int    // the row of all moves that is the first of the dataset
}

// read gives the features of rows from a row of the dataset on, as many as dst has.
func (s *rowSource) read(dst []float32, row int) {
	wide := len(s.ids)
	row += s.from
	at := sort.Search(len(s.moves), func(i int) bool { return s.moves[i].to > row }) - 1
	for len(dst) > 0 {
		m := s.moves[at]
		source := m.rows.from + row - m.to
		i := sort.SearchInts(s.first, source+1) - 1
		c := s.table.chunks[i]
		n := min(m.rows.to-source, s.first[i]+len(c.labels)-source, len(dst)/wide)
		c.copyFeatures(dst[:n*wide], locate(c.ids, s.ids), span{source - s.first[i], source - s.first[i] + n})
		dst = dst[n*wide:]
		if row += n; row-m.to == m.rows.to-m.rows.from {
			at++
		}
	}
}

// onDisk are the splits whose features are not in memory.
func (s *Splits) onDisk() []*Dataset {
	all := s.all()
	return slices.DeleteFunc(all[:], func(d *Dataset) bool { return d == nil || d.rows == nil })
}

// gather brings all features to memory.
func (s *Splits) gather() {
	for _, d := range s.onDisk() {
		w := d.Width()
		d.Features = make([]float32, d.Rows()*w)
		const block = 1 << 12 // rows
		parallel((d.Rows()+block-1)/block, func(i int) {
			d.rows.read(d.Features[i*block*w:min((i+1)*block, d.Rows())*w], i*block)
		})
	}
	s.free()
}

// free gives up the features that are not in memory.
func (s *Splits) free() {
	for _, d := range s.onDisk() {
		d.rows.table.free()
		d.rows = nil
	}
}
