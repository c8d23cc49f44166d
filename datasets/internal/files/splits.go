package files

import "cmp"

// Splits are the paths of a collection's files; "" if there is none.
type Splits struct {
	Train, Vali, Test string
	Parts             [3][]string // the files of splits that are in several; the path is then only a name
}

// All is the files in the order of Splits.
func (f Splits) All() [3]string { return [3]string{f.Train, f.Vali, f.Test} }

// Source is the file that split i comes from: its own, or that of the training split.
func (f Splits) Source(i int) string { return cmp.Or(f.All()[i], f.Train) }

// Files are the files of split i.
func (f Splits) Files(i int) []string {
	if f.Parts[i] != nil {
		return f.Parts[i]
	}
	return []string{f.All()[i]}
}

// Sources are the files that split i comes from.
func (f Splits) Sources(i int) []string {
	if f.All()[i] == "" {
		i = 0
	}
	return f.Files(i)
}
