package losses

import (
	"errors"
	"fmt"
	"maps"
	"regexp"
	"slices"
	"strconv"
	"strings"

	G "gorgonia.org/gorgonia"

	"github.com/plrank/plrank/internal/names"
	"github.com/plrank/plrank/plackett"
)

// table has the losses by their names, which [Parse] reads. To add a loss, write a function that returns it, with formula and
// source in its comment, in the file of its family, and a row here or in numbered.
var table = completed(map[string]Objective{
	// Minus the metric expected under the Plackett–Luce policy of the scores, exactly or estimated.
	"plrank-exact":        Expected(DCG, Exact),
	"exact-mrr":           Expected(MRR, Exact),
	"exact-map":           Expected(MAP, Exact),
	"exact-err":           Expected(ERR, Exact),
	"exact-pair-accuracy": Expected(PairAccuracy, Exact),
	"stochasticrank":      Expected(DCG, StochasticRank),
	// Fairness of the expected exposure, exactly or sampled.
	"disparity":                  Disparity(ExactExposure),
	"disparity(cascade)":         Disparity(CascadeExposure),
	"disparity(lambdaloss)":      DisparityBy(lambdaLoss),
	"ee-l":                       EEL(ExactExposure),
	"ee-l(cascade)":              EEL(CascadeExposure),
	"ee-l(plrank-rb)":            EEL(SampledExposure),
	"group-exposure":             GroupExposure(ExactExposure),
	"group-exposure(cascade)":    GroupExposure(CascadeExposure),
	"group-exposure(plrank-rb)":  GroupExposure(SampledExposure),
	"group-treatment":            GroupTreatment(ExactExposure),
	"group-treatment(cascade)":   GroupTreatment(CascadeExposure),
	"group-treatment(plrank-rb)": GroupTreatment(SampledExposure),
	// Certainty, and diversity.
	"deviation-mrr":     DeviationMRR(),
	"deviation-success": DeviationSuccess(),
	"similarity":        Similarity(),
	// Pairs of documents.
	"lambdaloss":               lambdaLoss,
	"lambdaloss-deterministic": Pairwise(Log2, PairWeights{Distance: 1}),
	"ranknet":                  Pairwise(Logistic, PairWeights{Each: 1}),
	"hinge":                    Pairwise(Hinge, PairWeights{Each: 1}),
	"lambdarank":               Pairwise(Log2, PairWeights{Swap: 1, Normalized: true}),
	"ndcg-loss1":               NDCGLoss1(),
	"ndcg-loss2":               Pairwise(Log2, PairWeights{Distance: 1, Normalized: true}),
	"ndcg-loss2pp":             Pairwise(Log2, PairWeights{Swap: 1, Distance: 10, Normalized: true}),
	"ndcg-loss2k":              Pairwise(Log2, PairWeights{AtCutoff: 1, Normalized: true}),
	// All documents of a query, or one at a time.
	"softmax":         Softmax(),
	"xe-ndcg":         XENDCG(),
	"listnet":         ListNet(),
	"listmle":         ListMLE(),
	"partial-listmle": PartialListMLE(),
	"mse":             MSE(),
	"ordinal":         Ordinal(),
	"cross-entropy":   CrossEntropy(),
})

// numbered are the losses with a number as parameter.
var numbered = map[string]struct {
	number
	with func(x float64) Objective
}{
	"exact-alpha-ndcg":  {redundancies, func(alpha float64) Objective { return Expected(AlphaNDCG(alpha), Exact) }},
	"exact-err-ia":      {redundancies, func(alpha float64) Objective { return Expected(ERRIA(alpha), Exact) }},
	"exact-success":     {draws, func(n float64) Objective { return Expected(BestSuccess(n), Exact) }},
	"exposure-risk":     {levels, ExposureRisk},
	"prpo":              {ratios, PRPO},
	"approxndcg":        {temperatures, ApproxNDCG},
	"gumbel-approxndcg": {temperatures, GumbelApproxNDCG},
	"pirank":            {temperatures, PiRank},
	"neuralndcg":        {temperatures, NeuralNDCG},
	"query-rmse":        {labelScales, QueryRMSE},
}

var lambdaLoss = Pairwise(Log2, PairWeights{Distance: 1, Noise: true})

// completed adds the numbered losses, the losses by sampled estimators, and disparity by each of these.
func completed(all map[string]Objective) map[string]Objective {
	for name, n := range numbered {
		all[name] = n.with(n.usual)
	}
	add := func(name string, by Estimator) {
		all[name] = Expected(DCG, by)
		all["disparity("+name+")"] = DisparityBy(all[name])
	}
	for _, e := range []plackett.Estimator{
		plackett.PolicyGradient, plackett.PLRank1, plackett.PLRank2, plackett.PLRankRB,
		// Steps between them, which the laboratory compares.
		{Credit: plackett.Whole, Baseline: true}, {Credit: plackett.Onward, Baseline: true}, {Credit: plackett.Later, Baseline: true},
		{Credit: plackett.Later, Expected: true},
	} {
		add(e.String(), Sampled(e))
	}
	add("placement-policy-gradient", PlacementPolicyGradient)
	return all
}

// Names returns the names of all losses in alphabetical order, including those with another loss as parameter, such as
// disparity(plrank2).
func Names() []string { return slices.Sorted(maps.Keys(table)) }

// lookup finds the loss of a name, perhaps with a parameter: approxndcg,
// approxndcg(0.1), approxndcg(temperature=0.1), disparity(plrank2).
func lookup(name string) (Term, error) {
	base, parameter, has := strings.Cut(name, "(")
	called, parameter := base, strings.TrimSpace(strings.TrimSuffix(parameter, ")"))
	if has {
		called += "(" + parameter + ")"
	}
	if o, ok := table[called]; ok {
		return Term{o, name, 1}, nil
	}
	if _, ok := table[base]; !ok {
		return Term{}, fmt.Errorf("no loss %q: %s", base, names.Want(base, Names()))
	}
	n, ok := numbered[base]
	if !ok {
		others := slices.DeleteFunc(Names(), func(other string) bool { return other != base && !strings.HasPrefix(other, base+"(") })
		if len(others) == 1 {
			return Term{}, fmt.Errorf("%s has no parameter, but %q is given", base, parameter)
		}
		return Term{}, fmt.Errorf("no loss %q: %s", name, names.Want(name, others))
	}
	text := parameter
	if key, after, named := strings.Cut(parameter, "="); named && strings.HasSuffix(n.name, " "+strings.TrimSpace(key)) {
		text = strings.TrimSpace(after)
	}
	x, err := strconv.ParseFloat(text, 64)
	if err != nil {
		x = 0
	}
	return Term{n.with(x), name, 1}, n.check(x, base, parameter)
}

// Parse returns the loss of a name, see [Names], or a weighted sum of several, such as
//
//	plrank-exact + 0.5*disparity
//
// A parameter follows in parentheses, or has its default: approxndcg, gumbel-approxndcg, neuralndcg and pirank take a
// temperature (1), as in approxndcg(0.1), exposure-risk a level (0.95), prpo a ratio (0.5), query-rmse a scale (1), exact-
// alpha-ndcg and exact-err-ia an alpha (0.5) and exact-success a number of draws (1). Fairness losses take the loss that
// estimates exposure from samples, as in disparity(plrank2), or cascade.
//
// Blanks do not matter, except before the minus of a - 0.5*b, which could be part of a name. A weight may be any finite number; a
// term of weight 0 is left out. The terms share their samples: one set of rankings for gradients, and another for exposure. An
// error says at which column the text is wrong, and what would be right; for an unknown name it lists the known ones.
func Parse(text string) (Func, error) {
	terms, err := Terms(text)
	if err != nil {
		return nil, err
	}
	return sum(terms), nil
}

// ParseExact reads a loss as [Parse] does and returns its exact objective, to compare models by its value rather than to
// differentiate it. A loss whose value is an estimate, or means nothing, as for policy-gradient, is replaced by the exact one:
// plrank2 by plrank-exact, disparity(plrank2) by disparity. Others stay as they are; if they draw noise, they still need a
// Sampler. For a batch without Batch.Logged, exposure-risk is left out, and without Batch.LoggedScores prpo is minus the expected
// metric. ParseExact returns the errors of Parse; its Func also returns an error if no term is left.
func ParseExact(text string) (Func, error) {
	terms, err := Terms(text)
	if err != nil {
		return nil, err
	}
	for i := range terms {
		if exact := terms[i].exact; exact != nil {
			terms[i].Objective = *exact
		}
	}
	return func(b Batch) (*G.Node, error) {
		left := known(terms, b)
		if len(left) == 0 {
			return nil, fmt.Errorf("losses: %s has no value without the exposure in a log: Batch.Logged is nil", text)
		}
		return sum(left)(b)
	}, nil
}

// Terms returns the terms of the sum that [Parse] reads, except terms of weight 0. It returns the errors of Parse.
func Terms(text string) ([]Term, error) {
	var terms []Term
	err := names.ParseSum(text, "loss", func(weight float64, rest string) (length int, err error) {
		name := namePattern.FindString(rest)
		if name == "" {
			return 0, fmt.Errorf("want a loss of %s", strings.Join(Names(), ", "))
		}
		t, err := lookup(name)
		if t.Weight = weight; weight != 0 {
			terms = append(terms, t)
		}
		if err == nil && strings.HasPrefix(rest[len(name):], "@") {
			err = errors.New("a loss has no @, as a metric has: the cutoff is the number of discounts (-cutoff)")
		}
		return len(name), err
	})
	switch {
	case err != nil:
		return nil, fmt.Errorf("losses: %.200q, %w", text, err)
	case len(terms) == 0:
		return nil, fmt.Errorf("losses: %q: all weights are 0: nothing is left to learn from", text)
	}
	return terms, nil
}

var namePattern = regexp.MustCompile(`^[A-Za-z][A-Za-z0-9_-]*(\([^()]*\))?`)
