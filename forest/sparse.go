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

// sparseBins are the bins of values that are not 0. An entry is such a value: its column, its document and its bin, in this order
// from the highest bits. A leaf has the entries of its documents, sorted by column, and no histogram: the histogram of a column is
// made of the entries where it is needed, and the documents without an entry are what is left of the leaf's sum. So trees take time
// and memory by the number of entries, and are equal to dense rows' bit for bit.
type sparseBins struct {
	entries []uint64
	starts  []int   // [columns+1] in entries
	zero    []uint8 // by column: the bin of 0
}

const (
	entryBins, entryRows = 8, 30                             // bits
	mostSparse           = 1 << (64 - entryRows - entryBins) // columns
)

func entryOf(column, row int, bin uint8) uint64 {
	return uint64(column)<<(entryRows+entryBins) | uint64(row)<<entryBins | uint64(bin)
}

func columnOf(entry uint64) int { return int(entry >> (entryRows + entryBins)) }

func rowOf(entry uint64) uint32 { return uint32(entry>>entryBins) & (1<<entryRows - 1) }

// BinSparse is [Bin] for sparse rows of width columns without categories. All documents determine the bins.
func BinSparse(rows *sparse.Rows, width, bins int) (*Binned, error) {
	if bins = cmp.Or(bins, defaultBins); bins < LeastBins || bins > MaxBins {
		return nil, fmt.Errorf("forest: %d bins, want %d to %d", bins, LeastBins, MaxBins)
	}
	if rows.Len() > 1<<entryRows || width >= mostSparse {
		return nil, fmt.Errorf("forest: %d sparse documents of %d features, want at most %d of %d", rows.Len(), width, 1<<entryRows, mostSparse)
	}
	by := rows.ByColumn(width)
	s := &sparseBins{entries: make([]uint64, len(rows.Values)), starts: by.Starts, zero: make([]uint8, width)}
	b := &Binned{rows: rows.Len(), width: width, columns: make([]column, width), sparse: s}
	parallel.For(width, parallel.Workers(width), func(_, c int) {
		with, values := by.Column(c)
		col := newCuts(countSparse(values, b.rows), bins-1)
		filled := make([]uint8, len(values))
		col.fill(filled, values)
		for i, bin := range filled {
			s.entries[by.Starts[c]+i] = entryOf(c, int(with[i]), bin)
			col.missing = col.missing || bin == 0
		}
		col.fill(s.zero[c:c+1], []float32{0})
		b.columns[c] = col
	})
	return b, nil
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
func (g *Grower) binsOf(column, rows int) rowBins {
	s := g.binned.sparse
	if s == nil {
		return g.alone(column, rows)
	}
	g.rowBins = num.Sized(g.rowBins, g.binned.rows)
	for i := range g.rowBins {
		g.rowBins[i] = s.zero[column]
	}
	for _, e := range s.entries[s.starts[column]:s.starts[column+1]] {
		g.rowBins[rowOf(e)] = uint8(e)
	}
	return rowBins{bins: g.rowBins, width: 1}
}

// entriesOf returns the entries of documents by which a tree is grown.
func (g *Grower) entriesOf(rows []uint32) []uint64 {
	s := g.binned.sparse
	if s == nil {
		return nil
	}
	g.entries, g.movedEntries = num.Sized(g.entries, len(s.entries)), num.Sized(g.movedEntries, len(s.entries))
	if len(rows) == g.binned.rows {
		return g.entries[:copy(g.entries, s.entries)]
	}
	sampled := make([]bool, g.binned.rows)
	for _, r := range rows {
		sampled[r] = true
	}
	n := 0
	for _, e := range s.entries {
		if sampled[rowOf(e)] {
			g.entries[n] = e
			n++
		}
	}
	return g.entries[:n]
}

// partEntries moves the entries of documents that go to the left before the others. Both keep their order.
func (g *Grower) partEntries(entries []uint64, by rowBins, goes []uint8) (left, right []uint64) {
	if len(entries) == 0 {
		return nil, nil
	}
	from := cap(g.entries) - cap(entries) // where they are in g.entries
	moved := g.movedEntries[from : from+len(entries)]
	n, others := 0, 0
	for _, e := range entries {
		entries[n], moved[others] = e, e // without a branch that nobody can predict
		left := int(goes[by.bins[rowOf(e)]])
		n += left
		others += 1 - left
	}
	copy(entries[n:], moved[:others])
	return entries[:n], entries[n:]
}

// histogram returns the histogram of a column in a leaf.
func (g *Grower) histogram(l *leaf, column int) []uint64 {
	n, wide := g.binned.columns[column].bins(), g.binned.columns[column].wide
	if wide != nil {
		h := make([]uint64, n)
		for _, row := range l.rows {
			h[wide[row]] += g.pairs[row]
		}
		return h
	}
	if g.binned.sparse == nil {
		from := column << g.binned.shift
		return l.histogram[from : from+n]
	}
	h := make([]uint64, n)
	i, _ := slices.BinarySearch(l.entries, entryOf(column, 0, 0))
	g.fillHistogram(h, l, l.entries[i:], column)
	return h
}

// fillHistogram sets a histogram by entries of a leaf that begin with those of the column, and returns the entries that follow.
func (g *Grower) fillHistogram(h []uint64, l *leaf, entries []uint64, column int) []uint64 {
	clear(h)
	var sum uint64
	n := 0
	for ; n < len(entries) && columnOf(entries[n]) == column; n++ {
		pair := g.pairs[rowOf(entries[n])]
		h[uint8(entries[n])] += pair
		sum += pair
	}
	h[g.binned.sparse.zero[column]] += l.pair - sum
	return entries[n:]
}

// bestSparse is best for sparse documents: it looks at the columns alone that documents of the leaves have. Each process looks at a
// part of them.
func (g *Grower) bestSparse(groups [][]*leaf) []split {
	const together = 512 // columns
	active := make([]bool, g.binned.width)
	for _, c := range g.active {
		active[c] = true
	}
	all, part, parts := (g.binned.width+together-1)/together, g.config.Part, g.config.Parts
	own := all * part / parts
	chunks := all*(part+1)/parts - own
	found := make([]split, chunks*len(groups))
	parallel.For(len(found), parallel.Workers(len(found)), func(_, i int) {
		group, first := groups[i/chunks], (own+i%chunks)*together
		end := min(first+together, g.binned.width)
		s, left := g.newSearch(group), make([][]uint64, len(group)) // entries from column first on
		for j, l := range group {
			at, _ := slices.BinarySearch(l.entries, entryOf(first, 0, 0))
			left[j] = l.entries[at:]
		}
		var room []uint64
		for {
			column := end
			for _, entries := range left {
				if len(entries) > 0 {
					column = min(column, columnOf(entries[0]))
				}
			}
			if column == end {
				return
			}
			n := g.binned.columns[column].bins()
			room = num.Sized(room, n*len(group))
			for j, l := range group {
				s.histograms[j] = room[j*n : (j+1)*n]
				left[j] = g.fillHistogram(s.histograms[j], l, left[j], column)
			}
			if active[column] && g.config.allowed(group[0].path, column) {
				if best := g.bestOf(s, column); best.gain > found[i].gain {
					found[i] = best
				}
			}
		}
	})
	best := make([]split, len(groups))
	for i, s := range found {
		if s.gain > best[i/chunks].gain {
			best[i/chunks] = s
		}
	}
	return g.bestOfParts(best)
}

// bestOfParts returns the best of the splits that the processes found, by group of leaves.
func (g *Grower) bestOfParts(own []split) []split {
	part, parts := g.config.Part, g.config.Parts
	if parts == 1 {
		return own
	}
	words := make([]uint64, 4*len(own)*parts) // of the splits of each process, in the order of the columns
	for i, s := range own {
		w := words[4*(part*len(own)+i):]
		w[0], w[1], w[2] = math.Float64bits(s.gain), uint64(s.column), uint64(s.cut)
		if s.missingLeft {
			w[3] = 1
		}
	}
	g.config.Sum(words)
	best := make([]split, len(own))
	for i := range len(own) * parts {
		w, to := words[4*i:], &best[i%len(own)]
		if gain := math.Float64frombits(w[0]); gain > to.gain {
			column := int(w[1])
			*to = split{gain, column, ascending[:g.binned.columns[column].bins()-1], int(w[2]), w[3] == 1}
		}
	}
	return best
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
