package train

import (
	"encoding/json"
	"math"

	"github.com/plrank/plrank/datasets"
	"github.com/plrank/plrank/train/internal/batches"
)

// A Value is the value of a metric; NaN, where no query has one, is null in JSON.
type Value float64

// MarshalJSON writes a number, or null.
func (v Value) MarshalJSON() ([]byte, error) {
	if !finite(float64(v)) {
		return []byte("null"), nil
	}
	return json.Marshal(float64(v))
}

// UnmarshalJSON reads what MarshalJSON writes.
func (v *Value) UnmarshalJSON(data []byte) error {
	if string(data) == "null" {
		*v = Value(math.NaN())
		return nil
	}
	return json.Unmarshal(data, (*float64)(v))
}

// Values are means over the queries of a split, by the name of the measure:
// "ndcg@5" of the ranking by descending score, "expected-ndcg@5" under the
// Plackett–Luce policy of the scores, "disparity" of the exposure under it.
type Values map[string]Value

func finite(v float64) bool { return batches.Finite(v) }

func notFinite(v float32) bool { return v-v != 0 }

// longest returns the number of documents of the longest query.
func longest(d *datasets.Dataset) (documents int) {
	for q := range d.Queries() {
		documents = max(documents, d.Offsets[q+1]-d.Offsets[q])
	}
	return documents
}

// fractional reports whether a label is between 0, which is never relevant, and 1, which always is.
func fractional(label float32) bool { return 0 < label && label < 1 }
