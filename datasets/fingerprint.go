package datasets

import (
	"crypto/sha256"
	"encoding/binary"
	"encoding/hex"
	"hash/crc32"
	"strings"

	"github.com/plrank/plrank/internal/mapped"
)

// Fingerprint tells whether two datasets hold the same data, and if not, in what
// they differ. Fields are 16 hexadecimal digits, or empty where the dataset has
// no such data. Fingerprints can be compared with ==, and kept as JSON. They do
// not depend on the machine, on the dataset's name, or on document ids.
type Fingerprint struct {
	Features   string `json:"features"`          // values, bit by bit
	Labels     string `json:"labels"`            // bit by bit
	Queries    string `json:"queries"`           // ids and sizes, in order
	FeatureIDs string `json:"featureIDs"`        // ids and names
	Groups     string `json:"groups,omitempty"`  // of documents: numbers and names
	Weights    string `json:"weights,omitempty"` // of documents and of queries
}

// Fingerprint reads all of d, at a few GB/s.
func (d *Dataset) Fingerprint() Fingerprint {
	var queries, ids, groups, weights digest
	queries.ints(d.Offsets)
	queries.strings(d.QueryIDs)
	ids.ints(d.FeatureIDs)
	ids.strings(d.FeatureNames)
	f := Fingerprint{
		Features:   hashFloats(d.Features).String(),
		Labels:     hashFloats(d.Labels).String(),
		Queries:    queries.String(),
		FeatureIDs: ids.String(),
	}
	if d.Groups != nil {
		groups.ints(d.Groups)
		groups.strings(d.GroupNames)
		f.Groups = groups.String()
	}
	if d.Weights != nil || d.QueryWeights != nil {
		weights = append(hashFloats(d.Weights), hashFloats(d.QueryWeights)...)
		f.Weights = weights.String()
	}
	return f
}

// Differences names what differs between two datasets, as in "labels, groups";
// it is empty where they hold the same data.
func (f Fingerprint) Differences(other Fingerprint) string {
	var names []string
	for _, part := range []struct{ name, a, b string }{
		{"feature ids", f.FeatureIDs, other.FeatureIDs},
		{"feature values", f.Features, other.Features},
		{"labels", f.Labels, other.Labels},
		{"queries", f.Queries, other.Queries},
		{"groups", f.Groups, other.Groups},
		{"weights", f.Weights, other.Weights},
	} {
		if part.a != part.b {
			names = append(names, part.name)
		}
	}
	return strings.Join(names, ", ")
}

// digest is bytes to be hashed. Lists are preceded by their lengths, so that no
// two sequences of lists are the same bytes.
type digest []byte

func (b *digest) ints(list []int) {
	*b = binary.AppendVarint(*b, int64(len(list)))
	for _, v := range list {
		*b = binary.AppendVarint(*b, int64(v))
	}
}

func (b *digest) strings(list []string) {
	*b = binary.AppendVarint(*b, int64(len(list)))
	*b = append(*b, encodeStrings(list)...)
}

// hashFloats is two checksums of each block of a list, made on all cores, after its
// length. (SHA-256 of all of it would take several times as long.)
func hashFloats(values []float32) digest {
	b := bytesOf(values)
	sums := make([]uint64, (len(b)+hashBlock-1)/hashBlock)
	parallel(len(sums), func(i int) {
		part := b[i*hashBlock : min((i+1)*hashBlock, len(b))]
		sums[i] = checksums(part)
		mapped.Done(part)
	})
	return append(binary.AppendVarint(nil, int64(len(values))), hashOf(sums)...)
}

const hashBlock = 1 << 20 // bytes

// checksums are two of a block, side by side.
func checksums(block []byte) uint64 {
	return uint64(crc32.Checksum(block, castagnoli))<<32 | uint64(crc32.ChecksumIEEE(block))
}

// hashOf is the checksums of all blocks, to be hashed.
func hashOf(sums []uint64) digest {
	var all digest
	for _, sum := range sums {
		all = binary.LittleEndian.AppendUint64(all, sum)
	}
	return all
}

// String is the first digits of the hash.
func (b digest) String() string {
	sum := sha256.Sum256(b)
	return hex.EncodeToString(sum[:8])
}
