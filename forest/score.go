package forest

// A Scorer evaluates a forest. It is safe for concurrent use.
type Scorer struct{ forest *Forest }

// Compile returns the scorer of a forest that [Forest.Check] accepts. The forest must not change afterwards.
func (f *Forest) Compile() *Scorer { return &Scorer{f} }

// Score sets dst to the scores of len(dst) documents, whose raw features are rows, one document after another. It
// panics if rows has another length than len(dst) × Inputs.
func (s *Scorer) Score(dst []float64, rows []float32) {
	f := s.forest
	if len(rows) != len(dst)*f.Inputs {
		panic("forest: slice length mismatch")
	}
	for d := range dst {
		sum := f.Bias
		row := rows[d*f.Inputs:][:f.Inputs]
		for t := range f.Trees {
			sum += f.Trees[t].Leaves[f.Trees[t].leaf(row)]
		}
		dst[d] = sum
	}
}
