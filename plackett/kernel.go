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
// M_k comes from M_1 by subtraction of what has been placed, and the correction
// cancels what was added: both lose digits when little mass is left. So rankings
// have levels, by the share of M_1 that is left at their last place. Those of level
// 0 leave 1/64 or more, and are done as said. From level to level a factor of 64
// less is left; there M_k is subtracted in twice the precision, and only
// documents that are light enough for that level take part in its sums (heavier
// ones are sure to be placed). Rankings that leave less than 64^−7 are extreme:
// their M_k are rebuilt from the tail in log space, and every document is computed
// by itself, in O(D).
type Kernel struct {
	policy Policy

	// The rankings, as read by load. The room for one sample more is for the
	// ranking of descending scores, see loadLikeliest.
	cutoff  int
	samples int       // that are present, of those given
	entries []int     // [samples × cutoff] positions of the documents placed
	lengths []int     // [samples] numbers of places taken
	origin  []int     // [samples] the number of each among the rankings given
	mass    []float64 // [samples × cutoff] 1/M_k; of an extreme ranking log M_k
	level   []int8    // [samples] how little the ranking leaves
	means   []float64 // [samples × cutoff] ρ̄_k, where asked for
	stamp   []uint64  // stamp[d] == mark: placed by the ranking in hand
	mark    uint64

	// The sums of A_K and B_K over the rankings of a level, the largest e_d of the
	// documents that take part in them, and M_1 and S_1 in twice the precision.
	sumA, sumB, ceiling [levels]float64
	total, gainTotal    twofold
	precise             bool // the totals were computed

	podium    podium
	likeliest []int     // the ranking of descending scores
	future    []float64 // f_k of the ranking in hand
	risk      []float64 // g_k
	baseline  []float64 // what PL-Rank-RB subtracts from
	scale     float64   // scale·V_{k+1} to give a_k
}

// levels is the number of levels; extreme is what rankings beyond them have.
const (
	levels  = 7
	extreme = -1
)

// levelStep is the factor between levels. A larger one costs digits, since what a
// document gets from a level may cancel to 1/levelStep of it: 64 keeps the error
// of a hundred terms below 1e-13 of scale.
const levelStep = 64

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
	k.level = grow(k.level, n+1)
	k.precise = false
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

// keep counts the ranking just read among the samples, after it has looked how much
// mass it leaves.
func (k *Kernel) keep(length int, gains []float64) {
	at := k.samples * k.cutoff
	entries, mass, means := k.entries[at:at+length], k.mass[at:at+length], k.means[at:at+length]
	k.lengths[k.samples] = length
	k.level[k.samples] = 0
	// The last is 1/M_K, +Inf or negative where subtraction left nothing.
	if last := mass[length-1]; last*k.policy.mass >= levelStep || last < 0 {
		k.level[k.samples] = k.subtract(entries, mass, means, gains)
		if k.level[k.samples] == extreme {
			k.rebuild(entries, mass, means, gains)
		}
	}
}

// subtract computes 1/M_k and ρ̄_k again, in twice the precision, and returns the
// level.
func (k *Kernel) subtract(entries []int, inverse, means, gains []float64) int8 {
	if !k.precise {
		k.total, k.gainTotal = twofold{}, twofold{}
		for d, e := range k.policy.weights {
			k.total.add(e)
			if gains != nil {
				k.gainTotal.add(e * gains[d])
			}
		}
		for l, most := 0, k.total.value(); l < levels; l++ {
			k.ceiling[l] = most
			most /= levelStep
		}
		k.precise = true
	}
	mass, gain := k.total, k.gainTotal
	left := 0.0
	for p, d := range entries {
		left = mass.value()
		e := k.policy.weights[d]
		inverse[p] = 1 / left
		mass.add(-e)
		if gains != nil {
			means[p] = gain.value() / left
			gain.add(-e * gains[d])
		}
	}
	level := int8(levels - 1)
	if left < k.ceiling[level]/levelStep {
		return extreme
	}
	for left >= k.ceiling[level] && level > 0 {
		level--
	}
	return level
}

// rebuild fills logs with log M_k, and means with ρ̄_k, from the documents not
// placed and then the last place upwards, so that nothing is subtracted. The running sums are relative to the largest score among them.
func (k *Kernel) rebuild(entries []int, logs, means, gains []float64) {
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

// begin clears lambda and the sums of the levels.
func (k *Kernel) begin(lambda []float64) {
	clear(lambda)
	k.sumA, k.sumB = [levels]float64{}, [levels]float64{}
}

// accumulate adds the λ of ranking i to lambda, from future and risk, except what
// all documents share, which it adds to the sums of the ranking's level. With
// gains, c is 1; with none it is 0. theta are the discounts.
func (k *Kernel) accumulate(i int, gains, theta, lambda []float64) {
	at, length := i*k.cutoff, k.lengths[i]
	entries, mass := k.entries[at:at+length], k.mass[at:at+length]
	future, risk := k.future[:length], k.risk[:length]
	switch level := k.level[i]; {
	case level == extreme:
		k.accumulateExtreme(entries, mass, gains, theta, lambda)
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

// accumulatePeaked is accumulate for a level above 0. Placed documents get their own
// part straight from A_r and B_r; the light ones, which take part in the sums of
// the level, have A_K and B_K taken back.
func (k *Kernel) accumulatePeaked(level int8, entries []int, inverse, gains, theta, lambda []float64) {
	a, b := 0.0, 0.0
	for p, d := range entries {
		if gains != nil {
			a += theta[p] * inverse[p]
		}
		b += k.risk[p] * inverse[p]
		lambda[d] += k.future[p] + k.share(d, a, b, gains)
	}
	for _, d := range entries {
		if k.policy.weights[d] <= k.ceiling[level] {
			lambda[d] -= k.share(d, a, b, gains)
		}
	}
	k.sumA[level] += a
	k.sumB[level] += b
}

// share is e_d·(c·ρ_d·a − b).
func (k *Kernel) share(d int, a, b float64, gains []float64) float64 {
	if gains != nil {
		b -= gains[d] * a
	}
	return -k.policy.weights[d] * b
}

// accumulateExtreme adds the whole λ of an extreme ranking. A_k and B_k are kept
// multiplied by M_k, which grows smaller from rank to rank, so they stay in range
// whatever the scores.
func (k *Kernel) accumulateExtreme(entries []int, logs, gains, theta, lambda []float64) {
	a, b := 0.0, 0.0 // M_k·A_k, M_k·B_k
	add := func(d int, log float64) {
		p := math.Exp(k.policy.scores[d] - k.policy.max - log)
		if gains != nil {
			lambda[d] += p * (gains[d]*a - b)
		} else {
			lambda[d] -= p * b
		}
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
		lambda[d] += k.future[p]
		add(d, logs[p])
		k.stamp[d] = k.mark
	}
	for d := range k.policy.weights {
		if k.stamp[d] != k.mark {
			add(d, logs[len(logs)-1])
		}
	}
}

// finish adds what the documents share and divides by n.
func (k *Kernel) finish(n float64, gains, lambda []float64) {
	for d, e := range k.policy.weights {
		sum := k.share(d, k.sumA[0], k.sumB[0], gains)
		for l := 1; l < levels && k.precise && e <= k.ceiling[l]; l++ {
			sum += k.share(d, k.sumA[l], k.sumB[l], gains)
		}
		lambda[d] = (lambda[d] + sum) / n
	}
}
