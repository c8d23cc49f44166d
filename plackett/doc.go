// Package plackett has the numbers of Plackett–Luce ranking policies on plain float64
// slices, for any framework, without graphs, files or global state.
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
//   - [Kernel] estimates from them the gradient of R, by an [Estimator], R itself and
//     the exposure, and computes log π(y) and its gradient, as of ranked answers, from which language models learn.
//   - [Expectation] computes the exact R, its gradient and the exposures, for lists of any length.
//   - [Ruled] is the policy of rankings that obey [Rules]: pins and quotas. [Diversify] has offsets of scores for
//     results that differ, and [Offsets] for groups that are to have a share of the exposure.
//
// The zero values of Sampler, Kernel, Expectation and Ruled are ready for use. A value is for one goroutine
// at a time, and for any number of lists one after another: except for Ruled, it allocates only
// while its scratch space grows. The same input gives the same output, bit for bit.
package plackett
