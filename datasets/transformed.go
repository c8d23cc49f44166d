package datasets

import (
	"os"
	"sync"
	"sync/atomic"

	"github.com/plrank/plrank/internal/file"
	"github.com/plrank/plrank/internal/memory"
	"github.com/plrank/plrank/transforms"
)

// Transformed holds the features of a dataset after a transform, for data that
// are packed again and again, as in training. It transforms a query when it is first asked for, and keeps the result in a
// temporary file, which is at most as large as the features of the dataset, or 256 MB if these are smaller. Queries that do
// not fit are transformed each time. The system keeps the file in its cache as far as there is room, outside the memory of the
// process. If no file can be written, nothing is kept.
//
// Several goroutines may use it at once.
type Transformed struct {
	d      *Dataset
	t      *transforms.Transform
	sparse func() *Sparse // the features, if IsSparse

	kept  []atomic.Int64 // by query: 1 + where it begins in the file; 0: it is not there. nil: nothing is kept
	limit int64          // of the file

	mu   sync.Mutex // of the rest, while the file grows
	end  int64
	file *os.File // nil: there is none
}

// leastKept is the size in bytes that the file of small data may have.
const leastKept = 256 << 20

// NewTransformed returns the features of d after t. Neither may change any more. Close
// it after use. Sparse features that stay sparse are kept in memory.
func NewTransformed(d *Dataset, t *transforms.Transform) *Transformed {
	return &Transformed{d: d, t: t, sparse: sync.OnceValue(func() *Sparse { return t.Sparse(&d.Sparse) }),
		limit: max(leastKept, int64(len(d.Features))*4), kept: make([]atomic.Int64, d.Queries())}
}

// IsSparse reports whether the features are sparse after the transform, as before.
func (x *Transformed) IsSparse() bool { return x.d.IsSparse() && x.t.KeepsZeros() }

// Query sets dst to the features of a query: Transform.Width() values for each of its documents.
func (x *Transformed) Query(dst []float32, query int) {
	keep := x.kept != nil && len(dst) > 0
	bytes := memory.Bytes(dst)
	if keep && x.kept[query].Load() > 0 {
		if _, err := x.file.ReadAt(bytes, x.kept[query].Load()-1); err == nil {
			return
		}
		keep = false
	}
	from, to := x.d.Offsets[query], x.d.Offsets[query+1]
	switch {
	case len(dst) == 0:
	case x.IsSparse():
		rows := x.d.Sparse.Cut(from, to)
		x.t.Sparse(&rows).Dense(dst, x.t.Width(), nil)
		return // which takes less time than a file
	default:
		x.t.Query(dst, x.d.Dense(nil, from, to))
	}
	if !keep {
		return
	}
	if at := x.reserve(int64(len(bytes))); at >= 0 {
		if _, err := x.file.WriteAt(bytes, at); err == nil {
			x.kept[query].Store(1 + at)
		}
	}
}

// Prefetch tells the system that a query will be asked for soon. It speeds up reading in any order if the features are in a file
// larger than memory, see Options.Cache.
func (x *Transformed) Prefetch(query int) {
	from, to := x.d.Offsets[query], x.d.Offsets[query+1]
	if x.kept != nil && x.kept[query].Load() > 0 {
		file.WillRead(x.file, x.kept[query].Load()-1, 4*int64(to-from)*int64(x.t.Width()))
	} else if !x.d.IsSparse() {
		file.WillNeed(memory.Bytes(x.d.Dense(nil, from, to)))
	}
}

// reserve returns the offset in the file for a number of bytes; −1 if they do not fit.
func (x *Transformed) reserve(bytes int64) int64 {
	x.mu.Lock()
	defer x.mu.Unlock()
	if x.end+bytes > x.limit {
		return -1
	}
	if x.file == nil {
		file, err := os.CreateTemp("", "plrank-*")
		if err != nil {
			x.limit = 0 // do not try again
			return -1
		}
		x.file = file
		os.Remove(file.Name()) // it lives on without a name; not on Windows, see Close
	}
	x.end += bytes
	return x.end - bytes
}

// Close removes the file. Queries are then transformed each time.
func (x *Transformed) Close() error {
	file := x.file
	x.kept, x.limit, x.file = nil, 0, nil
	if file == nil {
		return nil
	}
	err := file.Close()
	os.Remove(file.Name())
	return err
}
