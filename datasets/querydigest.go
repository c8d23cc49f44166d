package datasets

import (
	"hash/fnv"
	"math"
	"slices"

	"github.com/plrank/plrank/internal/memory"
	"github.com/plrank/plrank/internal/num"
)

// QueryDigests returns a number for each query, a hash of all features of its documents, by which a query that was seen before
// is recognised. The order of the documents, their labels and the format of the file do not matter. The id of the query
// matters only if its documents are all equal, or there is one: other queries may have such documents by chance. A query
// without documents has 0.
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
			sum += hashed(d.QueryIDs[q])
		}
		digests[q] = num.SplitMixNext(sum)
	})
	return digests
}

// TrainingDigests returns the digests that a model keeps of its training queries: the QueryDigests, if no two queries have the
// same documents. Otherwise queries of other data will have the same documents by chance, and the hash of the id is
// added to each digest. [Dataset.CountSeen] looks for both.
func (d *Dataset) TrainingDigests() []uint64 {
	digests, ids := d.QueryDigests(), map[uint64]string{}
	for q, id := range d.QueryIDs {
		if other, found := ids[digests[q]]; found && other != id && digests[q] != 0 {
			return d.withIDs(digests)
		}
		ids[digests[q]] = id
	}
	return digests
}

// CountSeen returns how many queries of d are among others, such as the training queries of a model. The function counts how
// many of a list of digests are among the TrainingDigests of these, as ranker.Model.Seen does.
func (d *Dataset) CountSeen(among func(digests []uint64) int) (n int) {
	digests := d.QueryDigests()
	withIDs := d.withIDs(digests)
	for q := range digests {
		if among([]uint64{digests[q], withIDs[q]}) > 0 {
			n++
		}
	}
	return n
}

// withIDs returns digests that also depend on the ids of the queries.
func (d *Dataset) withIDs(digests []uint64) []uint64 {
	digests = slices.Clone(digests)
	for q, id := range d.QueryIDs {
		if digests[q] != 0 {
			digests[q] = num.SplitMixNext(digests[q] + hashed(id))
		}
	}
	return digests
}

func hashed(id string) uint64 {
	h := fnv.New64a()
	_, _ = h.Write([]byte(id)) // which never fails
	return h.Sum64()
}

func (d *Dataset) rowDigest(r int) (sum uint64) {
	var columns []int32 // of values that are sparse
	var values []float32
	if d.IsSparse() {
		columns, values = d.Sparse.Row(r)
	} else {
		values = d.Row(r)
	}
	for c, v := range values {
		if v == 0 {
			continue
		}
		if columns != nil {
			c = int(columns[c])
		}
		bits := math.Float32bits(v)
		if v != v {
			bits = 0x7fc00000
		}
		sum += num.SplitMixNext(uint64(d.FeatureIDs[c])<<32 | uint64(bits))
	}
	return num.SplitMixNext(sum)
}
