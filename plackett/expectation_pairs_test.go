package plackett

import (
	"math"
	"math/rand/v2"
	"testing"

	"pgregory.net/rapid"

	"github.com/plrank/plrank/internal/testkit"
)

// pairReward is the share of pairs in the right order.
func pairReward(labels []float64, cutoff int) func(ranking []int) float64 {
	return func(ranking []int) float64 {
		rank := make([]int, len(labels))
		for d := range rank {
			rank[d] = len(labels)
		}
		for k, d := range ranking[:min(cutoff, len(ranking))] {
			rank[d] = k
		}
		right, pairs := 0.0, 0.0
		for i := range labels {
			for j := range labels {
				if labels[i] > labels[j] {
					pairs++
					if rank[i] < rank[j] {
						right++
					} else if rank[i] == rank[j] {
						right += .5
					}
				}
			}
		}
		return right / max(1, pairs)
	}
}

func TestPairAccuracyAgreesWithEnumeration(t *testing.T) {
	standard, tight := new(Expectation), &Expectation{Tolerance: tightest}
	rapid.Check(t, func(t *rapid.T) {
		l := drawHardList(t, 6)
		cutoff := rapid.IntRange(0, len(l.scores)).Draw(t, "k")
		want := enumerateReward(t, l.scores, len(l.scores), pairReward(l.gains, (cutoff+len(l.scores)-1)%len(l.scores)+1))
		for tolerance, e := range map[float64]*Expectation{defaultTolerance: standard, 4 * tightest: tight} {
			got := testkit.Moments{Gradient: make([]float64, len(l.scores))}
			var err error
			if got.Reward, err = e.PairAccuracy(l.scores, l.gains, cutoff, got.Gradient); err != nil {
				t.Fatal(err)
			}
			if off := max(distance(got.Gradient, want.Gradient), math.Abs(got.Reward-want.Reward)); !(off <= tolerance) {
				t.Fatalf("λ, R off by %.2g, allowed %.2g: %v, want %v", off, tolerance, got, want)
			}
			if value, err := e.PairAccuracy(l.scores, l.gains, cutoff, nil); err != nil || value != got.Reward {
				t.Fatalf("the value alone is %v, %v; with the gradient %v", value, err, got.Reward)
			}
		}
	})
}

// Long lists: the default tolerance against the tightest, and near the end of a list against all ranks.
func TestPairAccuracyKeepsItsTolerance(t *testing.T) {
	rng := rand.New(rand.NewPCG(5, 5))
	var standard Expectation
	tight := Expectation{Tolerance: tightest}
	for _, docs := range []int{20, 60, 100} {
		for _, cutoff := range []int{1, 5, 20, docs - 1} {
			for _, spread := range []float64{0, 1, 5} {
				scores, labels := gaussian(rng, docs, spread), make([]float64, docs)
				for d := range labels {
					labels[d] = float64(rng.IntN(4))
				}
				lambda, want := make([]float64, docs), make([]float64, docs)
				value, err := standard.PairAccuracy(scores, labels, cutoff, lambda)
				exact, err2 := tight.PairAccuracy(scores, labels, cutoff, want)
				if off := max(distance(lambda, want), math.Abs(value-exact)); err != nil || err2 != nil || !(off <= defaultTolerance) {
					t.Errorf("%d documents, cutoff %d, spread %v: off by %.2g, %v, %v", docs, cutoff, spread, off, err, err2)
				}
				if cutoff == docs-1 { // the last document has no choice
					if exact, _ = tight.PairAccuracy(scores, labels, 0, want); !(max(distance(lambda, want), math.Abs(value-exact)) <= defaultTolerance) {
						t.Errorf("%d documents, spread %v: %v but for the last rank, %v of all", docs, spread, value, exact)
					}
				}
			}
		}
	}
}
