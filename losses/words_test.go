package losses

import (
	"math"
	"testing"

	G "gorgonia.org/gorgonia"

	"github.com/plrank/plrank/internal/optest"
)

// listFunc is a word on a batch, with an error for its panic.
func listFunc(word func(b *batch) *G.Node) optest.ListFunc {
	return func(l optest.Lists, gains, groups *G.Node) (n *G.Node, err error) {
		defer caught(&err)
		b := Batch{Lists: l, Gains: gains, Labels: gains, Groups: groups, Discounts: []float64{1, .6, .5}}
		return word(&batch{Batch: b}), nil
	}
}

// weightedFunc is listFunc with weights of the documents.
func weightedFunc(word func(b *batch) *G.Node) optest.ListFunc {
	return listFunc(func(b *batch) *G.Node {
		b.DocumentWeights = G.Must(G.Abs(b.Gains))
		return word(b)
	})
}

// The differentiable words of the losses.
var listFuncs = map[string]optest.ListFunc{
	"sumOverGroups": listFunc(func(b *batch) *G.Node { return sumOverGroups(b.Lists, b.Groups, b.Lists.Scores) }),
	"inverse":       listFunc(func(b *batch) *G.Node { return inverse(exp(b.Lists.Scores)) }),
	"approxNDCG": listFunc(func(b *batch) *G.Node {
		b.Gains = G.Must(G.Square(b.Gains))
		return ApproxNDCG(.7).graph(b)
	}),
	"ndcgLoss1": listFunc(func(b *batch) *G.Node {
		b.Gains = G.Must(G.Abs(b.Gains))
		return NDCGLoss1().graph(b)
	}),
	"mse": listFunc(func(b *batch) *G.Node {
		b.DocumentWeights = b.Gains
		return MSE().graph(b)
	}),
	"queryRMSE": listFunc(func(b *batch) *G.Node {
		b.DocumentWeights = G.Must(G.Abs(b.Gains))
		return QueryRMSE(1.5).graph(b)
	}),
	"weighted ndcgLoss1": weightedFunc(func(b *batch) *G.Node {
		b.Gains = G.Must(G.Abs(b.Gains))
		return NDCGLoss1().graph(b)
	}),
	"weighted pairs": weightedFunc(func(b *batch) *G.Node {
		return Pairwise(Log2, PairWeights{Each: .3, Swap: 2, Distance: .4}).graph(b)
	}),
	"weighted hinge": weightedFunc(Pairwise(Hinge, PairWeights{Each: 1}).graph),
	"weighted softmax": weightedFunc(func(b *batch) *G.Node {
		b.Gains = G.Must(G.Square(b.Gains))
		return Softmax().graph(b)
	}),
	"weighted listNet": weightedFunc(listNet),
	"weighted listMLE": weightedFunc(func(b *batch) *G.Node { return listMLE(b) }),
	"weighted partialListMLE": weightedFunc(func(b *batch) *G.Node {
		b.Gains = G.Must(G.Square(b.Gains))
		return partialListMLE(b)
	}),
	"binaryCrossEntropy": listFunc(func(b *batch) *G.Node {
		b.Labels, b.HighestGrade = G.Must(G.Abs(b.Gains)), 2
		return CrossEntropy().graph(b)
	}),
	"ordinal": listFunc(func(b *batch) *G.Node {
		b.Labels, b.HighestGrade = G.Must(G.Abs(b.Gains)), 300
		return Ordinal().graph(b)
	}),
	"piRank": listFunc(func(b *batch) *G.Node {
		b.Gains = G.Must(G.Abs(b.Gains))
		return piRank(b, 1.5)
	}),
	"neuralNDCG": listFunc(func(b *batch) *G.Node {
		b.Gains = G.Must(G.Abs(b.Gains))
		return neuralNDCG(b, 1.5)
	}),
	"hingePairs": listFunc(func(b *batch) *G.Node {
		return Pairwise(Hinge, PairWeights{Each: .3, Swap: 2}).graph(b)
	}),
	"logisticPairs": listFunc(func(b *batch) *G.Node {
		return Pairwise(Logistic, PairWeights{Each: .3, Swap: 2, Distance: -.4}).graph(b)
	}),
}

func TestVJPsAreFiniteDifferences(t *testing.T) { optest.CheckVJPs(t, listFuncs) }

func TestWordsHaveTheirValues(t *testing.T) {
	value := func(name string, word func(b *batch) *G.Node, want ...float64) {
		t.Helper()
		optest.CheckValue(t, name, listFunc(word), want...)
	}
	targetOf := func(discounts ...float64) func(b *batch) *G.Node {
		return func(b *batch) *G.Node { return targetExposure(b.Lists, b.Gains, discounts) }
	}
	optest.CheckValue(t, "sumOverGroups", listFuncs["sumOverGroups"], 0, 4, 3, 4, 0, 2, 2, 0)
	value("inverse", func(b *batch) *G.Node { return inverse(b.Lists.Scores) }, 1./9, 1, 1./3, 1./3, -1, 0, .5, 1./9)
	value("count", func(b *batch) *G.Node { return count(b.Lists) }, 3, 0, 3)
	value("nonzero", func(b *batch) *G.Node { return nonzero(b.Gains) }, 1, 0, 1, 1, 1, 0, 1, 1)
	value("targetExposure", targetOf(8, 4), 0, 0, 6, 6, 4, 0, 8, 0)
	value("targetExposure, first rank", targetOf(8), 0, 0, 4, 4, 0, 0, 8, 0)
	value("groupHeads", func(b *batch) *G.Node { return groupHeads(b.Lists, b.Groups) }, 0, 1, 1, 0, 0, 1, 0, 0)
	value("countPairs", func(b *batch) *G.Node { return b.countPairs() }, 2, 0, 3)
}

func TestArgumentsOfWordsThatDoNotFitAreErrors(t *testing.T) {
	pairs := Pairwise(Logistic, PairWeights{Each: 1}).graph
	target := func(b *batch) *G.Node { return targetExposure(b.Lists, b.Gains, []float64{1}) }
	nan := math.NaN()
	for _, c := range []struct {
		want          string
		scores, gains []float64
		word          func(b *batch) *G.Node
	}{
		{"losses: NDCGLoss1: query 0, row 1", []float64{0, math.Inf(1), 0}, []float64{1, 2, 3}, func(b *batch) *G.Node { return NDCGLoss1().graph(b) }},
		{"row 1: the gain is NaN", nil, []float64{0, nan, 0}, pairs},
		{"row 0: the score is NaN", []float64{nan, 0, 0}, nil, pairs},
		{"discount 1 is NaN", nil, nil, func(b *batch) *G.Node {
			b.Discounts = []float64{1, nan}
			return Pairwise(Logistic, PairWeights{Swap: 1}).graph(b)
		}},
		{"losses: TargetExposure: query 0, row 0: the gain is NaN", nil, []float64{nan, 0, 0}, target},
		{"losses: TargetExposure: no discounts", nil, nil, func(b *batch) *G.Node { return targetExposure(b.Lists, b.Gains, nil) }},
		{"no gains", nil, nil, func(b *batch) *G.Node {
			b.Gains = nil
			return b.countPairs()
		}},
		{"losses: SumOverGroups: groups are of dtype float64: want [int]", nil, nil, func(b *batch) *G.Node { return sumOverGroups(b.Lists, b.Gains, b.Gains) }},
	} {
		optest.CheckFault(t, c.want, c.scores, c.gains, func(l optest.Lists, gains *G.Node) (*G.Node, error) { return listFunc(c.word)(l, gains, nil) })
	}
}
