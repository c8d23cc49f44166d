package plackett

import (
	"cmp"
	"math"

	"github.com/plrank/plrank/internal/num"
	"github.com/plrank/plrank/plackett/internal/lanes"
)

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
// M_k comes from M_1 by subtraction of what has been placed, in twice the precision. The
// correction cancels what was added, which loses digits when little mass is left. So
// rankings have levels, by the share of M_1 that is left at their last rank. Those of
// level 0 leave 1/64 or more; from level to level a factor of 64 less is left, and only
// documents that are light enough for a level take part in its sums (heavier
// ones are sure to be placed). Rankings that leave less than 64^−7 are extreme:
// their M_k are rebuilt from the tail, each relative to the largest score that is
// left, and every document is computed by itself, in O(D).
//
// Eight rankings are computed at a time, by package lanes.
type Kernel struct {
	policy    policy
	documents []document
	mark      uint64 // of the documents of the current ranking

	// The rankings that are present, as read by load, eight to a block: ranking i is
	// number i%8 of block i/8.
	cutoff  int
	samples []sample
	entries [][lanes.Width]int32 // [blocks × cutoff] positions of the documents placed
	ranks   []lanes.Rank         // [blocks × cutoff]; W of an extreme ranking is what its M_k are relative to

	// M_1 and S_1 = Σ e_d·ρ_d; the sums of A_K and B_K over the rankings of a level, and the
	// largest e_d of the documents that take part in them.
	mass, gain          lanes.Total
	sumA, sumB, ceiling [levels]float64
	highest             int8 // level of a ranking

	top          topK
	baseline     []float64
	ones         []float64
	placed       []lanes.Vec // what the documents of a block get
	credit       lanes.Credit
	lightest     lanes.Vec    // the ceilings of the rankings of a block
	shared       lanes.Shared // their sums
	row          []int        // the documents of the likeliest ranking, or of an extreme one,
	future, risk []float64    // and the f_k and g_k of that
}

// document holds the weights of a document.
type document struct {
	weight, weightedGain float64 // e_d, and c·e_d·ρ_d
	mark                 uint64  // of the last ranking that placed it
}

// sample describes a ranking that was read.
type sample struct {
	origin int  // its number among the rankings given
	length int  // how many documents it has
	level  int8 // how little mass it leaves
}

// load reads the scores and the first cutoff ranks of the rankings, and prepares for every rank 1/M_k and ρ̄_k, the mean gain of
// the documents left before it. Without gains, c is 0. It checks that all rows are rankings of the list.
func (k *Kernel) load(scores, gains []float64, r Rankings, cutoff int) error {
	if err := k.policy.reset(scores); err != nil {
		return err
	}
	n, err := r.samples()
	if err != nil {
		return err
	}
	k.cutoff = cutoff
	blocks := n/lanes.Width + 2 // the last may be begun, and one more is for the likeliest ranking
	k.entries, k.ranks = num.Sized(k.entries, blocks*cutoff), num.Sized(k.ranks, blocks*cutoff)
	k.baseline, k.ones = num.Sized(k.baseline, cutoff), num.Sized(k.ones, cutoff)
	for p := range k.ones {
		k.baseline[p], k.ones[p] = 0, 1
	}
	k.placed, k.row = num.Sized(k.placed, cutoff), num.Sized(k.row, cutoff)
	k.future, k.risk = num.Sized(k.future, cutoff), num.Sized(k.risk, cutoff)
	k.weighDocuments(gains)
	k.samples = k.samples[:0]
	for i := 0; i < n; {
		b := len(k.samples) / lanes.Width
		if i, err = k.read(b, i, r); err != nil {
			return err
		}
		k.prepare(b, k.block(b), gains)
	}
	return nil
}

// weighDocuments prepares the weights of the documents and their sums.
func (k *Kernel) weighDocuments(gains []float64) {
	k.mass, k.gain = lanes.Total{}, lanes.Total{}
	k.documents = num.Sized(k.documents, len(k.policy.weights))
	clear(k.documents)
	for d, e := range k.policy.weights {
		k.mass.Add(e)
		k.documents[d].weight = e
		if gains != nil {
			k.documents[d].weightedGain = e * gains[d]
			k.gain.Add(e * gains[d])
		}
	}
	k.mark = 0
	for l, most := 0, k.mass.High; l < levels; l++ {
		k.ceiling[l] = most
		most /= levelStep
	}
	k.highest = 0
}

// blocks returns the number of blocks of samples.
func (k *Kernel) blocks() int { return (len(k.samples) + lanes.Width - 1) / lanes.Width }

// block returns the samples of block b.
func (k *Kernel) block(b int) []sample {
	return k.samples[b*lanes.Width : min((b+1)*lanes.Width, len(k.samples))]
}

// blockRanks returns the entries and the ranks of block b.
func (k *Kernel) blockRanks(b int) ([][lanes.Width]int32, []lanes.Rank) {
	return k.entries[b*k.cutoff : (b+1)*k.cutoff], k.ranks[b*k.cutoff : (b+1)*k.cutoff]
}

// read copies the documents of rankings from ranking i on to block b, as many as there is room
// for, and returns the number of the next.
func (k *Kernel) read(b, i int, r Rankings) (next int, err error) {
	entries, ranks := k.blockRanks(b)
	documents, mark := k.documents, k.mark
	for lane := uint(0); lane < lanes.Width && i*r.Cutoff < len(r.Documents); i++ {
		row := r.Documents[i*r.Cutoff:][:len(ranks)]
		length := 0
		mark++
		for p, entry := range row {
			d := entry - r.Base
			if uint(d) >= uint(len(documents)) {
				break
			}
			document := &documents[d]
			if document.mark == mark {
				break
			}
			document.mark = mark
			entries[p][lane] = int32(d)
			ranks[p].W[lane], ranks[p].V[lane] = document.weight, document.weightedGain
			length = p + 1
		}
		for p := length; p < len(row); p++ { // -1: the end, or absent
			if row[p] != -1 {
				return i, r.fault(i, p, length, len(documents))
			}
			ranks[p].W[lane], ranks[p].V[lane] = 0, 0
		}
		if length > 0 {
			k.samples = append(k.samples, sample{origin: i, length: length})
			lane++
		}
	}
	k.mark = mark
	return i, nil
}

// prepare computes 1/M_k and ρ̄_k of the samples of block b, and their levels. Ranks without a
// document have 0.
func (k *Kernel) prepare(b int, samples []sample, gains []float64) {
	_, ranks := k.blockRanks(b)
	lanes.Remain(ranks, &k.mass, &k.gain)
	for lane := range lanes.Width {
		length := 0
		if lane < len(samples) {
			s := &samples[lane]
			length = s.length
			if s.level = k.levelOf(ranks[length-1].Inverse[lane]); s.level == extreme {
				k.rebuild(b, lane, length, gains)
			}
			k.highest = max(k.highest, s.level)
		}
		for p := length; p < len(ranks); p++ {
			ranks[p].Inverse[lane], ranks[p].Gain[lane] = 0, 0
		}
	}
}

// setGains sets the gains of the ranks of block b by their samples, ranks and documents.
func (k *Kernel) setGains(b int, samples []sample, gain func(s sample, p, d int) float64) {
	entries, ranks := k.blockRanks(b)
	for lane, s := range samples {
		for p := range s.length {
			ranks[p].Gain[lane] = gain(s, p, int(entries[p][lane]))
		}
	}
}

// sum writes the sum over the rankings, divided by n, to lambda if it is not nil, and returns the sum
// of the rewards. Entries that are negligible relative to scale become 0.
func (k *Kernel) sum(c lanes.Credit, theta, gains, lambda []float64, n, scale float64) (rewards float64) {
	clear(lambda)
	if len(k.samples) == 0 {
		return 0
	}
	k.credit, k.sumA, k.sumB = c, [levels]float64{}, [levels]float64{}
	for b := range k.blocks() {
		rewards += k.accumulate(b, theta, gains, lambda)
	}
	if lambda == nil {
		return rewards
	}
	for i, d := range k.documents {
		sum := d.weightedGain*k.sumA[0] - d.weight*k.sumB[0]
		for l := int8(1); l <= k.highest && d.weight <= k.ceiling[l]; l++ {
			sum += d.weightedGain*k.sumA[l] - d.weight*k.sumB[l]
		}
		lambda[i] = (lambda[i] + sum) / n
	}
	flushNegligible(lambda, scale)
	return rewards
}

// accumulate adds the λ of the rankings of block b to lambda, if it is not nil, except what all
// documents share, which it adds to the sums of the rankings' levels. It returns the sum of their
// rewards.
func (k *Kernel) accumulate(b int, theta, gains, lambda []float64) (reward float64) {
	entries, ranks := k.blockRanks(b)
	samples := k.block(b)
	for lane, s := range samples {
		k.lightest[lane] = k.ceiling[max(0, s.level)]
	}
	placed := k.placed[:len(entries)]
	lanes.Place(placed, ranks, theta, k.baseline, &k.credit, &k.lightest, &k.shared)
	for lane, s := range samples {
		reward += k.shared.Reward[lane]
		if lambda == nil {
			continue
		}
		if s.level == extreme {
			k.accumulateExtreme(b, lane, s.length, theta, gains, lambda)
			continue
		}
		for p := range entries[:s.length] {
			lambda[entries[p][lane]] += placed[p][lane]
		}
		k.sumA[s.level] += k.shared.A[lane]
		k.sumB[s.level] += k.shared.B[lane]
	}
	return reward
}

// Exposure writes to out an estimate of the expected exposure of every document,
// E_d = E_y[Σ_k θ_k 1[y_k = d]]: the mean over the rankings of e_d·A_{r(d)}, i.e.
// Σ_k θ_k P_k(d), which has the same expectation as the exposure in the rankings
// themselves and, unless a ranking places nearly all documents, less variance. O(D + N·K).
// With no ranking present it is zero; entries below 1e-20·Σ|θ| are 0. Exposure returns the errors of
// [Kernel.Gradient].
func (k *Kernel) Exposure(scores, discounts []float64, r Rankings, out []float64) error {
	if err := cmp.Or(checkLength("exposure", len(out), len(scores)), checkDiscounts(discounts)); err != nil {
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

// LogProbs writes log P_k(y_k) of every rank of every ranking to out, which has the
// shape of the rankings: their sum over a ranking is log π(y). Ranks without a document
// get 0. LogProbs returns the errors of [Kernel.Gradient].
func (k *Kernel) LogProbs(scores []float64, r Rankings, out []float64) error {
	if err := checkLength("log-probabilities", len(out), len(r.Documents)); err != nil {
		return err
	}
	if err := k.load(scores, nil, r, r.Cutoff); err != nil {
		return err
	}
	clear(out)
	for i, s := range k.samples {
		entries, ranks := k.blockRanks(i / lanes.Width)
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
// respect to the scores: Σ_{i,k} w_{ik} (1[y_k = d] − P_k(d)), in O(D + N·K). Entries below
// 1e-20·Σ|w| are 0. The weights w have the shape of the rankings. LogProbsGradient returns the errors
// of [Kernel.Gradient].
func (k *Kernel) LogProbsGradient(scores []float64, r Rankings, w, lambda []float64) error {
	err := cmp.Or(checkLength("weights", len(w), len(r.Documents)), checkFinite("weight", w),
		checkLength("lambda", len(lambda), len(scores)))
	if err != nil {
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
