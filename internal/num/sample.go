package num

import (
	"maps"
	"math/rand/v2"
	"slices"
)

// Sample returns n of the numbers 0 to all−1, or all of them if there are fewer, ascending: every set with the same
// probability, and the same set each time. Numbers at equal distances would miss what lists of fixed length have between them.
func Sample(n, all int) []int {
	const seed = 0x73616d706c65
	random, drawn := rand.New(rand.NewPCG(seed, uint64(all))), map[int]bool{}
	for last := max(0, all-n); last < all; last++ { // Floyd's: Bentley & Floyd, Communications of the ACM 1987
		i := random.IntN(last + 1)
		if drawn[i] {
			i = last
		}
		drawn[i] = true
	}
	return slices.Sorted(maps.Keys(drawn))
}

// Counts holds the distinct values of a column, ascending, and how many documents have each.
type Counts struct {
	Values    []float32
	Documents []int
}

// CountColumn counts the first value of every row. Missing values are left out.
func CountColumn(rows []float32, width int) (c Counts) {
	values := make([]float32, 0, (len(rows)+width-1)/width)
	for i := 0; i < len(rows); i += width {
		if x := rows[i]; x == x {
			values = append(values, x)
		}
	}
	slices.Sort(values)
	for _, x := range values {
		if n := len(c.Values); n == 0 || x != c.Values[n-1] {
			c.Values, c.Documents = append(c.Values, x), append(c.Documents, 0)
		}
		c.Documents[len(c.Documents)-1]++
	}
	return c
}

// Sum returns how many documents have a value.
func (c Counts) Sum() (n int) {
	for _, k := range c.Documents {
		n += k
	}
	return n
}

// A Tally counts the values of a column that are rare in a sample.
type Tally struct {
	sample []float32 // its distinct values
	counts []int
	others map[float32]int
}

// NewTally returns a tally that has counted nothing. It shares memory with the values.
func NewTally(sample []float32) *Tally {
	return &Tally{sample, make([]int, len(sample)), map[float32]int{}}
}

// Add counts a value.
func (t *Tally) Add(x float32) {
	place := 0 // of the last value that is at most x
	for n := len(t.sample); n > 1; {
		half := n / 2
		if t.sample[place+half] <= x {
			place += half
		}
		n -= half
	}
	t.AddAt(place, x)
}

// AddAt counts a value if its place is one of the sample's.
func (t *Tally) AddAt(place int, x float32) {
	if place < len(t.sample) && t.sample[place] == x {
		t.counts[place]++
	} else {
		t.others[x]++
	}
}

// New reports whether there was a value that the sample has not.
func (t *Tally) New() bool { return len(t.others) > 0 }

// Merge adds the counts of another tally of the same sample.
func (t *Tally) Merge(o *Tally) {
	for i, n := range o.counts {
		t.counts[i] += n
	}
	for x, n := range o.others {
		t.others[x] += n
	}
}

// Counts returns all values.
func (t *Tally) Counts() (c Counts) {
	for i, n := range t.counts {
		t.others[t.sample[i]] += n
	}
	c.Values = slices.Sorted(maps.Keys(t.others))
	for _, x := range c.Values {
		c.Documents = append(c.Documents, t.others[x])
	}
	return c
}
