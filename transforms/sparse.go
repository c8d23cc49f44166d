package transforms

import (
	"errors"
	"math"
	"slices"

	"github.com/plrank/plrank/internal/sparse"
	"github.com/plrank/plrank/transforms/internal/columns"
)

// maxAbs is the part that keeps zeros and scales.
const maxAbs = "maxabs"

// fitMaxAbs sets Scale to 1 over the largest absolute value of each column, 0 if there is none.
func fitMaxAbs(p *Part, d *Data, used []int) {
	p.Shift, p.Scale = make([]float64, len(used)), make([]float64, len(used))
	largest := make([]float64, d.Width())
	take := func(c int, x float32) {
		if x == x {
			largest[c] = max(largest[c], math.Abs(float64(columns.Finite(x))))
		}
	}
	for i, x := range d.Sparse.Values {
		take(int(d.Sparse.Columns[i]), x)
	}
	for i, x := range d.Features {
		take(i%d.Width(), x)
	}
	for i, c := range used {
		if largest[c] > 0 {
			p.Scale[i] = 1 / largest[c]
		}
	}
}

// checkMaxAbs checks scales read from a file.
func checkMaxAbs(p *Part, used int) error {
	if slices.ContainsFunc(p.Shift, func(shift float64) bool { return shift != 0 }) {
		return errors.New("maxabs has a shift: want 0, which keeps zeros")
	}
	return checkMoments(p, used)
}

// KeepsZeros reports whether the transform takes sparse documents: it has a single part, which keeps 0, and neither bins nor categories.
func (t *Transform) KeepsZeros() bool {
	return len(t.Parts) == 1 && slices.Contains([]string{raw, "none", maxAbs}, t.Parts[0].Name) && t.Bins == nil && len(t.Categories) == 0
}

// Sparse returns what [Transform.Query] gives for sparse documents, of a transform that [Transform.KeepsZeros].
func (t *Transform) Sparse(rows *sparse.Rows) *sparse.Rows {
	if t.Identity() {
		return rows
	}
	p, apply := t.Parts[0], partKinds[t.Parts[0].Name].apply
	to := &sparse.Rows{Starts: make([]int, 1, len(rows.Starts)), Columns: make([]int32, 0, len(rows.Columns)),
		Values: make([]float32, 0, len(rows.Values))}
	var own Part // of a column
	one := columns.Rows{To: make([]float32, 1), Stride: 1, Inputs: 1, Columns: []int{0}}
	for r := range rows.Len() {
		from, values := rows.Row(r)
		for i, c := range from {
			first := max(0, int(c)-(t.Inputs-len(t.Columns))) // its place if all unused columns are before it
			place, used := slices.BinarySearch(t.Columns[first:max(first, min(int(c)+1, len(t.Columns)))], int(c))
			if !used {
				continue
			}
			c, one.From = int32(first+place), values[i:i+1]
			if p.Shift != nil {
				own.Shift, own.Scale = p.Shift[c:c+1], p.Scale[c:c+1]
			}
			apply(&own, one)
			to.Columns, to.Values = append(to.Columns, c), append(to.Values, one.To[0])
		}
		to.Starts = append(to.Starts, len(to.Values))
	}
	return to
}
