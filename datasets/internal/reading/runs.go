package reading

import (
	"fmt"
	"strings"

	"github.com/plrank/plrank/datasets/internal/files"
	"github.com/plrank/plrank/datasets/internal/table"
	"github.com/plrank/plrank/datasets/internal/text"
)

// runCheck checks that the runs of rows of a file fit together, and fit the sizes of its
// queries, if there is a file of these.
type runCheck struct {
	path   string
	sizes  *querySizes
	any    bool // there were runs
	named  bool // they have a qid
	number int  // sizes that have their run
}

// add checks the next run.
func (k *runCheck) add(r table.Run) error {
	if !k.any {
		k.any, k.named = true, r.Named
	}
	switch {
	case r.Named != k.named:
		return fmt.Errorf("datasets: %s:%d: a line %s qid after lines %s: all lines need one, or none", k.path, r.Line, with(r.Named), with(k.named))
	case !r.Named && k.sizes == nil:
		return fmt.Errorf("datasets: %s:%d: no qid, and no file %s beside it: want lines such as %q, or the query sizes in that file",
			k.path, r.Line, strings.Join(files.Sizes(k.path), " or "), "2 qid:1 1:0.5 2:0.1")
	case !r.Named || k.sizes == nil:
		return nil
	}
	sizes := k.sizes.sizes
	for k.number < len(sizes) && sizes[k.number] == 0 {
		k.number++
	}
	if k.number == len(sizes) {
		return nil // their sum will tell
	}
	if n := sizes[k.number]; n != r.Rows {
		return fmt.Errorf("datasets: %s: the size of query %d is %d, but %s has %d documents with query id %s from line %d on: please correct the sizes, or remove the file, as the ids are enough",
			k.sizes.path, k.number+1, n, k.path, r.Rows, text.Quote([]byte(r.Query)), r.Line)
	}
	k.number++
	return nil
}

func with(named bool) string {
	if named {
		return "with"
	}
	return "without"
}
