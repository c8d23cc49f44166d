package datasets

import (
	"fmt"
	"maps"
	"math"
	"slices"
	"strings"

	"github.com/plrank/plrank/internal/names"
)

// Transform maps the raw features of one query to the inputs of a model. It is
// fitted on training data by FitTransform and stored in model files: its JSON
// reads back as the same transform, bit for bit.
//
// Features that are constant within every training query say nothing about the
// order of documents and are left out. What remains goes through one or more
// parts, whose outputs stand side by side: first all columns of the first part,
// then all of the second.
//
// Categorical features are apart from these: their values become codes, one column each
// behind all others, which a model looks up in a table. See [Category] for the codes of
// values that were not seen in training, or are missing.
//
// Every output is finite. A missing value (NaN) becomes 0: the query's minimum
// for minmax, the mean of the training documents for the standardised forms,
// their median for quantile, the middle of the query's ranks for rank.
// Infinite values count as the largest float32.
type Transform struct {
	Spec    string          // as given to FitTransform
	Inputs  int             // raw features of a document
	Columns []int           // the raw columns that are used, ascending
	Parts   []TransformPart // one or more

	Categories []Category `json:",omitempty"` // by column, ascending
}

// TransformPart is one part of a Transform; see FitTransform for their names.
type TransformPart struct {
	Name  string
	Shift []float64 `json:",omitempty"` // by used column: the mean; standardised forms only
	Scale []float64 `json:",omitempty"` // by used column: 1 / standard deviation

	Knots  Curves `json:",omitempty"` // by used column: values, ascending; quantile only
	Scores Curves `json:",omitempty"` // by used column: the outputs at the knots

	lookups *lookups // of the knots and scores
}

// inputLimit bounds standardised inputs: training values beyond it are rare
// outliers, and unseen ones can be anything.
const inputLimit = 10

// partKind is how a part is fitted to columns of training data, and how it maps
// the rows of a query: the outputs of row r go to dst[r*stride:], one for each
// used column.
type partKind struct {
	fit   func(p *TransformPart, train *Dataset, columns []int, s Sharing)
	apply func(p *TransformPart, dst []float32, stride int, rows []float32, inputs int, columns []int)
}

var partKinds = map[string]partKind{
	"none":         {fitNothing, applyNone},
	"minmax":       {fitNothing, applyMinMax},
	"standard":     {fitStandard, applyStandard},
	"log-standard": {fitLogStandard, applyLogStandard},
	"quantile":     {fitQuantile, applyQuantile},
	"rank":         {fitNothing, applyRank},
}

// FitTransform fits a transform on training data. The spec is one or more parts
// joined by "+", as in "minmax+log-standard":
//
//	none          the raw value
//	minmax        (x − min)/(max − min) over the documents of the query; 0 where
//	              they are all equal (Oosterhuis 2021, §7)
//	standard      (x − mean)/sd over all training documents, within ±10
//	log-standard  the same of sign(x)·log(1+|x|)
//	quantile      the normal score of the value's rank among the training
//	              documents, 32768 of them at most (mid-ranks of ties; linear between
//	              128 values at most; beyond the training values, the score of the
//	              last one)
//	rank          √3·(b − a)/n, where of the n documents of the query that have the
//	              feature b have a lower value and a a higher one: the rank in the
//	              query, of mean 0 and, without ties, of variance 1 − 1/n²
//
// The features of the ids that are given are categorical: see [Category]. Values of a
// single training document count as unseen, so that a model learns what to make of these.
//
// An unknown part is an error, and so is one that is there twice, training data in which no feature
// varies within any query, a categorical feature that the data do not have, and one of
// more than 100,000 values, or with a value of ±2^24 or beyond.
func FitTransform(spec string, train *Dataset, categorical ...int) (*Transform, error) {
	return FitTransformOn(alone, spec, train, categorical...)
}

// FitTransformOn is [FitTransform] by several processes that have the same data: all call
// it, and get the same transform as one process would. They share the reading of all rows
// for what varies within queries and for the moments of the standardised forms. Each finds
// the quantiles of the sample, and the values of categorical features, for itself.
func FitTransformOn(s Sharing, spec string, train *Dataset, categorical ...int) (*Transform, error) {
	t := &Transform{Spec: spec, Inputs: train.Width(), Columns: train.varying(s)}
	for _, name := range strings.Split(spec, "+") {
		t.Parts = append(t.Parts, TransformPart{Name: name})
	}
	if err := t.checkParts(); err != nil {
		return nil, err
	}
	if len(t.Columns) == 0 {
		return nil, fmt.Errorf("datasets: %s: no feature varies within any query: there is nothing to rank by", train.Name)
	}
	if err := t.fitCategories(train, categorical); err != nil {
		return nil, err
	}
	for i := range t.Parts {
		p := &t.Parts[i]
		partKinds[p.Name].fit(p, train, t.Columns, s)
	}
	return t, nil
}

// Width is the number of outputs for a document.
func (t *Transform) Width() int { return len(t.Columns)*len(t.Parts) + len(t.Categories) }

// Validate checks a transform that was read from a file, and prepares it: without it,
// Query is slow. An error means that Query would go out of bounds or give values that
// are not finite.
func (t *Transform) Validate() error {
	if len(t.Parts) == 0 {
		return fmt.Errorf("datasets: transform %q has no parts", t.Spec)
	}
	if err := t.checkParts(); err != nil {
		return err
	}
	for i, c := range t.Columns {
		if c < 0 || c >= t.Inputs || i > 0 && c <= t.Columns[i-1] {
			return fmt.Errorf("datasets: transform %q: its columns must ascend within its %d inputs, but there is %d", t.Spec, t.Inputs, c)
		}
	}
	if err := t.validateCategories(); err != nil {
		return err
	}
	for i := range t.Parts {
		p := &t.Parts[i]
		if err := p.validate(len(t.Columns)); err != nil {
			return fmt.Errorf("datasets: transform %q: %w", p.Name, err)
		}
		if p.lookups == nil && p.Name == "quantile" {
			p.lookups = newLookups(p.Knots, p.Scores)
		}
	}
	return nil
}

// checkParts is an error for an unknown part, and for one that is there twice: it says nothing
// new, and a few words in a file could stand for any number of columns.
func (t *Transform) checkParts() error {
	seen := map[string]bool{}
	for i := range t.Parts {
		name := t.Parts[i].Name
		if _, ok := partKinds[name]; !ok {
			return fmt.Errorf("datasets: unknown transform %q: %s, or several joined by +", name, names.Want(name, slices.Sorted(maps.Keys(partKinds))))
		}
		if seen[name] {
			return fmt.Errorf("datasets: transform %q is there twice: want each part once", name)
		}
		seen[name] = true
	}
	return nil
}

func (p *TransformPart) validate(columns int) error {
	if p.Name == "quantile" {
		return p.validateQuantile(columns)
	}
	want := 0
	if p.Name == "standard" || p.Name == "log-standard" {
		want = columns
	}
	if len(p.Shift) != want || len(p.Scale) != want {
		return fmt.Errorf("want %d shifts and scales, have %d and %d", want, len(p.Shift), len(p.Scale))
	}
	for i := range p.Shift {
		if bad := p.Shift[i] + p.Scale[i]; math.IsNaN(bad) || math.IsInf(bad, 0) {
			return fmt.Errorf("shift %g and scale %g of column %d are not finite", p.Shift[i], p.Scale[i], i)
		}
	}
	return nil
}

// Query transforms the rows of one query: rows is n × Inputs, dst is n × Width(),
// both row-major. It allocates nothing, but for ranks in a query of more than 256
// documents, and panics where the lengths disagree.
func (t *Transform) Query(dst, rows []float32) {
	n, width := 0, t.Width()
	if t.Inputs > 0 {
		n = len(rows) / t.Inputs
	}
	if len(rows) != n*t.Inputs || len(dst) != n*width {
		panic(fmt.Sprintf("datasets: transform from %d to %d features: %d values in, %d out", t.Inputs, width, len(rows), len(dst)))
	}
	if n == 0 {
		return
	}
	for i := range t.Parts {
		p := &t.Parts[i]
		partKinds[p.Name].apply(p, dst[i*len(t.Columns):], width, rows, t.Inputs, t.Columns)
	}
	for i := range t.Categories {
		t.Categories[i].apply(dst[width-len(t.Categories)+i:], width, rows, t.Inputs)
	}
}

// varying are the columns that take two values, or are present and missing,
// within at least one query.
func (d *Dataset) varying(s Sharing) []int {
	w := d.Width()
	varies := make([]bool, w)
	left := w
	first, end := s.part(d.Queries())
	for q := first; q < end && left > 0; q++ {
		from, to := d.Offsets[q], d.Offsets[q+1]
		for r := from + 1; r < to; r++ {
			first, row := d.Row(from), d.Row(r)
			for c, v := range row {
				if v != first[c] && !varies[c] && (v == v || first[c] == first[c]) {
					varies[c] = true
					left--
				}
			}
		}
	}
	s.or(varies)
	columns := make([]int, 0, w)
	for c, v := range varies {
		if v {
			columns = append(columns, c)
		}
	}
	return columns
}
