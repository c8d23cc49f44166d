package forest

import (
	"cmp"
	"fmt"
	"math"
	"slices"
	"sync/atomic"

	"github.com/plrank/plrank/internal/num"
	"github.com/plrank/plrank/internal/parallel"
)

// MaxBins is the largest number of bins of a column, the one of missing values included.
const MaxBins = 255

const defaultBins = 64

// LeastBins is the smallest number of bins: of missing values, and of two parts.
const LeastBins = 3

// Binned holds the bins of features, a byte for each value. Growing does not change it: several growers may share it.
type Binned struct {
	rows, width int
	columns     []column
	panels      []panel
	together    int         // columns of a panel
	shift       int         // of the number of a column, to its first bin in a histogram
	sparse      *sparseBins // in place of panels; nil: values are not sparse
}

// A column describes the bins of a feature. Bin 0 holds missing values.
type column struct {
	cuts    []float64 // of numbers, whose bin is 1 + the number of cuts below the value
	cuts32  []float32 // the largest float32 that are at most the cuts: no float32 lies between
	codes   []int     // of the categories in bins 2, 3, …; bin 1 has the others
	lookup  []uint32  // of categories: bins by code
	wide    []uint32  // bins by document, of categories that a byte cannot number; nil: they are in a panel
	missing bool      // values are
}

func (c *column) categorical() bool { return c.lookup != nil }

func (c *column) bins() int {
	if c.categorical() {
		return 2 + len(c.codes)
	}
	return 2 + len(c.cuts)
}

// divides reports whether documents differ in the column.
func (c *column) divides() bool { return c.bins() > 2 || c.missing }

// A panel has the bins of some columns, row after row, so that a row is in one line of the cache. Rows are padded with bins 0 to
// a multiple of panelUnit columns.
type panel struct {
	first, width int // width: columns with those that fill up
	bins         []uint8
}

const panelUnit = 8

// at returns the panel of a column, and its place in a row.
func (b *Binned) at(column int) (p *panel, place int) {
	return &b.panels[column/b.together], column % b.together
}

// Bin sorts features, rows of width values one after another, into at most bins bins a column, [LeastBins] to [MaxBins]; 0: 64.
// Bins of numbers hold about as many documents each; thresholds are halfway between neighbouring values. Missing values have a
// bin of their own. Columns in categories hold codes below the number given there; the codes of documents have a bin each, however
// many they are, and all others share one.
func Bin(rows []float32, width int, categories map[int]int, bins int) (*Binned, error) {
	if width < 1 || len(rows)%width != 0 {
		return nil, fmt.Errorf("forest: %d values are not documents of %d features", len(rows), width)
	}
	offsets := []int{0}
	for n := len(rows) / width; offsets[len(offsets)-1] < n; {
		offsets = append(offsets, min(offsets[len(offsets)-1]+1024, n))
	}
	return BinParts(offsets, width, categories, bins, func(part int) []float32 {
		return rows[offsets[part]*width : offsets[part+1]*width]
	})
}

// BinParts is Bin for features that are not in memory at once: read(i) returns the rows of documents offsets[i] to
// offsets[i+1]-1. Several goroutines call it, twice for each part, or three times if a sample of many documents lacks values.
func BinParts(offsets []int, width int, categories map[int]int, bins int, read func(part int) []float32) (*Binned, error) {
	if bins = cmp.Or(bins, defaultBins); bins < LeastBins || bins > MaxBins {
		return nil, fmt.Errorf("forest: %d bins, want %d to %d", bins, LeastBins, MaxBins)
	}
	b := &Binned{rows: offsets[len(offsets)-1], width: width, columns: make([]column, width)}
	if b.rows > 1<<30 {
		return nil, fmt.Errorf("forest: %d documents, want at most %d", b.rows, 1<<30)
	}
	counts := map[int][]int64{}
	for c, codes := range categories {
		if c < 0 || c >= width || codes < 1 || codes > 1<<24 {
			return nil, fmt.Errorf("forest: %d categories of column %d, want columns 0 to %d and 1 to %d categories", codes, c, width-1, 1<<24)
		}
		counts[c] = make([]int64, codes)
	}
	f := &filling{Binned: b, offsets: offsets, read: read, few: make([]*num.Counts, width), missing: make([]atomic.Bool, width)}
	drawn, some := f.sample(counts)
	columns := make([]int, width)
	parallel.For(width, parallel.Workers(width), func(_, c int) {
		columns[c] = c
		if n, ok := counts[c]; ok {
			b.columns[c] = newCategories(n, bins-2, b.rows)
			return
		}
		values := num.CountColumn(some[min(c, len(some)):], width)
		if b.columns[c] = newCuts(values, bins-1); drawn < b.rows && len(values.Values) < bins {
			f.few[c] = &values
		}
	})
	if b.together = 32; bins > 64 { // whose histograms then fit the nearest cache
		b.together = 16
	}
	for first := 0; first < width; first += b.together {
		w := (min(b.together, width-first) + panelUnit - 1) / panelUnit * panelUnit
		b.panels = append(b.panels, panel{first, w, make([]uint8, b.rows*w)})
	}
	var again []int // columns with values that the sample lacks
	for c, t := range f.fill(columns) {
		if t != nil && t.New() {
			b.columns[c], f.few[c] = newCuts(t.Counts(), bins-1), nil
			again = append(again, c)
		}
	}
	if again != nil {
		f.fill(again)
	}
	most := 0
	for c := range b.columns {
		b.columns[c].missing = f.missing[c].Load()
		if b.columns[c].wide == nil {
			most = max(most, b.columns[c].bins())
		}
	}
	if b.shift = 6; most > 1<<b.shift {
		b.shift = 8
	}
	return b, nil
}

// A filling sets the bins of all documents.
type filling struct {
	*Binned
	offsets []int // of parts
	read    func(part int) []float32
	few     []*num.Counts // by column: the values of the sample, if each has a bin and other documents may have more
	missing []atomic.Bool
}

// sample returns the number of documents that determine the bins, and their rows. It counts the documents of every category.
func (f *filling) sample(counts map[int][]int64) (drawn int, some []float32) {
	documents := num.Sample(f.rows/max(1, f.rows/sample), f.rows)
	some = make([]float32, len(documents)*f.width)
	parts := len(f.offsets) - 1
	parallel.For(parts, parallel.Workers(parts), func(_, part int) {
		rows := f.read(part)
		for i, _ := slices.BinarySearch(documents, f.offsets[part]); i < len(documents) && documents[i] < f.offsets[part+1]; i++ {
			copy(some[i*f.width:(i+1)*f.width], rows[(documents[i]-f.offsets[part])*f.width:])
		}
		for c, n := range counts {
			for i := c; i < len(rows); i += f.width {
				if x := rows[i]; x >= 1 && x < float32(len(n)) && x == float32(int(x)) {
					atomic.AddInt64(&n[int(x)], 1)
				}
			}
		}
	})
	return len(documents), some
}

// fill sets the bins of columns, and records which have missing values. It returns the counts of columns with few values.
func (f *filling) fill(columns []int) []*num.Tally {
	parts := len(f.offsets) - 1
	workers := max(1, parallel.Workers(parts))
	tallies := make([][]*num.Tally, workers)
	for w := range tallies {
		tallies[w] = make([]*num.Tally, f.width)
		for _, c := range columns {
			if f.few[c] != nil {
				tallies[w][c] = num.NewTally(f.few[c].Values)
			}
		}
	}
	parallel.For(parts, workers, func(worker, part int) { f.fillPart(f.offsets[part], f.read(part), columns, tallies[worker]) })
	for _, c := range columns {
		for w := 1; w < workers && f.few[c] != nil; w++ {
			tallies[0][c].Merge(tallies[w][c])
		}
	}
	return tallies[0]
}

// fillPart sets the bins of rows, which begin with row first.
func (f *filling) fillPart(first int, rows []float32, columns []int, tallies []*num.Tally) {
	const together = 1024
	var values [together]float32
	var bins [together]uint8
	for ; len(rows) > 0; first, rows = first+together, rows[min(together*f.width, len(rows)):] {
		n := min(together, len(rows)/f.width)
		for _, c := range columns {
			for i := range n {
				values[i] = rows[i*f.width+c]
			}
			if column := &f.columns[c]; column.wide != nil {
				for i, x := range values[:n] {
					if column.wide[first+i] = column.category(x); x != x {
						f.missing[c].Store(true)
					}
				}
				continue
			}
			f.columns[c].fill(bins[:n], values[:n])
			p, place := f.at(c)
			tally := tallies[c]
			for i, bin := range bins[:n] {
				p.bins[(first+i)*p.width+place] = bin
				if bin > 0 && tally != nil {
					tally.AddAt(int(bin)-1, values[i])
				}
			}
			if slices.Contains(bins[:n], 0) {
				f.missing[c].Store(true)
			}
		}
	}
}

func (c *column) fill(bins []uint8, values []float32) {
	if !c.categorical() {
		count(bins, values, c.cuts32, 1, 0)
		return
	}
	for i, x := range values {
		bins[i] = uint8(c.category(x))
	}
}

// category returns the bin of a category.
func (c *column) category(x float32) uint32 {
	switch {
	case x != x:
		return 0
	case x >= 0 && x < float32(len(c.lookup)) && x == float32(int(x)):
		return c.lookup[int(x)]
	}
	return 1
}

// sample is the number of documents whose values determine the bins.
const sample = 1 << 16

// newCuts returns a column of numbers with at most bins bins.
func newCuts(values num.Counts, bins int) column {
	distinct, counts, documents := values.Values, values.Documents, values.Sum()
	var c column
	// A value that fills a mean bin has one to itself. Among other values, a bin ends where its number of documents is nearest to
	// the mean of the rest.
	heavy := func(i int) bool { return counts[i]*bins >= documents }
	rest, free, count := documents, bins, 0
	for i, n := range counts {
		if heavy(i) {
			rest, free = rest-n, free-1
		}
	}
	for i, n := range counts {
		left := bins - 1 - len(c.cuts) // bins after this one
		alone := i > 0 && (heavy(i) || heavy(i-1)) || len(counts)-i <= left
		if count > 0 && left > 0 && (alone || (2*count+n)*free >= 2*rest) {
			c.cuts = append(c.cuts, between(distinct[i-1], distinct[i]))
			if !heavy(i - 1) {
				rest, free = rest-count, free-1
			}
			count = 0
		}
		count += n
	}
	for _, t := range c.cuts {
		c.cuts32 = append(c.cuts32, floor32(t))
	}
	return c
}

// between returns a threshold between two neighbouring values.
func between(a, b float32) float64 {
	if m := (float64(a) + float64(b)) / 2; !math.IsInf(m, 0) && !math.IsNaN(m) {
		return m
	}
	return float64(a)
}

// floor32 returns the largest float32 that is at most t. No float32 lies between: comparing with it is the same as with t.
func floor32(t float64) float32 {
	x := float32(t)
	if float64(x) > t {
		x = math.Nextafter32(x, float32(math.Inf(-1)))
	}
	return x
}

// newCategories returns a column of categories, given the number of documents of each: in a panel if at most that many have one.
func newCategories(counts []int64, most, rows int) column {
	c := column{lookup: make([]uint32, len(counts))}
	for code, n := range counts {
		if n > 0 {
			c.codes = append(c.codes, code)
		}
	}
	if len(c.codes) > most {
		c.wide = make([]uint32, rows)
	}
	for code := range c.lookup {
		c.lookup[code] = 1
	}
	for i, code := range c.codes {
		c.lookup[code] = uint32(2 + i)
	}
	return c
}

// count sets the bin of each value to first plus the number of thresholds below it, and the bin of NaN to nan. Thresholds ascend.
func count(bins []uint8, values, thresholds []float32, first, nan uint8) {
	if n := len(values) &^ 63; wide && n > 0 && len(thresholds) > 0 {
		countAVX512(&bins[0], &values[0], n, &thresholds[0], len(thresholds), uint32(first), uint32(nan))
		bins, values = bins[n:], values[n:]
	}
	for i, x := range values {
		if x != x {
			bins[i] = nan
			continue
		}
		from, n := 0, len(thresholds)
		for n > 0 {
			half := n / 2
			if thresholds[from+half] < x {
				from += half + 1
				n -= half + 1
			} else {
				n = half
			}
		}
		bins[i] = first + uint8(from)
	}
}
