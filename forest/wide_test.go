package forest

import (
	"math"
	"math/rand/v2"
	"reflect"
	"runtime"
	"slices"
	"testing"
)

// newLevels returns documents of levels alone, each of as many, in queries of two, and their grower with the fewest bins.
func newLevels(t *testing.T, random *rand.Rand, levels, each int, c Config) (*table, *Grower) {
	t.Helper()
	data := &table{width: 1, categories: map[int]int{0: levels + 1}}
	for i := range levels * each {
		data.rows = append(data.rows, float32(1+i%levels))
		data.gradient = append(data.gradient, float32(random.NormFloat64()))
		data.curvature = append(data.curvature, 1)
	}
	for i := 0; i <= levels*each; i += 2 {
		c.Queries = append(c.Queries, i)
	}
	b, err := Bin(data.rows, 1, data.categories, LeastBins)
	if err != nil {
		t.Fatal(err)
	}
	g, err := NewGrower(b, c)
	if err != nil {
		t.Fatal(err)
	}
	return data, g
}

func mustGrow(t *testing.T, g *Grower, data *table) (Tree, []float64) {
	t.Helper()
	scores := make([]float64, len(data.gradient))
	tree, err := g.Grow(data.gradient, data.curvature, scores)
	if err != nil {
		t.Fatal(err)
	}
	return tree, scores
}

// A leaf that is split alone has the best set of all (see TestSetsAreTheBestOfAll), also beyond the bins.
func TestSetsOfManyLevelsAreTheBestOfAll(t *testing.T) {
	random := rand.New(rand.NewPCG(2, 2))
	for range 20 {
		c := Config{Leaves: 2, L2: 1e-9}
		data, g := newLevels(t, random, 8, 4, c)
		tree, _ := mustGrow(t, g, data)
		got, want := data.objective(c.L2, data.groups(tree)...), data.bestSplits(c)
		if math.Abs(got-want) > 1e-5*want {
			t.Errorf("objective %v of %+v, best is %v", got, tree, want)
		}
	}
}

// The gain of a set for all nodes of a level is by the documents of other folds, as written out: a document is on the side where its
// level would be without its own fold.
func TestGainOfLevelsIsByOtherFolds(t *testing.T) {
	random := rand.New(rand.NewPCG(3, 2))
	splits := 0
	for range 30 {
		data, g := newLevels(t, random, 20, 6, Config{Depth: 1, L2: 2})
		for i := range data.gradient {
			data.gradient[i] += float32(int(data.rows[i])%3) - 1
		}
		tree, _ := mustGrow(t, g, data)
		value := func(level float32, without int, prior float64) float64 {
			sum, n := 0., 0.
			for i, x := range data.rows {
				if x == level && int(g.fold[i]) != without {
					sum, n = sum+float64(data.gradient[i]), n+1
				}
			}
			return sum / (n + prior)
		}
		best := 0.
		for level := range 20 {
			cut := value(float32(level+1), -1, 2+smooth)
			var left, right []int
			for i, x := range data.rows {
				if v := value(x, int(g.fold[i]), (2+smooth)*(folds-1.)/folds); v <= cut {
					left = append(left, i)
				} else {
					right = append(right, i)
				}
			}
			if len(left)*len(right) > 0 {
				best = max(best, (data.objective(2, left, right)-data.objective(2, append(left, right...)))/2)
			}
		}
		got := 0.
		if len(tree.Nodes) > 0 {
			got = float64(tree.Nodes[0].Gain)
			splits++
		}
		if math.Abs(got-best) > 1e-5*(1+best) {
			t.Errorf("gain %v, want %v", got, best)
		}
	}
	if splits == 0 {
		t.Error("no tree has a split")
	}
}

// Labels that are random for levels of two documents are not learned: what trees say of new documents of these levels is worth nothing,
// and costs little. Trees whose leaves are split alone learn them by heart.
func TestNoiseOfRareLevelsIsNotLearned(t *testing.T) {
	random := rand.New(rand.NewPCG(4, 2))
	for _, leaves := range []int{0, 16} {
		data, g := newLevels(t, random, 1000, 2, Config{Leaves: leaves, Depth: 4})
		labels := slices.Clone(data.gradient)
		scores := make([]float64, len(labels))
		for range 20 {
			for i, y := range labels {
				data.gradient[i] = y - float32(scores[i])
			}
			_, more := mustGrow(t, g, data)
			for i, v := range more {
				scores[i] += .3 * v
			}
		}
		errors, base := 0., 0.
		for _, s := range scores {
			y := random.NormFloat64()
			errors += (y - s) * (y - s)
			base += y * y
		}
		if excess := errors/base - 1; (leaves == 0) != (excess < .1) {
			t.Errorf("%d leaves: errors of new labels are %.3f times larger than without a model", leaves, 1+excess)
		}
	}
}

func TestLevelsHaveTheSameBits(t *testing.T) {
	random := rand.New(rand.NewPCG(5, 2))
	for _, c := range []Config{{Depth: 3}, {Leaves: 8}, {Depth: 3, Rows: .5}} {
		data, g := newLevels(t, random, 300, 10, c)
		for i := range data.gradient {
			data.gradient[i] += float32(int(data.rows[i])%5) - 2
		}
		_, again := newLevels(t, random, 300, 10, c)
		want, _ := mustGrow(t, g, data)
		before := runtime.GOMAXPROCS(5)
		got, _ := mustGrow(t, again, data)
		runtime.GOMAXPROCS(before)
		if !reflect.DeepEqual(got, want) || len(want.Nodes) == 0 {
			t.Errorf("%+v: %d nodes, other bits by five threads", c, len(want.Nodes))
		}
		for i := range g.fold {
			if g.fold[i] != g.fold[i&^1] {
				t.Fatalf("%+v: the documents of query %d are of two folds", c, i/2)
			}
		}
	}
}
