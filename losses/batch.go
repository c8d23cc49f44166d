package losses

import (
	"fmt"

	G "gorgonia.org/gorgonia"

	"github.com/plrank/plrank/internal/op"
	"github.com/plrank/plrank/ops"
)

// Batch holds the inputs of a loss: packed lists and per-document data, all nodes of one graph. Most losses take gains ρ,
// 2^label − 1 for DCG, the same divided by the query's
// ideal DCG for NDCG ([NormalizedGains]), and the rank discounts θ of the metric, 1/log2(k+1)
// for DCG. Building a loss returns an error that names a node that is missing or does not fit; a run
// returns an error that names query and row if gains or labels are not finite, or negative where a
// loss takes no negative ones. Empty queries, queries of one document
// or without gains (see [Objective].LabelFree), queries shorter than the cutoff, ties and padding are
// all defined.
//
// In float32, a run returns an error if gains and weights are too small or too large for the loss or
// its gradient: the largest gain of a query, and its product with
// the weight of the query and the factor of the loss, are to be from 2^-100 to 2^100,
// about 1e±30; so is the square of the gain for disparity and group-treatment.
type Batch struct {
	Lists     ops.Lists    // the scores, and where the rows of each query are
	Gains     *G.Node      // [rows], of the dtype of the scores: ρ of the metric
	Discounts []float64    // θ of the metric, as many as its cutoff
	Sampler   *ops.Sampler // of the rankings, or the noise, that the gradient is estimated from

	// Rankings, int [queries, samples, cutoff], and Noise, [samples × rows] of the dtype of
	// the scores, take the place of what Sampler would draw: see [ops.Rankings] and
	// [ops.Gumbel] for what stands for absent samples. listmle takes Rankings, which may
	// have been observed, for the ideal ones.
	Rankings, Noise *G.Node

	// Labels, [rows], of the dtype of the scores, are the raw grades, for the
	// losses that do not go by gains: listnet, mse, query-rmse, ordinal, cross-entropy, exact-mrr, exact-map,
	// exact-err and exact-success, and for fairness of the exposure of a cascade.
	Labels *G.Node
	// HighestGrade is the highest label of the data set, for ordinal, cross-entropy and the losses with R of
	// [ERR]: above 0, not necessarily a whole number. 0: 4, as in most data sets.
	HighestGrade float64
	// DocumentWeights, [rows], and QueryWeights, [queries], of the dtype of the scores,
	// are not negative; nil: 1. The weight of a document says how much it counts, and changes
	// no gain, which says how good it is: little weight does not put a good document below a
	// worse one. The mean of the weights of its documents multiplies the loss of a query; the
	// weights over this mean, w, say how the documents count relative to each other:
	//
	//   - In the losses of a policy, which are minus an expected metric, and in pirank and
	//     neuralndcg, w multiplies e^m: the policy has the scores m + log w. A document of weight 0
	//     is not there: it earns nothing, and is not in the ideal.
	//   - In softmax, xe-ndcg, listnet, listmle and partial-listmle the document counts as w of
	//     them: its term is multiplied by w, and so is e^m in the sums over documents.
	//   - In the losses of pairs and in disparity the term of a pair is multiplied by w of both,
	//     and a mean is divided by the sum of these products. In approxndcg and gumbel-approxndcg
	//     only the derivative of a rank by a score is. Ranks and the ideal DCG are of all documents.
	//   - In mse, query-rmse, ordinal, cross-entropy and ee-l the term of the document is multiplied
	//     by w, in group-treatment the terms of both sums. group-exposure and exposure-risk, which
	//     know no labels, have no use for w.
	//
	// A document of weight 0 has no term, and none of the losses by preference moves it. Given rankings must be draws of the
	// policy with weights. [Mean] multiplies the loss of a query by the weight of the query: a query of weight 2 counts as two,
	// where the mean divides by the number of queries.
	DocumentWeights, QueryWeights *G.Node
	// Groups, [rows], int, are the groups of documents that group-exposure,
	// group-treatment and similarity compare. A negative number stands for no group.
	Groups *G.Node
	// Intents, int, [rows] or [rows × ints], are the intents of queries that each document satisfies, for
	// exact-alpha-ndcg, and for similarity without groups, as in [metrics.Queries]: bit i is set if it is relevant to intent i.
	Intents *G.Node
	// Logged, [rows], of the dtype of the scores, is the exposure that each document had in a
	// log of impressions, summed over the impressions of its query, for exposure-risk. LoggedScores, [rows]
	// of the same dtype, are the log-scores of the policy of the log, for prpo.
	Logged, LoggedScores *G.Node
	// Exposure is the sampler of the rankings that the fairness losses by sampling, such as
	// disparity(plrank2), estimate exposure from, 1000 a query in the paper; their gradient
	// is estimated from the rankings of Sampler. nil: Sampler draws a second set.
	Exposure *ops.Sampler
	// Curvature, [rows] at least, is where a run with a gradient adds the curvatures of losses that keep it: see
	// [Objective.KeepsCurvature]. nil: nowhere.
	Curvature []float64
}

// A Func builds a loss, to be minimised: a node [queries] of the dtype of the scores, the
// loss of every query, 0 for queries without documents, whose value lasts until the next run. [Mean]
// makes a scalar of it.
type Func func(Batch) (*G.Node, error)

// Mean builds the loss of a batch, a scalar to be minimised: the mean of the losses of its
// queries, each multiplied by its weight,
//
//	Σ_q w_q loss_q / max(1, number of queries with documents).
//
// It returns an error if the Func makes a node that is not [queries]; the run returns an error that names the query if a weight
// is negative or not finite.
func Mean(f Func, b Batch) (loss *G.Node, err error) {
	perQuery, err := f(b)
	if err != nil {
		return nil, err
	}
	defer caught(&err)
	switch {
	case perQuery == nil:
		return nil, fmt.Errorf("losses: the loss gives no node")
	case b.QueryWeights != nil:
		perQuery = mul(perQuery, queryWeights(b))
	}
	if err := op.Check(b.Lists, op.Queries("losses", perQuery)); err != nil {
		return nil, fmt.Errorf("losses: %w", err)
	}
	return ops.MeanOverQueries(b.Lists, perQuery)
}

// queryWeights returns the weights; a run returns an error if one is negative or not finite.
func queryWeights(b Batch) *G.Node {
	f := op.ListFunc{Name: "losses", Settings: "CheckedQueries", Layout: op.PerQuery, Do: func(l *op.List) error {
		v := l.X[1][0]
		if !(v >= 0) || v-v != 0 {
			return fmt.Errorf("the query weight is %v: query weights must be finite and not negative", v)
		}
		l.Out()[0] = v
		return nil
	}}
	return G.Must(f.Apply(b.Lists, op.AnyRows("scores", b.Lists.Scores), op.Queries("query weights", b.QueryWeights)))
}
