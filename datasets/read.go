package datasets

import (
	"cmp"
	"context"
	"errors"
	"strconv"

	"github.com/plrank/plrank/datasets/internal/reader"
	"github.com/plrank/plrank/datasets/schema"
	"github.com/plrank/plrank/transforms"
)

// ReadOptions says how to read a file. The zero value reads it as it is.
type ReadOptions struct {
	// FeatureIDs are the ids of the features to read, ascending, such as the features of a model that will score the file. A feature
	// that the file lacks is a column of zeros. Other features are left out, with a warning. Reading fails if the file has
	// none of them. Nil: all ids that occur in the file.
	FeatureIDs []int

	// FeatureNames are the names of FeatureIDs, in the same order. A table is then read by name: it must have all these
	// columns. Nil: columns have the ids that ReadFile gives them; if these are positions, a warning says so.
	FeatureNames []string

	// Levels are the texts of the categorical features among FeatureIDs, in the same order, as Dataset.Levels has them; nil for
	// the others. Another text counts as unseen, and a warning counts and names such texts in a file. A number of LETOR text stands
	// for the level that is this number, or, if no level of the feature is a number, for the level at this position.
	// Nil: the texts that occur in the file.
	Levels [][]string

	// NumberLevels are the ids of the features whose Levels are numbers, as Dataset.NumberLevels has them. Nil: none.
	NumberLevels []int

	// OfModel says that FeatureIDs are all features of a model, as in the options by [OptionsFor]. Features and Ignore must then
	// not leave out any of them, and a blank in the name of a column may be _ in FeatureNames, as LightGBM writes it. If
	// the model has no names, its features are the columns of a table from left to right, which Features and Ignore choose,
	// and there must be as many. False: the ids are a choice among more.
	OfModel bool

	// Features are the features to read if there are no FeatureIDs. Each is a name, an id, or a pattern of names as in
	// path.Match, such as price*. LETOR text has names in a file next to it, see ReadFile. Nil: all.
	Features []string

	// Ignore are features to leave out, named in the same way. Nil: none.
	Ignore []string

	// Categorical are features of a table whose values are texts, named in the same way. They are read in addition to
	// Features. Nil: none.
	Categorical []string

	// Unasked are names of columns of a table to leave out without a warning, such as columns that had a role in earlier data.
	// Nil: none.
	Unasked []string

	// Duplicates says what happens to a second value for a feature in one line: "error" refuses it, and with "last" the last
	// value counts. Empty: "error".
	Duplicates string

	// MinusOne says what a label of −1 means: "unlabelled", or "irrelevant", as in files of SVMrank, which makes it 0.
	// Empty: "unlabelled", but Open returns ErrMinusOne if −1 is the only label below 1.
	MinusOne string

	// LabelColumn names the column of labels of a table. Empty: the one of Roles, or else of the Schema.
	LabelColumn string

	// QueryColumn names the column of query ids of a table. There must be one, or a file of query sizes next to the data, see
	// ReadFile. Empty: the one of Roles, or else of the Schema.
	QueryColumn string

	// DocumentColumn names the column of document ids of a table. Empty: the one of Roles, or else of the Schema; it may be
	// absent.
	DocumentColumn string

	// WeightColumn names the column of a table with the weights of documents, which is then not a feature. Empty: the one of
	// Roles; see also ReadFile for the file next to the data.
	WeightColumn string

	// BaseColumn names the column of a table with the base scores of documents, see Dataset.BaseScores. The column is then not a
	// feature. Empty: the one of Roles; see also ReadFile for the file next to the data.
	BaseColumn string

	// Headerless says that a table begins with a row instead of a header. Its columns are then called 1, 2, … from left to right,
	// and the first is the label unless LabelColumn names another. False: the first line names the columns.
	Headerless bool

	// Missing are words that stand for a missing value in separated values of features that are numbers, besides an empty field,
	// NA, NaN, NULL and ?. The others that pandas knows, such as None and n/a, need not be here: a warning lists the ones that are found.
	Missing []string

	// GroupColumn names the column of a table with the groups of documents, for fairness. The column is then not a feature, unless
	// FeatureIDs or FeatureNames list it. Groups are numbered from 0 in the order in which they occur, through all splits of a
	// collection; Dataset.GroupNames has the texts. An empty text and −1 are no group. Empty: the one of Roles; see also
	// ReadFile for the file next to the data.
	GroupColumn string

	// Intents are the columns of a table that say which intents of its query a document is relevant to: a number above 0 says
	// that it is, see Dataset.Intents. At most 63. They are then not features. Nil: none.
	Intents []string

	// Subtopics is a file of TREC's judgements of subtopics, see [ReadQrels], with the intents of the documents of all splits,
	// which are found by the ids of query and document. Documents that are not judged have none. Reading fails if no document
	// has an intent; a warning counts the file's documents that are not in the data. ReadBlocks does not read it. Empty: none.
	Subtopics string

	// Labels says whether a table must have a column of labels: it is "needed", or, with "unused", no label is looked for. Empty:
	// it is needed unless FeatureIDs are given, since a file to be scored may have no labels.
	Labels string

	// Roles are the columns that earlier data had, such as those that a model was trained on, by role: "label", "query",
	// "document", "weight", "base", "group", "intent 1", …, as Dataset.Roles has them. They are taken if the table has them and no
	// option above names another. Nil: none.
	Roles map[string]string

	// Schema says what the columns of a table are that no option names. It is called with the header of each table before that
	// is read. The command plrank has one that knows usual names and columns of text. Nil: the columns label, qid and docid have
	// these roles, and all others are features: numbers, unless they are Categorical.
	Schema func(schema.Header) (schema.Columns, error) `json:"-"`

	// Vectors are columns of text whose values are vectors, such as [0.1, 0.2], 0.1 0.2 or 0.1,0.2, or vectors in files of their
	// own: tables of an id of queries or of documents, in the column that has this role, and a vector, in the column of that name
	// or else the only column of lists; or .npy matrices, with the name of the column of ids and an id for each row, one a line, in a
	// file next to it, named as it plus ".ids". Columns of lists in the data are vectors anyway, unless Ignore has them. The vectors of a
	// name have one dimension and finite numbers; a null or empty one is missing. Nil: columns of lists alone.
	Vectors []transforms.Vector

	// Products are features made of these vectors, by their names. Nil: the products of the Schema, or none.
	Products []transforms.Product

	// Context ends the reading when it is done, with an error that wraps its own. Nil: reading goes on to the end.
	Context context.Context `json:"-"`
}

var (
	// ErrColumns is returned by [Open] and [ReadFile] if a table has no column of labels or of query ids: ReadOptions can name
	// them.
	ErrColumns = reader.ErrColumns

	// ErrFolds is returned by [Open] for a folder of folds if Options.Fold is 0.
	ErrFolds = reader.ErrFolds

	// ErrMinusOne is returned by [Open] if −1 is the only label below 1: it may mean that a document is not relevant, or that
	// it has no label.
	ErrMinusOne = errors.New(`−1 is the only label below 1: please say whether it means irrelevant or unlabelled`)

	// ErrReturns is returned by [ReadBlocks] if a query comes back after another one. ReadFile puts its documents together.
	ErrReturns = reader.ErrReturns
)

// ReadFile reads a file of queries in one of the formats of this package.
//
// Queries keep the order of their first rows. If a query comes back later in the file, its rows join the first ones, with a
// warning, and Dataset.SourceRows has the row of the file for each.
//
// ReadFile also reads these files next to a file train.txt:
//
//	train.txt.query    the number of documents of each query, one a line, as for LightGBM
//	train.txt.group    the same, as for XGBoost. One of the two is needed if there are no query ids:
//	                   queries are then called "1", "2", …. If there are ids, they must agree
//	train.txt.weight   weights, one a line: of documents, as for LightGBM, if there are as
//	                   many as documents; else of queries, as for XGBoost
//	train.txt.groups   groups of documents, see ReadOptions.GroupColumn, one a line, unless they are in a
//	                   column
//	train.txt.init     base scores of documents, one a line, as for LightGBM, unless they are in
//	                   a column
//	train.txt.names    names of the features of LETOR text: an id and a name a line, such as
//	                   "3 bm25" or "4 page rank". In a feature map of XGBoost all lines end in a
//	                   type (i, q, int, float, c), which is not part of the name. Text after a tab
//	                   that follows the name is skipped
//
// They may be compressed, as train.txt.weight.gz; next to train.txt.gz they may also be called train.txt.gz.weight. ReadFile
// returns an error if there are two of one kind, or if .query and .group differ. It warns of files that it does not use:
// train.txt.position, files for which there is a column, and names for columns that have their own.
//
// Values of features are numbers, or true (1) and false (0), also as True and TRUE. A feature that a line of LETOR text does
// not mention is 0. NULL, NaN, NA, ? and an empty separated value are missing, which is NaN in a Dataset. Numbers become the
// nearest float32; infinite ones and those beyond its range are errors. A comment "docid = X" names the document. Label −1,
// or an empty separated value, is [Unlabelled]; see also ReadOptions.MinusOne.
//
// Texts of Categorical columns are numbered from 1 in the order of their first rows, through all splits, see Dataset.Levels.
// ReadFile returns an error if a column has more than 100,000. Other columns must be numbers.
//
// Texts of categories, ids and groups count byte for byte: 7, 7.0, 007 and " 7" are four texts, and NA is one, too. A text is
// missing if it is null in Parquet, or an empty separated value, unless the Levels have an empty text. If Levels are given,
// NA, NaN, NULL and ? in separated values are missing as well, unless they are among the Levels. Numbers and booleans of
// Parquet are compared with Levels by their value; a boolean is 1 or 0.
//
// If the names of all features are whole numbers, they are the ids, as in LETOR text. So are the names that FeatureIDs list, if
// FeatureNames are not given. Otherwise features count from 1, left to right. A column without a name of its own, such as the
// index of a table by pandas, is left out, with a warning, unless Features or Categorical spell out its name, such as
// __index_level_0__.
//
// A # begins a comment in LETOR text, also within a query id; a warning counts documents with all their features in a comment.
// Separated values have no comments, except for lines before the header.
//
// If lines are malformed, the error lists the first ten as file:line: column: reason. The column is a byte of LETOR text, or
// the name of a column.
func ReadFile(path string, o ReadOptions) (*Dataset, error) {
	return readFile(path, reader.FileOptions{Options: reader.Options(o)})
}

func readFile(path string, o reader.FileOptions) (*Dataset, error) {
	t, err := reader.Read(reader.Split{Path: path, Files: []string{path}}, o, reader.NewNames(o.Options))
	if err != nil {
		return nil, err
	}
	t.WarnOfAbsent(t.IDs)
	ids := o.FeatureIDs
	if ids == nil {
		ids = t.IDs
	}
	d, err := newJudged(t, ids, reader.IsSparse(ids, t))
	if err != nil {
		return nil, err
	}
	if t.Breaks > 0 {
		d.SourceRows = t.SourceRows()
	}
	return d, joinIntents(o.Subtopics, d)
}

// ReadBlocks reads a file of any length in blocks of whole queries, in the order of the
// file. It calls yield with each block and the number of bytes read so far, of the compressed file if it is compressed.
// An error of yield ends the reading, and is the result.
//
// FeatureIDs must be given, because the first block needs the columns of the last. ReadBlocks returns [ErrReturns] for
// a query that comes back. It does not read the file of weights: only its end would show
// whether they are of documents or of queries. Warnings are about the whole file, and come at
// the end. After a malformed line there are no more blocks, but the rest of the file is read
// for further ones. Otherwise it works as [ReadFile].
//
// It takes a few megabytes, or as much as the largest query, and some bytes for the id or
// the size of each query, and for each line of a file of groups or base scores.
func ReadBlocks(path string, o ReadOptions, yield func(block *Dataset, read int64) error) (warnings []string, err error) {
	return readBlocks(path, reader.FileOptions{Options: reader.Options(o)}, yield)
}

func readBlocks(path string, o reader.FileOptions, yield func(block *Dataset, read int64) error) (warnings []string, err error) {
	return reader.ReadBlocks(path, o, func(t *reader.Table, read int64) error {
		d, err := newDataset(t, o.FeatureIDs, reader.IsSparse(o.FeatureIDs, t))
		if err != nil {
			return err
		}
		return yield(d, read)
	})
}

// newJudged is newDataset of a whole file, or of all parts, with a warning of labels that contradict each other.
func newJudged(t *reader.Table, ids []int, asSparse bool) (*Dataset, error) {
	d, err := newDataset(t, ids, asSparse)
	if err != nil {
		return nil, err
	}
	if warning := d.contradictions(); warning != "" {
		d.Warnings = append(d.Warnings, warning)
	}
	return d, nil
}

// newDataset makes a dataset of the queries of a table, with the given columns, whose documents may be sparse. The table is
// let go on the way.
func newDataset(t *reader.Table, ids []int, asSparse bool) (d *Dataset, err error) {
	defer t.Free()
	rows := t.Arrange()
	d = &Dataset{
		Name:       t.Path,
		Offsets:    make([]int, 1, len(t.Queries)+1),
		QueryIDs:   make([]string, 0, len(t.Queries)),
		FeatureIDs: ids,
		Warnings:   t.Warnings,
		origin:     t.Origin,
	}
	for _, c := range columns {
		c.take(d, rows)
	}
	for q, query := range t.Queries {
		d.Offsets = append(d.Offsets, d.Offsets[q]+query.Rows())
		d.QueryIDs = append(d.QueryIDs, query.ID)
		if t.HasQueryWeights {
			d.QueryWeights = append(d.QueryWeights, query.Weight)
		}
	}
	if t.Groups != nil {
		d.GroupNames = append([]string{}, t.Groups.Names...)
	}
	if t.Layout.Names != nil {
		for _, id := range ids {
			d.FeatureNames = append(d.FeatureNames, cmp.Or(t.Layout.Names[id], strconv.Itoa(id)))
		}
	}
	d.Levels, d.NumberLevels = t.Names.LevelsOf(ids)
	d.LeftOut, d.Roles = t.Layout.Text, t.Layout.Roles
	d.Products = t.Layout.Products
	if d.VectorAt = reader.Gather(rows, len(t.Layout.Vectors), func(c *reader.Chunk) []int { return c.VectorAt }); d.VectorAt != nil {
		for _, v := range t.Layout.Vectors {
			d.Vectors.Names, d.Vectors.Dimensions = append(d.Vectors.Names, v.Name), append(d.Vectors.Dimensions, v.Dimension)
		}
		d.Vectors.Values = t.Names.Vectors.Values
	}
	if asSparse {
		d.Sparse, err = rows.Sparse(ids)
	} else {
		d.Features, err = rows.Features(ids)
	}
	return d, err
}
