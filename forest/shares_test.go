package forest

import (
	"math"
	"math/bits"
	"math/rand/v2"
	"testing"

	"pgregory.net/rapid"
)

// enumerated returns Shapley values and interactions of two players from all sets of players.
func enumerated(f *Forest, x, other []float32, players []int, n int) (values []float64, pairs map[[2]int]float64) {
	v := make([]float64, 1<<n)
	for set := range v {
		row := make([]float32, len(x))
		for c, player := range players {
			if row[c] = other[c]; set>>player&1 == 1 {
				row[c] = x[c]
			}
		}
		v[set] = plainScore(f, row)
	}
	factorial := func(k int) float64 { return math.Gamma(float64(k) + 1) }
	values, pairs = make([]float64, n), map[[2]int]float64{}
	for set := range v {
		k := bits.OnesCount(uint(set))
		for j := range n {
			if set>>j&1 == 1 {
				continue
			}
			values[j] += factorial(k) * factorial(n-k-1) / factorial(n) * (v[set|1<<j] - v[set])
			for i := range j {
				if set>>i&1 == 0 {
					pairs[[2]int{i, j}] += factorial(k) * factorial(n-k-2) / factorial(n-1) * (v[set|1<<i|1<<j] - v[set|1<<i] - v[set|1<<j] + v[set])
				}
			}
		}
	}
	return values, pairs
}

// Values are those by all sets of up to eight players, of symmetric and other trees with sets and missing values, and of players
// that have several inputs. They sum to the difference. Two documents that change their sides have the opposite values, and the
// same interactions.
func TestSharesAreShapleyValuesByAllSets(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		random := rand.New(rand.NewPCG(rapid.Uint64().Draw(t, "seed"), 1))
		inputs, n := 1+random.IntN(9), 1+random.IntN(8)
		f := randomForest(random, inputs, random.IntN(5))
		players := make([]int, inputs)
		for i := range players {
			if players[i] = i % n; n < inputs {
				players[i] = random.IntN(n)
			}
		}
		x, other := randomRows(random, inputs), randomRows(random, inputs)
		want, pairs := enumerated(f, x, other, players, n)
		for _, sign := range []float64{1, -1} {
			s := Shares{Values: make([]float64, n), Pairs: map[[2]int]float64{}}
			s.Add(f, x, other, players, 1)
			sum := 0.
			for i, v := range s.Values {
				sum += v
				if math.Abs(v-sign*want[i]) > 1e-9 {
					t.Fatalf("player %d: %v, want %v", i, v, sign*want[i])
				}
			}
			if difference := plainScore(f, x) - plainScore(f, other); math.Abs(sum-difference) > 1e-9 {
				t.Fatalf("values sum to %v, want %v", sum, difference)
			}
			for i := range n {
				for j := i + 1; j < n; j++ {
					if got, want := s.Pairs[[2]int{i, j}], pairs[[2]int{i, j}]; math.Abs(got-want) > 1e-9 {
						t.Fatalf("players %d and %d: %v, want %v", i, j, got, want)
					}
				}
			}
			x, other = other, x
		}
	})
}

// A chain of 100,000 nodes on columns of their own takes time in proportion to its nodes. Its last leaf needs all to be of x, and
// gives each the same part.
func TestSharesOfAChain(t *testing.T) {
	const n = 100_000
	f := &Forest{Inputs: n, Trees: []Tree{{Leaves: make([]float64, n+1)}}}
	x, other, players := make([]float32, n), make([]float32, n), make([]int, n)
	for i := range n {
		f.Trees[0].Nodes = append(f.Trees[0].Nodes, Node{Column: i, Left: ^i, Right: i + 1})
		x[i], players[i] = 1, i
	}
	f.Trees[0].Nodes[n-1].Right = ^n
	f.Trees[0].Leaves[n] = 1
	s := Shares{Values: make([]float64, n)}
	s.Add(f, x, other, players, 1)
	for i, v := range s.Values {
		if math.Abs(v*n-1) > 1e-9 {
			t.Fatalf("player %d has %v, want %v", i, v, 1./n)
		}
	}
}
