package plackett

// RewardsToGo writes W_k = Σ_{x≥k} θ_x ρ_{y_x}, divided by the number of rankings
// present, for every rank to out, which has the shape of the rankings; 0 where there is no
// document. Ranks beyond the discounts earn nothing. Errors are [*NumberError],
// [*LengthError] and [*RankingError], and one for gains or discounts that are too large, as those of
// [Expectation].
func RewardsToGo(gains, discounts []float64, r Rankings, out []float64) error {
	if err := checkLength("rewards", len(out), len(r.Documents)); err != nil {
		return err
	}
	if err := checkFinite("gain", gains); err != nil {
		return err
	}
	if err := checkDiscounts(discounts); err != nil {
		return err
	}
	if _, err := scaleOf(gains, discounts[:min(len(discounts), max(0, r.Cutoff))]); err != nil {
		return err
	}
	samples, err := r.samples()
	if err != nil {
		return err
	}
	clear(out)
	present := 0
	for i := range samples {
		ranking := r.sample(i)
		length := 0
		for k, row := range ranking {
			if d := row - r.Base; row != -1 && (d < 0 || d >= len(gains) || length < k) {
				return r.fault(i, k, length, len(gains))
			}
			if row != -1 {
				length++
			}
		}
		reward := 0.0
		for k := length - 1; k >= 0; k-- {
			if k < len(discounts) {
				reward += discounts[k] * gains[ranking[k]-r.Base]
			}
			out[i*r.Cutoff+k] = reward
		}
		present += min(1, length)
	}
	for i := range out {
		out[i] /= float64(max(1, present))
	}
	return nil
}
