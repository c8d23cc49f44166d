package datasets

import (
	"github.com/plrank/plrank/datasets/internal/letor"
	"github.com/plrank/plrank/datasets/internal/separated"
	"github.com/plrank/plrank/datasets/internal/table"
)

// formats are the text formats, which are asked in turn. A new one is a package with its
// Format, and a row before that of LETOR.
var formats = []table.Format{
	separated.Format,
	letor.Format,
}

// endings are those that a data file may have: none, or that of a format.
func endings() []string {
	all := []string{""}
	for _, f := range formats {
		all = append(all, f.Endings...)
	}
	return all
}
