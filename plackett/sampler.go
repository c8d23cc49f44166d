package plackett

import (
	"math"
	"slices"

	"github.com/plrank/plrank/plackett/internal/lanes"
)

// Sampler draws rankings from the Plackett–Luce policy of one list at a time:
// the exact top K by one of three methods that differ in cost only.
//
//   - Head and tail: the K−1 likeliest documents (the head) are drawn by a scan of those not
//     yet placed, the rest (the tail) by an alias table with rejection. However peaked the scores,
//     j placed tail documents leave j head documents or more, each at least as likely as any
//     of the tail: a draw is accepted with probability of at least 1/2. So it is without
//     a head, all by the table, when the K−1 likeliest have at most half of the mass. A
//     ranking costs O(K²) operations, but eight rankings are drawn at a time by vector
//     instructions, and documents that are not drawn are not looked at.
//   - Exponential race, for long rankings from peaked scores, for very few samples
//     (no table to build), and, in log space, for scores so far apart that
//     exp underflows: document d finishes at −log(u_d)/e_d, the K first are the
//     ranking (Gumbel-top-K in another guise), O(D) logarithms at worst.
type Sampler struct {
	policy policy
	random generator
	table  alias
	top    topK
	inHead []bool
	head   []lanes.Likely // the likeliest documents,
	tail   []int32        // the others,
	masses []float64      // their weights,
	rest   float64        // and the sum of those
	left   []lanes.Vec
	drawn  [][lanes.Width]int64
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
// m, by the random numbers of a stream. A score that is NaN or infinite is a
// [*NumberError].
func (s *Sampler) Draw(scores []float64, from Stream, rankings Rankings) error {
	samples, err := rankings.samples()
	if err != nil {
		return err
	}
	if err := s.policy.reset(scores); err != nil {
		return err
	}
	length := min(rankings.Cutoff, len(scores))
	s.random = from.start()
	if length > 0 {
		if race := s.prepare(samples, length); race == nil {
			s.headTail(rankings, samples, length)
		} else {
			for i := range samples {
				race(s, rankings.sample(i)[:length])
			}
		}
	}
	if rankings.Base == 0 && length == rankings.Cutoff {
		return nil
	}
	for i := range samples {
		ranking := rankings.sample(i)
		for k := range ranking {
			if k < length {
				ranking[k] += rankings.Base
			} else {
				ranking[k] = -1
			}
		}
	}
	return nil
}

// prepare returns the race that draws rankings of k places, or nil where head and tail do, of
// which it makes the tables.
func (s *Sampler) prepare(samples, k int) (race func(*Sampler, []int)) {
	if s.policy.max-slices.Min(s.policy.scores) > maxSpread {
		return (*Sampler).logRace
	}
	if samples < fewestForTable {
		return (*Sampler).linearRace
	}
	s.top.likeliest(s.policy.scores, k-1)
	head, mass := s.top.entries, 0.0
	for _, r := range head {
		mass += s.policy.weights[r.document]
	}
	if 2*mass <= s.policy.mass {
		head = nil
	}
	if len(head) >= longestHead {
		return (*Sampler).linearRace
	}
	s.split(head)
	return nil
}

// split makes the head of documents, and the table of the tail of the others.
func (s *Sampler) split(head []keyed) {
	s.inHead = grow(s.inHead, len(s.policy.weights))
	clear(s.inHead)
	s.head = s.head[:0]
	for _, r := range head {
		s.head = append(s.head, lanes.Likely{Weight: s.policy.weights[r.document], Document: int64(r.document)})
		s.inHead[r.document] = true
	}
	s.rest = 0
	s.tail, s.masses = s.tail[:0], s.masses[:0]
	for d, e := range s.policy.weights {
		if !s.inHead[d] {
			s.tail = append(s.tail, int32(d))
			s.masses = append(s.masses, e)
			s.rest += e
		}
	}
	s.table.build(s.tail, s.masses, s.rest)
}

// headTail draws rankings of length places, each by a generator of its own.
func (s *Sampler) headTail(rankings Rankings, samples, length int) {
	s.left = grow(s.left, len(s.head))
	s.drawn = grow(s.drawn, length)
	for first := 0; first < samples; first += lanes.Width {
		var counters [lanes.Width]uint64
		for l := range counters {
			counters[l] = s.random.split(uint64(first + l)).counter
		}
		lanes.Draw(s.drawn, s.head, s.left, s.rest, s.table.cells, &counters)
		for l := range min(lanes.Width, samples-first) {
			ranking := rankings.sample(first + l)[:length]
			for k := range s.drawn {
				ranking[k] = int(s.drawn[k][l])
			}
		}
	}
}

// linearRace is the exponential race on e_d.
func (s *Sampler) linearRace(ranking []int) {
	s.top.reset(len(ranking))
	for d, e := range s.policy.weights {
		v := s.random.open()
		// −log(1−v) ≥ v: most documents are out without a logarithm.
		if s.top.full() && v >= s.top.worst()*e {
			continue
		}
		s.top.offer(keyed{-math.Log1p(-v) / e, d})
	}
	s.finish(ranking)
}

// logRace is the race on the logarithms of the times, log(−log u) − m_d, which
// no spread of scores takes out of range.
func (s *Sampler) logRace(ranking []int) {
	s.top.reset(len(ranking))
	for d, m := range s.policy.scores {
		s.top.offer(keyed{math.Log(-math.Log1p(-s.random.open())) - m, d})
	}
	s.finish(ranking)
}

func (s *Sampler) finish(ranking []int) {
	for k, r := range s.top.entries {
		ranking[k] = r.document
	}
}
