package plackett

import (
	"math"
	"slices"

	"github.com/plrank/plrank/internal/num"
)

// Sampler draws rankings from the Plackett–Luce policy of one list at a time:
// the exact top K by one of three methods that differ in cost only.
//
//   - Alias table with rejection: draw from all documents in O(1), again while
//     the document drawn is already placed. When the K−1 likeliest documents
//     have at most half of the mass, a draw is accepted with probability of at
//     least 1/2, so a ranking costs O(K) whatever D.
//   - Head and tail, for peaked scores: the K−1 likeliest documents (the head) are
//     drawn by a scan of those not yet placed, the rest by an alias table with
//     rejection. However peaked the scores, j placed tail documents leave j head
//     documents or more, each at least as likely as any of the tail: again a draw
//     is accepted with probability of at least 1/2, so a ranking costs O(K²).
//   - Exponential race, for long rankings from peaked scores, for very few samples
//     (no table to build), and, in log space, for scores so far apart that
//     exp underflows, see [Compact]: document d finishes at −log(u_d)/e_d, the K first are the
//     ranking (Gumbel-top-K in another guise), O(D) logarithms at worst.
type Sampler struct {
	policy policy
	random generator
	table  alias
	stamp  []uint32 // stamp[d] == mark: d is placed in the present ranking
	mark   uint32
	top    topK
	head   []keyed   // head and tail: the likeliest documents and their weights, in top,
	left   []keyed   // the ones not yet placed,
	tail   []int32   // the other documents,
	masses []float64 // their weights
	rest   float64   // and the sum of these

	compact []float64 // the scores of a race in log space
}

// maxSpread is the largest difference of scores at which exp(m_d − max) is a
// normal float64 for all documents, with room for products and quotients.
const maxSpread = 600

// From fewestForTable samples on a table is worth building; beyond longestHead
// ranks the scans of the head cost more than a race.
const (
	fewestForTable = 3
	longestHead    = 256
)

// Draw fills rankings with independent draws from the policy of the list with log-scores
// m, by the random numbers of a stream. It returns a [*NumberError] for a score that is NaN
// or infinite.
func (s *Sampler) Draw(scores []float64, from Stream, rankings Rankings) error {
	samples, err := rankings.samples()
	if err != nil {
		return err
	}
	if err := s.policy.reset(scores); err != nil {
		return err
	}
	length := min(rankings.Cutoff, len(scores))
	if len(s.stamp) < len(scores) {
		s.stamp = append(s.stamp, make([]uint32, len(scores)-len(s.stamp))...)
	}
	draw := s.prepare(samples, length)
	s.random = from.start()
	for i := range samples {
		ranking := rankings.sample(i)
		s.nextMark()
		draw(s, ranking[:length])
		for k := range length {
			ranking[k] += rankings.Base
		}
		for k := length; k < len(ranking); k++ {
			ranking[k] = -1
		}
	}
	return nil
}

// nextMark unplaces all documents.
func (s *Sampler) nextMark() {
	s.mark++
	if s.mark == 0 { // after 2^32 rankings
		clear(s.stamp)
		s.mark = 1
	}
}

// prepare picks the method for rankings of k places and builds what it needs.
func (s *Sampler) prepare(samples, k int) func(*Sampler, []int) {
	if k == 0 { // no documents
		return func(*Sampler, []int) {}
	}
	if s.policy.max-slices.Min(s.policy.scores) > maxSpread {
		s.compact = num.Sized(s.compact, len(s.policy.scores))
		Compact(s.policy.scores, s.compact)
		return (*Sampler).logRace
	}
	if samples < fewestForTable {
		return (*Sampler).linearRace
	}
	s.top.likeliest(s.policy.scores, k)
	s.head = s.top.entries[:k-1]
	headMass := 0.0
	for i, r := range s.head {
		s.head[i].value = s.policy.weights[r.document]
		headMass += s.head[i].value
	}
	switch {
	case 2*headMass <= s.policy.mass:
		s.table.build(s.policy.weights, s.policy.mass)
		return (*Sampler).aliasDraw
	case k <= longestHead:
		s.buildTail()
		return (*Sampler).headTailDraw
	}
	return (*Sampler).linearRace
}

// buildTail makes the table of the documents that are not in the head.
func (s *Sampler) buildTail() {
	s.nextMark()
	for _, r := range s.head {
		s.stamp[r.document] = s.mark
	}
	s.tail, s.masses, s.rest = s.tail[:0], s.masses[:0], 0
	for d, e := range s.policy.weights {
		if s.stamp[d] != s.mark {
			s.tail = append(s.tail, int32(d))
			s.masses = append(s.masses, e)
			s.rest += e
		}
	}
	s.table.build(s.masses, s.rest)
}

func (s *Sampler) aliasDraw(ranking []int) {
	stamp, mark, random := s.stamp, s.mark, s.random
	for k := 0; k < len(ranking); {
		d := s.table.pick(random.next())
		if stamp[d] != mark {
			stamp[d] = mark
			ranking[k] = d
			k++
		}
	}
	s.random = random
}

func (s *Sampler) headTailDraw(ranking []int) {
	s.left = append(s.left[:0], s.head...)
	for k := range ranking {
		mass := s.rest
		for i := range s.left {
			mass += s.left[i].value
		}
		d := s.headOrTail(mass)
		for s.stamp[d] == s.mark {
			d = s.headOrTail(mass)
		}
		s.stamp[d], ranking[k] = s.mark, d
	}
}

// headOrTail draws from the head documents left and the whole tail. It removes a head document from
// those left.
func (s *Sampler) headOrTail(mass float64) int {
	u := s.random.open() * mass
	for i, r := range s.left {
		if u -= r.value; u < 0 {
			s.left = append(s.left[:i], s.left[i+1:]...)
			return r.document
		}
	}
	return int(s.tail[s.table.pick(s.random.next())])
}

// linearRace runs the exponential race on e_d.
func (s *Sampler) linearRace(ranking []int) {
	s.top.reset(len(ranking))
	for d, e := range s.policy.weights {
		v := s.random.open()
		// −log(1−v) ≥ v: most documents are out without a logarithm.
		if !s.top.full() || v < s.top.worst()*e {
			s.top.offer(keyed{-math.Log1p(-v) / e, d})
		}
	}
	s.top.copyTo(ranking)
}

// logRace runs the race on the logarithms of the times, log(−log u) − m_d, of scores that
// are compact.
func (s *Sampler) logRace(ranking []int) {
	s.top.reset(len(ranking))
	for d, m := range s.compact {
		s.top.offer(keyed{math.Log(-math.Log1p(-s.random.open())) - m, d})
	}
	s.top.copyTo(ranking)
}

// keyed is a document with a value by which the smallest come first, such as its finishing
// time in a race.
type keyed struct {
	value    float64
	document int
}

// topK keeps the k documents of smallest value, in order; of equal values the one that
// was offered earlier stands first.
type topK struct {
	entries []keyed
	k       int
}

func (t *topK) reset(k int) {
	t.k = k
	t.entries = num.Sized(t.entries, k)[:0]
}

// full reports whether a document needs a value below worst to be kept.
func (t *topK) full() bool     { return len(t.entries) == t.k }
func (t *topK) worst() float64 { return t.entries[t.k-1].value }

// offer keeps x if it is among the best so far.
func (t *topK) offer(x keyed) {
	if !t.full() {
		t.entries = append(t.entries, x)
	} else if x.value >= t.worst() {
		return
	}
	at, end := 0, len(t.entries)-1 // the first rank whose value is above x's
	for at < end {
		if mid := (at + end) / 2; t.entries[mid].value > x.value {
			end = mid
		} else {
			at = mid + 1
		}
	}
	copy(t.entries[at+1:], t.entries[at:len(t.entries)-1])
	t.entries[at] = x
}

// likeliest keeps the k documents of highest score, in descending order of score, ties
// by position. The values are −m_d.
func (t *topK) likeliest(scores []float64, k int) {
	t.reset(k)
	for d, m := range scores {
		if !t.full() || -m < t.worst() {
			t.offer(keyed{-m, d})
		}
	}
}

// copyTo writes the documents to the beginning of a ranking.
func (t *topK) copyTo(ranking []int) {
	for k, x := range t.entries {
		ranking[k] = x.document
	}
}
