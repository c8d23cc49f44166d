package datasets

import "github.com/plrank/plrank/datasets/internal/reader"

// columns declares all lists of a Dataset with a value for each document or for each query. Whatever goes over all of
// them (reading, Select, Pack, Validate, Fingerprint, caches) goes by this list. A new column is a field of Dataset, a
// field of Batch if batches have it, and its element here.
var columns = []column{
	&columnOf[float32]{what: "label", in: func(d *Dataset) *[]float32 { return &d.Labels },
		packed: func(b *Batch) *[]float32 { return &b.Labels }, valid: reader.IsFinite, want: finite,
		read: func(c *reader.Chunk) []float32 { return c.Labels }},
	&columnOf[string]{what: "query id", perQuery: true, in: func(d *Dataset) *[]string { return &d.QueryIDs }},
	&columnOf[string]{what: "document id", in: func(d *Dataset) *[]string { return &d.DocumentIDs },
		read: func(c *reader.Chunk) []string { return c.DocumentIDs }},
	&columnOf[int]{what: "group", in: func(d *Dataset) *[]int { return &d.Groups },
		packed: func(b *Batch) *[]int { return &b.Groups }, fill: -1, fingerprint: "groups",
		read: func(c *reader.Chunk) []int { return c.Groups }},
	&columnOf[float32]{what: "document weight", in: func(d *Dataset) *[]float32 { return &d.Weights },
		packed: func(b *Batch) *[]float32 { return &b.Weights }, valid: reader.IsWeight, want: notNegative, fingerprint: "weights",
		read: number(reader.Number{Role: "weight", What: "weight", Plural: "weights of documents", Flag: "weight-column",
			Given: func(o *ReadOptions) string { return o.WeightColumn }, File: ".weight", Queries: true, Valid: reader.IsWeight, Want: notNegative})},
	&columnOf[float32]{what: "query weight", perQuery: true, in: func(d *Dataset) *[]float32 { return &d.QueryWeights },
		packed: func(b *Batch) *[]float32 { return &b.QueryWeights }, valid: reader.IsWeight, want: notNegative, fingerprint: "weights"},
	&columnOf[float32]{what: "base score", in: func(d *Dataset) *[]float32 { return &d.BaseScores },
		packed: func(b *Batch) *[]float32 { return &b.BaseScores }, valid: reader.IsFinite, want: finite, fingerprint: "base scores",
		read: number(reader.Number{Role: "base", What: "base score", Plural: "base scores", Flag: "base-column",
			Given: func(o *ReadOptions) string { return o.BaseColumn }, File: ".init", Feature: true, Valid: reader.IsFinite, Want: finite})},
	&columnOf[float64]{what: "gain", in: func(d *Dataset) *[]float64 { return &d.Gains },
		valid: func(g float64) bool { return g-g == 0 }, want: finite, fingerprint: "gains"},
	&columnOf[float32]{what: "logged exposure", in: func(d *Dataset) *[]float32 { return &d.Logged },
		packed: func(b *Batch) *[]float32 { return &b.Logged }, fingerprint: "gains"},
	&columnOf[float32]{what: "logged score", in: func(d *Dataset) *[]float32 { return &d.LoggedScores },
		packed: func(b *Batch) *[]float32 { return &b.LoggedScores }, valid: reader.IsFinite, want: finite, fingerprint: "gains"},
	&columnOf[int]{what: "source row", in: func(d *Dataset) *[]int { return &d.SourceRows }},
	&columnOf[int32]{what: "line", in: func(d *Dataset) *[]int32 { return &d.origin.Lines }, read: (*reader.Chunk).LinesInFile},
}

// What values must be, in messages.
const (
	finite      = "a finite number"
	notNegative = "a finite number of 0 or more"
)

// number declares an optional column of numbers of files, and returns the function that reads it.
func number(n reader.Number) func(c *reader.Chunk) []float32 {
	at := reader.Declare(&n)
	return func(c *reader.Chunk) []float32 { return c.Numbers[at] }
}
