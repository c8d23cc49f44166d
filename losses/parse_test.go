package losses_test

import (
	"fmt"
	"math"
	"slices"
	"strconv"
	"strings"
	"testing"

	"gorgonia.org/tensor"

	"github.com/plrank/plrank/losses"
	"github.com/plrank/plrank/ops"
	"github.com/plrank/plrank/plackett"
)

// A weighted sum has the weighted values and gradients of its terms.
func TestSumHasTheWeightedTerms(t *testing.T) {
	f := newFixture(normal)
	type weights map[string]float64
	for text, want := range map[string]weights{
		"softmax":                             {"softmax": 1},
		"softmax+0.5*mse":                     {"softmax": 1, "mse": .5},
		"  2*softmax +\t-1.5e-1 * mse ":       {"softmax": 2, "mse": -.15},
		"1e+1*ndcg-loss2pp+.5*ranknet":        {"ndcg-loss2pp": 10, "ranknet": .5},
		"softmax+0*mse":                       {"softmax": 1},
		"softmax - 0.5*mse":                   {"softmax": 1, "mse": -.5},
		"softmax+softmax":                     {"softmax": 2},
		"plrank-rb+0.5*disparity":             {"plrank-rb": 1, "disparity": .5},
		"3*ee-l+disparity":                    {"ee-l": 3, "disparity": 1},
		"lambdaloss+2*stochasticrank":         {"lambdaloss": 1, "stochasticrank": 2},
		"group-exposure+2*group-treatment":    {"group-exposure": 1, "group-treatment": 2},
		"plrank2+placement-policy-gradient":   {"plrank2": 1, "placement-policy-gradient": 1},
		"0.25*plrank1 + 0.25*policy-gradient": {"plrank1": .25, "policy-gradient": .25},
	} {
		build, err := losses.Parse(text)
		if err != nil {
			t.Errorf("%q: %v", text, err)
			continue
		}
		// One node of a kind is drawn from each sampler, so a term draws in the sum
		// what it draws alone.
		b := sampled(t, f.batch(tensor.Float64))
		loss, err := losses.Mean(build, b)
		if err != nil {
			t.Fatalf("%q: %v", text, err)
		}
		value, gradient := differentiate(t, loss, b.Lists.Scores)
		wantValue, wantGradient := 0.0, make([]float64, len(gradient))
		for name, weight := range want {
			f2, err := losses.Parse(name)
			if err != nil {
				t.Fatal(err)
			}
			b := sampled(t, f.batch(tensor.Float64))
			term, err := losses.Mean(f2, b)
			if err != nil {
				t.Fatal(err)
			}
			v, g := differentiate(t, term, b.Lists.Scores)
			wantValue += weight * v
			for d := range g {
				wantGradient[d] += weight * g[d]
			}
		}
		if math.Abs(value-wantValue) > 1e-12*(1+math.Abs(wantValue)) {
			t.Errorf("%q: %v, want %v", text, value, wantValue)
		}
		for d := range gradient {
			if math.Abs(gradient[d]-wantGradient[d]) > 1e-12*(1+math.Abs(wantGradient[d])) {
				t.Errorf("%q: gradient[%d] = %v, want %v", text, d, gradient[d], wantGradient[d])
			}
		}
	}
}

func TestParseErrorsSayWhere(t *testing.T) {
	for text, want := range map[string]string{
		"":                      `"", column 1: want a loss of approxndcg, `,
		"plrank3":               `column 1: no loss "plrank3": the nearest of ` + strconv.Itoa(len(losses.Names())) + ` are plrank1, plrank2, pirank (did you mean plrank1?)`,
		"softmax +":             `column 10: want a loss of`,
		"softmax+0.5disparity":  `column 12: want * and a loss after the weight 0.5`,
		"softmax 0.5*disparity": `column 9: want + or - and another term`,
		"softmax-0.5*mse":       `column 1: no loss "softmax-0"`,
		"softmax+2*3*mse":       `column 11: want a loss of`,
		"mse*2":                 `column 4: want + or - and another term`,
		"1e999*mse":             `column 1: the weight 1e999 is out of range`,
		"NaN*mse":               `column 1: no loss "NaN"`,
		"0*mse+0*softmax":       `all weights are 0`,
		"softmax+ Disparity":    `column 10: no loss "Disparity"`,
		"mse+approxndcg(0)":     `column 5: approxndcg(0): want a temperature above 0, such as approxndcg(0.1)`,
		"pirank(T=1)":           `pirank(T=1): want a temperature above 0`,
		"pirank(Inf)":           `pirank(Inf): want a temperature above 0`,
		"exact-alpha-ndcg(2)":   `want an alpha above 0 and up to 1, such as exact-alpha-ndcg(0.5)`,
		"exact-mrr(10)":         `exact-mrr has no parameter, but "10" is given`,
		"exact-map@5":           `column 1: a loss has no @, as a metric has: the cutoff is the number of discounts (-cutoff)`,
		"softmax(2)":            `softmax has no parameter, but "2" is given`,
		"disparity(softmax)":    `no loss "disparity(softmax)": want one of disparity, disparity(cascade), `,
		"mse+2*pirank(1":        `want + or - and another term`,
	} {
		if _, err := losses.Parse(text); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%q: error %v, want one with %q", text, err, want)
		}
	}
	build, err := losses.Parse("softmax+mse")
	if err != nil {
		t.Fatal(err)
	}
	b := newFixture(normal).batch(tensor.Float64)
	b.Labels = nil
	if _, err := losses.Mean(build, b); err == nil || !strings.HasPrefix(err.Error(), "losses: mse: no labels") {
		t.Errorf("error %v, want one that says that mse has no labels", err)
	}
}

// A temperature may be written in several ways, and is 1 by default.
func TestTemperatureMayHaveItsName(t *testing.T) {
	f := newFixture(normal)
	for name, same := range map[string]string{
		"approxndcg": "approxndcg(1)", "approxndcg( 0.1 )": "approxndcg(0.1)", "approxndcg(temperature = 1e-1)": "approxndcg(0.1)",
		"pirank": "pirank(1)", "neuralndcg": "neuralndcg(temperature=1)",
	} {
		b := sampled(t, f.batch(tensor.Float64))
		got, gradient := differentiate(t, build(t, name, b), b.Lists.Scores)
		b = sampled(t, f.batch(tensor.Float64))
		value, slope := differentiate(t, build(t, same, b), b.Lists.Scores)
		if got != value || !slices.Equal(gradient, slope) {
			t.Errorf("%s: %v, %s has %v", name, got, same, value)
		}
	}
}

// A temperature divides the scores.
func TestTemperatureDividesScores(t *testing.T) {
	for name, temperature := range map[string]float64{"approxndcg": .1, "pirank": .5, "neuralndcg": 2} {
		f := newFixture(normal)
		b := f.batch(tensor.Float64)
		got, _ := differentiate(t, build(t, fmt.Sprintf("%s(%v)", name, temperature), b), b.Lists.Scores)
		for d := range f.scores {
			f.scores[d] /= temperature
		}
		b = f.batch(tensor.Float64)
		if want, _ := differentiate(t, build(t, name, b), b.Lists.Scores); !close12(got, want) {
			t.Errorf("%s(%v) is %v, %s of divided scores %v", name, temperature, got, name, want)
		}
	}
}

// Terms tell what a loss is made of.
func TestTermsTellNameWeightAndMeasure(t *testing.T) {
	terms, err := losses.Terms("2*plrank-rb + 0*mse + disparity(plrank2) - 0.5*x")
	if err == nil {
		t.Errorf("%v, want an error", terms)
	}
	terms, err = losses.Terms("2*plrank-rb + 0*mse + disparity(plrank2) + -0.5*group-exposure + approxndcg(0.1)")
	if err != nil {
		t.Fatal(err)
	}
	var got []string
	for _, term := range terms {
		got = append(got, fmt.Sprint(term.Weight, term.Loss, term.Measure))
	}
	want := []string{"2plrank-rb", "1disparity(plrank2)disparity", "-0.5group-exposureexposure-ratio", "1approxndcg(0.1)"}
	if !slices.Equal(got, want) {
		t.Errorf("%q, want %q", got, want)
	}
}

func FuzzParse(f *testing.F) {
	for _, text := range []string{"plrank-rb+0.5*disparity", "1e+1*mse", "+", "é", "0.5*", "mse+\x00"} {
		f.Add(text)
	}
	f.Fuzz(func(t *testing.T, text string) {
		if build, err := losses.Parse(text); (err == nil) == (build == nil) {
			t.Errorf("%q: neither a loss nor an error, or both", text)
		}
	})
}

func TestParametersOfFunctionsAreThoseOfNames(t *testing.T) {
	plRank2 := losses.Expected(losses.DCG, losses.Sampled(plackett.PLRank2))
	for name, o := range map[string]losses.Objective{
		"approxndcg(0.3)": losses.ApproxNDCG(.3), "gumbel-approxndcg(0.3)": losses.GumbelApproxNDCG(.3), "pirank(0.3)": losses.PiRank(.3),
		"neuralndcg(0.3)": losses.NeuralNDCG(.3), "exposure-risk(0.3)": losses.ExposureRisk(.3), "prpo(0.3)": losses.PRPO(.3),
		"query-rmse(1e-20)": losses.QueryRMSE(1e-20), "exact-alpha-ndcg(alpha=0.2)": losses.Expected(losses.AlphaNDCG(.2), losses.Exact),
		"plrank2": plRank2, "disparity(plrank2)": losses.DisparityBy(plRank2), "disparity(lambdaloss)": losses.DisparityBy(lambdaLossObjective),
		"disparity(cascade)": losses.Disparity(losses.CascadeExposure), "ee-l(plrank-rb)": losses.EEL(losses.SampledExposure),
	} {
		value := func(f losses.Func) float64 {
			b := newSmall().batch()
			b.Sampler = ops.NewSampler(3, 4, 1)
			loss, err := losses.Mean(f, b)
			if err != nil {
				t.Fatalf("%s: %v", name, err)
			}
			return evaluate(t, loss)[0]
		}
		named, err := losses.Parse(name)
		if err != nil {
			t.Fatal(err)
		}
		if got, want := value(o.Build), value(named); got != want || got == 0 {
			t.Errorf("%s has %v, its function %v", name, want, got)
		}
	}
}

// A function with arguments that do not fit returns a loss that cannot be built.
func TestLossesOfWrongArgumentsAreNotBuilt(t *testing.T) {
	for want, o := range map[string]losses.Objective{
		"losses: ApproxNDCG(-1): want a temperature above 0, such as ApproxNDCG(0.1)": losses.ApproxNDCG(-1),
		"losses: PRPO(NaN): want a ratio above 0":                                     losses.PRPO(math.NaN()),
		"losses: AlphaNDCG(2): want an alpha above 0 and up to 1":                     losses.Expected(losses.AlphaNDCG(2), losses.Exact),
		"losses: DisparityBy, QueryRMSE(0): want a scale above 0 and up to 1e6":       losses.DisparityBy(losses.QueryRMSE(0)),
		"losses: DisparityBy: want a loss for losses.DCG":                             losses.DisparityBy(losses.Softmax()),
		"losses: the gradient of this metric is only known exactly":                   losses.Expected(losses.ERR, losses.Sampled(plackett.PLRank2)),
		"losses: invalid exposure 7":                                                  losses.EEL(7),
		"a factor of PairWeights is +Inf":                                             losses.Pairwise(losses.Log2, losses.PairWeights{Swap: math.Inf(1)}),
		"an estimator with expected rewards needs the credit Later": losses.Expected(losses.DCG,
			losses.Sampled(plackett.Estimator{Expected: true})),
		"losses: no loss: it is the zero Objective": {},
	} {
		b := newSmall().batch()
		if _, err := o.Build(b); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("the error is %v, want %s", err, want)
		}
	}
}
