package plackett

// doubleDouble is a sum of numbers in about twice the precision of a float64.
type doubleDouble struct{ high, low float64 }

// add adds x: Knuth's error-free transformation of high + x, with the error kept in
// low (TAOCP vol. 2, §4.2.2, theorem B).
func (s *doubleDouble) add(x float64) {
	sum := s.high + x
	part := sum - s.high
	s.low += (s.high - (sum - part)) + (x - part)
	s.high = sum
}

func (s *doubleDouble) value() float64 { return s.high + s.low }
