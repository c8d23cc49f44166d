package plackett

import (
	"fmt"
)

// Expectation computes expectations under a Plackett–Luce policy exactly, without
// sampling.
//
// Documents arrive independently, document d at a time that is exponential with rate
// w_d = exp(m_d): the order of arrival is a Plackett–Luce ranking. With
// f_d(t) = w_d e^{−w_d t}, N_S(t) the number of documents of S that have arrived by t,
// and Δ_k = θ_k − θ_{k+1},
//
//	E_d  = ∫ f_d(t) Σ_k θ_k P(N_{−d}(t) = k−1) dt
//	R    = Σ_d ρ_d E_d
//	λ_d  = dR/dm_d = Σ_j (ρ_d − ρ_j) W_dj
//	W_dj = ∫ t f_d(t) f_j(t) Σ_k Δ_k P(N_{−d,−j}(t) = k−1) dt
//
// The integrals are computed by a quadrature whose error is bounded beforehand
// (docs/EXACT.md has the derivation). The cost is that of some dozen rankings of the whole
// list, O(D·K) each, less for the documents that hardly ever arrive among the first K.
//
// Scores, gains and discounts may be any finite numbers. Discounts beyond the number of
// documents have no effect. Results are the same on every run. An Expectation allocates
// only while its scratch space grows; it is not for concurrent use.
type Expectation struct {
	// Tolerance bounds the error of E_d relative to max |θ|, and that of R and λ_d
	// relative to max |ρ| · Σ|θ|. If it equals zero, it is 1e-7. The smallest is 1e-13.
	Tolerance float64

	race race
}

const (
	defaultTolerance  = 1e-7
	smallestTolerance = 1e-13
)

// Gradient writes λ_d = dR/dm_d to lambda and returns R = E_y[Σ_k θ_k ρ_{y_k}].
//
// Where a loss F depends on the exposures, its gradient dF/dm is that of R with
// ρ_d = ∂F/∂E_d: Gradient is the vector–Jacobian product of [Expectation.Exposure].
//
// Scores, gains and discounts that are not finite are a *ScoreError, *GainError or
// *DiscountError.
func (e *Expectation) Gradient(scores, gains, discounts, lambda []float64) (value float64, err error) {
	if len(gains) != len(scores) || len(lambda) != len(scores) {
		return 0, fmt.Errorf("%d scores, %d gains and room for %d derivatives: there must be one of each for every document", len(scores), len(gains), len(lambda))
	}
	for d, g := range gains {
		if !finite(g) {
			return 0, &GainError{Position: d, Gain: g}
		}
	}
	return e.run(scores, gains, discounts, lambda)
}

// Exposure writes the expected exposure of every document, E_d = E_y[Σ_k θ_k 1[y_k = d]].
// Errors are as those of [Expectation.Gradient].
func (e *Expectation) Exposure(scores, discounts, exposure []float64) error {
	if len(exposure) != len(scores) {
		return fmt.Errorf("%d scores and room for %d exposures: there must be one for every document", len(scores), len(exposure))
	}
	_, err := e.run(scores, nil, discounts, exposure)
	return err
}

// Placements writes P(y_k = d), the probability that document d is at rank k, to
// out[d·cutoff + k], k from 0. Ranks beyond the number of documents have probability 0.
// It costs as much as cutoff exposures.
func (e *Expectation) Placements(scores []float64, cutoff int, out []float64) error {
	if cutoff < 0 || len(out) != len(scores)*cutoff {
		return fmt.Errorf("room for %d probabilities: %d documents at %d ranks have %d", len(out), len(scores), cutoff, len(scores)*cutoff)
	}
	discounts, column := make([]float64, cutoff), make([]float64, len(scores))
	for k := range cutoff {
		discounts[k] = 1
		if err := e.Exposure(scores, discounts[:k+1], column); err != nil {
			return err
		}
		for d, p := range column {
			out[d*cutoff+k] = p
		}
		discounts[k] = 0
	}
	return nil
}

// PairWeights writes W_dj, what the pair of documents d and j adds to λ_d for every unit of
// ρ_d − ρ_j, to out[d·D + j]; W_dd is 0. It is symmetric, and not negative where discounts
// do not rise. It costs as much as D gradients: it is for small lists.
func (e *Expectation) PairWeights(scores, discounts, out []float64) error {
	docs := len(scores)
	if len(out) != docs*docs {
		return fmt.Errorf("room for %d weights: %d documents have %d pairs", len(out), docs, docs*docs)
	}
	gains := make([]float64, docs)
	for j := range docs {
		gains[j] = 1
		row := out[j*docs : (j+1)*docs]
		if _, err := e.Gradient(scores, gains, discounts, row); err != nil {
			return err
		}
		for d, lambda := range row {
			row[d] = -lambda
		}
		row[j] = 0
		gains[j] = 0
	}
	// Both halves are right to the tolerance; their mean is symmetric.
	for j := range docs {
		for d := range j {
			w := (out[j*docs+d] + out[d*docs+j]) / 2
			out[j*docs+d], out[d*docs+j] = w, w
		}
	}
	return nil
}

// run checks the input that all have and starts the race. Without gains it computes the
// exposure.
func (e *Expectation) run(scores, gains, discounts, out []float64) (float64, error) {
	tolerance := e.Tolerance
	if tolerance == 0 {
		tolerance = defaultTolerance
	}
	if !(tolerance >= smallestTolerance && tolerance < 1) {
		return 0, fmt.Errorf("the tolerance is %v: it must be from %v to 1, or 0 for %v", e.Tolerance, smallestTolerance, defaultTolerance)
	}
	for d, m := range scores {
		if !finite(m) {
			return 0, &ScoreError{Position: d, Score: m}
		}
	}
	for k, theta := range discounts {
		if !finite(theta) {
			return 0, &DiscountError{Rank: k + 1, Discount: theta}
		}
	}
	return e.race.run(tolerance, scores, gains, discounts, out), nil
}

func finite(x float64) bool { return x-x == 0 }

// GainError tells of a gain that is NaN or infinite.
type GainError struct {
	Position int // of the document in its list, from 0
	Gain     float64
}

func (e *GainError) Error() string {
	return fmt.Sprintf("the gain of document %d is %v: gains must be finite", e.Position, e.Gain)
}

// DiscountError tells of a discount that is NaN or infinite.
type DiscountError struct {
	Rank     int // from 1
	Discount float64
}

func (e *DiscountError) Error() string {
	return fmt.Sprintf("the discount of rank %d is %v: discounts must be finite", e.Rank, e.Discount)
}
