package datasets

import (
	"fmt"
	"strconv"

	"github.com/plrank/plrank/datasets/internal/reader"
	"github.com/plrank/plrank/internal/file"
	"github.com/plrank/plrank/internal/memory"
)

// Dataset is queries and their documents, packed: the documents of query q
// are rows Offsets[q]:Offsets[q+1].
type Dataset struct {
	Name       string    // where it came from, for messages
	Features   []float32 // rows × Width(), row-major, raw values; NaN is a missing value
	Labels     []float32 // [rows] raw grades; Unlabelled if the source has none
	Offsets    []int     // [queries+1], Offsets[0] = 0
	QueryIDs   []string  // [queries]
	FeatureIDs []int     // [columns] ascending: the id each column has in the file

	FeatureNames []string // [columns], or nil if the source does not name features
	DocumentIDs  []string // [rows], or nil if the source names no documents

	// Levels are the texts that values of categorical features stand for [columns]: value v for
	// Levels[column][v-1], 0 for a text that is not among them. Nil: the values are numbers.
	Levels [][]string
	// Roles are the names of the columns that are no features, by role: "label", "query", "document", "weight", "base",
	// "group". Nil: the source names no columns. Model files keep them, see ReadOptions.Roles.
	Roles map[string]string
	// LeftOut are the columns of text that are no features; nil: there are none.
	LeftOut []string

	// Gains of documents [rows], of any sign, if they are estimated from clicks rather than a
	// function of labels; nil: they are a function of labels. No file has them.
	Gains []float64
	// Logged is the exposure that each document had in the log that the gains come from
	// [rows], summed over the impressions of its query; nil: there is none.
	Logged []float32
	// LoggedScores are the log-scores of the policy that was logged last [rows], one of
	// Plackett and Luce; nil: they are not known.
	LoggedScores []float32

	// Weights of documents and of queries, 0 or more; nil: all are 1. How they count
	// is up to the loss and the metric.
	Weights      []float32 // [rows]
	QueryWeights []float32 // [queries]

	// BaseScores are the scores of another ranker [rows], such as the one in production. A model
	// adds its own to them: they are logits, in the unit of the scores of a Plackett–Luce policy. nil: there are none.
	BaseScores []float32

	Groups     []int    // [rows] the group of each document, for fairness; negative: none; nil: the source has no groups
	GroupNames []string // by group: what the source calls it, the same for all splits; nil: groups have no names
	SourceRows []int    // [rows]: the row in the source, from 0; nil if the rows are in the order of the source, and of the splits of Open, which do not keep it
	Warnings   []string // about oddities of the source, one line each

	origin reader.Origin // files and lines of the rows
	unmap  func()        // gives up the file that Features are in; nil: they are in memory, or stay in the file
}

// Unlabelled is the label of a document whose relevance is not known. Such documents
// are scored like any other, but Open leaves them out of the splits.
const Unlabelled = -1

// Rows is the number of documents.
func (d *Dataset) Rows() int { return len(d.Labels) }

// Queries is the number of queries.
func (d *Dataset) Queries() int { return max(0, len(d.Offsets)-1) }

// Width is the number of features of a document.
func (d *Dataset) Width() int { return len(d.FeatureIDs) }

// Row is the feature vector of document i; it shares memory with d.
func (d *Dataset) Row(i int) []float32 {
	w := d.Width()
	return d.Features[i*w : (i+1)*w : (i+1)*w]
}

// Prefetch tells the system which queries will be read soon. If the features are in a file
// larger than memory (see Options.Cache), reading in any order is then as fast as the disk
// is with many requests in flight.
func (d *Dataset) Prefetch(queries []int) {
	w := d.Width()
	for _, q := range queries {
		file.WillNeed(memory.Bytes(d.Features[d.Offsets[q]*w : d.Offsets[q+1]*w]))
	}
}

// Where says where row i comes from, as in "train.txt:812", for messages: the name
// of the dataset and the row if that is not known.
func (d *Dataset) Where(i int) string {
	if where := d.origin.Where(i); where != "" {
		return where
	}
	return fmt.Sprintf("%s: row %d", d.Name, i)
}

// FeatureName is the name of the feature in a column: its id if features have no names.
func (d *Dataset) FeatureName(column int) string {
	if d.FeatureNames == nil || d.FeatureNames[column] == "" {
		return strconv.Itoa(d.FeatureIDs[column])
	}
	return d.FeatureNames[column]
}

// Choose gives the columns of the features that a word stands for: a name, else an id, else a
// pattern of names, see ReadOptions.Features. There is at least one, or an error.
func (d *Dataset) Choose(word string) ([]int, error) {
	columns, err := reader.Choose(word, d.FeatureIDs, d.FeatureNames)
	if err != nil {
		return nil, fmt.Errorf("datasets: %s: %w", d.Name, err)
	}
	return columns, nil
}

// GroupName is the name of a group: its number if groups have no names.
func (d *Dataset) GroupName(group int) string {
	if d.GroupNames == nil {
		return strconv.Itoa(group)
	}
	return d.GroupNames[group]
}

// String is one line: the name and the numbers of queries, documents and features.
func (d *Dataset) String() string {
	return fmt.Sprintf("%s: %d queries, %d documents, %d features", d.Name, d.Queries(), d.Rows(), d.Width())
}
