package reader

import (
	"context"
	"fmt"
	"slices"

	"github.com/plrank/plrank/internal/text"
)

// Options says how to read a file; the zero value reads it as it is. It is datasets.ReadOptions, and comments that name
// fields of a dataset, ReadFile and Open speak of package datasets.
type Options struct {
	// FeatureIDs, ascending, are the columns wanted, such as the columns of a model that will
	// score the file. Ids that the file lacks become columns of zeros. Other features are
	// left out, with a warning; reading fails if the file has none of the wanted ones.
	// Nil: the ids that occur in the file.
	FeatureIDs []int

	// FeatureNames are the names of FeatureIDs, in the same order. A file with a
	// header is then read by name: it must have all these columns, and others are
	// left out, with a warning. Nil: columns have the ids that ReadFile gives them; if these
	// are positions, a warning says so.
	FeatureNames []string

	// Levels are the texts of the categorical ones among FeatureIDs, as Dataset.Levels has
	// them; nil for the others. A text that is not among them counts as unseen. Nil: files
	// tell them.
	Levels [][]string

	// Features and Ignore choose features where there are no FeatureIDs: all in Features
	// (nil: all) that are not in Ignore. Categorical are features whose values are text; they
	// are features in addition to Features. All three name a feature by its name, else by its
	// id, else by a pattern of names as in path.Match, such as price*. LETOR text has names
	// in a file next to it, see ReadFile, and its values are numbers all the same.
	Features, Ignore, Categorical []string

	// Duplicates says what happens to a second value for a feature in one line: "error"
	// (or empty) refuses it, with "last" the last value counts.
	Duplicates string

	// MinusOne says what a label of −1 means: "unlabelled", or "irrelevant", as in files
	// of SVMrank; it then becomes 0. Empty: unlabelled, but Open refuses it with
	// ErrMinusOne if −1 is the only label below 1.
	MinusOne string

	// LabelColumn, QueryColumn and DocumentColumn name columns of separated values; LETOR text has none.
	// Empty: the columns of Roles, or else columns with usual names, in any spelling such as query_id, QueryID and query id. A column
	// label, relevance, qid or docid is taken, and others with such names are no features, with a warning, unless Features list
	// them by all of their name. A column with a name that another one may deserve (grade, rating, target, y; query, group;
	// doc, document) is taken only where no other column could be meant: none with another of these names; none with the name
	// of another id, such as session_id; and, for the label, none whose values are whole numbers without a gap, which its own
	// must be. Otherwise ErrColumns names those that could be meant. There must be a query id, or a file of query
	// sizes next to the data, see ReadFile.
	LabelColumn, QueryColumn, DocumentColumn string

	// WeightColumn names the column of separated values with the weights of documents,
	// which is then not a feature. Empty: see ReadFile for the file next to the data.
	WeightColumn string

	// BaseColumn names the column of separated values with the base scores of documents, see
	// Dataset.BaseScores; or, in LETOR text, it is the id of a feature with them. The column is
	// then not a feature. Empty: see ReadFile for the file next to the data.
	BaseColumn string

	// Headerless says that separated values begin with a row, not with a header.
	// Columns are then called 1, 2, …, from left to right, and the first is the label
	// unless LabelColumn names another.
	Headerless bool

	// GroupColumn tells the groups of documents, for fairness. It is the name of a column
	// of separated values; or, in LETOR text, the id of a feature with at most 1000
	// values, which are the groups. The column is then not a feature, unless
	// FeatureIDs or FeatureNames list it. Groups are text; numbers of LETOR text are
	// compared with all their digits, and 7, 7.0 and +7 are one group. Empty: see Groups.
	GroupColumn string

	// Labels says whether a table must have a column of labels: it is "needed", or, with "unused", no label is looked for.
	// Columns with usual names of labels are then no features, with a warning. Empty: it is needed unless FeatureIDs are
	// given, since a file to be scored may have none.
	Labels string

	// Roles are columns by role ("label", "query", "document", "weight", "base", "group"), as Dataset.Roles has them, that
	// earlier data had, such as those that a model was trained on. They are taken where the table has them, and options
	// above name no other. Reading fails if a label or a query id is needed and absent, unless its name is a usual one: the
	// table may then have another usual name.
	Roles map[string]string

	// Groups is a file with the group of one document a line. Empty: the file's name plus
	// ".groups", if there is such a file; else there are no groups. With a GroupColumn,
	// no file is read, and a warning says so.
	//
	// A group is any word or text. Groups are numbered from 0 in the order in which
	// they occur, through all splits of a collection; Dataset.GroupNames keeps the text.
	// Empty, −1 and a missing value mean no group.
	Groups string

	// Context, if not nil, ends the reading when it is done, with an error that wraps
	// the error of the context.
	Context context.Context `json:"-"`
}

// Check finds invalid values, and options that contradict each other.
func (o Options) Check() error {
	if o.Duplicates != "" && o.Duplicates != "error" && o.Duplicates != "last" {
		return fmt.Errorf("datasets: invalid ReadOptions.Duplicates %q: want error or last", o.Duplicates)
	}
	if o.MinusOne != "" && o.MinusOne != "unlabelled" && o.MinusOne != "irrelevant" {
		return fmt.Errorf("datasets: invalid ReadOptions.MinusOne %q: want unlabelled or irrelevant", o.MinusOne)
	}
	if err := text.CheckFeatureIDs(o.FeatureIDs); err != nil {
		return fmt.Errorf("datasets: ReadOptions.FeatureIDs: %w", err)
	}
	if o.FeatureNames != nil && len(o.FeatureNames) != len(o.FeatureIDs) {
		return fmt.Errorf("datasets: %d names for %d feature ids", len(o.FeatureNames), len(o.FeatureIDs))
	}
	if o.Levels != nil && len(o.Levels) != len(o.FeatureIDs) {
		return fmt.Errorf("datasets: levels of %d features for %d feature ids", len(o.Levels), len(o.FeatureIDs))
	}
	if o.Labels != "" && o.Labels != NeededLabels && o.Labels != UnusedLabels {
		return fmt.Errorf("datasets: invalid ReadOptions.Labels %q: want needed or unused", o.Labels)
	}
	if o.GroupColumn != "" && o.Groups != "" {
		return fmt.Errorf("datasets: ReadOptions.GroupColumn %q and Groups %s: want groups in a column or in a file, not in both", o.GroupColumn, o.Groups)
	}
	return nil
}

// Values of Options.Labels.
const (
	NeededLabels = "needed"
	UnusedLabels = "unused"
)

// NeedsLabels reports whether a table must have a column of labels.
func (o Options) NeedsLabels() bool {
	return o.Labels == NeededLabels || o.Labels == "" && o.FeatureIDs == nil
}

// Chosen are the names, ids and patterns of features that are chosen one way or the other.
func (o Options) Chosen() []string { return slices.Concat(o.Features, o.Ignore, o.Categorical) }

// Ctx is o.Context, or one that is never done.
func (o Options) Ctx() context.Context {
	if o.Context == nil {
		return context.Background()
	}
	return o.Context
}

// Stopped is the error of reading a file if the context is done, else nil.
func (o Options) Stopped(path string) error {
	if err := o.Ctx().Err(); err != nil {
		return fmt.Errorf("datasets: %s: reading was stopped: %w", path, err)
	}
	return nil
}

// Wants reports whether a feature is to be read.
func (o Options) Wants(id int) bool { return o.FeatureIDs == nil || o.Lists(id) }

// Lists reports whether a feature is asked for by its id.
func (o Options) Lists(id int) bool {
	_, found := slices.BinarySearch(o.FeatureIDs, id)
	return found
}

// HasLevels reports whether the texts of a feature are given.
func (o Options) HasLevels(id int) bool {
	i, found := slices.BinarySearch(o.FeatureIDs, id)
	return found && o.Levels != nil && o.Levels[i] != nil
}
