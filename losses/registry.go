package losses

import (
	"fmt"
	"slices"

	G "gorgonia.org/gorgonia"

	"github.com/plrank/plrank/internal/names"
	"github.com/plrank/plrank/ops"
	"github.com/plrank/plrank/plackett"
)

// Batch is what a loss is built on: lists of one graph, and what is known of them.
// A loss that lacks what it needs is an error that names the field.
type Batch struct {
	Lists     ops.Lists
	Gains     *G.Node      // [rows], of the dtype of the scores: ρ of the metric
	Sampler   *ops.Sampler // of the rankings, or the noise, that the gradient is estimated from
	Discounts []float64    // θ of the metric, as many as its cutoff

	// Labels, [rows], of the dtype of the scores, are the raw grades, for the
	// losses that do not go by gains: listnet, mse and ordinal.
	Labels *G.Node
	// HighestGrade is that of the data set, for ordinal. 0: 4, as in most of them.
	HighestGrade int
	// Groups, [rows], int, are the groups of documents that group-exposure and
	// group-treatment compare. A negative number stands for no group.
	Groups *G.Node
	// Exposure is the sampler of the rankings that the fairness losses estimate
	// exposure from, 1000 a query in the paper; their gradient is estimated from
	// those of Sampler. Its seed must be another, or it draws the same. nil: Sampler
	// draws a second set.
	Exposure *ops.Sampler
}

// Func builds a loss: a scalar node to be minimised, the mean over the queries
// that have documents.
type Func func(Batch) (*G.Node, error)

var byName = map[string]builder{
	// The estimators of package plackett, and their disparity(…), are added by init.
	"placement-policy-gradient": onRankings(PlacementPolicyGradient),
	"lambdaloss":                onNoise(LambdaLoss),
	"stochasticrank":            onNoise(StochasticRank),

	"softmax":      onGains(Softmax),
	"listnet":      onLabels(ListNet),
	"listmle":      listMLE,
	"ranknet":      onGains(RankNet),
	"lambdarank":   onDiscounts(LambdaRank),
	"ndcg-loss1":   onDiscounts(NDCGLoss1),
	"ndcg-loss2":   onDiscounts(NDCGLoss2),
	"ndcg-loss2pp": onDiscounts(NDCGLoss2PP),
	"approxndcg":   approxNDCG,
	"pirank":       piRank,
	"mse":          onLabels(MSE),
	"ordinal":      ordinal,

	"disparity":       disparity,
	"ee-l":            exposureLoss,
	"group-exposure":  groupExposure,
	"group-treatment": groupTreatment,

	"disparity(placement-policy-gradient)": disparityBy(onRankings(PlacementPolicyGradient)),
	"disparity(lambdaloss)":                disparityBy(onNoise(LambdaLoss)),
}

func init() {
	for _, e := range plackett.Estimators() {
		loss := onRankings(by(e))
		if e == plackett.PolicyGradient {
			loss = onRankings(PolicyGradient) // the same number, by Gorgonia's differentiation
		}
		byName[e.String()] = loss
		byName["disparity("+e.String()+")"] = disparityBy(loss)
	}
}

// ByName returns the loss of that name. A name that is not known is an error that
// lists those that are.
func ByName(name string) (Func, error) {
	build, ok := byName[name]
	if !ok {
		return nil, fmt.Errorf("losses: no loss %q: %s", name, names.Want(name, Names()))
	}
	return func(b Batch) (*G.Node, error) {
		return build.build(name, &batch{Batch: b})
	}, nil
}

// Names returns the names of all losses, in alphabetical order.
func Names() []string {
	names := make([]string, 0, len(byName))
	for name := range byName {
		names = append(names, name)
	}
	slices.Sort(names)
	return names
}
