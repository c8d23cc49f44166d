package losses

import (
	"cmp"
	"fmt"
	"math"
	"slices"
	"sync"

	"gonum.org/v1/gonum/floats"
	G "gorgonia.org/gorgonia"

	"github.com/plrank/plrank/metrics"
	"github.com/plrank/plrank/plackett"
)

// An Objective is a loss, to be minimised: its value and gradient as a graph, and for boosted trees its curvature, if it is
// known. The functions that return one are the losses; [Parse] reads them by name, and sums of them.
type Objective struct {
	// Measure names the fairness measure that the loss improves, as metrics.ParseMeasure reads it: disparity for
	// disparity(plrank2). Other losses have none.
	Measure string
	// Sampled reports whether the loss draws rankings or noise, as many samples as the Sampler of the batch says. ListMLE does
	// not count: it draws a single order of documents of equal gain.
	Sampled bool
	// LabelFree reports whether the loss also learns from queries in which no document has a gain. Losses by labels treat a label
	// of 0 like any other, and ee-l and group-exposure ask for shared exposure whatever the labels are. Other losses are 0 for
	// such a query, and have no gradient.
	LabelFree bool
	// RatioOnly reports whether a loss that is not LabelFree is the same for normalized gains: it goes by
	// the ratios of gains within a query, or only by which documents are relevant.
	RatioOnly bool
	// MostDocuments is how many documents a query may have, because the loss has a matrix of all
	// pairs; 0: any number. A run with a larger query returns an error.
	MostDocuments int
	// Intents, Logged and LoggedScores report whether the loss needs the fields of Batch of these names.
	Intents, Logged, LoggedScores bool
	// Vectors reports whether the loss needs Groups or Intents of Batch, which vectors of documents are made of.
	Vectors bool

	graph     builder
	curvature curvature
	err       error // of its arguments

	weights  weighting
	labels   bool       // the loss goes by labels, groups or intents, not by gains
	keeps    bool       // see KeepsCurvature
	degree   int        // the loss grows with this power of the gains
	exact    *Objective // the loss whose value this one estimates, or only differentiates; nil: it has its own value
	unlogged *Objective // the loss to evaluate instead where nothing was logged; nil: none
}

// Build builds the loss of every query. It is a [Func].
func (o Objective) Build(b Batch) (*G.Node, error) { return sum([]Term{{Objective: o, Weight: 1}})(b) }

// Mean builds the mean of the loss over queries, see [Mean].
func (o Objective) Mean(b Batch) (*G.Node, error) { return Mean(o.Build, b) }

// A builder makes the node of the losses, [queries]. If it fails, it panics with the error.
type builder func(*batch) *G.Node

// A weighting says what the weight of a document multiplies. Weights are divided by their mean in the query, which multiplies the
// loss. A weight says how much a document counts, and does not change its gain, which says how good it is.
type weighting int

const (
	ofPolicy   weighting = iota // e^m, and with it the probability to be chosen next
	ofCopies                    // e^m and the document's term, as if there were that many copies
	ofPairs                     // the term of each pair that the document is in
	ofRanks                     // as ofPairs, but in the derivatives of ranks alone
	ofTerms                     // the document's term
	unweighted                  // nothing: the loss does not go by labels
)

// A query is one query on plain slices, for a curvature. Its weights have the mean 1; nil: all are 1.
type query struct {
	scores, gains, labels, weights []float64
	intents, groups                []int
	discounts                      []float64
	highest                        float64 // grade
	expectation                    *plackett.Expectation
}

// A curvature writes the curvature of each document to out, which is 0 before; nil: it is not known.
type curvature func(q *query, out []float64) error

// HasCurvature reports whether [Objective.Curvature] is known.
func (o Objective) HasCurvature() bool { return o.curvature != nil }

// KeepsCurvature reports whether a run of the loss with a gradient, unless documents have weights, adds to Batch.Curvature what
// [Objective.Curvature] does, from the same pass.
func (o Objective) KeepsCurvature() bool { return o.keeps }

// Curvature adds to out, for each document, the curvature of the loss by its score: a number that is not negative and
// serves as the second derivative of the loss of the query, as boosted trees need one. It is the second derivative
//
//   - for softmax, xe-ndcg and listnet, p(1 − p) with p the softmax of the scores, and for partial-listmle, the sum of it over
//     the choices;
//   - for the losses of logistic pairs, Σ w σ(1 − σ) over the pairs of the document, whose weights are constants;
//   - for mse, ordinal and cross-entropy.
//
// It is a bound on the size of the second derivative
//
//   - for query-rmse: it is 2w, the second derivative 2w (1 − w/Σw);
//   - where every rank counts, for minus an expected metric, exact or estimated, by plackett.Expectation.Curvature, for
//     exact-err, exact-mrr, exact-success and, summed over intents, exact-alpha-ndcg by CascadeCurvature, and for exact-map from
//     the signs of its pairs.
//
// It has that size, but is not a bound, for these metrics where the cutoff is below the number of documents, for lambdaloss,
// whose noise is left out, and for listmle. There, documents of equal gain are in random order. If they also have equal scores
// and weights, the curvature is the mean over their orders, and otherwise near it.
//
// A document of weight 0 has the curvature 0, and so have the documents of a query without gains, unless the loss is LabelFree.
// For other losses Curvature reports false, and adds nothing.
//
// The documents of in are of one query. Curvature reads Scores, Labels, Gains, Weights, Intents, Groups, Discounts and HighestGrade, for
// which 0 stands for 4, as in [Batch].
func (o Objective) Curvature(in metrics.Queries, out []float64) (known bool, err error) {
	return o.addCurvature(in, 1, out)
}

// expectations are reused, as they remember what they computed for the same discounts. A bound need not be exact.
var expectations = sync.Pool{New: func() any { return &plackett.Expectation{Tolerance: 1e-4} }}

// addCurvature adds the curvature of factor times the loss.
func (o Objective) addCurvature(in metrics.Queries, factor float64, out []float64) (known bool, err error) {
	if !o.HasCurvature() {
		return false, nil
	}
	q := query{
		scores: in.Scores, labels: floats64(in.Labels), gains: floats64(in.Gains), intents: in.Intents, groups: in.Groups,
		discounts: in.Discounts, highest: cmp.Or(in.HighestGrade, 4), expectation: expectations.Get().(*plackett.Expectation),
	}
	defer expectations.Put(q.expectation)
	if in.Weights != nil {
		q.weights = floats64(in.Weights)
		share := mean(q.weights, nil)
		if share == 0 {
			return true, nil
		}
		floats.Scale(1/share, q.weights)
		factor *= share
		if o.weights == ofPolicy {
			q.gains, q.labels, q.intents = earned(q.gains, q.weights), earned(q.labels, q.weights), earned(q.intents, q.weights)
			q.scores = slices.Clone(q.scores)
			for d, w := range q.weights {
				q.scores[d] += logWeight(w)
			}
		}
	}
	own := make([]float64, len(q.scores))
	err = o.curvature(&q, own)
	floats.AddScaled(out, factor, earned(own, q.weights))
	return true, err
}

func floats64(x []float32) []float64 {
	y := make([]float64, len(x))
	for i, v := range x {
		y[i] = float64(v)
	}
	return y
}

// A number describes the parameter of a loss: a number above 0, from least up to most.
type number struct {
	name, want                  string
	usual, example, least, most float64
}

var (
	temperatures = number{"a temperature", "above 0", 1, .1, 0, math.MaxFloat64}
	labelScales  = number{"a scale", "above 0 and up to 1e6", 1, 2, 0, 1e6}
	levels       = number{"a level", "between 0 and 1", .95, .95, 0, math.Nextafter(1, 0)}
	draws        = number{"a number of draws", "from 1 to 1e6", 1, 4, 1, 1e6}
	redundancies = number{"an alpha", "above 0 and up to 1", .5, .5, 0, 1}
	ratios       = number{"a ratio", "above 0 and up to 1", .5, .5, 0, 1}
)

// check returns an error if v, the parameter of the loss call, is out of range. written is v as the caller wrote it.
func (n number) check(v float64, call string, written any) error {
	if v > 0 && v >= n.least && v <= n.most {
		return nil
	}
	return fmt.Errorf("%s(%v): want %s %s, such as %s(%v)", call, written, n.name, n.want, call, n.example)
}
