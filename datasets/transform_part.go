package datasets

import (
	"fmt"

	"github.com/plrank/plrank/datasets/internal/columns"
	"github.com/plrank/plrank/datasets/internal/text"
)

// TransformPart is one part of a [Transform]; [FitTransform] lists the names.
type TransformPart struct {
	Name  string
	Shift []float64 `json:",omitempty"` // by used column: the mean; standardised forms only
	Scale []float64 `json:",omitempty"` // by used column: 1 / standard deviation

	Knots  Curves `json:",omitempty"` // by used column: values, ascending; quantile only
	Scores Curves `json:",omitempty"` // by used column: the outputs at the knots

	lookups *columns.Lookups // of the knots and scores
}

// Curves are numbers by column. They are most of a model file, and their JSON is read much
// faster than that of other slices.
type Curves [][]float32

// UnmarshalJSON reads arrays of arrays of numbers; null is nil.
func (c *Curves) UnmarshalJSON(b []byte) error {
	*c = nil
	depth := 0
	for at := 0; at < len(b); {
		switch next := b[at]; {
		case next == '[':
			if depth++; depth == 1 {
				*c = Curves{}
			} else {
				*c = append(*c, nil)
			}
			at++
		case next == ']':
			depth--
			at++
		case next == '-' || next-'0' <= 9:
			v, n, err := text.Float32(b[at:])
			if err != nil || depth != 2 {
				return fmt.Errorf("datasets: numbers by column: %s", text.Quote(b[at:]))
			}
			last := len(*c) - 1
			(*c)[last] = append((*c)[last], v)
			at += n
		case next == ',' || next == ' ' || next == '\t' || next == '\r' || next == '\n':
			at++
		case string(b) == "null":
			return nil
		default:
			return fmt.Errorf("datasets: numbers by column: %s", text.Quote(b[at:]))
		}
	}
	return nil
}
