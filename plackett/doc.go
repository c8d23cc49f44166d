// Package plackett has the numbers of Plackett–Luce ranking policies on plain float64
// slices, for any framework: it knows no graph, no files and no global state.
//
// The documents d of a list have log-scores m_d. With e_d = exp(m_d − max m), M_k = Σ e_d
// over the documents not placed before rank k, and P_k(d) = e_d/M_k for those documents (0
// for placed ones), a ranking y of K documents has the probability
//
//	π(y) = Π_k P_k(y_k).
//
// With gains ρ_d and rank discounts θ_k, the expected metric is R = E_y[Σ_k θ_k ρ_{y_k}]
// and the exposure of a document is E_d = E_y[Σ_k θ_k 1[y_k = d]], as in Oosterhuis (SIGIR
// 2021).
//
//   - [Sampler] draws [Rankings].
//   - [Kernel] has what is estimated from them: the gradient of R by one of the
//     [Estimators], R itself, the exposure, and log π(y);
//     PreferenceLoss is −log π(y) of ranked answers, by which language models learn.
//   - [Expectation] has the exact R, its gradient and the exposures, for lists of any length.
//   - [Enumerate] and [EnumerateMoments] are exact, for lists of a few documents.
//
// The zero values of Sampler, Kernel and Expectation are ready for use. A value is for one goroutine
// at a time, and for any number of lists one after another: it allocates only while its
// scratch space grows. The same input gives the same output, bit for bit.
package plackett
