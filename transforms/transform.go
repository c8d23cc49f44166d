package transforms

import (
	"errors"
	"fmt"
	"maps"
	"slices"

	"github.com/plrank/plrank/internal/names"
	"github.com/plrank/plrank/transforms/internal/columns"
)

// Transform maps the raw features of one query to the inputs of a model. It is
// fitted on training data by Fit and stored in model files: its JSON
// reads back as the same transform, bit for bit.
//
// Features that are the same in all training documents are left out. The others go through one or
// more parts, whose outputs stand side by side: first all columns of the first part, then all of the
// second. Parts that compare the documents of a query, minmax and rank, have only the features that vary
// within a training query. Query features, which vary only between queries, matter only through
// interactions with other features.
//
// Values of categorical features become codes, one column for each feature after all
// others, which a model looks up in a table. See [Category].
//
// Every output is finite, except for the part raw. A missing value (NaN) becomes 0: the minimum of the query for minmax, the
// mean of the training documents for the standardised forms, their median for quantile, and the
// middle of the ranks in the query for rank. The part missing distinguishes it from a value. Infinite values count
// as the largest float32.
//
// After [Transform.FitBins] the outputs of the parts are positions in bins.
type Transform struct {
	Spec    string // as given to Fit
	Inputs  int    // raw features of a document
	Columns []int  // the raw columns that are used, ascending
	Parts   []Part // one or more

	Bins []Bins `json:",omitempty"` // by output of the parts: see FitBins; nil: these are the inputs of the model

	Categories []Category `json:",omitempty"` // by column, ascending

	// Gaps are the Columns with missing values in training documents, if a part is raw. Nil: not known.
	Gaps []int `json:",omitzero"`

	positions *columns.Lookups // in the bins
}

// Fit fits a transform on training data. The spec is one or more parts
// joined by "+", as in "minmax+log-standard":
//
//	raw           the raw value, and NaN where it is missing: for forests
//	none          the raw value
//	maxabs        the value divided by the largest absolute one of all training
//	              documents: 0 stays 0, as sparse documents need it
//	minmax        (x − min)/(max − min) over the documents of the query; 0 if
//	              they are all equal (Oosterhuis 2021, §7)
//	standard      (x − mean)/sd over all training documents, within ±10
//	log-standard  the same of sign(x)·log(1+|x|)
//	quantile      the normal score of the value's rank among the training
//	              documents, or of features of many values, among 32768 drawn at
//	              random (mid-ranks of ties; linear between 128 values at most;
//	              beyond these, the score of the last one)
//	rank          √3·(b − a)/n, where of the n documents of the query that have the
//	              feature b have a lower value and a a higher one: the rank in the
//	              query, of mean 0 and, without ties, of variance 1 − 1/n²
//	dot(a,b) …    the data must have this [Product] as a feature, which the other parts take as any other
//	missing       1 where the value is missing, 0 elsewhere, for the features that a training
//	              document misses the value: no columns where there are none
//
// The features of the given ids are categorical, and so are features of text: see [Category]. Values of a single training
// document, or of a single query for a query feature, count as unseen, so that a model learns a vector for unseen values. So
// do the rarest values beyond the 100,000 most frequent ones.
//
// Fit returns an error for an unknown or a duplicate part, for the part missing alone if no training value is missing, if no
// feature varies, or none within a query, for a categorical feature that the data do not have, and for one with a value of
// ±2^24 or beyond.
func Fit(spec string, train *Data, categorical ...int) (*Transform, error) {
	t := &Transform{Spec: spec, Inputs: train.Width(), Columns: train.varying(false)}
	parts, products, err := SplitSpec(spec)
	if err != nil {
		return nil, err
	}
	for _, p := range products {
		if !train.hasFeature(p.Name) {
			return nil, fmt.Errorf("transforms: %s has no feature %s: want data that are read with this product", train.Name, p.Name)
		}
	}
	if parts == nil {
		return nil, fmt.Errorf("transforms: transform %q names features alone: want a part that takes them, such as standard+%[1]s", spec)
	}
	for _, name := range parts {
		t.Parts = append(t.Parts, Part{Name: name})
	}
	if err := t.checkParts(); err != nil {
		return nil, err
	}
	if train.Sparse.Starts != nil && (!t.KeepsZeros() || len(categorical) > 0) {
		return nil, fmt.Errorf("transforms: %s: the documents are sparse, of %d features that are mostly 0, which the transform %q or a "+
			"categorical feature would make others: want raw for a forest or maxabs for a network, and no categorical features, or fewer "+
			"features in all", train.Name, train.Width(), spec)
	}
	within := train.varying(true)
	switch {
	case len(t.Columns) == 0:
		return nil, fmt.Errorf("transforms: %s: no feature varies: there is nothing to rank by", train.Name)
	case len(within) == 0:
		return nil, fmt.Errorf("transforms: %s: no feature varies within any query: features of the query alone, such as %s, cannot rank its "+
			"documents", train.Name, train.FeatureName(t.Columns[0]))
	}
	if err := t.fitCategories(train, within, categorical); err != nil {
		return nil, err
	}
	for i := range t.Parts {
		p := &t.Parts[i]
		kind := partKinds[p.Name]
		if kind.gaps {
			p.Columns = withGaps(train, t.Columns)
		} else if kind.compares {
			p.Columns = common(t.Columns, within)
		}
		kind.fit(p, train, t.PartColumns(i))
	}
	if t.Raw() {
		t.Gaps = append([]int{}, withGaps(train, t.Columns)...)
	}
	if t.Width() == 0 {
		return nil, fmt.Errorf("transforms: %s: transform %q has no columns: no training value is missing: want another part", train.Name, spec)
	}
	return t, nil
}

// common returns the columns that are in both lists, and nil where those are all of the first.
func common(columns, others []int) []int {
	both := []int{}
	for _, c := range columns {
		if _, found := slices.BinarySearch(others, c); found {
			both = append(both, c)
		}
	}
	if len(both) == len(columns) {
		return nil
	}
	return both
}

// PartColumns returns the raw columns of a part, counted from 0: Columns, or some of them.
func (t *Transform) PartColumns(part int) []int {
	if p := &t.Parts[part]; p.Columns != nil || partKinds[p.Name].gaps {
		return p.Columns
	}
	return t.Columns
}

// outputs returns the number of outputs of the parts.
func (t *Transform) outputs() (n int) {
	for i := range t.Parts {
		n += len(t.PartColumns(i))
	}
	return n
}

// Width returns the number of outputs for a document.
func (t *Transform) Width() int { return t.outputs() + len(t.Categories) }

// Validate checks a transform that was read from a file, and prepares it for Query, which is slow otherwise.
// It returns an error if Query would go out of bounds or give values that are not finite.
func (t *Transform) Validate() error {
	if len(t.Parts) == 0 {
		return fmt.Errorf("transforms: transform %q has no parts", t.Spec)
	}
	if err := t.checkParts(); err != nil {
		return err
	}
	for i, c := range t.Columns {
		if c < 0 || c >= t.Inputs || i > 0 && c <= t.Columns[i-1] {
			return fmt.Errorf("transforms: transform %q: its columns must ascend within its %d inputs, but there is %d", t.Spec, t.Inputs, c)
		}
	}
	if err := t.checkCategories(); err != nil {
		return fmt.Errorf("transforms: transform %q: %w", t.Spec, err)
	}
	for i := range t.Parts {
		p := &t.Parts[i]
		err := partKinds[p.Name].check(p, len(t.PartColumns(i)))
		if err == nil {
			err = t.checkPartColumns(p)
		}
		if err != nil {
			return fmt.Errorf("transforms: transform %q: %w", p.Name, err)
		}
	}
	if err := t.checkUsed(t.Gaps); err != nil {
		return fmt.Errorf("transforms: transform %q: gaps: %w", t.Spec, err)
	}
	if err := t.checkBins(); err != nil {
		return fmt.Errorf("transforms: transform %q: %w", t.Spec, err)
	}
	return nil
}

// checkPartColumns returns an error if a part that has all columns lists some, or lists columns that are not used.
func (t *Transform) checkPartColumns(p *Part) error {
	kind := partKinds[p.Name]
	if p.Columns != nil && !kind.gaps && !kind.compares {
		return errors.New("it lists columns: want this for minmax, rank and missing only")
	}
	return t.checkUsed(p.Columns)
}

// checkUsed returns an error if columns do not ascend or are not used.
func (t *Transform) checkUsed(columns []int) error {
	for i, c := range columns {
		if _, used := slices.BinarySearch(t.Columns, c); !used || i > 0 && c <= columns[i-1] {
			return fmt.Errorf("it lists column %d: want used columns, ascending", c)
		}
	}
	return nil
}

// checkParts returns an error for an unknown part, and for a duplicate one: it would add nothing, and a few words in a file
// could stand for any number of columns.
func (t *Transform) checkParts() error {
	seen := map[string]bool{}
	for i := range t.Parts {
		name := t.Parts[i].Name
		if _, ok := partKinds[name]; !ok {
			return fmt.Errorf("transforms: unknown transform %q: %s, or several joined by +", name,
				names.Want(name, slices.Sorted(maps.Keys(partKinds))))
		}
		if seen[name] {
			return fmt.Errorf("transforms: duplicate transform %q: want each part once", name)
		}
		seen[name] = true
	}
	return nil
}

// Query transforms the rows of one query: rows is n × Inputs, dst is n × Width(),
// both row-major. It allocates nothing, except for ranks in a query of more than
// 256 documents. It panics if the lengths disagree.
func (t *Transform) Query(dst, rows []float32) {
	n, width := 0, t.Width()
	if t.Inputs > 0 {
		n = len(rows) / t.Inputs
	}
	if len(rows) != n*t.Inputs || len(dst) != n*width {
		panic(fmt.Sprintf("transforms: transform from %d to %d features: %d values in, %d out", t.Inputs, width, len(rows), len(dst)))
	}
	if n == 0 {
		return
	}
	at := 0
	for i := range t.Parts {
		p, used := &t.Parts[i], t.PartColumns(i)
		if len(used) > 0 {
			partKinds[p.Name].apply(p, columns.Rows{To: dst[at:], Stride: width, From: rows, Inputs: t.Inputs, Columns: used})
		}
		at += len(used)
	}
	if t.Bins != nil {
		t.applyBins(dst, rows)
	}
	for i := range t.Categories {
		c := &t.Categories[i]
		for r := range n {
			dst[(r+1)*width-len(t.Categories)+i] = c.code(rows[r*t.Inputs+c.Column])
		}
	}
}

// Used returns the raw columns that a model depends on, ascending: Columns and the columns of Categories.
func (t *Transform) Used() []int {
	used := slices.Clone(t.Columns)
	for _, c := range t.Categories {
		used = append(used, c.Column)
	}
	slices.Sort(used)
	return used
}

// Raw reports whether outputs may be NaN, by the part raw, which no network takes.
func (t *Transform) Raw() bool {
	return slices.ContainsFunc(t.Parts, func(p Part) bool { return p.Name == raw })
}

// Raw returns the transform whose outputs are its inputs, that number of raw features.
func Raw(inputs int) *Transform {
	t := &Transform{Spec: raw, Inputs: inputs, Parts: []Part{{Name: raw}}}
	for c := range inputs {
		t.Columns = append(t.Columns, c)
	}
	return t
}

// Identity reports whether the outputs are the raw features.
func (t *Transform) Identity() bool {
	return len(t.Parts) == 1 && t.Parts[0].Name == raw && len(t.Columns) == t.Inputs && t.Bins == nil
}

// Outputs returns the raw column that each output comes from.
func (t *Transform) Outputs() (columns []int) {
	for i := range t.Parts {
		columns = append(columns, t.PartColumns(i)...)
	}
	for _, c := range t.Categories {
		columns = append(columns, c.Column)
	}
	return columns
}

// ComparesDocuments reports whether the inputs of a document depend on the others of its query, as
// with minmax and rank.
func (t *Transform) ComparesDocuments() bool {
	return slices.ContainsFunc(t.Parts, func(p Part) bool { return partKinds[p.Name].compares })
}
