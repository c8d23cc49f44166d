package losses

import (
	"fmt"
	"math"
	"slices"
	"strconv"
	"strings"

	G "gorgonia.org/gorgonia"

	"github.com/plrank/plrank/internal/names"
	"github.com/plrank/plrank/ops"
	"github.com/plrank/plrank/plackett"
)

// Batch is what a loss is built on: lists of one graph, and what is known of them.
// A loss that lacks what it needs is an error that names the field. In float32, gains and weights so
// small or large that there is no room for the loss or its gradient are an error of the run: the largest
// gain of a query, and its product with the weight of the query and the factor of the loss, are to be from
// 2^-100 to 2^100, about 1e±30; so is the square of the gain for disparity and group-treatment.
type Batch struct {
	Lists     ops.Lists    // the scores, and which of them are of which query
	Gains     *G.Node      // [rows], of the dtype of the scores: ρ of the metric
	Sampler   *ops.Sampler // of the rankings, or the noise, that the gradient is estimated from
	Discounts []float64    // θ of the metric, as many as its cutoff

	// Labels, [rows], of the dtype of the scores, are the raw grades, for the
	// losses that do not go by gains: listnet, mse, ordinal and cross-entropy.
	Labels *G.Node
	// HighestGrade is that of the data set, for ordinal and cross-entropy: above 0, not
	// necessarily a whole number. 0: 4, as in most of them.
	HighestGrade float64
	// DocumentWeights, [rows], and QueryWeights, [queries], of the dtype of the scores,
	// are not negative; nil: 1. The gains of a document are multiplied by its weight, and
	// so is its term in the losses that go by labels (in the target of listnet). The loss
	// of a query is multiplied by the weight of the query: a query of weight 2 counts as
	// two, where the mean divides by the queries that there are.
	DocumentWeights, QueryWeights *G.Node
	// Groups, [rows], int, are the groups of documents that group-exposure and
	// group-treatment compare. A negative number stands for no group.
	Groups *G.Node
	// Exposure is the sampler of the rankings that the fairness losses by sampling, such as
	// disparity(plrank2), estimate exposure from, 1000 a query in the paper; their gradient
	// is estimated from those of Sampler. nil: Sampler draws a second set.
	Exposure *ops.Sampler
}

// Func builds a loss: a scalar node to be minimised, the mean over the queries
// that have documents.
type Func func(Batch) (*G.Node, error)

// A family is the losses of one name: one, and perhaps more with a parameter.
type family struct {
	build   builder
	measure string // the measure of fairness that the loss is about; "": of none
	sampled bool   // whether it draws rankings or noise, as many as Batch.Sampler says

	// labelFree tells whether it learns from queries without a gain, see Term.LabelFree.
	labelFree bool
	// objective is the loss whose value is what this one minimises; "": its own. A loss with
	// the name of another for parameter has that of the loss without.
	objective string
	// The loss is in proportion to the gains to the power of degree, or to the weights of the
	// documents where it goes by labels, and by neither where it is of groups alone.
	degree           int
	labels, ungained bool

	temperature func(value float64) builder // with the parameter temperature; nil: has none
	by          map[string]builder          // with the name of another loss for parameter, all sampled
}

// families are the losses by name. The estimators of package plackett, and their
// disparity(…), are added by init.
var families = map[string]family{
	exactMetric:                 {degree: 1, build: onDiscounts(plRankExact)},
	"placement-policy-gradient": {degree: 1, build: onRankings(placementPolicyGradient), sampled: true, objective: exactMetric},
	"lambdaloss":                {degree: 1, build: onNoise(lambdaLoss), sampled: true},
	"stochasticrank":            {degree: 1, build: onNoise(stochasticRank), sampled: true, objective: exactMetric},
	"lambdaloss-deterministic":  {degree: 1, build: onDiscounts(lambdaLossDeterministic)},

	"softmax":      {build: onGains(softmax)},
	"xe-ndcg":      {build: buildXENDCG, sampled: true},
	"listnet":      {labels: true, build: onLabels(listNet), labelFree: true},
	"listmle":      {build: buildListMLE},
	"ranknet":      {build: onGains(rankNet)},
	"hinge":        {build: onGains(hinge)},
	"lambdarank":   {build: onDiscounts(lambdaRank)},
	"ndcg-loss1":   {build: onDiscounts(ndcgLoss1)},
	"ndcg-loss2":   {build: onDiscounts(ndcgLoss2)},
	"ndcg-loss2pp": {build: onDiscounts(ndcgLoss2PP)},
	"ndcg-loss2k":  {build: onDiscounts(ndcgLoss2AtK)},
	"approxndcg":   {build: buildApproxNDCG(1), temperature: buildApproxNDCG},
	"neuralndcg":   {build: buildNeuralNDCG(1), temperature: buildNeuralNDCG},
	"pirank":       {build: buildPiRank(1), temperature: buildPiRank},
	"mse":          {degree: 1, labels: true, build: onLabels(mse), labelFree: true},
	"ordinal":      {degree: 1, labels: true, build: onGrades(ordinalUpTo), labelFree: true},

	"cross-entropy":     {degree: 1, labels: true, build: onGrades(pointwiseCrossEntropy), labelFree: true},
	"gumbel-approxndcg": {build: buildGumbelApproxNDCG(1), temperature: buildGumbelApproxNDCG, sampled: true},

	"disparity": {degree: 2, build: onExposure((*batch).exposure, buildDisparity), measure: "disparity", by: map[string]builder{
		"placement-policy-gradient": disparityBy(onRankings(placementPolicyGradient)),
		"lambdaloss":                disparityBy(onNoise(lambdaLoss)),
	}},
	"ee-l":            ofExposure(buildExposureLoss, family{measure: "ee-l", labelFree: true}),
	"group-exposure":  ofExposure(buildGroupExposure, family{measure: "exposure-ratio", labelFree: true, ungained: true}),
	"group-treatment": ofExposure(buildGroupTreatment, family{measure: "treatment-ratio", degree: -2}),
}

// exactMetric is the loss that is minus an expected metric, exactly.
const exactMetric = "plrank-exact"

// ofExposure is a loss of exact exposure, or with the parameter plrank-rb of sampled
// exposure, whose gradient is PL-Rank-RB's.
func ofExposure(loss func(b *batch, exposure *G.Node) (*G.Node, error), f family) family {
	f.build = onExposure((*batch).exposure, loss)
	f.by = map[string]builder{plackett.PLRankRB.String(): onExposure((*batch).sampledExposure, loss)}
	return f
}

func init() {
	for _, e := range plackett.Estimators() {
		loss := onRankings(by(e))
		if e == plackett.PolicyGradient {
			loss = onRankings(policyGradient) // the same number, by Gorgonia's differentiation
		}
		families[e.String()] = family{build: loss, sampled: true, objective: exactMetric, degree: 1}
		families["disparity"].by[e.String()] = disparityBy(loss)
	}
}

// lookup finds the loss of a name, perhaps with a parameter: approxndcg,
// approxndcg(0.1), approxndcg(temperature=0.1), disparity(plrank2).
func lookup(name string) (Term, error) {
	base, value, has := strings.Cut(name, "(")
	f, ok := families[base]
	t := Term{Loss: name, Weight: 1, Measure: f.measure, Sampled: f.sampled, LabelFree: f.labelFree, build: f.build, family: f}
	switch {
	case !ok:
		return t, fmt.Errorf("no loss %q: %s", base, names.Want(base, Names()))
	case !has:
		return t, nil
	}
	value = strings.TrimSpace(strings.TrimSuffix(value, ")"))
	switch {
	case f.by != nil:
		if t.build, ok = f.by[value]; !ok {
			return t, fmt.Errorf("no loss %q: %s", name, names.Want(name, f.names(base)))
		}
		t.Sampled = true
		return t, nil
	case f.temperature == nil:
		return t, fmt.Errorf("%s has no parameter, but %q is given", base, value)
	}
	number := value
	if key, after, named := strings.Cut(value, "="); named && strings.TrimSpace(key) == "temperature" {
		number = strings.TrimSpace(after)
	}
	v, err := strconv.ParseFloat(number, 64)
	if err != nil || !(v > 0) || math.IsInf(v, 0) {
		return t, fmt.Errorf("%s(%s): want a temperature above 0, such as %s(0.1)", base, value, base)
	}
	t.build = f.temperature(v)
	return t, nil
}

// names of the family of that name, in alphabetical order; of those with numbers the
// one without.
func (f family) names(base string) []string {
	all := []string{base}
	for by := range f.by {
		all = append(all, base+"("+by+")")
	}
	slices.Sort(all)
	return all
}

// ByName returns the loss of that name, see [Names]. approxndcg, gumbel-approxndcg,
// neuralndcg and pirank may have their temperature behind them, approxndcg(0.1), 1 where
// they do not. A name that is not known is an error that lists those that are.
func ByName(name string) (Func, error) {
	t, err := lookup(name)
	if err != nil {
		return nil, fmt.Errorf("losses: %w", err)
	}
	return sum([]Term{t}), nil
}

// Names returns the names of all losses, in alphabetical order.
func Names() []string {
	var all []string
	for base, f := range families {
		all = append(all, f.names(base)...)
	}
	slices.Sort(all)
	return all
}
