// Package plackett has the numbers of Plackett–Luce ranking policies on plain
// float64 slices: sampling of rankings, gradients of expected metrics, expected
// exposure, log-probabilities, and exact expectations by enumeration. It knows
// no graph, no files and no global state, and allocates only while its scratch
// space grows.
//
// Notation, as in Oosterhuis (SIGIR 2021): a list has D documents with log-scores
// m_d; a ranking y places K of them; gains ρ_d; rank discounts θ_k. With
// e_d = exp(m_d − max m), M_k = Σ e_d over the documents not placed before rank k,
// and P_k(d) = e_d/M_k for those documents (0 for placed ones),
//
//	π(y) = Π_k P_k(y_k).
package plackett
