package losses_test

import (
	"cmp"
	"math"
	"slices"
	"testing"

	"gorgonia.org/tensor"

	"github.com/plrank/plrank/losses"
)

// order is the documents by descending x, ties by position.
func order(x []float64) []int {
	o := make([]int, len(x))
	for d := range o {
		o[d] = d
	}
	slices.SortStableFunc(o, func(a, b int) int { return cmp.Compare(x[b], x[a]) })
	return o
}

// ranks returns the rank of each document by descending x, from 1.
func ranks(x []float64) []int {
	r := make([]int, len(x))
	for rank, d := range order(x) {
		r[d] = rank + 1
	}
	return r
}

// theta is the discount of a rank from 1.
func (q query) theta(rank int) float64 {
	if rank <= len(q.discounts) {
		return q.discounts[rank-1]
	}
	return 0
}

// weight returns the weight of a document, 1 without weights.
func (q query) weight(d int) float64 {
	if q.weights == nil {
		return 1
	}
	return q.weights[d]
}

// share is the softmax of numbers, each of a document that is there as often as its weight says.
func (q query) share(x []float64) []float64 {
	p, sum := make([]float64, len(x)), 0.0
	for d := range x {
		p[d] = math.Exp(x[d])
		sum += q.weight(d) * p[d]
	}
	for d := range p {
		p[d] /= sum
	}
	return p
}

// ideal is the best value of the metric.
func (q query) ideal() float64 {
	sum := 0.0
	for d, r := range ranks(q.gains) {
		sum += q.theta(r) * q.gains[d]
	}
	return sum
}

func softmax(x []float64) []float64 {
	p, sum := make([]float64, len(x)), 0.0
	for d := range x {
		p[d] = math.Exp(x[d])
		sum += p[d]
	}
	for d := range p {
		p[d] /= sum
	}
	return p
}

// pairs is Σ w(i, j) log2(1 + exp(m_j − m_i)) over all i and j ≠ i, times the weights of both.
func (q query) pairs(w func(i, j int) float64) float64 {
	sum := 0.0
	for i, m := range q.scores {
		for j := range q.scores {
			if i != j {
				sum += q.weight(i) * q.weight(j) * w(i, j) * math.Log2(1+math.Exp(q.scores[j]-m))
			}
		}
	}
	return sum
}

// lambda has the weights (G_i − G_j)·w(r_i, r_j), where ρ_i > ρ_j.
func (q query) lambda(w func(a, b int) float64) float64 {
	ideal := q.ideal()
	if ideal == 0 {
		return 0
	}
	r := ranks(q.scores)
	return q.pairs(func(i, j int) float64 {
		if q.gains[i] <= q.gains[j] {
			return 0
		}
		return (q.gains[i] - q.gains[j]) / ideal * w(r[i], r[j])
	})
}

func distance(a, b int) int {
	if a > b {
		return a - b
	}
	return b - a
}

// The losses of one query from their definitions.
var definitions = map[string]func(q query) float64{
	"softmax": func(q query) float64 {
		sum, merit := 0.0, 0.0
		for d, p := range q.share(q.scores) {
			if w := q.weight(d); w > 0 {
				sum -= w * q.gains[d] * math.Log(p)
				merit += w * q.gains[d]
			}
		}
		if merit == 0 {
			return 0
		}
		return sum / merit
	},
	"listnet": func(q query) float64 {
		sum, t := 0.0, q.share(q.labels)
		for d, p := range q.share(q.scores) {
			if w := q.weight(d); w > 0 {
				sum -= w * t[d] * math.Log(p)
			}
		}
		return sum
	},
	"listmle": func(q query) float64 {
		if slices.Max(append([]float64{0}, q.gains...)) == 0 {
			return 0 // by name, a query that says nothing of its order
		}
		sum, o := 0.0, order(q.gains)
		for k, d := range o {
			rest := 0.0
			for _, other := range o[k:] {
				rest += q.weight(other) * math.Exp(q.scores[other])
			}
			if w := q.weight(d); w > 0 {
				sum -= w * math.Log(math.Exp(q.scores[d])/rest)
			}
		}
		return sum
	},
	"partial-listmle": func(q query) float64 {
		sum := 0.0
		for d, m := range q.scores {
			left := 0.0
			for j, other := range q.scores {
				if q.gains[j] <= q.gains[d] {
					left += q.weight(j) * math.Exp(other)
				}
			}
			if w := q.weight(d); w > 0 && q.gains[d] > 0 {
				sum -= w * math.Log(math.Exp(m)/left)
			}
		}
		return sum
	},
	"ranknet": func(q query) float64 {
		n := 0.0
		sum := q.pairs(func(i, j int) float64 {
			if q.gains[i] <= q.gains[j] {
				return 0
			}
			n += q.weight(i) * q.weight(j)
			return math.Ln2
		})
		return sum / cmp.Or(n, 1)
	},
	"hinge": func(q query) float64 {
		sum, n := 0.0, 0.0
		for i, m := range q.scores {
			for j, other := range q.scores {
				if q.gains[i] > q.gains[j] {
					w := q.weight(i) * q.weight(j)
					sum += w * max(0, 1-(m-other))
					n += w
				}
			}
		}
		return sum / cmp.Or(n, 1)
	},
	"lambdaloss-deterministic": func(q query) float64 {
		r := ranks(q.scores)
		return q.pairs(func(i, j int) float64 {
			δ := distance(r[i], r[j])
			return max(0, q.gains[i]-q.gains[j]) * (q.theta(δ) - q.theta(δ+1))
		})
	},
	"neuralndcg": func(q query) float64 { return -neuralNDCG(q, 1) },
	"lambdarank": func(q query) float64 {
		return q.lambda(func(a, b int) float64 { return math.Abs(q.theta(a) - q.theta(b)) })
	},
	"ndcg-loss1": func(q query) float64 {
		ideal, r := q.ideal(), ranks(q.scores)
		if ideal == 0 {
			return 0
		}
		return q.pairs(func(i, _ int) float64 { return q.gains[i] / ideal * q.theta(min(r[i], len(q.discounts))) })
	},
	"ndcg-loss2": func(q query) float64 {
		return q.lambda(func(a, b int) float64 { return q.theta(distance(a, b)) - q.theta(distance(a, b)+1) })
	},
	"ndcg-loss2pp": func(q query) float64 {
		return q.lambda(func(a, b int) float64 {
			return math.Abs(q.theta(a)-q.theta(b)) + 10*(q.theta(distance(a, b))-q.theta(distance(a, b)+1))
		})
	},
	"ndcg-loss2k": func(q query) float64 {
		k := len(q.discounts)
		theta := func(r int) float64 {
			if r <= k {
				return q.discounts[r-1]
			}
			return q.discounts[k-1] * math.Log(float64(k+1)) / math.Log(float64(r+1))
		}
		return q.lambda(func(a, b int) float64 {
			weight := theta(distance(a, b)) - theta(distance(a, b)+1)
			if lower := max(a, b); lower > k {
				weight *= theta(1) / (theta(1) - theta(lower))
			}
			return weight
		})
	},
	"approxndcg": func(q query) float64 {
		sum, ideal, best := 0.0, 0.0, ranks(q.gains)
		for i, m := range q.scores {
			rank := 1.0
			for j, other := range q.scores {
				if i != j {
					rank += 1 / (1 + math.Exp(m-other))
				}
			}
			sum -= q.gains[i] / math.Log2(1+rank)
			ideal += q.gains[i] / math.Log2(1+float64(best[i]))
		}
		if ideal == 0 {
			return 0
		}
		return sum / ideal
	},
	"pirank": func(q query) float64 {
		n, sum, ideal := len(q.scores), 0.0, q.ideal()
		if ideal == 0 {
			return 0
		}
		for k := 1; k <= min(n, len(q.discounts)); k++ {
			logits := make([]float64, n)
			for d, m := range q.scores {
				logits[d] = float64(n+1-2*k) * m
				for _, other := range q.scores {
					logits[d] -= math.Abs(m - other)
				}
			}
			for d, p := range softmax(logits) {
				sum -= q.theta(k) * p * q.gains[d]
			}
		}
		return sum / ideal
	},
	"mse": func(q query) float64 {
		sum := 0.0
		for d, m := range q.scores {
			sum += q.weight(d) * (m - q.labels[d]) * (m - q.labels[d])
		}
		return sum / float64(len(q.scores))
	},
	"query-rmse": func(q query) float64 {
		sum, n := 0.0, 0.0
		for d, m := range q.scores { // over pairs, which the mean is not in
			for e, other := range q.scores {
				gap := m - other - (q.labels[d] - q.labels[e])
				sum += q.weight(d) * q.weight(e) * gap * gap / 2
			}
			n += q.weight(d)
		}
		return sum / cmp.Or(n, 1)
	},
	"cross-entropy": func(q query) float64 {
		sum := 0.0
		for d, m := range q.scores {
			t, p := q.labels[d]/4, 1/(1+math.Exp(-m))
			sum -= q.weight(d) * (t*math.Log(p) + (1-t)*math.Log(1-p))
		}
		return sum / float64(len(q.scores))
	},
	"ordinal": func(q query) float64 {
		sum := 0.0
		for d, m := range q.scores {
			for c := 1.0; c <= 4; c++ {
				z := -1.0
				if q.labels[d] >= c {
					z = 1
				}
				sum += q.weight(d) * math.Log(1+math.Exp(-z*(m-c+.5)))
			}
		}
		return sum / float64(len(q.scores))
	},
}

// relative is weights over their mean, and the mean.
func relative(weights []float64) (over []float64, mean float64) {
	for _, w := range weights {
		mean += w / float64(len(weights))
	}
	for _, w := range weights {
		over = append(over, w/mean)
	}
	return over, mean
}

// In approxndcg, weights of both documents multiply the derivatives of ranks by scores.
func TestApproxNDCGWeighsThePairsThatMoveRanks(t *testing.T) {
	f := one([]float64{.3, -.2, 1.1, .4}, []float64{3, 0, 1, 2}, 4)
	weights := []float64{.5, 1, 2, .1}
	value, gradient := f.weighted(t, "approxndcg", weights)
	plain, _ := f.weighted(t, "approxndcg", nil)
	over, mean := relative(weights)
	if !close12(value, mean*plain) {
		t.Errorf("%v, without weights %v", value, plain)
	}
	q, best := f.query(0), ranks(f.gains)
	ideal := 0.0
	for d, gain := range f.gains {
		ideal += gain / math.Log2(1+float64(best[d]))
	}
	byRank := make([]float64, 4)
	for i, m := range q.scores {
		rank := 1.0
		for j, other := range q.scores {
			if i != j {
				rank += 1 / (1 + math.Exp(m-other))
			}
		}
		log := math.Log2(1 + rank)
		byRank[i] = f.gains[i] / ideal / (math.Ln2 * (1 + rank) * log * log)
	}
	for i, m := range q.scores {
		want := 0.0
		for j, other := range q.scores {
			p := 1 / (1 + math.Exp(m-other))
			want += mean * over[i] * over[j] * p * (1 - p) * (byRank[j] - byRank[i])
		}
		if !close12(gradient[i], want) {
			t.Errorf("gradient[%d] is %v, want %v", i, gradient[i], want)
		}
	}
}

// The value of a packed batch is the mean of the definition over the queries, and the
// gradient is its derivative by finite differences, with and without weights of documents.
// (The ranks in the weights of the lambda losses do not change within h.)
func TestLossesHaveTheirDefinitions(t *testing.T) {
	f := newFixture(normal)
	some := []float64{.5, 2, 0, 3, 1, 0, .25, 3, 2, 1, 0, 1, 2, .5, 4, 1, 0, 0, 3, 1, 7, 7, 7, 7}
	for _, weights := range [][]float64{nil, some, make([]float64, 24)} {
		for name, definition := range definitions {
			rule := losses.WeightsOf(name)
			value := func() float64 {
				sum := 0.0
				for _, n := range []int{0, 2, 3, 4} { // query 1 is empty
					q, mean := f.query(n), 1.0
					if weights != nil {
						q.weights, mean = relative(weights[f.offsets[n]:f.offsets[n+1]])
					}
					switch {
					case mean == 0:
						continue
					case rule == "policy" && weights != nil: // of the probability to be chosen; those of weight 0 earn nothing
						q.scores, q.gains = slices.Clone(q.scores), slices.Clone(q.gains)
						for d, w := range q.weights {
							q.scores[d] += math.Log(max(w, 1e-300))
							if w == 0 {
								q.gains[d] = 0
							}
						}
						q.weights = nil
					}
					sum += mean * definition(q)
				}
				return sum / 4
			}
			b := f.batch(tensor.Float64) // without a sampler ListMLE breaks ties by row
			if weights != nil {
				b.DocumentWeights = vector(b.Lists.Scores.Graph(), "document weights", tensor.Float64, weights)
			}
			got, gradient := differentiate(t, build(t, name, b), b.Lists.Scores)
			if want := value(); math.Abs(got-want) > 1e-13*(1+math.Abs(want)) {
				t.Errorf("%s, weights %v: %v, the definition gives %v", name, weights, got, want)
			}
			if rule == "ranks" && weights != nil {
				continue // has weights in its derivative only
			}
			largest := 0.0
			for d, m := range f.scores {
				const h = 1e-5
				f.scores[d] = m + h
				up := value()
				f.scores[d] = m - h
				down := value()
				f.scores[d] = m
				want := (up - down) / (2 * h)
				if math.Abs(gradient[d]-want) > 1e-8*(1+math.Abs(want)) {
					t.Errorf("%s, weights %v: gradient[%d] = %v, by differences %v", name, weights, d, gradient[d], want)
				}
				largest = max(largest, math.Abs(gradient[d]))
			}
			if (weights == nil || weights[0] > 0) && largest < 1e-3 {
				t.Errorf("%s: all gradients are below %v", name, largest)
			}
		}
	}
}
