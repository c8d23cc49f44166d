package transforms

import (
	"bytes"
	"encoding/json"
	"errors"
	"regexp"

	"github.com/viterin/vek/vek32"

	"github.com/plrank/plrank/transforms/internal/columns"
)

// Part is one part of a [Transform]. [Fit] lists their names.
type Part struct {
	Name string

	// Columns are the raw columns of the part, ascending, if it does not have all: the columns with missing values for the
	// part missing, and the ones that vary within queries for minmax and rank. Nil: none for missing, and all for other parts.
	Columns []int `json:",omitzero"`

	Shift []float64 `json:",omitempty"` // by used column: the mean; standardised forms only
	Scale []float64 `json:",omitempty"` // by used column: 1 / standard deviation

	Knots  [][]float32 `json:",omitempty"` // by used column: values, ascending; quantile only
	Scores [][]float32 `json:",omitempty"` // by used column: the outputs at the knots

	lookups *columns.Lookups // of the knots and scores
}

var nullInList = regexp.MustCompile(`[\[,]\s*null`)

// UnmarshalJSON refuses a null in a list, which would count as 0.
func (p *Part) UnmarshalJSON(b []byte) error {
	if bytes.Contains(b, []byte("null")) && nullInList.Match(b) {
		return errors.New("transforms: null in a list of a transform: want numbers")
	}
	type plain Part
	return json.Unmarshal(b, (*plain)(p))
}

// partKind is how a part is fitted to the used columns of training data, checked after it
// was read from a file, for a number of used columns, and applied to the rows of a query.
type partKind struct {
	fit   func(p *Part, train *Data, used []int)
	check func(p *Part, used int) error
	apply func(p *Part, q columns.Rows)

	gaps     bool // it has the columns with gaps alone
	compares bool // apply compares the documents of a query: it has the columns that vary within one
}

const raw = "raw"

var partKinds = map[string]partKind{
	raw:            unfitted(columns.Raw),
	"none":         unfitted(columns.None),
	maxAbs:         {fit: fitMaxAbs, check: checkMaxAbs, apply: func(p *Part, q columns.Rows) { columns.Standard(q, p.Shift, p.Scale) }},
	"minmax":       perQuery(columns.MinMax),
	"standard":     standardised(func(x float32) float64 { return float64(x) }, columns.Standard),
	"log-standard": standardised(columns.SignedLog1p, columns.LogStandard),
	"quantile":     {fit: fitQuantile, check: checkQuantile, apply: applyQuantile},
	"rank":         perQuery(columns.Rank),
	"missing":      gapsOnly(unfitted(columns.Missing)),
}

// gapsOnly is a kind that has the columns with gaps.
func gapsOnly(kind partKind) partKind {
	kind.gaps = true
	return kind
}

// withGaps are the columns of those used that miss the value of a document.
func withGaps(d *Data, used []int) (gaps []int) {
	lacks := make([]bool, d.Width())
	for i, v := range d.Sparse.Values {
		lacks[d.Sparse.Columns[i]] = lacks[d.Sparse.Columns[i]] || v != v
	}
	for q := range d.Queries() {
		if d.Sparse.Starts != nil {
			break
		}
		from, to := d.Offsets[q], d.Offsets[q+1]
		if sum := vek32.Sum(d.Features[from*d.Width() : to*d.Width()]); sum == sum { // sooner than to look at each
			continue
		}
		for r := from; r < to; r++ {
			for c, x := range d.Row(r) {
				lacks[c] = lacks[c] || x != x
			}
		}
	}
	for _, c := range used {
		if lacks[c] {
			gaps = append(gaps, c)
		}
	}
	return gaps
}

// perQuery is a kind that goes by the other documents of the query.
func perQuery(apply func(columns.Rows)) partKind {
	kind := unfitted(apply)
	kind.compares = true
	return kind
}

// unfitted is a kind that has nothing to fit.
func unfitted(apply func(columns.Rows)) partKind {
	return partKind{
		fit:   func(*Part, *Data, []int) {},
		check: func(p *Part, _ int) error { return checkMoments(p, 0) },
		apply: func(_ *Part, q columns.Rows) { apply(q) },
	}
}

// standardised is a kind that standardises f of the values.
func standardised(f func(x float32) float64, apply func(q columns.Rows, shift, scale []float64)) partKind {
	return partKind{
		fit:   func(p *Part, train *Data, used []int) { fitMoments(p, train, used, f) },
		check: checkMoments,
		apply: func(p *Part, q columns.Rows) { apply(q, p.Shift, p.Scale) },
	}
}
