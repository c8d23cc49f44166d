package datasets

import (
	"fmt"
	"slices"
	"strconv"

	"github.com/plrank/plrank/datasets/internal/columns"
)

// A Category is a feature whose values are names rather than amounts: a transform maps
// each to a code, for a model to learn what it means. The names are numbers that float32
// distinguishes: whole ones between ±2^24, or others of up to seven digits.
type Category struct {
	Column int       // the raw column
	Values []float32 // that have a code, ascending
}

// The codes of a category: Values[i] has the code FirstValue + i.
const (
	UnseenValue  = 0 // a value that is not among Values
	MissingValue = 1
	FirstValue   = 2
)

const (
	mostValues  = 100_000 // of a category
	seenAtLeast = 2       // documents with a value that has a code

	// From here on float32 does not hold every whole number: what was 16777217 in a file
	// is 16777216 in a dataset.
	inexactValue = 1 << 24
)

// Codes is the number of codes.
func (c *Category) Codes() int { return FirstValue + len(c.Values) }

func (c *Category) code(x float32) float32 {
	if x != x {
		return MissingValue
	}
	if i, found := slices.BinarySearch(c.Values, columns.Finite(x)); found {
		return float32(FirstValue + i)
	}
	return UnseenValue
}

// apply writes the codes of the rows of a query to dst[0], dst[stride], ….
func (c *Category) apply(dst []float32, stride int, rows []float32, inputs int) {
	for r := range len(rows) / inputs {
		dst[r*stride] = c.code(rows[r*inputs+c.Column])
	}
}

// fitCategory collects the values of two training documents or more. The others count as
// unseen, so that there is something to learn for these. A value that may stand for several
// is an error.
func fitCategory(train *Dataset, id int) (Category, error) {
	column, found := slices.BinarySearch(train.FeatureIDs, id)
	if !found {
		return Category{}, fmt.Errorf("datasets: %s has no feature %d, which is to be categorical: it has %s", train.Name, id, idsInWords(train.FeatureIDs))
	}
	documents := map[float32]int{}
	for r := range train.Rows() {
		x := train.Row(r)[column]
		if x >= inexactValue || x <= -inexactValue {
			return Category{}, fmt.Errorf("datasets: %s: the categorical feature %d is %.0f, in float32, which does not hold all whole numbers from %d on: please number the values from 0 on",
				train.Where(r), id, x, inexactValue)
		}
		if x == x {
			documents[x]++
		}
	}
	c := Category{Column: column}
	for x, n := range documents {
		if n >= seenAtLeast {
			c.Values = append(c.Values, x)
		}
	}
	slices.Sort(c.Values)
	if len(c.Values) > mostValues {
		return c, fmt.Errorf("datasets: %s: the categorical feature %d has %d values in %d documents or more, want %d at most: is it an amount, or an id of documents?",
			train.Name, id, len(c.Values), seenAtLeast, mostValues)
	}
	return c, nil
}

// idsInWords lists feature ids for a message.
func idsInWords(ids []int) string {
	const most = 20
	if n := len(ids); n > most {
		return fmt.Sprintf("%d features, from %d to %d", n, ids[0], ids[n-1])
	}
	text := "the features"
	for i, id := range ids {
		if i > 0 {
			text += ","
		}
		text += " " + strconv.Itoa(id)
	}
	return text
}
