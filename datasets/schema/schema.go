// Package schema has what a program and package datasets tell each other about the columns of a table: a program that
// finds out what columns are sets datasets.ReadOptions.Schema.
package schema

import "strings"

// Roles of columns that a Header may need, and Columns may name.
const (
	Label    = "label"
	Query    = "query"
	Document = "document"
	Group    = "group"
)

// Kinds of columns, by Header.Kind. Others are of dates and times, as the file calls them.
const (
	Number        = "number"
	Text          = "text"
	Vectors       = "vectors"        // text such as [0.1, 0.2, 0.3]
	DecimalCommas = "decimal commas" // text such as 3,5
)

// Header is what is known of a table before its rows are read.
type Header struct {
	// Names are the names of the columns, from left to right.
	Names []string

	// Roles are the columns that have a role already, by role, since options or earlier data name them.
	Roles map[string]string

	// Needed are the roles that a column must have: "label", "query", both or none.
	Needed []string

	// Known are the columns of earlier data by role, as datasets.ReadOptions.Roles has them.
	Known map[string]string

	// Unused says that no label is used, and none should be found.
	Unused bool

	// OfFeatures says that the features are chosen already, by a model or by the first of several files, and Listed are their
	// names, nil if they have none.
	OfFeatures bool
	Listed     []string

	// Features, Ignore, Categorical and Unasked are as in datasets.ReadOptions.
	Features, Ignore, Categorical, Unasked []string

	// Vectors are the columns of vectors, which are no features, and Dimensions are their lengths; 0 is one that is not known.
	Vectors    []string
	Dimensions []int

	// Kind looks at the first values of a column, which counts from 0. It returns the kind that more than half of them have.
	Kind func(column int) (string, error)
}

// Columns says what the columns of a table are. A column that it does not name is a feature if options choose it.
type Columns struct {
	// Roles are the columns by role, in addition to Header.Roles.
	Roles map[string]string

	// Aside are the columns that are no features unless options list them by all of their name. The value is the warning if
	// one is left out, with %s for the list of all columns with this warning; empty: there is none.
	Aside map[string]string

	// Text are the columns to leave out unless they are categorical, with warnings as in Aside.
	Text map[string]string

	// Products are features made of vectors, such as cosine(q,d), if options have none; see datasets.ReadOptions.
	Products []string
}

// IsNameless reports whether a column has no name of its own, as the index of a table in files of pandas and R. It is left out.
func IsNameless(name string) bool {
	return name == "" || strings.HasPrefix(name, "Unnamed: ") || strings.HasPrefix(name, "__index_level_")
}
