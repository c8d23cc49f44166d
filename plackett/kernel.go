package plackett

// Kernel computes expectations over sampled rankings of one list, and their
// gradients, in O(D + N·K) for N rankings of K documents.
//
// All of them have one form. With two weights for every rank of every ranking,
// the future weight f_k and the risk weight g_k, with r the rank of document d or
// K where it is not placed, and c either 0 or 1, one ranking gives document d
//
//	λ_d = 1[d placed at r]·f_r + e_d·(c·ρ_d·A_r − B_r)
//	A_r = Σ_{k≤r} θ_k/M_k    B_r = Σ_{k≤r} g_k/M_k
//
// All documents that a ranking does not place share A_K and B_K: these are summed
// over the rankings, and only the placed documents are corrected, each by the
// part of the sums beyond its own rank.
//
// M_k comes from M_1 by subtraction of what has been placed, and the correction
// cancels what was added: both lose digits when little mass is left. So rankings
// have levels, by the share of M_1 that is left at their last rank. Those of level
// 0 leave 1/64 or more, and are done as said. From level to level a factor of 64
// less is left; there M_k is subtracted in twice the precision, and only
// documents that are light enough for that level take part in its sums (heavier
// ones are sure to be placed). Rankings that leave less than 64^−7 are extreme:
// their M_k are rebuilt from the tail, each relative to the largest score that is
// left, and every document is computed by itself, in O(D).
type Kernel struct {
	policy policy

	// The rankings that are present, as read by load, and room for one more, the
	// ranking of descending scores, see loadLikeliest.
	cutoff  int
	samples []sample
	entries []int     // [samples × cutoff] positions of the documents placed
	mass    []float64 // [samples × cutoff] 1/M_k
	means   []float64 // [samples × cutoff] ρ̄_k, where asked for
	// [samples × cutoff] the score that M_k of an extreme ranking is relative to; that of
	// others is policy.max.
	references []float64

	stamp []uint64 // stamp[d] == mark: placed by the ranking in hand
	mark  uint64

	// The sums of A_K and B_K over the rankings of a level, the largest e_d of the
	// documents that take part in them, and M_1 and S_1 in twice the precision.
	sumA, sumB, ceiling [levels]float64
	total, gainTotal    doubleDouble
	precise             bool // the totals were computed

	top       topK
	likeliest []int     // the ranking of descending scores
	direct    []float64 // r_k of the ranking in hand
	future    []float64 // f_k = scale·X_k − baseline
	risk      []float64 // g_k
	baseline  []float64
	scale     float64
}

// sample is a ranking that was read.
type sample struct {
	origin int  // its number among the rankings given
	length int  // how many documents it has
	level  int8 // how little mass it leaves
}

// load reads the scores and the first cutoff ranks of the rankings, and prepares
// 1/M_k of every rank. With gains it prepares the mean gains ρ̄_k of what is left
// before every rank as well. It checks that all rows are rankings of the list.
func (k *Kernel) load(scores, gains []float64, r Rankings, cutoff int) error {
	if err := k.policy.reset(scores); err != nil {
		return err
	}
	n, err := r.samples()
	if err != nil {
		return err
	}
	k.cutoff = cutoff
	k.entries = grow(k.entries, (n+1)*cutoff)
	k.mass = grow(k.mass, (n+1)*cutoff)
	k.means = grow(k.means, (n+1)*cutoff)
	k.references = grow(k.references, (n+1)*cutoff)
	k.precise = false
	k.future = grow(k.future, cutoff)
	k.risk = grow(k.risk, cutoff)
	k.baseline = grow(k.baseline, cutoff)
	k.direct = grow(k.direct, cutoff)
	if len(k.stamp) < len(scores) {
		k.stamp = append(k.stamp, make([]uint64, len(scores)-len(k.stamp))...)
	}
	gainMass := k.gainMass(gains)
	k.samples = k.samples[:0]
	for i := range n {
		s, err := k.read(i, r, gains, gainMass)
		if err != nil {
			return err
		}
		if s.length > 0 {
			k.samples = append(k.samples, s)
		}
	}
	return nil
}

// loadLikeliest puts the ranking of descending scores (ties by position) after the
// samples, to which it does not belong.
func (k *Kernel) loadLikeliest(gains []float64) (sample, error) {
	length := min(k.cutoff, len(k.policy.scores))
	k.top.likeliest(k.policy.scores, length)
	k.likeliest = grow(k.likeliest, k.cutoff)
	for p := range k.likeliest {
		k.likeliest[p] = -1
		if p < length {
			k.likeliest[p] = k.top.entries[p].document
		}
	}
	return k.read(0, Rankings{Documents: k.likeliest, Cutoff: k.cutoff}, gains, k.gainMass(gains))
}

// gainMass returns S_1 = Σ e_d·ρ_d, 0 without gains.
func (k *Kernel) gainMass(gains []float64) float64 {
	sum := 0.0
	for d, rho := range gains {
		sum += k.policy.weights[d] * rho
	}
	return sum
}

// read copies ranking i behind the samples, with its masses and means.
func (k *Kernel) read(i int, r Rankings, gains []float64, gainMass float64) (sample, error) {
	k.mark++
	at := len(k.samples) * k.cutoff
	entries, inverse, means := k.entries[at:], k.mass[at:], k.means[at:]
	stamp, weights := k.stamp[:len(k.policy.weights)], k.policy.weights
	mass := k.policy.mass
	s := sample{origin: i}
	for p, row := range r.sample(i)[:k.cutoff] {
		d := row - r.Base
		if uint(d) >= uint(len(weights)) || stamp[d] == k.mark || s.length < p {
			if row == -1 {
				continue // the end, or absent
			}
			return s, r.fault(i, p, s.length, len(weights))
		}
		stamp[d] = k.mark
		entries[p] = d
		inverse[p] = 1 / mass
		mass -= weights[d]
		if gains != nil {
			means[p] = gainMass * inverse[p]
			gainMass -= weights[d] * gains[d]
		}
		s.length++
	}
	if s.length == 0 {
		return s, nil
	}
	// The last is 1/M_K, +Inf or negative where subtraction left nothing.
	if last := inverse[s.length-1]; last*k.policy.mass >= levelStep || last < 0 {
		s.level = k.refine(entries[:s.length], inverse, means, gains)
	}
	return s, nil
}

// begin clears lambda and the sums of the levels.
func (k *Kernel) begin(lambda []float64) {
	clear(lambda)
	k.sumA, k.sumB = [levels]float64{}, [levels]float64{}
}

// accumulate adds the λ of ranking i to lambda, from future and risk, except what
// all documents share, which it adds to the sums of the ranking's level. With
// gains, c is 1; with none it is 0. theta are the discounts.
func (k *Kernel) accumulate(i int, gains, theta, lambda []float64) {
	at, length := i*k.cutoff, k.samples[i].length
	entries, mass := k.entries[at:at+length], k.mass[at:at+length]
	future, risk := k.future[:length], k.risk[:length]
	switch level := k.samples[i].level; {
	case level == extreme:
		k.accumulateExtreme(entries, k.references[at:at+length], mass, gains, theta, lambda)
		return
	case level > 0:
		k.accumulatePeaked(level, entries, mass, gains, theta, lambda)
		return
	}
	weights := k.policy.weights
	// beyondA and beyondB: the parts of A_K and B_K beyond rank p.
	beyondA, beyondB := 0.0, 0.0
	if gains == nil {
		for p := length - 1; p >= 0; p-- {
			d := entries[p]
			lambda[d] += future[p] + weights[d]*beyondB
			beyondB += risk[p] * mass[p]
		}
	} else {
		for p := length - 1; p >= 0; p-- {
			d := entries[p]
			lambda[d] += future[p] - weights[d]*(gains[d]*beyondA-beyondB)
			beyondA += theta[p] * mass[p]
			beyondB += risk[p] * mass[p]
		}
	}
	k.sumA[0] += beyondA
	k.sumB[0] += beyondB
}

// share is e_d·(c·ρ_d·a − b).
func (k *Kernel) share(d int, a, b float64, gains []float64) float64 {
	if gains != nil {
		b -= gains[d] * a
	}
	return -k.policy.weights[d] * b
}

// finish adds what the documents share, divides by n, and leaves out what is negligible
// beside scale.
func (k *Kernel) finish(n float64, gains, lambda []float64, scale float64) {
	for d, e := range k.policy.weights {
		sum := k.share(d, k.sumA[0], k.sumB[0], gains)
		for l := 1; l < levels && k.precise && e <= k.ceiling[l]; l++ {
			sum += k.share(d, k.sumA[l], k.sumB[l], gains)
		}
		lambda[d] = (lambda[d] + sum) / n
	}
	settle(lambda, scale)
}
