package datasets

import (
	"math"
	"slices"

	"fmt"

	"github.com/plrank/plrank/internal/memory"
	"github.com/plrank/plrank/internal/num"
	"github.com/plrank/plrank/transforms"
)

// Rows returns the number of documents.
func (b *Batch) Rows() int {
	if len(b.Offsets) == 0 {
		return 0
	}
	return b.Offsets[len(b.Offsets)-1]
}

// Pack fills the batch with the given queries of d, in that order, each transformed by t, and pads it to a number of rows and
// to queryCapacity. It reuses the memory of the batch. It uses all cores; the result does not depend on their number. It
// panics if the queries exceed a capacity.
func (b *Batch) Pack(d *Dataset, t *transforms.Transform, queries []int, rows, queryCapacity int) {
	b.PackTransformed(&Transformed{d: d, t: t}, queries, rows, queryCapacity)
}

// PackTransformed packs queries as [Batch.Pack] does, from data that are kept transformed. The numbers of vectors follow the features
// in a row, NaN for one that is missing.
func (b *Batch) PackTransformed(x *Transformed, queries []int, rows, queryCapacity int, vectors ...int) {
	b.packColumns(x.d, queries, rows, queryCapacity)
	used, features := b.Rows(), x.t.Width()
	width := features
	for _, k := range vectors {
		width += x.d.Vectors.Dimensions[k]
	}
	b.X = num.Sized(b.X, rows*width)
	clear(b.X[used*width:])
	one := func(i int) {
		own := b.X[b.Offsets[i]*width : b.Offsets[i+1]*width]
		if vectors == nil {
			x.Query(own, queries[i])
			return
		}
		alone := make([]float32, len(own)/width*features)
		x.Query(alone, queries[i])
		for r := x.d.Offsets[queries[i]]; len(own) > 0; r++ {
			copy(own, alone[:features])
			own, alone = own[features:], alone[features:]
			for _, k := range vectors {
				n := x.d.Vectors.Dimensions[k]
				if copy(own[:n], x.d.Vector(k, r)) == 0 {
					copy(own[:n], slices.Repeat([]float32{float32(math.NaN())}, n))
				}
				own = own[n:]
			}
		}
	}
	const worthwhile = 1 << 15 // values; below it, starting goroutines costs more than it saves
	if used*width < worthwhile {
		for i := range queries {
			one(i)
		}
		return
	}
	memory.For(len(queries), one)
}

// PackSparse packs queries of data that are sparse after the transform, see [Transformed.IsSparse], as [Batch.Pack] does, into Sparse.
func (b *Batch) PackSparse(x *Transformed, queries []int, rows, queryCapacity int) {
	b.packColumns(x.d, queries, rows, queryCapacity)
	b.Sparse = Sparse{Starts: append(b.Sparse.Starts[:0], 0), Columns: b.Sparse.Columns[:0], Values: b.Sparse.Values[:0]}
	transformed := x.sparse()
	for _, q := range queries {
		for r := x.d.Offsets[q]; r < x.d.Offsets[q+1]; r++ {
			b.Sparse.Append(transformed.Row(r))
		}
	}
	b.Sparse.Starts = pad(b.Sparse.Starts, rows+1, len(b.Sparse.Values))
}

// packColumns packs all but the features.
func (b *Batch) packColumns(d *Dataset, queries []int, rows, queryCapacity int) {
	if len(queries) > queryCapacity {
		panic(fmt.Sprintf("datasets: pack %d queries into a batch of %d", len(queries), queryCapacity))
	}
	b.Offsets = append(b.Offsets[:0], 0)
	for _, q := range queries {
		b.Offsets = append(b.Offsets, b.Rows()+d.Offsets[q+1]-d.Offsets[q])
	}
	used := b.Rows()
	if used > rows {
		panic(fmt.Sprintf("datasets: pack %d documents into a batch of %d rows", used, rows))
	}
	b.Offsets = pad(b.Offsets, queryCapacity+1, used)
	for _, c := range columns {
		c.pack(b, d, queries, rows, queryCapacity)
	}
}
