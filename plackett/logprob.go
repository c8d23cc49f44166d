package plackett

import "math"

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
		at, to := i*k.cutoff, s.origin*r.Cutoff
		for p := range s.length {
			reference := k.policy.max
			if s.level == extreme {
				reference = k.references[at+p]
			}
			out[to+p] = scores[k.entries[at+p]] - reference + math.Log(k.mass[at+p])
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
	k.begin(lambda)
	for i, s := range k.samples {
		at := s.origin * r.Cutoff
		copy(k.future, w[at:at+k.cutoff])
		copy(k.risk, w[at:at+k.cutoff])
		k.accumulate(i, nil, nil, lambda)
	}
	k.finish(1, nil, lambda, scale)
	return nil
}
