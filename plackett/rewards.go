package plackett

// RewardsToGo writes W_k = Σ_{x≥k} θ_x ρ_{y_x}, divided by the number of rankings
// present, for every place to out, which has the shape of the rankings; 0 where
// absent. Places beyond the discounts earn nothing. Entries that are no documents
// of the list are a [*RankingError].
func RewardsToGo(gains, discounts []float64, r Rankings, out []float64) error {
	present := 0
	for i := range r.samples() {
		ranking := r.sample(i)
		reward := 0.0
		for k := r.Cutoff - 1; k >= 0; k-- {
			row := ranking[k]
			if row == -1 {
				out[i*r.Cutoff+k] = 0
				continue
			}
			d := row - r.Base
			if d < 0 || d >= len(gains) {
				return r.fault(i, k, k, len(gains))
			}
			if k < len(discounts) {
				reward += discounts[k] * gains[d]
			}
			out[i*r.Cutoff+k] = reward
		}
		if r.Cutoff > 0 && ranking[0] != -1 {
			present++
		}
	}
	for i := range out {
		out[i] /= float64(max(1, present))
	}
	return nil
}
