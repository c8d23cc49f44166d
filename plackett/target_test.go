package plackett

import (
	"errors"
	"math"
	"math/rand/v2"
	"slices"
	"testing"

	"gonum.org/v1/gonum/floats"

	"github.com/plrank/plrank/internal/testkit"
)

// targetCase is a list with groups and what their shares are at offsets, by enumeration.
type targetCase struct {
	TargetList
	least []float64
}

func (c targetCase) scores(offsets []float64) []float64 {
	scores := slices.Clone(c.Scores)
	for g, group := range c.Groups {
		for _, d := range group {
			scores[d] += offsets[g]
		}
	}
	return scores
}

func (c targetCase) shares(t *testing.T, offsets []float64) []float64 {
	t.Helper()
	x, err := testkit.EnumerateMoments(c.scores(offsets), make([]float64, len(c.Scores)), c.Discounts)
	check(t, err)
	shares := make([]float64, len(c.Groups))
	for g, group := range c.Groups {
		for _, d := range group {
			shares[g] += x.Exposure[d] / floats.Sum(c.Discounts)
		}
	}
	return shares
}

// divergence is the Kullback–Leibler divergence of the rankings with offsets from the rankings without.
func (c targetCase) divergence(t *testing.T, offsets []float64) (sum float64) {
	t.Helper()
	var k Kernel
	logs := make([]float64, len(c.Discounts))
	check(t, testkit.Enumerate(c.scores(offsets), len(c.Discounts), func(ranking []int, p float64) {
		check(t, k.LogProbs(c.Scores, Rankings{Documents: ranking, Cutoff: len(ranking)}, logs))
		sum += p * (math.Log(p) - floats.Sum(logs))
	}))
	return sum
}

// search minimises a function by steps in random directions, which are halved where none goes down.
func search(rng *rand.Rand, x []float64, f func(x []float64) float64) (at []float64, value float64) {
	value = f(x)
	for size := 2.; size > 1e-5; size /= 2 {
		for range 12 * len(x) {
			next := slices.Clone(x)
			for i := range next {
				next[i] += size * rng.NormFloat64()
			}
			if v := f(next); v < value {
				x, value = next, v
			}
		}
	}
	return x, value
}

func randomTarget(rng *rand.Rand, groups int) targetCase {
	c := targetCase{TargetList: TargetList{Discounts: []float64{1, .63, .5}}}
	for range 6 {
		c.Scores = append(c.Scores, 2*rng.NormFloat64())
	}
	documents := rng.Perm(6)
	for g := range groups {
		c.Groups = append(c.Groups, documents[2*g:2*g+1+rng.IntN(2)])
		c.least = append(c.least, .05+.3*rng.Float64())
	}
	return c
}

// Shares are met to 1e-9, and no other policy of the family that meets them has less divergence: a general optimiser, which pays for
// what is missing, finds none. The divergence is Kullback and Leibler's where all targets bind.
func TestOffsetsAreTheNearestPolicy(t *testing.T) {
	rng := rand.New(rand.NewPCG(3, 1))
	binding, slack := 0, 0
	for i := range 30 {
		c := randomTarget(rng, 1+i%2)
		offsets, shares, err := Offsets([]TargetList{c.TargetList}, c.least)
		check(t, err)
		all := true
		for g, share := range c.shares(t, offsets) {
			if offsets[g] < 0 || share < c.least[g]-1e-8 || offsets[g] > 0 && share > c.least[g]+1e-8 || math.Abs(share-shares[g]) > 1e-8 {
				t.Fatalf("%+v: offsets %v, share %v of group %d, of %v", c, offsets, share, g, shares)
			}
			if offsets[g] == 0 {
				all = false
			}
		}
		if !all {
			slack++
			continue
		}
		binding++
		const price = 1e5
		found, best := search(rng, make([]float64, len(offsets)), func(x []float64) float64 {
			value := c.divergence(t, x)
			for g, share := range c.shares(t, x) {
				lack := max(0, c.least[g]-share)
				value += price * lack * lack
			}
			return value
		})
		if own := c.divergence(t, offsets); own > best+1e-3*(1+own) {
			t.Errorf("%+v: the divergence at %v is %v, and %v at %v", c, offsets, own, best, found)
		}
	}
	if binding < 10 || slack < 5 {
		t.Errorf("%d cases bind, %d do not", binding, slack)
	}
}

// Over several lists the shares are of all exposure, and pinned documents have theirs.
func TestOffsetsOfSeveralLists(t *testing.T) {
	rng := rand.New(rand.NewPCG(3, 2))
	var lists []TargetList
	var cases []targetCase
	for range 20 {
		c := randomTarget(rng, 2)
		lists, cases = append(lists, c.TargetList), append(cases, c)
	}
	least := []float64{.4, .3}
	offsets, _, err := Offsets(lists, least)
	check(t, err)
	sums := make([]float64, 2)
	for _, c := range cases {
		floats.AddScaled(sums, 1/float64(len(cases)), c.shares(t, offsets))
	}
	for g, share := range sums {
		if math.Abs(share-least[g]) > 1e-8 {
			t.Errorf("group %d has %v", g, share)
		}
	}
	fixed := TargetList{Scores: []float64{1, 0}, Discounts: []float64{.6, .3}, Groups: [][]int{{1}}, Fixed: []float64{.5}, All: 2}
	_, shares, err := Offsets([]TargetList{fixed}, []float64{.5})
	if err != nil || math.Abs(shares[0]-.5) > 1e-8 { // .5 and .5 of .3 to .6
		t.Errorf("%v, %v", shares, err)
	}
}

func TestOffsetsThatAreImpossible(t *testing.T) {
	list := TargetList{Scores: []float64{900, -20, 0, 3}, Discounts: []float64{1, .5}, Groups: [][]int{{1}, {2, 3}}}
	for _, c := range []struct {
		least  []float64
		target int
		most   float64
	}{{[]float64{2 / 3., 0}, 0, 2 / 3.}, {[]float64{.1, 1}, 1, 1}, {[]float64{.6, .6}, -1, 0}} {
		var e *TargetError
		if _, _, err := Offsets([]TargetList{list}, c.least); !errors.As(err, &e) || c.target >= 0 && (e.Target != c.target || math.Abs(e.Most-c.most) > 1e-12) {
			t.Errorf("%v: %v", c.least, err)
		}
	}
	offsets, shares, err := Offsets([]TargetList{list}, []float64{.6, .2})
	if err != nil || math.Abs(shares[0]-.6) > 1e-8 || math.Abs(shares[1]-.2) > 1e-8 {
		t.Errorf("far apart: %v, %v, %v", offsets, shares, err)
	}
	for _, c := range []TargetList{
		{Scores: []float64{math.NaN()}, Discounts: []float64{1}, Groups: [][]int{{0}}}, {Scores: []float64{1}, Discounts: []float64{1, 2}, Groups: [][]int{{0}}},
		{Scores: []float64{1}, Discounts: []float64{1}, Groups: [][]int{{1}}}, {Scores: []float64{1}, Discounts: []float64{1}},
	} {
		if _, _, err := Offsets([]TargetList{c}, []float64{0}); err == nil {
			t.Errorf("no error for %+v", c)
		}
	}
}
