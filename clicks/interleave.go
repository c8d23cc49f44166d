package clicks

import (
	"fmt"
	"math"
	"math/bits"
	"math/rand/v2"
	"slices"
	"sync"

	"gonum.org/v1/gonum/floats"

	"github.com/plrank/plrank/metrics"
	"github.com/plrank/plrank/plackett"
)

// A turn is what decides how a draft goes on: the documents that are left, and the models that have their turn in this round.
type turn struct {
	taken   []bool
	waiting uint64
}

// next returns the document that each model would add, and whether it is the same for all. orders has their documents,
// best first. Some are left.
func (t *turn) next(orders [][]int, next []int) (same bool) {
	same = true
	for m, order := range orders {
		i := 0
		for t.taken[order[i]] {
			i++
		}
		next[m] = order[i]
		same = same && next[m] == next[0]
	}
	return same
}

// take lets a model add a document. If all have had their turn, the next round begins.
func (t *turn) take(models, model, document int) {
	t.taken[document] = true
	if model != Shared {
		t.waiting &^= 1 << model
	}
	if t.waiting == 0 {
		t.waiting = 1<<models - 1
	}
}

// orders returns the documents of each model, best first. Of equal scores the first document comes first.
func (v *Interleaving) orders() [][]int {
	all := make([][]int, len(v.Models))
	for m := range v.Models {
		scores := v.Models[m].Scores
		for d := range scores {
			all[m] = append(all[m], d)
		}
		slices.SortStableFunc(all[m], func(a, b int) int {
			switch {
			case scores[a] > scores[b]:
				return -1
			case scores[a] < scores[b]:
				return 1
			}
			return 0
		})
	}
	return all
}

// Draft makes a ranking of the first cutoff documents by team draft, and sets Teams and Probabilities. The same seed
// gives the same ranking.
func (v *Interleaving) Draft(cutoff int, seed uint64) (ranking []int) {
	random, orders := rand.New(rand.NewPCG(seed, 0)), v.orders()
	cutoff = min(cutoff, len(orders[0]))
	models := len(orders)
	t, next := turn{make([]bool, len(orders[0])), 1<<models - 1}, make([]int, models)
	v.Teams, v.Probabilities = make([]int, 0, cutoff), make([]float64, 0, cutoff)
	for range cutoff {
		team, chance := Shared, 1.
		if !t.next(orders, next) {
			n := bits.OnesCount64(t.waiting)
			for i := random.IntN(n); i >= 0; i-- { // the i-th of those that wait
				team += 1 + bits.TrailingZeros64(t.waiting>>(team+1))
			}
			chance = 1 / float64(n)
		}
		document := next[max(0, team)]
		ranking, v.Teams, v.Probabilities = append(ranking, document), append(v.Teams, team), append(v.Probabilities, chance)
		t.take(models, team, document)
	}
	return ranking
}

// mostTurns bounds the states of a draft at one rank.
const mostTurns = 1 << 14

// draftPlacements returns P(d@k) [documents × ranks] of a team draft, over all orders in which the models may take turns.
func (v *Interleaving) draftPlacements(ranks int, placements []float64) error {
	type state struct {
		turn
		p float64
	}
	orders := v.orders()
	models := len(orders)
	states := []state{{turn{make([]bool, len(orders[0])), 1<<models - 1}, 1}}
	clear(placements)
	next := make([]int, models)
	for k := range ranks {
		var after []state
		at := map[string]int{}
		for _, s := range states {
			add := func(team, document int, p float64) {
				t := turn{slices.Clone(s.taken), s.waiting}
				t.take(models, team, document)
				placements[document*ranks+k] += p
				key := fmt.Sprint(t.waiting, t.taken)
				i, known := at[key]
				if !known {
					i = len(after)
					at[key] = i
					after = append(after, state{t, 0})
				}
				after[i].p += p
			}
			if s.next(orders, next) {
				add(Shared, next[0], s.p)
				continue
			}
			for m := range models {
				if s.waiting>>m&1 == 1 {
					add(m, next[m], s.p/float64(bits.OnesCount64(s.waiting)))
				}
			}
		}
		if states = after; len(states) > mostTurns {
			return fmt.Errorf("a team draft with more than %d ways to fill %d ranks: log fewer ranks", mostTurns, k+1)
		}
	}
	return nil
}

// placements computes P(d@k) [documents × ranks] of the rankings of an interleaving.
func (v *Interleaving) placements(e *plackett.Expectation, im *Impression, ranks int, placements []float64) error {
	if v.Teams != nil {
		return v.draftPlacements(ranks, placements)
	}
	clear(placements)
	own := make([]float64, len(placements))
	for m := range v.Models {
		scores, err := v.policy(im, m)
		if err == nil {
			err = e.Placements(scores, ranks, own)
		}
		if err != nil {
			return err
		}
		floats.AddScaled(placements, v.Models[m].Weight, own)
	}
	return nil
}

// policy returns the log-scores of the policy of a model.
func (v *Interleaving) policy(im *Impression, model int) ([]float64, error) {
	return Logged(&Impression{Documents: im.Documents, Scores: v.Models[model].Scores, Temperature: im.Temperature})
}

// WeighedRanks is the number of ranks for which [Interleaving.Weigh] chooses weights: further ones cost time, and change little.
const WeighedRanks = 3

// leastWeight is the share of each model's own policy in a mixture, at least.
const leastWeight = 0.05

// Weigh chooses the weights of the models' policies so that the differences between the first model and each other are
// estimated with the least variance, and adds the policy of their differences to the models.
//
// With the difference δ_dk = P_m(d@k) − P_1(d@k), a click on document d at rank k counts δ_dk / P(d@k). If clicks are few,
// and depend on the rank as DCG's discounts θ_k, the variance is proportional to
//
//	Σ_m Σ_k θ_k Σ_d δ_dk² / P(d@k)    where P = Σ_j w_j P_j,
//
// over the first three ranks, with approximate placements: any weights are valid. Rankings that all models would show say nothing
// about differences. The last policy, a Plackett–Luce policy with the log-scores log Σ_m Σ_k θ_k |δ_dk|, shows documents as often as
// the models differ about them. The sum is convex in w. Every model keeps a
// weight of at least 0.05, or half its equal share if that is less, which bounds the weights of clicks.
func (v *Interleaving) Weigh(temperature float64, cutoff int) error {
	models, documents := len(v.Models), len(v.Models[0].Scores)
	im := &Impression{Documents: make([]string, documents), Temperature: temperature}
	ranks := min(cutoff, documents, WeighedRanks)
	policies := make([][]float64, 0, models+1)
	add := func() error {
		scores, err := v.policy(im, len(policies))
		if err != nil {
			return err
		}
		policies = append(policies, nearPlacements(scores, ranks))
		return nil
	}
	for range models {
		if err := add(); err != nil {
			return err
		}
	}
	squares, differ, theta := make([]float64, documents*ranks), make([]float64, documents), metrics.Discounts(ranks)
	for i := range squares {
		for m := 1; m < models; m++ {
			delta := policies[m][i] - policies[0][i]
			squares[i] += theta[i%ranks] * delta * delta
			differ[i/ranks] += theta[i%ranks] * math.Abs(delta)
		}
	}
	if temperature == 0 {
		temperature = 1
	}
	for d, x := range differ {
		differ[d] = math.Round(100*math.Log(max(x, 1e-6))) / 100 * temperature // short in a log
	}
	v.Models = append(v.Models, Contributor{Scores: differ})
	if err := add(); err != nil {
		return err
	}
	for m, w := range leastVariance(policies, squares, min(leastWeight, .5/float64(models))) {
		v.Models[m].Weight = w
	}
	return nil
}

// nearPlacements returns about P(d@k) [documents × ranks], exact at the first rank: at the others, documents that are left are drawn in
// proportion to exp(score), as if the one to be left were independent of what is above.
func nearPlacements(scores []float64, ranks int) []float64 {
	p, highest := make([]float64, len(scores)*ranks), slices.Max(scores)
	left, weights := make([]float64, len(scores)), make([]float64, len(scores))
	for d, s := range scores {
		weights[d], left[d] = math.Exp(s-highest), 1
	}
	for k := range ranks {
		all := max(floats.Dot(weights, left), math.SmallestNonzeroFloat64) // of scores far apart
		for d, w := range weights {
			p[d*ranks+k] = min(w*left[d]/all, left[d])
			left[d] -= p[d*ranks+k]
		}
	}
	return p
}

// leastVariance returns the weights w of policies that about minimise Σ_i squares_i / Σ_j w_j policies_ji. All but the last are at
// least floor: these parts are fixed, and the shares of the rest are multiplied by the squares of their derivatives.
func leastVariance(policies [][]float64, squares []float64, floor float64) []float64 {
	n := len(policies)
	rest := 1 - floor*float64(n-1)
	weights, shares := make([]float64, n), slices.Repeat([]float64{1 / float64(n)}, n)
	factors, before, gradient := make([]float64, len(squares)), make([]float64, n), make([]float64, n)
	for change, i := 1., 0; ; i++ {
		for j, share := range shares {
			weights[j] = floor + rest*share
		}
		if weights[n-1] -= floor; change <= 1e-3 || i == 10 {
			return weights
		}
		clear(factors)
		for j, p := range policies {
			floats.AddScaled(factors, weights[j], p)
		}
		for i, mix := range factors {
			if factors[i] = 0; squares[i] > 0 {
				factors[i] = squares[i] / (mix * mix)
			}
		}
		for j, p := range policies {
			derivative := floats.Dot(factors, p)
			gradient[j] = derivative * derivative // since the fixed parts make small steps
		}
		copy(before, shares)
		if floats.Dot(shares, gradient) > 0 { // otherwise the models do not differ
			floats.Mul(shares, gradient)
			floats.Scale(1/floats.Sum(shares), shares)
		}
		change = floats.Distance(shares, before, math.Inf(1))
	}
}

var samplers = sync.Pool{New: func() any { return new(plackett.Sampler) }}

// Draw draws a ranking of the first cutoff documents from the mixture of the policies, and sets By. The same seed gives the
// same ranking.
func (v *Interleaving) Draw(temperature float64, cutoff int, seed uint64) (ranking []int, err error) {
	u := rand.New(rand.NewPCG(seed, 0)).Float64()
	for v.By = 0; v.By < len(v.Models)-1 && u >= v.Models[v.By].Weight; v.By++ {
		u -= v.Models[v.By].Weight
	}
	im := &Impression{Documents: make([]string, len(v.Models[0].Scores)), Temperature: temperature}
	scores, err := v.policy(im, v.By)
	if err != nil {
		return nil, err
	}
	ranking = make([]int, min(cutoff, len(scores)))
	if len(ranking) == 0 {
		return ranking, nil
	}
	sampler := samplers.Get().(*plackett.Sampler)
	defer samplers.Put(sampler)
	return ranking, sampler.Draw(scores, plackett.Stream{Seed: seed}, plackett.Rankings{Documents: ranking, Cutoff: len(ranking)})
}
