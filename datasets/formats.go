// # Text formats
//
// The first line of a file tells its format, and its first bytes tell whether it is
// compressed by gzip or zstd.
//
//	LETOR      label qid:ID id:value id:value … # comment     as SVMlight and SVMrank have it
//	separated  comma, tab or semicolon; a header names the columns label and qid, maybe docid,
//	           and the features
package datasets

import (
	"github.com/plrank/plrank/datasets/internal/letor"
	"github.com/plrank/plrank/datasets/internal/separated"
	"github.com/plrank/plrank/datasets/internal/table"
)

// formats are asked in turn whether a text is theirs. A new one is a package with its
// Format, a row before LETOR, and a line of documentation above.
var formats = []table.Format{
	separated.Format,
	letor.Format,
}

// endings are those that the name of a data file may have: none, or one of a format.
func endings() []string {
	all := []string{""}
	for _, f := range formats {
		all = append(all, f.Endings...)
	}
	return all
}
