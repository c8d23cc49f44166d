package ranker

// Multiplications is about the number of multiplications for the scores of a query with that
// many documents: one a weight for every document, and in a model with attention some for every
// pair of documents. Time is in proportion to it; a service limits requests by it.
func (m *Model) Multiplications(documents int) float64 {
	weights := 0
	for _, a := range m.file.Arrays {
		weights += len(a.Values)
	}
	n := float64(documents)
	return n * (float64(weights) + n*float64(m.pairs))
}
