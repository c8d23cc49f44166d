package datasets

import (
	"fmt"

	"github.com/plrank/plrank/datasets/internal/reader"
	"github.com/plrank/plrank/internal/intents"
	"github.com/plrank/plrank/transforms"
)

// Dataset holds queries and their documents, packed: the documents of query q
// are rows Offsets[q]:Offsets[q+1].
type Dataset struct {
	Name       string    // where it came from, for messages
	Features   []float32 // rows × Width(), row-major, raw values; NaN is a missing value
	Sparse     Sparse    // in place of Features: the values that are not 0; without Starts, documents are not sparse
	Labels     []float32 // [rows] raw grades, 0 or more; Unlabelled if the source has none
	Offsets    []int     // [queries+1], Offsets[0] = 0
	QueryIDs   []string  // [queries]
	FeatureIDs []int     // [columns] ascending: the id each column has in the file

	FeatureNames []string // [columns], or nil if the source does not name features
	DocumentIDs  []string // [rows], or nil if the source names no documents

	// Levels are the texts of categorical features [columns]: value v stands for Levels[column][v-1], and 0 for a text that is
	// not among them. Nil: the values are numbers.
	Levels [][]string
	// NumberLevels are the ids of the features whose Levels are numbers, for which 7 and 7.0 are one. Nil: there are none.
	NumberLevels []int
	// Roles are the names of the columns that are no features, by role: "label", "query", "document", "weight", "base",
	// "group", "intent 1", "intent 2", …. Nil: the source names no columns. Model files keep them, see ReadOptions.Roles.
	Roles map[string]string
	// LeftOut are the columns of text that are no features; nil: there are none.
	LeftOut []string

	// Gains of documents [rows], of any sign, are estimated from clicks. No file has them. Nil: gains are a function of labels.
	Gains []float64
	// Logged is the exposure of each document [rows] in the log that the gains come from, summed over the impressions of its
	// query. Nil: there is no log.
	Logged []float32
	// LoggedScores are the log-scores [rows] of the Plackett–Luce policy that was logged last. Nil: they are not known.
	LoggedScores []float32

	// Weights of documents and of queries are 0 or more. Losses and metrics say how they count. Nil: all are 1.
	Weights      []float32 // [rows]
	QueryWeights []float32 // [queries]

	// BaseScores are the log-scores of another ranker [rows], such as the one in production, to which a model adds its own.
	// Nil: there are none.
	BaseScores []float32

	Groups     []int    // [rows] the group of each document, for fairness; negative: none; nil: the source has no groups
	GroupNames []string // by group: what the source calls it, the same for all splits; nil: groups have no names
	// Intents, [rows], have bit i set if the document is relevant to intent i of its query, which TREC calls a subtopic. If a
	// query has more than 63 intents, there are several ints a document, [rows × ints], each for the next 63. Nil: they are not
	// known.
	Intents []int
	// Vectors holds the vectors of queries and documents. VectorAt, [rows × vectors], is where each begins in their Values, −1 if it
	// is missing; nil: there are none. Products are the features that are made of them.
	Vectors  Vectors
	VectorAt []int
	Products []transforms.Product
	// SourceRows, [rows], are the rows in the source, from 0; nil if the rows are in the order of the source. Splits by Open do
	// not keep them.
	SourceRows []int
	Warnings   []string // about oddities of the source, one line each

	origin reader.Origin // files and lines of the rows
}

// Batch holds a few queries packed for one step: transformed, and padded to the
// row capacity and the query capacity of a static graph.
type Batch struct {
	X            []float32 // row capacity × Transform.Width(); rows past Rows() are zero
	Sparse       Sparse    // in place of X, with as many rows, see PackSparse
	Labels       []float32 // [row capacity]; 0 past Rows()
	Groups       []int     // [row capacity] groups of documents; −1 past Rows(); nil if the dataset has none
	Intents      []int     // [row capacity], or as many ints for each row; 0 past Rows(); nil if the dataset has none
	Weights      []float32 // [row capacity] of documents; 0 past Rows(); nil if the dataset has none
	Logged       []float32 // [row capacity] exposure in a log; 0 past Rows(); nil if the dataset has none
	LoggedScores []float32 // [row capacity] of the policy logged last; 0 past Rows(); nil if the dataset has none
	Offsets      []int     // [query capacity+1]; queries past the packed ones are empty: the offset is repeated

	QueryWeights []float32 // [query capacity]; 0 past the packed ones; nil if the dataset has none
	BaseScores   []float32 // [row capacity]; 0 past Rows(); nil if the dataset has none
}

// columns declares all lists of a Dataset with a value for each document or for each query. Whatever goes over all of
// them (reading, Select, Pack, Validate, Fingerprint, caches) goes by this list. A new column is a field of Dataset, a
// field of Batch if batches have it, and its element here.
var columns = []column{
	&columnOf[float32]{what: "label", in: func(d *Dataset) *[]float32 { return &d.Labels },
		packed: func(b *Batch) *[]float32 { return &b.Labels }, valid: reader.IsGrade, want: reader.WantGrade,
		read: func(c *reader.Chunk) []float32 { return c.Labels }},
	&columnOf[string]{what: "query id", perQuery: true, in: func(d *Dataset) *[]string { return &d.QueryIDs }},
	&columnOf[string]{what: "document id", in: func(d *Dataset) *[]string { return &d.DocumentIDs },
		read: func(c *reader.Chunk) []string { return c.DocumentIDs }},
	&columnOf[int]{what: "group", in: func(d *Dataset) *[]int { return &d.Groups },
		packed: func(b *Batch) *[]int { return &b.Groups }, fill: -1, fingerprint: "groups",
		read: func(c *reader.Chunk) []int { return c.Groups }},
	&columnOf[int]{what: "intent", many: true, in: func(d *Dataset) *[]int { return &d.Intents },
		packed: func(b *Batch) *[]int { return &b.Intents },
		valid:  func(has int) bool { return has >= 0 }, want: intents.Want, fingerprint: "intents",
		read: readIntents()},
	&columnOf[float32]{what: "document weight", in: func(d *Dataset) *[]float32 { return &d.Weights },
		packed: func(b *Batch) *[]float32 { return &b.Weights }, valid: reader.IsWeight, want: notNegative, fingerprint: "weights",
		read: number(reader.Number{Role: "weight", What: "weight", Plural: "weights of documents", Flag: "weight-column",
			Given: func(o *reader.Options) string { return o.WeightColumn }, File: ".weight", Queries: true, Valid: reader.IsWeight,
			Want: notNegative})},
	&columnOf[float32]{what: "query weight", perQuery: true, in: func(d *Dataset) *[]float32 { return &d.QueryWeights },
		packed: func(b *Batch) *[]float32 { return &b.QueryWeights }, valid: reader.IsWeight, want: notNegative, fingerprint: "weights"},
	&columnOf[float32]{what: "base score", in: func(d *Dataset) *[]float32 { return &d.BaseScores },
		packed: func(b *Batch) *[]float32 { return &b.BaseScores }, valid: reader.IsFinite, want: finite, fingerprint: "base scores",
		read: number(reader.Number{Role: "base", What: "base score", Plural: "base scores", Flag: "base-column",
			Given: func(o *reader.Options) string { return o.BaseColumn }, File: ".init", Valid: reader.IsFinite, Want: finite})},
	&columnOf[float64]{what: "gain", in: func(d *Dataset) *[]float64 { return &d.Gains },
		valid: func(g float64) bool { return g-g == 0 }, want: finite, fingerprint: "gains"},
	&columnOf[float32]{what: "logged exposure", in: func(d *Dataset) *[]float32 { return &d.Logged },
		packed: func(b *Batch) *[]float32 { return &b.Logged }, fingerprint: "gains"},
	&columnOf[float32]{what: "logged score", in: func(d *Dataset) *[]float32 { return &d.LoggedScores },
		packed: func(b *Batch) *[]float32 { return &b.LoggedScores }, valid: reader.IsFinite, want: finite, fingerprint: "gains"},
	&columnOf[int]{what: "vector", many: true, in: func(d *Dataset) *[]int { return &d.VectorAt }},
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

// readIntents declares a column for each intent, and returns the function that reads the ones that a file has.
func readIntents() func(c *reader.Chunk) []int {
	var columns []func(c *reader.Chunk) []float32
	for i := range intents.PerInt {
		columns = append(columns, number(reader.Number{
			Role: fmt.Sprintf("intent %d", i+1), What: "relevance to an intent", Plural: "relevances to an intent", Flag: "intents",
			Given: func(o *reader.Options) string {
				if i < len(o.Intents) {
					return o.Intents[i]
				}
				return ""
			}, Valid: reader.IsGrade, Want: reader.WantGrade, LETOR: "a file of judgements of subtopics (-subtopics)"}))
	}
	return func(c *reader.Chunk) (all []int) {
		for i, intent := range columns {
			relevances := intent(c)
			if relevances != nil && all == nil {
				all = make([]int, len(relevances))
			}
			for d, relevance := range relevances {
				if relevance > 0 {
					all[d] |= 1 << i
				}
			}
		}
		return all
	}
}
