package datasets

import (
	"math"
	"strings"

	"github.com/plrank/plrank/datasets/internal/digest"
)

// Fingerprint tells whether two datasets hold the same data, and if not, what
// differs. Fields are 16 hexadecimal digits, or empty if the dataset has no such data. Fingerprints can be compared with ==, and kept as JSON. They do
// not depend on the machine, on the dataset's name, or on document ids.
type Fingerprint struct {
	Features   string `json:"features"`          // values, bit by bit
	Labels     string `json:"labels"`            // bit by bit
	Queries    string `json:"queries"`           // ids and sizes, in order
	FeatureIDs string `json:"featureIDs"`        // ids and names
	Groups     string `json:"groups,omitempty"`  // of documents: numbers and names
	Weights    string `json:"weights,omitempty"` // of documents and of queries
	Gains      string `json:"gains,omitempty"`   // and the exposure in the log, bit by bit
}

// Fingerprint reads all of d, at a few GB/s.
func (d *Dataset) Fingerprint() Fingerprint {
	var queries, ids, groups, weights digest.Digest
	queries.Ints(d.Offsets)
	queries.Strings(d.QueryIDs)
	ids.Ints(d.FeatureIDs)
	ids.Strings(d.FeatureNames)
	f := Fingerprint{
		Features:   digest.Floats(d.Features).String(),
		Labels:     digest.Floats(d.Labels).String(),
		Queries:    queries.String(),
		FeatureIDs: ids.String(),
	}
	if d.Groups != nil {
		groups.Ints(d.Groups)
		groups.Strings(d.GroupNames)
		f.Groups = groups.String()
	}
	if d.Weights != nil || d.QueryWeights != nil {
		weights = append(digest.Floats(d.Weights), digest.Floats(d.QueryWeights)...)
		f.Weights = weights.String()
	}
	if d.Gains != nil {
		var gains digest.Digest
		bits := make([]int, len(d.Gains))
		for i, g := range d.Gains {
			bits[i] = int(math.Float64bits(g))
		}
		gains.Ints(bits)
		gains = append(gains, digest.Floats(d.Logged)...)
		f.Gains = gains.String()
	}
	return f
}

// Differences lists what differs between two datasets, as in "labels, groups"; it is empty
// if they hold the same data.
func (f Fingerprint) Differences(other Fingerprint) string {
	var names []string
	for _, field := range []struct{ name, a, b string }{
		{"feature ids", f.FeatureIDs, other.FeatureIDs},
		{"feature values", f.Features, other.Features},
		{"labels", f.Labels, other.Labels},
		{"queries", f.Queries, other.Queries},
		{"groups", f.Groups, other.Groups},
		{"weights", f.Weights, other.Weights},
		{"gains", f.Gains, other.Gains},
	} {
		if field.a != field.b {
			names = append(names, field.name)
		}
	}
	return strings.Join(names, ", ")
}
