package datasets

import (
	"fmt"
	"slices"

	"github.com/plrank/plrank/internal/memory"
	"github.com/plrank/plrank/internal/text"
)

// contradictions is a warning of documents that are in their query more than once, with different labels; "" if there
// are none. Each counts, so that the query says of one document that it is better and worse than others.
func (d *Dataset) contradictions() string {
	if d.DocumentIDs == nil {
		return ""
	}
	found := make([][][2]int, d.Queries()) // the first two rows of each such document that differ
	memory.For(len(found), func(q int) {
		first, told := map[string]int{}, map[string]bool{} // rows by document
		for r := d.Offsets[q]; r < d.Offsets[q+1]; r++ {
			id := d.DocumentIDs[r]
			if id == "" || d.Labels[r] == Unlabelled {
				continue
			}
			row, twice := first[id]
			switch {
			case !twice:
				first[id] = r
			case d.Labels[row] != d.Labels[r] && !told[id]:
				told[id] = true
				found[q] = append(found[q], [2]int{row, r})
			}
		}
	})
	q := slices.IndexFunc(found, func(pairs [][2]int) bool { return pairs != nil })
	if q < 0 {
		return ""
	}
	n := 0
	for _, pairs := range found {
		n += len(pairs)
	}
	a, b := found[q][0][0], found[q][0][1]
	return fmt.Sprintf("%s: %d documents are in their query more than once, with different labels, such as %s in query %s: %g in %s, %g in %s",
		d.Name, n, text.Quote([]byte(d.DocumentIDs[a])), text.Quote([]byte(d.QueryIDs[q])), d.Labels[a], d.Where(a), d.Labels[b], d.Where(b))
}
