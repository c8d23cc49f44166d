package datasets

import "github.com/plrank/plrank/datasets/internal/columns"

// partKind is how a part is fitted to the used columns of training data, checked after it
// was read from a file, for so many used columns, and applied to the rows of a query.
type partKind struct {
	fit   func(p *TransformPart, train *Dataset, used []int, s Sharing)
	check func(p *TransformPart, used int) error
	apply func(p *TransformPart, q columns.Rows)
}

var partKinds = map[string]partKind{
	"none":         {fitNothing, checkNothing, func(_ *TransformPart, q columns.Rows) { columns.None(q) }},
	"minmax":       {fitNothing, checkNothing, func(_ *TransformPart, q columns.Rows) { columns.MinMax(q) }},
	"standard":     {fitStandard, checkMoments, func(p *TransformPart, q columns.Rows) { columns.Standard(q, p.Shift, p.Scale) }},
	"log-standard": {fitLogStandard, checkMoments, func(p *TransformPart, q columns.Rows) { columns.LogStandard(q, p.Shift, p.Scale) }},
	"quantile":     {fitQuantile, checkQuantile, applyQuantile},
	"rank":         {fitNothing, checkNothing, func(_ *TransformPart, q columns.Rows) { columns.Rank(q) }},
}

func fitNothing(*TransformPart, *Dataset, []int, Sharing) {}

func checkNothing(p *TransformPart, _ int) error { return checkMoments(p, 0) }
