package plackett

import (
	"math"

	"github.com/plrank/plrank/plackett/internal/lanes"
)

// LogProbs writes log P_k(y_k) of every rank of every ranking to out, which has the
// shape of the rankings: their sum over a ranking is log π(y). Ranks without a document
// get 0. Errors are those of [Kernel.Gradient].
func (k *Kernel) LogProbs(scores []float64, r Rankings, out []float64) error {
	if err := checkLength("log-probabilities", len(out), len(r.Documents)); err != nil {
		return err
	}
	if err := k.load(scores, nil, r, r.Cutoff); err != nil {
		return err
	}
	clear(out)
	for i, s := range k.samples {
		entries, ranks := k.at(i / lanes.Width)
		lane := i % lanes.Width
		for p := range s.length {
			reference := k.policy.max
			if s.level == extreme {
				reference = ranks[p].W[lane]
			}
			out[s.origin*r.Cutoff+p] = scores[entries[p][lane]] - reference + math.Log(ranks[p].Inverse[lane])
		}
	}
	return nil
}

// LogProbsGradient writes to lambda the derivative of Σ_{i,k} w_{ik} log P_k(y_k^{(i)}) with
// respect to the scores: Σ_{i,k} w_{ik} (1[y_k = d] − P_k(d)), in O(D + N·K).
// Entries below 1e-20·Σ|w| are 0.
// The weights w have the shape of the rankings. Errors are those of [Kernel.Gradient].
func (k *Kernel) LogProbsGradient(scores []float64, r Rankings, w, lambda []float64) error {
	if err := checkLength("weights", len(w), len(r.Documents)); err != nil {
		return err
	}
	if err := checkFinite("weight", w); err != nil {
		return err
	}
	if err := checkLength("λ", len(lambda), len(scores)); err != nil {
		return err
	}
	if err := k.load(scores, nil, r, r.Cutoff); err != nil {
		return err
	}
	_, sum := magnitudes(w)
	scale, err := checkScale("Σ |weight|", sum)
	if err != nil {
		return err
	}
	for b := range k.blocks() {
		k.setGains(b, k.block(b), func(s sample, p, _ int) float64 { return w[s.origin*r.Cutoff+p] })
	}
	k.sum(lanes.Credit{Own: 1}, k.ones, nil, lambda, 1, scale)
	return nil
}
