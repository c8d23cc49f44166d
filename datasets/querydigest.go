package datasets

import (
	"math"

	"github.com/plrank/plrank/datasets/internal/memory"
	"github.com/plrank/plrank/internal/splitmix"
)

// QueryDigests tell whether a query has been seen before: one number for each query, of its
// documents' features in the given columns, such as those that a model uses. The order of the
// documents does not matter, nor do labels, ids of queries, and the format that they were read
// from. It is 0 for a query whose documents are all equal, as a single one is: others may have
// such documents by chance.
//
// A document is d = mix(Σ mix(id·2³² + bits)) over its features that are not 0, bits being those
// of the float32, and a missing value a NaN like any other; a query is mix(Σ mix(d)) over its
// documents, where mix is [splitmix.Next].
func (d *Dataset) QueryDigests(columns []int) []uint64 {
	digests := make([]uint64, d.Queries())
	memory.For(len(digests), func(q int) {
		var sum, first uint64
		differ := false
		for r := d.Offsets[q]; r < d.Offsets[q+1]; r++ {
			document := d.rowDigest(r, columns)
			if r == d.Offsets[q] {
				first = document
			}
			differ = differ || document != first
			sum += splitmix.Next(document)
		}
		if differ {
			digests[q] = splitmix.Next(sum)
		}
	})
	return digests
}

func (d *Dataset) rowDigest(r int, columns []int) (sum uint64) {
	row := d.Row(r)
	for _, c := range columns {
		v := row[c]
		if v == 0 {
			continue
		}
		bits := math.Float32bits(v)
		if v != v {
			bits = 0x7fc00000
		}
		sum += splitmix.Next(uint64(d.FeatureIDs[c])<<32 | uint64(bits))
	}
	return splitmix.Next(sum)
}
