package transforms

import "slices"

// Restrict returns the transform of a raw column by itself, without categories, and which outputs of t it gives; nil: none. It panics
// if t is not valid.
func (t *Transform) Restrict(column int) (own *Transform, outputs []int) {
	own = &Transform{Spec: t.Spec, Inputs: 1, Columns: []int{0}}
	at := 0
	for i := range t.Parts {
		p, used := t.Parts[i], t.PartColumns(i)
		if k := slices.Index(used, column); k >= 0 {
			if outputs = append(outputs, at+k); p.Columns != nil {
				p.Columns = []int{0}
			}
			if p.Shift != nil {
				p.Shift, p.Scale = p.Shift[k:k+1], p.Scale[k:k+1]
			}
			if p.Knots != nil {
				p.Knots, p.Scores = p.Knots[k:k+1], p.Scores[k:k+1]
			}
			p.lookups = nil
			own.Parts = append(own.Parts, p)
			if t.Bins != nil {
				own.Bins = append(own.Bins, t.Bins[at+k])
			}
		}
		at += len(used)
	}
	if outputs != nil {
		if err := own.Validate(); err != nil {
			panic(err)
		}
	}
	return own, outputs
}
