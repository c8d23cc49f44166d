package datasets

import (
	"strings"

	"github.com/plrank/plrank/datasets/internal/store"
)

// Fingerprint identifies the data of a dataset: datasets with equal fingerprints have the same data, and
// [Fingerprint.Differences] lists what differs. Fields are SHA-256 hashes in hexadecimal digits, or empty if the dataset has no
// such data. Fingerprints can be compared with ==, and kept as JSON. They do not depend on the machine, on the name of the
// dataset, or on document ids.
type Fingerprint struct {
	Features   string `json:"features"`             // values, bit by bit
	Labels     string `json:"labels"`               // bit by bit
	Queries    string `json:"queries"`              // ids and sizes, in order
	FeatureIDs string `json:"featureIDs"`           // ids, names and levels
	Groups     string `json:"groups,omitempty"`     // of documents: numbers and names
	Intents    string `json:"intents,omitempty"`    // of documents
	Weights    string `json:"weights,omitempty"`    // of documents and of queries
	Gains      string `json:"gains,omitempty"`      // and the exposure and scores in the log, bit by bit
	BaseScores string `json:"baseScores,omitempty"` // bit by bit
}

// Fingerprint returns the fingerprint of d. It reads all of d, at a GB/s or two for each core.
func (d *Dataset) Fingerprint() Fingerprint {
	f := Fingerprint{
		Features:   append(store.DigestFloats(d.Features), d.sparseDigest()...).String(),
		Labels:     store.DigestFloats(d.Labels).String(),
		Queries:    store.DigestNames(d.Offsets, d.QueryIDs).String(),
		FeatureIDs: append(store.DigestNames(d.FeatureIDs, d.FeatureNames), store.DigestLists(d.Levels)...).String(),
	}
	for _, field := range f.fields() {
		var digest store.Digest
		some := false
		for _, c := range columns {
			part, has := c.digest(d, field.name)
			digest, some = append(digest, part...), some || has
		}
		if some {
			*field.digits = digest.String()
		}
	}
	return f
}

// sparseDigest returns the digest of sparse documents, empty for others.
func (d *Dataset) sparseDigest() store.Digest {
	if !d.IsSparse() {
		return nil
	}
	columns := make([]int, len(d.Sparse.Columns))
	for i, c := range d.Sparse.Columns {
		columns[i] = int(c)
	}
	return append(append(store.DigestFloats(d.Sparse.Values), store.DigestNames(columns, nil)...), store.DigestNames(d.Sparse.Starts, nil)...)
}

// Differences returns what differs between two datasets, as in "labels, groups"; empty if nothing does.
func (f Fingerprint) Differences(other Fingerprint) string {
	var names []string
	others := other.fields()
	for i, field := range f.fields() {
		if *field.digits != *others[i].digits {
			names = append(names, field.name)
		}
	}
	return strings.Join(names, ", ")
}

// fingerprintField is a field of Fingerprint, and what it is called in messages and in the list of columns.
type fingerprintField struct {
	name   string
	digits *string
}

func (f *Fingerprint) fields() []fingerprintField {
	return []fingerprintField{
		{"feature ids", &f.FeatureIDs}, {"feature values", &f.Features}, {"labels", &f.Labels}, {"queries", &f.Queries},
		{"groups", &f.Groups}, {"intents", &f.Intents}, {"weights", &f.Weights}, {"gains", &f.Gains}, {"base scores", &f.BaseScores},
	}
}
