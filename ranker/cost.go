package ranker

// Multiplications is about how many multiplications the scores of so many documents of a
// query take: a weight once for every document, and in a model with attention some for
// every pair of documents. The time is in proportion to it; a service bounds what it
// computes by it.
func (m *Model) Multiplications(documents int) float64 {
	weights := 0
	for _, a := range m.file.Arrays {
		weights += len(a.Values)
	}
	n := float64(documents)
	return n * (float64(weights) + n*float64(m.pairs))
}
