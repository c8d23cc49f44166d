package forest

import (
	"math"
	"math/rand/v2"
	"reflect"
	"slices"
	"testing"
)

// binsOf returns the bins of a column of the only panel.
func binsOf(b *Binned, column int) (bins []uint8) {
	p, place := b.at(column)
	for i := range b.rows {
		bins = append(bins, p.bins[i*p.width+place])
	}
	return bins
}

func TestFewValuesHaveABinEach(t *testing.T) {
	inf := float32(math.Inf(1))
	b, err := Bin([]float32{3, 1, nan, 2, 3, -inf, inf, 2}, 1, nil, 7)
	if err != nil {
		t.Fatal(err)
	}
	if got := binsOf(b, 0); !slices.Equal(got, []uint8{4, 2, 0, 3, 4, 1, 5, 3}) {
		t.Errorf("bins %v", got)
	}
	if got := b.columns[0].cuts; !slices.Equal(got, []float64{math.Inf(-1), 1.5, 2.5, 3}) {
		t.Errorf("cuts %v", got)
	}
}

func TestBinsHoldAboutAsManyDocumentsEach(t *testing.T) {
	random := rand.New(rand.NewPCG(1, 1))
	rows := make([]float32, 10_000)
	for i := range rows {
		if rows[i] = random.Float32(); i%2 == 0 { // half of all are one value, which has a bin
			rows[i] = .5
		}
	}
	b, err := Bin(rows, 1, nil, 52)
	if err != nil {
		t.Fatal(err)
	}
	counts := make([]int, b.columns[0].bins())
	for _, bin := range binsOf(b, 0) {
		counts[bin]++
	}
	if len(counts) != 52 || counts[0] != 0 {
		t.Errorf("%d bins, %d documents in the first, want 52 and 0", len(counts), counts[0])
	}
	for bin, n := range counts[1:] {
		if (n < 25 || n > 150) && n < 5000 {
			t.Errorf("%d documents in bin %d", n, bin+1)
		}
	}
}

// Levels beyond the bins have a number each, as do those that one document has. Others, code 0 and what is no code share one.
func TestLevelsBeyondTheBinsAreToldApart(t *testing.T) {
	const codes = 300
	rows := []float32{0, -1, 2.5, codes, 1e9, nan}
	for code := 1; code < codes; code += 2 {
		rows = append(rows, float32(code))
	}
	b, err := Bin(rows, 1, map[int]int{0: codes}, 64)
	if err != nil {
		t.Fatal(err)
	}
	for i, bin := range b.columns[0].wide {
		want, x := uint32(1), rows[i]
		if x != x {
			want = 0
		} else if i > 5 {
			want = 2 + uint32(x)/2
		}
		if bin != want {
			t.Errorf("bin %d of %v, want %d", bin, x, want)
		}
	}
	if c := b.columns[0]; len(b.columns[0].wide) != len(rows) || !c.missing || c.bins() != 2+codes/2 {
		t.Errorf("%d documents, missing %t, %d bins", len(c.wide), c.missing, c.bins())
	}
}

func TestBinsAreThoseOfTheirThresholds(t *testing.T) {
	random := rand.New(rand.NewPCG(2, 1))
	const n, width = 3000, 70
	rows := make([]float32, n*width)
	for i := range rows {
		if rows[i] = float32(random.NormFloat64()); random.IntN(10) == 0 {
			rows[i] = nan
		}
	}
	b, err := Bin(rows, width, nil, 0)
	if err != nil {
		t.Fatal(err)
	}
	for c := range b.columns {
		for i, bin := range binsOf(b, c) {
			x, want := rows[i*width+c], uint8(0)
			if x == x {
				want = 1
				for _, cut := range b.columns[c].cuts {
					if float64(x) > cut {
						want++
					}
				}
			}
			if bin != want {
				t.Fatalf("bin %d of %v in column %d, want %d", bin, x, c, want)
			}
		}
	}
}

func TestWrongTablesAreErrors(t *testing.T) {
	for _, width := range []int{-1, 0, 2} {
		if _, err := Bin(make([]float32, 3), width, nil, 0); err == nil {
			t.Errorf("width %d is no error", width)
		}
	}
	for _, bins := range []int{-1, 2, 256} {
		if _, err := Bin(make([]float32, 3), 1, nil, bins); err == nil {
			t.Errorf("%d bins are no error", bins)
		}
	}
	for _, categories := range []map[int]int{{1: 3}, {-1: 3}, {0: 0}, {0: 1 << 40}} {
		if _, err := Bin(make([]float32, 3), 1, categories, 0); err == nil {
			t.Errorf("categories %v are no error", categories)
		}
	}
}

func TestPlainAndVectorHistogramsAreTheSame(t *testing.T) {
	random := rand.New(rand.NewPCG(3, 1))
	for _, shift := range []int{6, 8} {
		const n, width = 500, 24
		bins, pairs := make([]uint8, n*width), make([]uint64, n)
		for i := range bins {
			bins[i] = uint8(random.IntN(1 << shift))
		}
		for i := range pairs {
			pairs[i] = random.Uint64()
		}
		for _, rows := range [][]uint32{nil, {3}, {1, 7, 8, 200, 499}, nil} {
			if len(rows) > 1 {
				for i := range uint32(n) {
					rows = append(rows, i)
				}
			}
			got, want := make([]uint64, width<<shift), make([]uint64, width<<shift)
			accumulate(got, bins, width, shift, rows, pairs)
			accumulatePlain(want, bins, width, shift, rows, pairs)
			if !slices.Equal(got, want) {
				t.Errorf("%d bins, %d rows: other histograms", 1<<shift, len(rows))
			}
		}
	}
}

// Documents that stand at equal distances have as many bins as others have, whatever the distance.
func TestBinsFollowDocumentsAtEqualDistances(t *testing.T) {
	random := rand.New(rand.NewPCG(4, 1))
	for _, apart := range []int{2, 3, 4, 6, 10, 40} {
		const n = 6 * sample
		rows := make([]float32, n*apart) // by column only every such document has values other than 0
		for i := range n {
			rows[i*apart+i%apart] = 1 + random.Float32()
		}
		b, err := Bin(rows, apart, nil, 32)
		if err != nil {
			t.Fatal(err)
		}
		for c := range apart {
			counts := make([]int, 32)
			for _, bin := range binsOf(b, c) {
				counts[bin]++
			}
			own := (n - c + apart - 1) / apart
			if least, most := slices.Min(counts[2:]), slices.Max(counts[2:]); counts[1] != n-own || 90*least < own || 10*most > own {
				t.Errorf("every %d-th document: %d in the bin of 0, and %d to %d in 30 others", apart, counts[1], least, most)
			}
		}
	}
}

// What the sample of many documents lacks has a bin nevertheless: the only values beside a constant, the only ones of a column
// that misses all others, one more than the sample has, and more of them than there are bins.
func TestBinsOfRareValues(t *testing.T) {
	const n, width, rare = 5 * sample, 4, 70
	rows := make([]float32, n*width)
	for i := range n {
		copy(rows[i*width:], []float32{3, nan, float32(i % 5), 0})
	}
	for i := range 3 {
		copy(rows[(1000*i+7)*width:], []float32{4, 5, 2.5})
	}
	for i := range rare {
		rows[(n-1-n/rare*i)*width+3] = float32(1 + i)
	}
	b, err := Bin(rows, width, nil, 12)
	if err != nil {
		t.Fatal(err)
	}
	for c, want := range [][]float64{{3.5}, nil, {.5, 1.5, 2.25, 2.75, 3.5}} {
		if got := b.columns[c].cuts; !slices.Equal(got, want) {
			t.Errorf("column %d: cuts %v, want %v", c, got, want)
		}
	}
	counts := make([]int, 12)
	for _, bin := range binsOf(b, 3) {
		counts[bin]++
	}
	if !slices.Equal(counts, []int{0, n - rare, 7, 7, 7, 7, 7, 7, 7, 7, 7, 7}) {
		t.Errorf("%d rare values: %v documents in bins", rare, counts)
	}
	if got := binsOf(b, 1); got[7] != 1 || got[1007] != 1 || got[8] != 0 || !b.columns[1].missing {
		t.Errorf("bins %d, %d and %d of a column with three values, want 1, 1 and 0", got[7], got[1007], got[8])
	}
}

// Bins do not depend on the parts in which features are read.
func TestBinsOfPartsAreThoseOfTheWhole(t *testing.T) {
	random := rand.New(rand.NewPCG(1, 2))
	const n, width = 3*sample + 17, 3
	rows := make([]float32, n*width)
	for i := range rows {
		switch rows[i] = random.Float32(); {
		case i%width == 1:
			rows[i] = float32(random.IntN(40))
		case random.IntN(50) == 0:
			rows[i] = float32(math.NaN())
		}
	}
	categories := map[int]int{1: 40}
	want, err := Bin(rows, width, categories, 20)
	if err != nil {
		t.Fatal(err)
	}
	offsets := []int{0, 0, 1}
	for last := 1; last < n; last = offsets[len(offsets)-1] {
		offsets = append(offsets, min(n, last+random.IntN(5000)))
	}
	got, err := BinParts(offsets, width, categories, 20, func(part int) []float32 {
		return slices.Clone(rows[offsets[part]*width : offsets[part+1]*width])
	})
	if err != nil {
		t.Fatal(err)
	}
	if !reflect.DeepEqual(got, want) {
		t.Error("other bins")
	}
}
