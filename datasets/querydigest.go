package datasets

import (
	"hash/fnv"
	"io"
	"math"

	"github.com/plrank/plrank/internal/memory"
	"github.com/plrank/plrank/internal/num"
)

// QueryDigests tell whether a query has been seen before: one number for each query, of all
// features of its documents. The order of the documents does not matter, nor do labels, and the
// format that they were read from. The id of the query matters where its documents are all equal, as
// a single one is: others may have such documents by chance. A query without documents has 0.
//
// A document is d = mix(Σ mix(id·2³² + bits)) over its features that are not 0, bits being those
// of the float32, and a missing value a NaN like any other; a query is mix(Σ mix(d)) over its
// documents, where mix is [num.SplitMixNext]. The FNV-1a hash of its id is added to the sum if it matters.
func (d *Dataset) QueryDigests() []uint64 {
	digests := make([]uint64, d.Queries())
	memory.For(len(digests), func(q int) {
		var sum, first uint64
		differ := false
		for r := d.Offsets[q]; r < d.Offsets[q+1]; r++ {
			document := d.rowDigest(r)
			if r == d.Offsets[q] {
				first = document
			}
			differ = differ || document != first
			sum += num.SplitMixNext(document)
		}
		if d.Offsets[q] == d.Offsets[q+1] {
			return
		}
		if !differ && d.QueryIDs != nil { // what is only scored may have none
			id := fnv.New64a()
			io.WriteString(id, d.QueryIDs[q])
			sum += id.Sum64()
		}
		digests[q] = num.SplitMixNext(sum)
	})
	return digests
}

func (d *Dataset) rowDigest(r int) (sum uint64) {
	for c, v := range d.Row(r) {
		if v == 0 {
			continue
		}
		bits := math.Float32bits(v)
		if v != v {
			bits = 0x7fc00000
		}
		sum += num.SplitMixNext(uint64(d.FeatureIDs[c])<<32 | uint64(bits))
	}
	return num.SplitMixNext(sum)
}
