package table

import (
	"sort"
)

// rowSource has the features of data while they are in the chunks of a table.
type rowSource struct {
	table *Table
	ids   []int
	first []int  // row of the table that each chunk begins with
	moves []move // ascending by to
	start int    // the row of all moves that is the first of the data
}

func (s *rowSource) From(row int) Source {
	later := *s
	later.start += row
	return &later
}

func (s *rowSource) Free() { s.table.Free() }

func (s *rowSource) Read(dst []float32, row int) {
	wide := len(s.ids)
	row += s.start
	at := sort.Search(len(s.moves), func(i int) bool { return s.moves[i].to > row }) - 1
	for len(dst) > 0 {
		m := s.moves[at]
		source := m.rows.From + row - m.to
		i := sort.SearchInts(s.first, source+1) - 1
		c := s.table.Chunks[i]
		n := min(m.rows.To-source, s.first[i]+len(c.Labels)-source, len(dst)/wide)
		c.copyFeatures(dst[:n*wide], locate(c.IDs, s.ids), Span{source - s.first[i], source - s.first[i] + n})
		dst = dst[n*wide:]
		if row += n; row-m.to == m.rows.To-m.rows.From {
			at++
		}
	}
}

// move is rows of a file and their first row in the data.
type move struct {
	rows Span
	to   int
}

// locate is the position in all of each of ids; both ascend, and all holds ids.
func locate(ids, all []int) []int {
	at := make([]int, len(ids))
	j := 0
	for i, id := range ids {
		for all[j] != id {
			j++
		}
		at[i] = j
	}
	return at
}
