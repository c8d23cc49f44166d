package forest

import (
	"cmp"
	"fmt"
	"math"
	"slices"

	"github.com/plrank/plrank/internal/num"
	"github.com/plrank/plrank/internal/parallel"
	"github.com/plrank/plrank/internal/sparse"
)

// sparseBins are the bins of values that are not 0, by column to divide documents, and by document to add them to histograms. A
// histogram has the bins of the columns that can divide documents, one column after another, so that trees take time and memory by
// the number of values that are not 0.
type sparseBins struct {
	starts []int // [columns+1] in rows and bins
	rows   []uint32
	bins   []uint8
	zero   []uint8 // by column: the bin of 0

	offsets []int // [columns+1] in a histogram
	begins  []int // [documents+1] in cells
	cells   []uint32
}

// BinSparse is [Bin] for sparse rows of width columns without categories. All documents determine the bins.
func BinSparse(rows *sparse.Rows, width, bins int) (*Binned, error) {
	if bins = cmp.Or(bins, defaultBins); bins < LeastBins || bins > MaxBins {
		return nil, fmt.Errorf("forest: %d bins, want %d to %d", bins, LeastBins, MaxBins)
	}
	by := rows.ByColumn(width)
	n := len(rows.Values)
	s := &sparseBins{starts: by.Starts, rows: make([]uint32, n), bins: make([]uint8, n), zero: make([]uint8, width)}
	b := &Binned{rows: rows.Len(), width: width, columns: make([]column, width), sparse: s}
	parallel.For(width, parallel.Workers(width), func(_, c int) {
		with, values := by.Column(c)
		col := newCuts(countSparse(values, b.rows), bins-1)
		filled := s.bins[by.Starts[c]:by.Starts[c+1]]
		col.fill(filled, values)
		for i, bin := range filled {
			s.rows[by.Starts[c]+i] = uint32(with[i])
			col.missing = col.missing || bin == 0
		}
		col.fill(s.zero[c:c+1], []float32{0})
		b.columns[c] = col
	})
	if err := s.setCells(b); err != nil {
		return nil, err
	}
	return b, nil
}

// setCells sets where the values of each document are in a histogram.
func (s *sparseBins) setCells(b *Binned) error {
	s.offsets, s.begins = make([]int, b.width+1), make([]int, b.rows+1)
	for c := range b.width {
		s.offsets[c+1] = s.offsets[c]
		if b.columns[c].divides() {
			s.offsets[c+1] += b.columns[c].bins()
			for _, row := range s.rows[s.starts[c]:s.starts[c+1]] {
				s.begins[row+1]++
			}
		}
	}
	if size := s.offsets[b.width]; size > math.MaxUint32 {
		return fmt.Errorf("forest: %d bins of sparse documents in all, want at most %d: fewer bins a feature", size, math.MaxUint32)
	}
	for row := range b.rows {
		s.begins[row+1] += s.begins[row]
	}
	s.cells = make([]uint32, s.begins[b.rows])
	next := slices.Clone(s.begins)
	for c := range b.width {
		if b.columns[c].divides() {
			for i := s.starts[c]; i < s.starts[c+1]; i++ {
				row := s.rows[i]
				s.cells[next[row]] = uint32(s.offsets[c] + int(s.bins[i]))
				next[row]++
			}
		}
	}
	return nil
}

// accumulate adds the pairs of documents to a histogram, but for values of 0.
func (s *sparseBins) accumulate(h []uint64, rows []uint32, pairs []uint64) {
	for _, i := range rows {
		pair := pairs[i]
		for _, cell := range s.cells[s.begins[i]:s.begins[i+1]] {
			h[cell] += pair
		}
	}
}

// addZeros gives the documents of a leaf, whose sum is pair, that have no other value to the bins of 0.
func (s *sparseBins) addZeros(h []uint64, pair uint64) {
	for c, zero := range s.zero {
		if column := h[s.offsets[c]:s.offsets[c+1]]; len(column) > 0 {
			column[zero] = 0
			rest := pair
			for _, x := range column {
				rest -= x
			}
			column[zero] = rest
		}
	}
}

// countSparse counts the values of a column, and those that are 0.
func countSparse(values []float32, rows int) num.Counts {
	counts := num.CountColumn(values, 1)
	if zeros := rows - len(values); zeros > 0 {
		i, found := slices.BinarySearch(counts.Values, 0)
		if !found {
			counts.Values, counts.Documents = slices.Insert(counts.Values, i, 0), slices.Insert(counts.Documents, i, 0)
		}
		counts.Documents[i] += zeros
	}
	return counts
}

// rowBins are the bins of a column by row, at place in width of them.
type rowBins struct {
	bins         []uint8
	width, place int
	wide         []uint32 // bins by row in place of bytes
}

// binsOf returns the bins of a column to divide rows by, until it is called again.
func (g *Grower) binsOf(column int) rowBins {
	s := g.binned.sparse
	if s == nil {
		if wide := g.binned.columns[column].wide; wide != nil {
			return rowBins{wide: wide}
		}
		p, place := g.binned.at(column)
		return rowBins{bins: p.bins, width: p.width, place: place}
	}
	g.rowBins = num.Sized(g.rowBins, g.binned.rows)
	for i := range g.rowBins {
		g.rowBins[i] = s.zero[column]
	}
	for i := s.starts[column]; i < s.starts[column+1]; i++ {
		g.rowBins[s.rows[i]] = s.bins[i]
	}
	return rowBins{bins: g.rowBins, width: 1}
}

// Compact returns the forest on the columns that its trees ask for alone, and these columns, ascending.
func (f *Forest) Compact() (*Forest, []int) {
	var columns []int
	for _, t := range f.Trees {
		for _, n := range t.Nodes {
			columns = append(columns, n.Column)
		}
	}
	slices.Sort(columns)
	columns = slices.Compact(columns)
	compact := *f
	compact.Inputs, compact.Trees = len(columns), slices.Clone(f.Trees)
	for i := range compact.Trees {
		t := &compact.Trees[i]
		t.Nodes = slices.Clone(t.Nodes)
		for j := range t.Nodes {
			t.Nodes[j].Column, _ = slices.BinarySearch(columns, t.Nodes[j].Column)
		}
	}
	return &compact, columns
}
