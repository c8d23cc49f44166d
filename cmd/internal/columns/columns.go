// Package columns finds out what the columns of a table are, by their names and first values: the programs set Find as
// datasets.ReadOptions.Schema.
package columns

import (
	"fmt"
	"path"
	"slices"
	"strconv"
	"strings"

	"github.com/plrank/plrank/datasets/schema"
	"github.com/plrank/plrank/internal/text"
)

// A role is a use of a column that is found by its name.
type role struct {
	name string // in schema.Columns
	what string // in messages
	flag string // that names the column

	// Usual names, in small letters and without blanks, _, - and dots. A column with a firm name has the role, and the first of
	// several. One with a shared name has it only if no other column could be meant: none with another such name, or with the
	// name of a rival. A column with a usual name is a feature only if the options list it; so is one with a loose name while no
	// column has the role.
	firm, shared, loose, rivals []string
}

var roles = []role{
	{name: schema.Label, what: "label", flag: "label-column",
		firm: []string{"label", "relevance", "rel", "labels", "judgment", "judgement"}, loose: []string{"grade", "rating", "target", "y"}},
	{name: schema.Query, what: "query id", flag: "query-column",
		firm: []string{"qid", "queryid"}, shared: []string{"query"},
		rivals: []string{"group", "session", "sessionid", "searchid", "srchid", "requestid", "impressionid", "groupid", "topicid"}},
	{name: schema.Document, what: "document id", flag: "document-column",
		firm: []string{"docid", "documentid"}, shared: []string{"document", "doc"}, rivals: []string{"productid", "itemid", "sku"}},
}

// usual returns the usual names of the role.
func (r *role) usual() []string { return slices.Concat(r.firm, r.shared) }

// plain returns the form in which names are compared: query_id, Query ID and queryId are one.
func plain(name string) string { return strings.ToLower(separators.Replace(name)) }

var separators = strings.NewReplacer(" ", "", "_", "", "-", "", ".", "")

// finder finds the columns of a table.
type finder struct {
	schema.Header
	schema.Columns
	plain  []string        // the names as they are compared
	listed map[string]bool // names of features that are chosen
}

// Find finds the columns with usual names for the roles that nobody has named, the columns that can hardly be features, and
// columns of text. It returns an error if a column is needed and absent, or if several could be meant.
func Find(h schema.Header) (schema.Columns, error) {
	f := &finder{Header: h, Columns: schema.Columns{Roles: map[string]string{}, Aside: map[string]string{}, Text: map[string]string{}},
		listed: map[string]bool{}}
	for _, name := range h.Listed {
		f.listed[name] = true
	}
	for _, name := range h.Names {
		f.plain = append(f.plain, plain(name))
	}
	for i := range roles {
		r := &roles[i]
		if f.column(r.name) != "" || r.name == schema.Label && h.Unused {
			continue
		}
		if err := f.find(r); err != nil {
			return f.Columns, fmt.Errorf("header: %w", err)
		}
	}
	f.findAside()
	f.findProducts()
	return f.Columns, f.findText()
}

// column returns the column of a role, "" if there is none.
func (f *finder) column(role string) string {
	if name, told := f.Header.Roles[role]; told {
		return name
	}
	return f.Columns.Roles[role]
}

// hasRole reports whether a column has a role by now, or vectors.
func (f *finder) hasRole(name string) bool {
	for _, columns := range []map[string]string{f.Header.Roles, f.Columns.Roles} {
		for _, column := range columns {
			if column == name {
				return true
			}
		}
	}
	return slices.Contains(f.Vectors, name)
}

// find finds the column of a role.
func (f *finder) find(r *role) error {
	needed := slices.Contains(f.Needed, r.name)
	firm := f.firm(r)
	known := f.Known[r.name]
	if _, err := strconv.Atoi(known); needed && known != "" && err != nil && !f.hasRole(known) && !slices.Contains(r.usual(), plain(known)) &&
		(r.name != schema.Query || firm == "") { // a query id by any name, but no other label
		return fmt.Errorf("no %s column %q, which the training data had: -%s names another one of %s", r.what, known, r.flag, text.List(f.Names))
	}
	if firm != "" {
		f.Columns.Roles[r.name] = firm
		return nil
	}
	var candidates, rivals, taken []string
	for i, name := range f.Names {
		switch {
		case f.listed[name]:
		case f.hasRole(name):
			if needed && slices.Contains(r.usual(), f.plain[i]) {
				taken = append(taken, name)
			}
		case slices.Contains(r.shared, f.plain[i]):
			candidates = append(candidates, name)
		case slices.Contains(r.rivals, f.plain[i]) && !f.isSaid(name):
			rivals = append(rivals, name)
		}
	}
	switch {
	case len(candidates) > 1 || len(candidates) == 1 && len(rivals) > 0:
		return fmt.Errorf("the %s is not known: it could be %s (-%s NAME says which)", r.what, text.List(append(candidates, rivals...)), r.flag)
	case len(candidates) == 1:
		f.Columns.Roles[r.name] = candidates[0]
	case len(taken) > 0: // which is then an error
		f.Columns.Roles[r.name] = taken[0]
	case needed:
		return fmt.Errorf("no %s column: looked for %s, found %s (-%s NAME names it)", r.what, strings.Join(r.usual(), ", "),
			text.List(f.Names), r.flag)
	}
	return nil
}

// firm returns the first column with a firm name of the role that has no role; "" if there is none.
func (f *finder) firm(r *role) string {
	for _, names := range [][]string{f.Names, f.plain} { // label before Label
		for _, want := range r.firm {
			if at := slices.Index(names, want); at >= 0 && !f.listed[f.Names[at]] && !f.hasRole(f.Names[at]) {
				return f.Names[at]
			}
		}
	}
	return ""
}

// isSaid reports whether options say of a column by name or pattern that it is a feature, or is left out.
func (f *finder) isSaid(name string) bool {
	return says(slices.Concat(f.Features, f.Ignore, f.Categorical, f.Unasked), name)
}

// says reports whether one of these words is a name, or a pattern of it.
func says(words []string, name string) bool {
	return slices.ContainsFunc(words, func(word string) bool {
		matches, err := path.Match(word, name)
		return word == name || matches && err == nil
	})
}

// findAside finds the columns without a role that can hardly be features, by their names, unless options list them.
func (f *finder) findAside() {
	firsts := map[string]string{} // by role
	for i, name := range f.Names {
		if f.hasRole(name) || f.listed[name] || slices.Contains(f.Features, name) || slices.Contains(f.Categorical, name) {
			continue
		}
		for _, r := range roles {
			couldBe := f.column(r.name) == "" && slices.Contains(r.loose, f.plain[i])
			if !couldBe && !slices.Contains(r.usual(), f.plain[i]) {
				continue
			}
			f.Aside[name] = ""
			if r.name == schema.Label && f.Listed != nil && f.Unused { // as in a file to be scored
				continue
			}
			is := fmt.Sprintf("no column is (-%s NAME takes one", r.flag)
			if has := f.column(r.name); has != "" {
				is = fmt.Sprintf("%s is (-%s NAME takes another", text.List([]string{has}), r.flag)
			}
			if f.Listed == nil { // no model has chosen by name
				if firsts[r.name] == "" && !says(f.Ignore, name) && !slices.Contains(f.Unasked, name) {
					firsts[r.name] = name
				}
				is += fmt.Sprintf(", and -features '*,%s' makes a feature of one", firsts[r.name])
			}
			f.Aside[name] = strings.ReplaceAll(fmt.Sprintf("columns that are called as if they were the %s, which %s), were left out: ", r.what,
				is), "%", "%%") + "%s"
		}
	}
}

// findProducts makes features of each two vectors of one dimension: the cosine and the inner product.
func (f *finder) findProducts() {
	for b := range f.Vectors {
		for a := range b {
			if f.Dimensions[a] == f.Dimensions[b] && f.Dimensions[a] > 0 {
				pair := "(" + f.Vectors[a] + "," + f.Vectors[b] + ")"
				f.Products = append(f.Products, "cosine"+pair, "dot"+pair)
			}
		}
	}
}

// findText finds the columns of text, dates and times that would be features.
func (f *finder) findText() error {
	if f.OfFeatures {
		return nil
	}
	isID := func(word string) bool { _, err := strconv.Atoi(word); return err == nil }
	byName := f.Features != nil && !slices.ContainsFunc(f.Features, isID)
	for i, name := range f.Names {
		_, aside := f.Aside[name]
		if f.hasRole(name) || aside || says(f.Ignore, name) || says(f.Categorical, name) || slices.Contains(f.Unasked, name) ||
			byName && !says(f.Features, name) { // a column that is not read is not looked at
			continue
		}
		kind, err := f.Kind(i)
		if err != nil {
			return err
		}
		switch kind {
		case schema.Number:
		case schema.Vectors:
			f.Text[name] = "columns of text that look like vectors were left out: %s: -vector COLUMN,… names those that are vectors"
		case schema.Text:
			f.Text[name] = "columns of text were left out: %s: -categorical COLUMN,… names those that are features, -ignore COLUMN,… the others"
		case schema.DecimalCommas:
			f.Text[name] = "columns of numbers with decimal commas, such as 3,5, were left out: %s: want decimal points"
		default:
			f.Text[name] = "columns of dates and times were left out: %s: a feature is a number, such as the age in days"
		}
	}
	return nil
}
