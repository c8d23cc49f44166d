package plackett

import "github.com/plrank/plrank/plackett/internal/lanes"

// Exposure writes to out an estimate of the expected exposure of every document,
// E_d = E_y[Σ_k θ_k 1[y_k = d]]: the mean over the rankings of e_d·A_{r(d)}, i.e.
// Σ_k θ_k P_k(d), which has the same expectation as the exposure in the rankings
// themselves and, unless a ranking places nearly all documents, less variance.
// O(D + N·K). With no ranking present it is zero; entries below 1e-20·Σ|θ| are 0. Errors are those of [Kernel.Gradient].
func (k *Kernel) Exposure(scores, discounts []float64, r Rankings, out []float64) error {
	if err := checkLength("exposure", len(out), len(scores)); err != nil {
		return err
	}
	if err := checkDiscounts(discounts); err != nil {
		return err
	}
	if err := k.load(scores, nil, r, min(len(discounts), r.Cutoff)); err != nil {
		return err
	}
	scale, err := scaleOf(nil, discounts[:k.cutoff])
	if err != nil {
		return err
	}
	for b := range k.blocks() {
		k.setGains(b, k.block(b), func(sample, int, int) float64 { return 1 })
	}
	// The kernel's form with f = 0, c = 0 and g = −θ.
	k.sum(lanes.Credit{Risk: -1}, discounts, nil, out, float64(len(k.samples)), scale)
	return nil
}
