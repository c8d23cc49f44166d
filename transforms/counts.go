package transforms

import (
	"slices"

	"github.com/viterin/vek/vek32"

	"github.com/plrank/plrank/internal/file"
	"github.com/plrank/plrank/internal/num"
	"github.com/plrank/plrank/internal/parallel"
)

// sampled is how many documents decide on the quantiles of features with many values.
const sampled = 1 << 15

// An input is what quantiles are of: values that are made from the documents of training data.
type input struct {
	*Data
	columns  []int                     // by value the feature that it comes from
	width    int                       // of a document in apply, which begins with the values of the columns
	compares bool                      // apply needs all documents of a query
	apply    func(dst, rows []float32) // to the rows of features of some documents
}

// counts returns the values of documents that do not miss the feature: of a sample, or where that has few different ones, of
// all, since others may have more.
func (in *input) counts(few int) []num.Counts {
	n, documents := len(in.columns), num.Sample(sampled, in.Rows())
	some := make([]float32, len(documents)*n)
	rooms := make([][]float32, max(1, parallel.Workers(in.Queries())))
	parallel.For(in.Queries(), len(rooms), func(worker, q int) {
		i, _ := slices.BinarySearch(documents, in.Offsets[q])
		for i < len(documents) && documents[i] < in.Offsets[q+1] {
			from, to := documents[i], documents[i]+1
			if in.compares {
				from, to = in.Offsets[q], in.Offsets[q+1]
			}
			x := in.values(&rooms[worker], from, to)
			for ; i < len(documents) && documents[i] < to; i++ {
				copy(some[i*n:(i+1)*n], x[(documents[i]-from)*in.width:])
			}
		}
	})
	counts := make([]num.Counts, n)
	parallel.For(n, parallel.Workers(n), func(_, i int) { counts[i] = num.CountColumn(some[min(i, len(some)):], n) })
	if len(documents) == in.Rows() || !slices.ContainsFunc(counts, func(c num.Counts) bool { return len(c.Values) <= few }) {
		return counts
	}
	tallies := make([][]*num.Tally, len(rooms))
	for w := range tallies {
		tallies[w] = make([]*num.Tally, n)
		for i, c := range counts {
			if len(c.Values) <= few {
				tallies[w][i] = num.NewTally(c.Values)
			}
		}
	}
	parallel.For(in.Queries(), len(rooms), func(worker, q int) {
		for x := in.values(&rooms[worker], in.Offsets[q], in.Offsets[q+1]); len(x) > 0; x = x[in.width:] {
			for i, tally := range tallies[worker] {
				if tally != nil && x[i] == x[i] {
					tally.Add(x[i])
				}
			}
		}
	})
	for i, tally := range tallies[0] {
		if tally != nil {
			for _, other := range tallies[1:] {
				tally.Merge(other[i])
			}
			counts[i] = tally.Counts()
		}
	}
	return counts
}

// values returns the values of documents, NaN where the feature is missing. They use the memory of room.
func (in *input) values(room *[]float32, from, to int) []float32 {
	*room = num.Sized(*room, (to-from)*in.width)
	rows := in.Features[from*in.Width() : to*in.Width()]
	in.apply(*room, rows)
	keepMissing(*room, rows, in.columns, in.width, in.Width())
	file.Relieve()
	return *room
}

// keepMissing sets values of dst to NaN where the column of rows that they come from is missing.
func keepMissing(dst, rows []float32, columns []int, width, inputs int) {
	if sum := vek32.Sum(rows); sum == sum {
		return
	}
	for r := range len(rows) / inputs {
		for i, column := range columns {
			if x := rows[r*inputs+column]; x != x {
				dst[r*width+i] = x
			}
		}
	}
}
