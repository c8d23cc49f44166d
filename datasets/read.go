package datasets

import (
	"cmp"
	"errors"
	"maps"
	"slices"
	"strconv"

	"github.com/plrank/plrank/datasets/internal/reader"
)

// ReadOptions says how to read a file; the zero value reads it as it is.
type ReadOptions = reader.Options

var (
	// ErrColumns is the error of [Open] and [ReadFile] if separated values do not tell which
	// columns are the label and the query id: ReadOptions can name them.
	ErrColumns = reader.ErrColumns

	// ErrFolds is the error of [Open] for a folder of folds if Options.Fold is 0.
	ErrFolds = reader.ErrFolds

	// ErrMinusOne is the error of [Open] if −1 is the only label below 1: it may stand for
	// documents that are not relevant, or for those without a label.
	ErrMinusOne = errors.New(`−1 is the only label below 1: please say whether it means irrelevant or unlabelled`)

	// ErrReturns is the error of [ReadBlocks] for a query that comes back after another one.
	// ReadFile puts its documents together.
	ErrReturns = reader.ErrReturns
)

// ReadFile reads a file of queries in one of the formats of this package.
//
// Queries keep the order of their first rows. If a query comes back later in the file, its
// rows join the first ones, with a warning; Dataset.SourceRows then tells where they were.
//
// Next to a file train.txt these files are read, too:
//
//	train.txt.query    the number of documents of each query, one a line, as for LightGBM;
//	train.txt.group    the same, as for XGBoost. Needed if there are no query ids:
//	                   queries are then called "1", "2", …; else they must agree
//	train.txt.weight   weights, one a line: of documents, as for LightGBM, if there are as
//	                   many as documents; else of queries, as for XGBoost
//	train.txt.groups   groups of documents, see ReadOptions.Groups
//	train.txt.init     base scores of documents, one a line, as for LightGBM, unless they are in
//	                   a column
//	train.txt.names    names of the features of LETOR text: an id and a name a line, such as
//	                   "3 bm25" or "4 page rank"; in a feature map of XGBoost all lines end in a
//	                   type (i, q, int, float, c), which is not part of the name. What follows a tab
//	                   after the name is not read
//
// They may be compressed, as train.txt.weight.gz, and next to train.txt.gz also be named
// train.txt.gz.weight. ReadFile returns an error if there are two of one kind, or if .query and .group
// differ. A warning names files that are not used: train.txt.position, files of what is in a column,
// and names of columns that have their own.
//
// In LETOR text a feature that a line does not mention is 0; NULL, NaN, NA, ? and an empty
// separated value are missing, kept as NaN (see [Transform] for their inputs). True, in the spellings
// true, True and TRUE, is 1, and false 0, also among the texts of a category. A comment
// "docid = X" names the document. Label −1 (or an empty separated value) is [Unlabelled];
// see also ReadOptions.MinusOne.
//
// A column of separated values is text if more than half of its values in the first megabyte are no
// numbers; so is one of strings in Parquet, by the first values that are there. Such columns are left out, with one warning that names them, unless they are
// Categorical; values of these are numbered from 1 on in the order of their first rows, through
// all splits, see Dataset.Levels. 7, 7.0 and +7 are one value; more than 100,000 are an error.
//
// The id of a column is its name if the names of all features are whole numbers, such as the ids of LETOR text; or if all
// FeatureIDs are among the names, and FeatureNames are not given. Else columns count from 1, left to right. A column
// without a name of its own, such as the index of a table that pandas writes, is left out, with a warning, unless Features
// or Categorical have all that it is called, such as __index_level_0__.
//
// A # begins a comment in LETOR text, also within a query id; if all features of a document
// are in a comment, a warning says so. Separated values have no comments, except for lines
// before the header.
//
// For malformed lines ReadFile returns an error that says file:line: column: reason; the first ten
// are listed. The column is a byte of LETOR text, and a name of separated values. Numbers become the nearest float32; infinite ones and numbers beyond its range are
// errors.
func ReadFile(path string, o ReadOptions) (*Dataset, error) {
	return readFile(path, reader.FileOptions{Options: o})
}

func readFile(path string, o reader.FileOptions) (*Dataset, error) {
	t, err := reader.Read(path, o, reader.NewNames(o.Options), "")
	if err != nil {
		return nil, err
	}
	t.WarnOfAbsent(t.IDs)
	d, err := newJudged(t, o.FeatureIDs)
	if err != nil {
		return nil, err
	}
	if t.Breaks > 0 {
		d.SourceRows = t.SourceRows()
	}
	return d, nil
}

// ReadBlocks reads a file of any length in blocks of whole queries, in the order of the
// file. It calls yield with each block and the number of bytes of the file (compressed, if it
// is) that have been read so far. An error of yield ends the reading, and is the result.
//
// FeatureIDs must be given, because the first block needs the columns of the last. A query
// that comes back is [ErrReturns]. The file of weights is not read: only its end would tell
// whether they are of documents or of queries. Warnings are about the whole file, and come at
// the end. After a malformed line there are no more blocks, but the rest of the file is read
// for further ones. All else is as in [ReadFile].
//
// It takes a few megabytes, or as much as the largest query, and some bytes for the id or
// the size of each query.
func ReadBlocks(path string, o ReadOptions, yield func(block *Dataset, read int64) error) (warnings []string, err error) {
	return readBlocks(path, reader.FileOptions{Options: o}, yield)
}

func readBlocks(path string, o reader.FileOptions, yield func(block *Dataset, read int64) error) (warnings []string, err error) {
	return reader.ReadBlocks(path, o, func(t *reader.Table, read int64) error {
		d, err := newDataset(t, o.FeatureIDs)
		if err != nil {
			return err
		}
		return yield(d, read)
	})
}

// newJudged is newDataset of a whole file, or of all parts, with a warning of labels that contradict each other.
func newJudged(t *reader.Table, ids []int) (*Dataset, error) {
	d, err := newDataset(t, ids)
	if err != nil {
		return nil, err
	}
	if warning := d.contradictions(); warning != "" {
		d.Warnings = append(d.Warnings, warning)
	}
	return d, nil
}

// newDataset makes a dataset of the queries of a table, with the given columns (nil: the
// columns of the table). The table is let go on the way.
func newDataset(t *reader.Table, ids []int) (d *Dataset, err error) {
	defer t.Free()
	if ids == nil {
		ids = t.IDs
	}
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
	d.Levels, d.LeftOut, d.Roles = t.Names.LevelsOf(ids), t.Layout.Text, t.Layout.Roles
	for _, role := range slices.Sorted(maps.Keys(d.Roles)) {
		d.origin.Roles = append(d.origin.Roles, role, d.Roles[role])
	}
	d.Features, d.unmap, err = rows.Features(ids)
	return d, err
}
