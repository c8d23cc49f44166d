package datasets

import (
	"math"
	"slices"
	"strings"

	"github.com/plrank/plrank/datasets/internal/store"
)

// Fingerprint tells whether two datasets hold the same data, and if not, what
// differs. Fields are 16 hexadecimal digits, or empty if the dataset has no such data.
// Fingerprints can be compared with ==, and kept as JSON. They do
// not depend on the machine, on the dataset's name, or on document ids.
type Fingerprint struct {
	Features   string `json:"features"`             // values, bit by bit
	Labels     string `json:"labels"`               // bit by bit
	Queries    string `json:"queries"`              // ids and sizes, in order
	FeatureIDs string `json:"featureIDs"`           // ids, names and levels
	Groups     string `json:"groups,omitempty"`     // of documents: numbers and names
	Weights    string `json:"weights,omitempty"`    // of documents and of queries
	Gains      string `json:"gains,omitempty"`      // and the exposure and scores in the log, bit by bit
	BaseScores string `json:"baseScores,omitempty"` // bit by bit
}

// Fingerprint reads all of d, at a few GB/s.
func (d *Dataset) Fingerprint() Fingerprint {
	f := Fingerprint{
		Features:   store.DigestFloats(d.Features).String(),
		Labels:     store.DigestFloats(d.Labels).String(),
		Queries:    store.DigestNames(d.Offsets, d.QueryIDs).String(),
		FeatureIDs: store.DigestNames(d.FeatureIDs, d.FeatureNames).String(),
	}
	if d.Levels != nil {
		f.FeatureIDs = append(store.DigestNames(d.FeatureIDs, d.FeatureNames), store.DigestLists(d.Levels)...).String()
	}
	if d.Groups != nil {
		f.Groups = store.DigestNames(d.Groups, d.GroupNames).String()
	}
	if d.Weights != nil || d.QueryWeights != nil {
		f.Weights = append(store.DigestFloats(d.Weights), store.DigestFloats(d.QueryWeights)...).String()
	}
	if d.BaseScores != nil {
		f.BaseScores = store.DigestFloats(d.BaseScores).String()
	}
	if d.Gains != nil || d.Logged != nil || d.LoggedScores != nil {
		var gains []int
		for _, g := range d.Gains {
			gains = append(gains, int(math.Float64bits(g)))
		}
		f.Gains = slices.Concat(store.DigestNames(gains, nil), store.DigestFloats(d.Logged), store.DigestFloats(d.LoggedScores)).String()
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
		{"base scores", f.BaseScores, other.BaseScores},
	} {
		if field.a != field.b {
			names = append(names, field.name)
		}
	}
	return strings.Join(names, ", ")
}
