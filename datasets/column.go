package datasets

import (
	"fmt"
	"math"

	"github.com/plrank/plrank/datasets/internal/reader"
	"github.com/plrank/plrank/datasets/internal/store"
	"github.com/plrank/plrank/internal/file"
)

// A column does everything that is done with a list of a Dataset that has a value for each document or for each query.
type column interface {
	take(d *Dataset, from *reader.Arrangement)                        // sets the list to what files have
	check(d *Dataset) error                                           // returns an error if the length or a value is wrong
	gather(to, from *Dataset, queries []int)                          // sets the list to the values of the queries
	pack(to *Batch, from *Dataset, queries []int, rows, capacity int) // sets the list of a batch, and fills it
	list(d *Dataset) any                                              // returns the pointer to the list, for caches
	digest(d *Dataset, field string) (digest store.Digest, has bool)  // returns the digest for a field of Fingerprint
}

// columnOf is a column of values of one type. A nil list means that the dataset does not have the column.
type columnOf[T any] struct {
	what     string // a value in messages
	perQuery bool   // a value for each query; else for each document
	many     bool   // or as many values for each document
	in       func(d *Dataset) *[]T

	packed func(b *Batch) *[]T // nil: batches do not have it
	fill   T                   // what a batch has past its documents or queries

	valid func(v T) bool // nil: all values are
	want  string         // what is valid, in messages

	fingerprint string                    // the field of Fingerprint that the column goes to; "": none
	read        func(c *reader.Chunk) []T // nil: no chunk of a file has it
}

func (c *columnOf[T]) take(d *Dataset, from *reader.Arrangement) {
	if c.read != nil {
		*c.in(d) = reader.Gather(from, 1, c.read)
	}
}

func (c *columnOf[T]) check(d *Dataset) error {
	list, one, many, want := *c.in(d), "row", "rows", d.Rows()
	if c.perQuery {
		one, many, want = "query", "queries", d.Queries()
	}
	if c.many {
		want *= c.width(d)
	}
	if list != nil && len(list) != want {
		return fmt.Errorf("%d %ss for %d %s", len(list), c.what, want, many)
	}
	for i, v := range list {
		if c.valid != nil && !c.valid(v) {
			return fmt.Errorf("%s %d: the %s is %v: want %s", one, i/c.width(d), c.what, v, c.want)
		}
	}
	return nil
}

// width returns how many values there are for each document.
func (c *columnOf[T]) width(d *Dataset) int {
	if !c.many {
		return 1
	}
	return max(1, len(*c.in(d))/max(1, d.Rows()))
}

// offsets returns where the values of each query begin; nil: at its number.
func (c *columnOf[T]) offsets(d *Dataset) []int {
	if c.perQuery {
		return nil
	}
	return d.Offsets
}

func (c *columnOf[T]) gather(to, from *Dataset, queries []int) {
	*c.in(to) = gather(nil, *c.in(from), c.offsets(from), queries, c.width(from))
}

func (c *columnOf[T]) pack(to *Batch, from *Dataset, queries []int, rows, capacity int) {
	if c.packed == nil {
		return
	}
	if c.perQuery {
		rows = capacity
	}
	list, width := c.packed(to), c.width(from)
	*list = pad(gather(*list, *c.in(from), c.offsets(from), queries, width), rows*width, c.fill)
}

func (c *columnOf[T]) list(d *Dataset) any { return c.in(d) }

func (c *columnOf[T]) digest(d *Dataset, field string) (digest store.Digest, has bool) {
	if field != c.fingerprint {
		return nil, false
	}
	switch list := any(*c.in(d)).(type) {
	case []float32:
		return store.DigestFloats(list), list != nil
	case []float64:
		var bits []int
		for _, v := range list {
			bits = append(bits, int(math.Float64bits(v)))
		}
		return store.DigestNames(bits, nil), list != nil
	case []int:
		var names []string
		if field == "groups" {
			names = d.GroupNames
		}
		return store.DigestNames(list, names), list != nil
	}
	panic("datasets: no digest of the " + c.what)
}

// gather returns what the queries have of a list, in room that is used again: width values a row,
// or one a query if offsets are nil. It is nil if the list is.
func gather[T any](room, list []T, offsets, queries []int, width int) []T {
	if list == nil {
		return nil
	}
	span := func(q int) []T {
		if offsets == nil {
			return list[q : q+1]
		}
		return list[offsets[q]*width : offsets[q+1]*width]
	}
	n := 0
	for _, q := range queries {
		n += len(span(q))
	}
	gathered := room[:0]
	if room == nil || cap(room) < n {
		gathered = make([]T, 0, n)
	}
	for _, q := range queries {
		gathered = append(gathered, span(q)...)
		file.Relieve() // reading a few bytes here and there maps much more of a file
	}
	return gathered
}

// pad fills the rest of the capacity; nil for nil.
func pad[T any](list []T, capacity int, fill T) []T {
	for list != nil && len(list) < capacity {
		list = append(list, fill)
	}
	return list
}
