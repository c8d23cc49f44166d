package datasets

import (
	"context"

	"github.com/plrank/plrank/datasets/internal/reading"
	"github.com/plrank/plrank/datasets/internal/separated"
	"github.com/plrank/plrank/datasets/internal/table"
)

// ReadOptions says how to read a file; the zero value reads it as it is.
type ReadOptions struct {
	// FeatureIDs, ascending, are the columns wanted, such as those of a model that is
	// to score the file. Ids that the file lacks become columns of zeros. Others
	// that are not in the list are left out, with a warning; a file with nothing but
	// such is an error. Nil: the ids that occur in the file.
	FeatureIDs []int

	// FeatureNames are the names of FeatureIDs, in the same order. A file with a
	// header is then read by name: it must have all these columns, and others are
	// left out, with a warning. Nil: columns count from 1, left to right.
	FeatureNames []string

	// Duplicates says what to do with a second value for a feature in one line:
	// "error" (or empty), or "last": the last value counts.
	Duplicates string

	// MinusOne says what a label of −1 means: "unlabelled", or "irrelevant", as in
	// SVMrank's files, by which it becomes 0. Empty: unlabelled, but Open refuses
	// with ErrMinusOne where −1 is the only label below 1.
	MinusOne string

	// LabelColumn, QueryColumn and DocumentColumn name columns of separated values.
	// Empty: the usual names, such as label, qid and docid. There must be a label,
	// unless FeatureIDs are given: a file to be scored may have none. There must be a
	// query id, or a file of query sizes beside the data, see ReadFile.
	LabelColumn, QueryColumn, DocumentColumn string

	// WeightColumn names the column of separated values that has the weights of
	// documents, which is then no feature. Empty: they are in a file beside the data,
	// or there are none; see ReadFile.
	WeightColumn string

	// Headerless says that separated values begin with a row, not with a header.
	// Columns are then called 1, 2, …, from left to right, and the first is the label
	// unless LabelColumn names another.
	Headerless bool

	// GroupColumn is where the groups of documents are, for fairness: the name of a
	// column of separated values; or, in LETOR text, the id of a feature of at most 1000
	// values, each of which is a group. It is then no feature, unless FeatureIDs or
	// FeatureNames list it. Groups are text; the numbers of LETOR text are compared with
	// all their digits, and 7, 7.0 and +7 are one group. Empty: see Groups.
	GroupColumn string
	// Groups is a file with the group of one row a line. Empty: the file's name plus
	// ".groups", if there is such a file; else there are no groups. Beside a
	// GroupColumn no such file is looked for.
	//
	// A group is any word or text. Groups are numbered from 0 in the order in which
	// they come, through all splits of a collection; Dataset.GroupNames keeps what
	// they were called. Empty, −1 and a missing value are no group.
	Groups string

	// Context, if not nil, ends the reading when it is done, with an error that wraps
	// its own.
	Context context.Context `json:"-"`
}

// reading are the options with the formats that there are.
func (o ReadOptions) reading() reading.Options {
	return reading.Options{Options: table.Options(o), Formats: formats}
}

// ErrColumns is the error of [Open] and [ReadFile] for separated values of which it is not
// known what columns are the label and the query id: ReadOptions can name them.
var ErrColumns = separated.ErrColumns

// ReadFile reads a file of queries: LETOR, SVMlight or SVMrank text,
//
//	label qid:ID id:value id:value … # comment
//
// or separated values (comma, tab or semicolon) with a header that names a label
// column, a query id column, maybe a document id column, and the features. Which
// of these it is, and whether it is compressed (gzip or zstd), its first bytes
// tell, not its name.
//
// Queries keep the order of their first rows; rows of a query that comes back
// later in the file join it, with a warning; Dataset.SourceRows then tells where they
// were.
//
// Beside a file train.txt these files are read, too:
//
//	train.txt.query    the number of rows of each query, one a line, as for LightGBM;
//	train.txt.group    the same, as for XGBoost. Needed where there are no query ids:
//	                   queries are then called "1", "2", …; else they must agree
//	train.txt.weight   weights, one a line: of documents, as for LightGBM, where
//	                   there are as many as rows, else of queries, as for XGBoost
//	train.txt.groups   groups of documents, see ReadOptions.Groups
//
// A warning names train.txt.position and train.txt.init, which are not used.
//
// In LETOR text a feature that a line does not mention is 0; NULL, NaN, NA, ?
// and an empty separated value are missing, kept as NaN (see Transform for what
// becomes of them). A comment "docid = X" names the document. Label −1 (or an
// empty separated value) is Unlabelled; see also ReadOptions.MinusOne.
//
// A # begins a comment in LETOR text, also within a query id: where all features of a
// document are in one, a warning says so. Separated values have no comments, but for lines
// before the header.
//
// A malformed line is an error that says file:line: column: reason; the first
// ten are listed. Numbers become the nearest float32; infinite ones and those
// beyond its range are an error.
func ReadFile(path string, o ReadOptions) (*Dataset, error) {
	t, err := reading.File(path, o.reading(), &table.GroupNames{}, "")
	if err != nil {
		return nil, err
	}
	ids := o.FeatureIDs
	if ids == nil {
		ids = t.IDs
	}
	d, err := t.Data(ids, nil)
	if err != nil {
		return nil, err
	}
	if t.Breaks > 0 {
		d.SourceRows = t.SourceRows()
	}
	return newDataset(d), nil
}

// ErrReturns is the error of [ReadBlocks] for a file in which a query comes back after
// another one. ReadFile puts its documents together.
var ErrReturns = reading.ErrReturns

// ReadBlocks reads a file of any length in blocks of whole queries, in the order of the
// file, and calls yield with each block and with how many bytes of the file, compressed
// ones, have been read so far. An error of yield ends the reading, and is the result.
//
// All is as for [ReadFile], with these exceptions. FeatureIDs must be given, because the
// columns of the first block are those of the last. A query that comes back is
// [ErrReturns]. The file of weights is not read, because only its end tells whose weights
// it has. Warnings are about the whole file, and come at the end. After a malformed line
// there are no more blocks, but the rest of the file is read for the others.
//
// In memory are a few megabytes of the file, or as much as its largest query, and some
// bytes for the id or the size of each query.
func ReadBlocks(path string, o ReadOptions, yield func(block *Dataset, read int64) error) (warnings []string, err error) {
	return reading.Blocks(path, o.reading(), func(d *table.Data, read int64) error { return yield(newDataset(d), read) })
}
