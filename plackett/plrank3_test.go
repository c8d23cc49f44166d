package plackett

import (
	"fmt"
	"math"
	"math/rand/v2"
	"slices"
	"testing"

	"github.com/plrank/plrank/internal/num"
	"github.com/plrank/plrank/internal/testkit"
)

// plRank3 is PL-Rank-3 of Oosterhuis (SIGIR 2022), the paper's fastest way to the estimate of
// PL-Rank-2: O(D + K log D) for a ranking, its sampling included. It is what plrank's
// speed is compared with. Its buffers are used again, so it allocates nothing.
type plRank3 struct {
	best    topK
	masses  []float64 // e_d
	weights []float64 // Σ_{x≤k} θ_x/M_x, by rank
	risks   []float64 // Σ_{x≤k} W_x/M_x
	inverse []float64 // 1/M_k
	placed  []bool
}

// sample draws a ranking into y after begin: the len(y) documents of highest score plus Gumbel
// noise −log(E), E exponential, in order. That is the order of the highest e_d/E, which need no
// logarithms: twice as fast as the paper's own way.
func (p *plRank3) sample(rng *rand.Rand, y []int) {
	p.best.reset(len(y))
	for d, e := range p.masses {
		x := keyed{rng.ExpFloat64() / e, d}
		if !p.best.full() || x.value < p.best.worst() {
			p.best.offer(x)
		}
	}
	for r, x := range p.best.entries {
		y[r] = x.document
	}
}

// begin prepares for the rankings of a query, of k places.
func (p *plRank3) begin(scores []float64, k int, lambda []float64) {
	p.masses, p.placed = num.Sized(p.masses, len(scores)), num.Sized(p.placed, len(scores))
	p.weights, p.risks, p.inverse = num.Sized(p.weights, k), num.Sized(p.risks, k), num.Sized(p.inverse, k)
	highest := slices.Max(scores)
	for d, m := range scores {
		p.masses[d] = math.Exp(m - highest)
	}
	clear(p.placed)
	clear(lambda)
}

// add adds the λ of a ranking: with W_k the reward from rank k on,
//
//	λ_d = Σ_k 1[y_k = d]·W_{k+1} + e_d·(ρ_d·Σ_{k≤r} θ_k/M_k − Σ_{k≤r} W_k/M_k)
//
// where r is the rank of d, or K if it is not placed.
func (p *plRank3) add(gains, discounts []float64, y []int, lambda []float64) {
	rest := 0.0 // M of what is not placed, then from the last rank up
	for _, d := range y {
		p.placed[d] = true
	}
	for d, e := range p.masses {
		if !p.placed[d] {
			rest += e
		}
	}
	reward := 0.0
	for r, d := range slices.Backward(y) {
		rest += p.masses[d]
		lambda[d] += reward
		reward += discounts[r] * gains[d]
		p.weights[r], p.risks[r] = discounts[r]/rest, reward/rest
	}
	weight, risk := 0.0, 0.0
	for r, d := range y {
		weight, risk = weight+p.weights[r], risk+p.risks[r]
		lambda[d] += p.masses[d] * (gains[d]*weight - risk)
	}
	for d, e := range p.masses {
		if !p.placed[d] {
			lambda[d] += e * (gains[d]*weight - risk)
		}
	}
	for _, d := range y {
		p.placed[d] = false
	}
}

func TestPLRank3AgreesWithPLRank2(t *testing.T) {
	rng := rand.New(rand.NewPCG(3, 3))
	var p plRank3
	for _, docs := range []int{1, 2, 7, 50, 200} {
		for _, cutoff := range []int{1, 5, 10} {
			l := list{discounts: dcg(cutoff)}
			for range docs {
				l.scores = append(l.scores, 2*rng.NormFloat64())
				l.gains = append(l.gains, float64(rng.IntN(16)))
			}
			lambda := make([]float64, docs)
			p.begin(l.scores, min(cutoff, docs), lambda)
			const samples = 20
			for range samples {
				y := make([]int, min(cutoff, docs))
				p.sample(rng, y)
				l.rankings = append(l.rankings, y)
				p.add(l.gains, l.discounts, y, lambda)
			}
			for d := range lambda {
				lambda[d] /= samples
			}
			what := fmt.Sprintf("%d documents, %d places: ", docs, cutoff)
			near(t, what+"the kernel", gradient(t, PLRank2, l, pack(l.rankings, min(cutoff, docs), 0)), lambda, 1e-12)
			near(t, what+"Algorithm 1", algorithm1(l.scores, l.gains, l.discounts, l.rankings), lambda, 1e-12)
		}
	}
}

// Its rankings have the chances of the policy: the first two places, by a χ² test.
func TestPLRank3SamplesHaveTheChancesOfThePolicy(t *testing.T) {
	scores := []float64{0.5, -0.3, 1.1, 0}
	rng := rand.New(rand.NewPCG(4, 3))
	const draws = 20_000
	var p plRank3
	y := make([]int, 2)
	p.begin(scores, len(y), make([]float64, len(scores)))
	counts := map[[2]int]float64{}
	for range draws {
		p.sample(rng, y)
		counts[[2]int(y)]++
	}
	chi := 0.0
	if err := testkit.Enumerate(scores, 2, func(y []int, chance float64) {
		off := counts[[2]int(y)] - draws*chance
		chi += off * off / (draws * chance)
	}); err != nil {
		t.Fatal(err)
	}
	if chi > 35 { // 11 degrees of freedom: p = 2.4e-4
		t.Errorf("χ² = %v", chi)
	}
}

// BenchmarkPLRank3 is a query's estimate by PL-Rank-3, sampling included.
func BenchmarkPLRank3(b *testing.B) {
	for _, size := range kernelSizes {
		b.Run(size.String(), func(b *testing.B) {
			scores, gains := benchmarkList(size.docs, 1)
			rng := rand.New(rand.NewPCG(1, 1))
			lambda := make([]float64, size.docs)
			y := make([]int, size.cutoff)
			var p plRank3
			b.ReportAllocs()
			for b.Loop() {
				p.begin(scores, len(y), lambda)
				for range size.samples {
					p.sample(rng, y)
					p.add(gains, dcg5, y, lambda)
				}
			}
		})
	}
}

// BenchmarkPLRank3Given and BenchmarkGiven are the estimates alone, from the same rankings, by
// PL-Rank-3 and by the kernel's PL-Rank-RB.
func BenchmarkPLRank3Given(b *testing.B) {
	for _, size := range kernelSizes {
		b.Run(size.String(), func(b *testing.B) {
			scores, gains, r := givenRankings(b, size)
			lambda := make([]float64, size.docs)
			var p plRank3
			b.ReportAllocs()
			for b.Loop() {
				p.begin(scores, size.cutoff, lambda)
				for y := range slices.Chunk(r.Documents, size.cutoff) {
					p.add(gains, dcg5, y, lambda)
				}
			}
		})
	}
}

func BenchmarkGiven(b *testing.B) {
	for _, size := range kernelSizes {
		b.Run(size.String(), func(b *testing.B) {
			scores, gains, r := givenRankings(b, size)
			lambda := make([]float64, size.docs)
			var k Kernel
			b.ReportAllocs()
			for b.Loop() {
				if _, err := k.Gradient(PLRankRB, scores, gains, dcg5, r, lambda); err != nil {
					b.Fatal(err)
				}
			}
		})
	}
}

// kernelSizes are those at which lab/speed.md compares.
var kernelSizes = []querySize{{24, 5, 1000}, {125, 5, 10}, {125, 5, 100}, {125, 5, 1000}, {1000, 5, 1000}}

func givenRankings(b *testing.B, size querySize) (scores, gains []float64, r Rankings) {
	scores, gains = benchmarkList(size.docs, 1)
	r = Rankings{Documents: make([]int, size.samples*size.cutoff), Cutoff: size.cutoff}
	if err := new(Sampler).Draw(scores, Stream{Seed: 1}, r); err != nil {
		b.Fatal(err)
	}
	return scores, gains, r
}
