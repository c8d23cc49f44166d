// Package variance measures how much the estimates of a gradient vary: the trace of
// the covariance of λ, the estimate of the gradient of an expected metric with
// respect to the scores of a list,
//
//	tr Cov λ = Σ_d Var(λ_d) = E‖λ − E λ‖²,
//
// for a number N of sampled rankings, and the bias of λ against the exact gradient. The
// methods are the [Estimators] of package plackett and their [Competitors]. The trace is
// what an optimizer sees as noise: the mean squared distance of λ from what the methods
// agree on. LambdaLoss is not among them, because its expectation is another: its noise
// about its own mean could not be compared.
package variance
