package plackett

import "math"

// Kernel computes expectations over sampled rankings of one list, and their
// gradients, in O(D + N·K) for N rankings of K places.
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
// M_k comes from M_1 by subtraction of what has been placed, and that correction
// cancels what was added: both lose digits when little mass is left. A ranking
// with M_K below 1/64 of M_1 (a peaked one) goes a separate way, O(D): its M_k are
// rebuilt from the tail in log space, and every document is computed by itself.
type Kernel struct {
	policy Policy

	// The rankings, as read by load. The room for one sample more is for the
	// ranking of descending scores, see loadLikeliest.
	cutoff  int
	samples int       // that are present, of those given
	entries []int     // [samples × cutoff] positions of the documents placed
	lengths []int     // [samples] numbers of places taken
	origin  []int     // [samples] the number of each among the rankings given
	mass    []float64 // [samples × cutoff] 1/M_k, or log(M_k/M_1's scale) of a peaked ranking
	peaked  []bool    // [samples]
	means   []float64 // [samples × cutoff] ρ̄_k, where asked for
	stamp   []uint64  // stamp[d] == mark: placed by the ranking in hand
	mark    uint64

	podium    podium
	likeliest []int     // the ranking of descending scores
	future    []float64 // f_k of the ranking in hand
	risk      []float64 // g_k
	baseline  []float64 // what PL-Rank-RB subtracts from
	scale     float64   // scale·V_{k+1} to give a_k
}

// peakedBelow is the share of the mass that a ranking must leave for its last
// place not to be peaked. A larger value makes more rankings take the slow way, a
// smaller one costs digits: 1/64 keeps the error of sums of a hundred terms below
// 1e-13 of scale.
const peakedBelow = 1.0 / 64

// load reads the scores and the first cutoff places of the rankings, and prepares
// 1/M_k of every place. With gains it prepares the mean gains ρ̄_k of what is left
// before every place as well. It checks that all rows are rankings of the list.
func (k *Kernel) load(scores, gains []float64, r Rankings, cutoff int) error {
	if err := k.policy.reset(scores); err != nil {
		return err
	}
	n := r.samples()
	k.cutoff = cutoff
	k.entries = grow(k.entries, (n+1)*cutoff)
	k.mass = grow(k.mass, (n+1)*cutoff)
	k.means = grow(k.means, (n+1)*cutoff)
	k.lengths = grow(k.lengths, n+1)
	k.origin = grow(k.origin, n+1)
	k.peaked = grow(k.peaked, n+1)
	k.future = grow(k.future, cutoff)
	k.risk = grow(k.risk, cutoff)
	k.baseline = grow(k.baseline, cutoff)
	if len(k.stamp) < len(scores) {
		k.stamp = append(k.stamp, make([]uint64, len(scores)-len(k.stamp))...)
	}
	gainMass := k.gainMass(gains)
	k.samples = 0
	for i := range n {
		length, err := k.read(i, r, gains, gainMass)
		if err != nil {
			return err
		}
		if length > 0 {
			k.origin[k.samples] = i
			k.keep(length, gains)
			k.samples++
		}
	}
	return nil
}

// loadLikeliest adds the ranking of descending scores (ties by position) after
// the samples; they and the means over them do not change.
func (k *Kernel) loadLikeliest(gains []float64) error {
	length := min(k.cutoff, len(k.policy.scores))
	k.podium.likeliest(k.policy.scores, length)
	k.likeliest = grow(k.likeliest, k.cutoff)
	for p := range k.likeliest {
		k.likeliest[p] = -1
		if p < length {
			k.likeliest[p] = k.podium.racers[p].document
		}
	}
	if _, err := k.read(0, Rankings{Places: k.likeliest, Cutoff: k.cutoff}, gains, k.gainMass(gains)); err != nil {
		return err
	}
	k.keep(length, gains)
	return nil
}

// gainMass returns S_1 = Σ e_d·ρ_d, 0 without gains.
func (k *Kernel) gainMass(gains []float64) float64 {
	sum := 0.0
	for d, rho := range gains {
		sum += k.policy.weights[d] * rho
	}
	return sum
}

// read copies ranking i behind those read before, with its masses and means, and
// returns its length.
func (k *Kernel) read(i int, r Rankings, gains []float64, gainMass float64) (length int, err error) {
	k.mark++
	at := k.samples * k.cutoff
	entries, inverse, means := k.entries[at:], k.mass[at:], k.means[at:]
	stamp, weights := k.stamp[:len(k.policy.weights)], k.policy.weights
	mass := k.policy.mass
	for p, row := range r.sample(i)[:k.cutoff] {
		d := row - r.Base
		if uint(d) >= uint(len(weights)) || stamp[d] == k.mark || length < p {
			if row == -1 {
				continue // the end, or absent
			}
			return 0, r.fault(i, p, length, len(weights))
		}
		stamp[d] = k.mark
		entries[p] = d
		inverse[p] = 1 / mass
		mass -= weights[d]
		if gains != nil {
			means[p] = gainMass * inverse[p]
			gainMass -= weights[d] * gains[d]
		}
		length++
	}
	return length, nil
}

// keep counts the ranking just read among the samples, after it has looked whether
// that is a peaked one.
func (k *Kernel) keep(length int, gains []float64) {
	at := k.samples * k.cutoff
	last := k.mass[at+length-1] // 1/M_K; +Inf or negative where subtraction left nothing
	peaked := last*k.policy.mass*peakedBelow >= 1 || last < 0
	if peaked {
		k.measurePeaked(k.entries[at:at+length], k.mass[at:at+length], k.means[at:at+length], gains)
	}
	k.lengths[k.samples] = length
	k.peaked[k.samples] = peaked
}

// measurePeaked fills logs with log M_k, relative to the largest score, and means with ρ̄_k,
// from the documents not placed and then the last place upwards, so that nothing
// is subtracted. The running sums are relative to the largest score among them.
func (k *Kernel) measurePeaked(entries []int, logs, means, gains []float64) {
	scores := k.policy.scores
	largest := math.Inf(-1)
	for d, m := range scores {
		if k.stamp[d] != k.mark {
			largest = max(largest, m)
		}
	}
	mass, gain := 0.0, 0.0
	add := func(d int, e float64) {
		mass += e
		if gains != nil {
			gain += e * gains[d]
		}
	}
	for d, m := range scores {
		if k.stamp[d] != k.mark {
			add(d, k.rebased(d, m, largest))
		}
	}
	for p := len(entries) - 1; p >= 0; p-- {
		d := entries[p]
		m := scores[d]
		if m > largest {
			shrink := math.Exp(largest - m)
			mass *= shrink
			gain *= shrink
			largest = m
		}
		add(d, k.rebased(d, m, largest))
		logs[p] = largest - k.policy.max + math.Log(mass)
		if gains != nil {
			means[p] = gain / mass
		}
	}
}

// rebased returns exp(m − to) of document d, without an exponential where to is the
// largest score of the list.
func (k *Kernel) rebased(d int, m, to float64) float64 {
	if to == k.policy.max {
		return k.policy.weights[d]
	}
	return math.Exp(m - to)
}

// weigh sets the future and risk weights of sample i for an estimator, and returns
// its W_1, for PLRankRB its V_1.
func (k *Kernel) weigh(e Estimator, i int, gains, discounts []float64) float64 {
	at, length := i*k.cutoff, k.lengths[i]
	entries, means := k.entries[at:at+length], k.means[at:at+length]
	future, risk := k.future[:length], k.risk[:length]
	baseline := k.baseline[:length]
	reward := 0.0 // W_{k+1} or V_{k+1}
	for p := length - 1; p >= 0; p-- {
		if e == PLRankRB {
			direct := discounts[p] * means[p]
			advantage := k.scale*reward - baseline[p]
			future[p] = advantage
			risk[p] = advantage + direct
			reward += direct
			continue
		}
		future[p] = reward
		reward += discounts[p] * gains[entries[p]]
		risk[p] = reward
	}
	switch e {
	case PolicyGradient:
		for p := range future {
			future[p], risk[p] = reward, reward
		}
	case PLRank1:
		copy(future, risk)
	}
	return reward
}

// accumulate adds the λ of ranking i to lambda, from future and risk, except what all
// documents share, which it returns: A_K and B_K of the ranking, 0 for a peaked one.
// With gains, c is 1; with none it is 0. theta are the discounts.
func (k *Kernel) accumulate(i int, gains, theta, lambda []float64) (sharedA, sharedB float64) {
	at, length := i*k.cutoff, k.lengths[i]
	entries, mass := k.entries[at:at+length], k.mass[at:at+length]
	future, risk := k.future[:length], k.risk[:length]
	if k.peaked[i] {
		k.accumulatePeaked(entries, mass, gains, theta, lambda)
		return 0, 0
	}
	weights := k.policy.weights
	// beyondA and beyondB: the parts of A_K and B_K beyond rank p.
	if gains == nil {
		beyondB := 0.0
		for p := length - 1; p >= 0; p-- {
			d := entries[p]
			lambda[d] += future[p] + weights[d]*beyondB
			beyondB += risk[p] * mass[p]
		}
		return 0, beyondB
	}
	beyondA, beyondB := 0.0, 0.0
	for p := length - 1; p >= 0; p-- {
		d := entries[p]
		lambda[d] += future[p] - weights[d]*(gains[d]*beyondA-beyondB)
		beyondA += theta[p] * mass[p]
		beyondB += risk[p] * mass[p]
	}
	return beyondA, beyondB
}

// accumulatePeaked adds the whole λ of a peaked ranking. A_k and B_k are kept
// multiplied by M_k, which grows smaller from rank to rank, so they stay in range
// whatever the scores.
func (k *Kernel) accumulatePeaked(entries []int, logs, gains, theta, lambda []float64) {
	a, b := 0.0, 0.0 // M_k·A_k, M_k·B_k
	share := func(d int, log float64) float64 {
		p := math.Exp(k.policy.scores[d] - k.policy.max - log)
		if gains == nil {
			return -p * b
		}
		return p * (gains[d]*a - b)
	}
	k.mark++
	for p, d := range entries {
		if p > 0 {
			shrink := math.Exp(logs[p] - logs[p-1])
			a *= shrink
			b *= shrink
		}
		if gains != nil {
			a += theta[p]
		}
		b += k.risk[p]
		lambda[d] += k.future[p] + share(d, logs[p])
		k.stamp[d] = k.mark
	}
	last := logs[len(logs)-1]
	// exp(m_d − max − last) = e_d·exp(−last), unless e_d or that factor is out of range.
	factor := math.Exp(-last)
	for d, e := range k.policy.weights {
		switch {
		case k.stamp[d] == k.mark:
		case last > -maxSpread && gains != nil:
			lambda[d] += e * factor * (gains[d]*a - b)
		case last > -maxSpread:
			lambda[d] -= e * factor * b
		default:
			lambda[d] += share(d, last)
		}
	}
}

// finish adds what all documents share and divides by the number of rankings.
func (k *Kernel) finish(sumA, sumB float64, gains, lambda []float64) {
	n := float64(k.samples)
	for d, e := range k.policy.weights {
		if gains != nil {
			lambda[d] += e * (gains[d]*sumA - sumB)
		} else {
			lambda[d] -= e * sumB
		}
		lambda[d] /= n
	}
}
