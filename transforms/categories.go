package transforms

import (
	"cmp"
	"fmt"
	"math"
	"slices"

	"github.com/plrank/plrank/internal/text"
	"github.com/plrank/plrank/transforms/internal/columns"
)

// A Category is a feature whose values are names rather than amounts. A transform maps each to a code, for which a model
// learns a vector. The names are numbers that float32 distinguishes: whole ones between ±2^24, or others of up to seven digits.
type Category struct {
	Column int       // the raw column
	Values []float32 // that have a code, ascending
	Rare   int       `json:",omitempty"` // how many others were seen as often as these must be, but are too many
}

// The codes of a category: Values[i] has the code FirstValue + i.
const (
	UnseenValue  = 0 // a value that is not among Values
	MissingValue = 1
	FirstValue   = 2
)

const (
	mostValues  = 100_000 // of a category: the most frequent ones
	seenAtLeast = 2       // documents with a value that has a code, or of a feature of the query, queries

	// From here on float32 does not hold every whole number: what was 16777217 in a file
	// is 16777216 in a dataset.
	inexactValue = 1 << 24
)

// Codes returns the number of codes.
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

// fitCategories makes categories of the features with these ids, whose columns are then not
// among the others. Those of text are, too. One that does not vary stays left out. Given are the columns that vary within
// queries.
func (t *Transform) fitCategories(train *Data, within, ids []int) error {
	sorted := slices.Sorted(slices.Values(ids))
	for i := 1; i < len(sorted); i++ {
		if sorted[i] == sorted[i-1] {
			return fmt.Errorf("transforms: feature %d is listed as categorical twice", sorted[i])
		}
	}
	for column, levels := range train.Levels {
		if levels != nil {
			sorted = append(sorted, train.FeatureIDs[column])
		}
	}
	slices.Sort(sorted)
	for _, id := range slices.Compact(sorted) {
		column, found := slices.BinarySearch(train.FeatureIDs, id)
		if !found {
			return fmt.Errorf("transforms: %s has no feature %d, which is to be categorical: it has the features %s", train.Name, id,
				text.List(train.ids()))
		}
		if _, varies := slices.BinarySearch(t.Columns, column); !varies {
			continue
		}
		_, varies := slices.BinarySearch(within, column)
		values, err := categoryValues(train, column, !varies)
		if err != nil {
			return err
		}
		rare := max(0, len(values)-mostValues)
		values = values[:len(values)-rare]
		slices.Sort(values)
		t.Categories = append(t.Categories, Category{column, values, rare})
	}
	t.Columns = slices.DeleteFunc(t.Columns, func(column int) bool {
		_, found := slices.BinarySearchFunc(t.Categories, column, func(c Category, column int) int { return cmp.Compare(c.Column, column) })
		return found
	})
	return nil
}

// categoryValues returns the values seen in two or more training documents (for a query feature, in two or more queries), the
// most frequent first. The others count as unseen, so that a model learns a vector for unseen values. It returns an error for
// values that float32 does not tell apart.
func categoryValues(train *Data, column int, ofQuery bool) (values []float32, err error) {
	name := train.FeatureName(column)
	text := train.Levels != nil && train.Levels[column] != nil
	seen := map[float32]int{}
	for q := range train.Queries() {
		from, to := train.Offsets[q], train.Offsets[q+1]
		if ofQuery {
			to = min(to, from+1)
		}
		for r := from; r < to; r++ {
			x := train.Row(r)[column]
			if x >= inexactValue || x <= -inexactValue {
				return nil, fmt.Errorf("transforms: %s: the categorical feature %s is %.0f, in float32, which does not hold all whole numbers from "+
					"%d on: please number the values from 0 on",
					train.Where(r), name, x, inexactValue)
			}
			if x == x && !(x == 0 && text) { // 0 is a text that is not known
				seen[x]++
			}
		}
	}
	for x, n := range seen {
		if n >= seenAtLeast {
			values = append(values, x)
		}
	}
	slices.SortFunc(values, func(a, b float32) int {
		return cmp.Or(cmp.Compare(seen[b], seen[a]), cmp.Compare(a, b))
	})
	return values, nil
}

// checkCategories checks the categories of a transform that was read from a file.
func (t *Transform) checkCategories() error {
	for i, c := range t.Categories {
		_, used := slices.BinarySearch(t.Columns, c.Column)
		if c.Column < 0 || c.Column >= t.Inputs || i > 0 && c.Column <= t.Categories[i-1].Column || used {
			return fmt.Errorf("the columns of categories must ascend within its %d inputs, and be no others, but there is %d", t.Inputs, c.Column)
		}
		if len(c.Values) > mostValues {
			return fmt.Errorf("%d values of the category in column %d, want %d at most", len(c.Values), c.Column, mostValues)
		}
		for j, v := range c.Values {
			if !(math.Abs(float64(v)) <= math.MaxFloat32) || j > 0 && v <= c.Values[j-1] {
				return fmt.Errorf("the values of the category in column %d must ascend and be finite", c.Column)
			}
		}
	}
	return nil
}
