package losses_test

import (
	"math"
	"strings"
	"testing"

	G "gorgonia.org/gorgonia"
	"gorgonia.org/tensor"

	"github.com/plrank/plrank/losses"
	"github.com/plrank/plrank/metrics"
	"github.com/plrank/plrank/ops"
)

// arguments are what the functions of the package take.
type arguments struct {
	l                                                ops.Lists
	gains, labels, groups, exposure, noise, rankings *G.Node
	discounts                                        []float64
}

func newArguments(t *testing.T) arguments {
	t.Helper()
	b := sampled(t, newFixture(normal).batch(tensor.Float64))
	a := arguments{l: b.Lists, gains: b.Gains, labels: b.Labels, groups: b.Groups, discounts: b.Discounts}
	var err error
	if a.rankings, err = ops.Rankings(a.l, b.Sampler); err != nil {
		t.Fatal(err)
	}
	if a.noise, err = ops.Gumbel(a.l, b.Sampler); err != nil {
		t.Fatal(err)
	}
	if a.exposure, err = ops.Exposure(a.l, a.rankings, nil, a.discounts); err != nil {
		t.Fatal(err)
	}
	return a
}

// functions are those that make a loss or gains, with the names of what they take.
var functions = map[string]struct {
	takes string
	make  func(a arguments) (*G.Node, error)
}{
	"PLRank1": {"gains rankings discounts", func(a arguments) (*G.Node, error) { return losses.PLRank1(a.l, a.gains, a.rankings, a.discounts) }},
	"PLRank2": {"gains rankings discounts", func(a arguments) (*G.Node, error) { return losses.PLRank2(a.l, a.gains, a.rankings, a.discounts) }},
	"PLRankRB": {"gains rankings discounts", func(a arguments) (*G.Node, error) {
		return losses.PLRankRB(a.l, a.gains, a.rankings, a.discounts)
	}},
	"PLRankExact": {"gains discounts", func(a arguments) (*G.Node, error) { return losses.PLRankExact(a.l, a.gains, a.discounts) }},
	"PolicyGradient": {"gains rankings discounts", func(a arguments) (*G.Node, error) {
		return losses.PolicyGradient(a.l, a.gains, a.rankings, a.discounts)
	}},
	"PlacementPolicyGradient": {"gains rankings discounts", func(a arguments) (*G.Node, error) {
		return losses.PlacementPolicyGradient(a.l, a.gains, a.rankings, a.discounts)
	}},
	"StochasticRank": {"gains noise discounts", func(a arguments) (*G.Node, error) {
		return losses.StochasticRank(a.l, a.gains, a.noise, a.discounts)
	}},
	"LambdaLoss": {"gains noise discounts", func(a arguments) (*G.Node, error) { return losses.LambdaLoss(a.l, a.gains, a.noise, a.discounts) }},
	"LambdaLossDeterministic": {"gains discounts", func(a arguments) (*G.Node, error) {
		return losses.LambdaLossDeterministic(a.l, a.gains, a.discounts)
	}},
	"XENDCG": {"gains≥0 noise", func(a arguments) (*G.Node, error) { return losses.XENDCG(a.l, a.gains, a.noise) }},
	"Hinge":  {"gains", func(a arguments) (*G.Node, error) { return losses.Hinge(a.l, a.gains) }},
	"GumbelApproxNDCG": {"gains≥0 noise", func(a arguments) (*G.Node, error) {
		return losses.GumbelApproxNDCG(a.l, a.gains, a.noise, 1)
	}},
	"NeuralNDCG": {"gains≥0 discounts", func(a arguments) (*G.Node, error) {
		return losses.NeuralNDCG(a.l, a.gains, a.discounts, 1)
	}},
	"CrossEntropy": {"labels≥0", func(a arguments) (*G.Node, error) { return losses.CrossEntropy(a.l, a.labels, 4) }},
	"Softmax":      {"gains≥0", func(a arguments) (*G.Node, error) { return losses.Softmax(a.l, a.gains) }},
	"ListNet":      {"labels", func(a arguments) (*G.Node, error) { return losses.ListNet(a.l, a.labels) }},
	"ListMLE":      {"rankings", func(a arguments) (*G.Node, error) { return losses.ListMLE(a.l, a.rankings) }},
	"RankNet":      {"gains", func(a arguments) (*G.Node, error) { return losses.RankNet(a.l, a.gains) }},
	"LambdaRank":   {"gains≥0 discounts", func(a arguments) (*G.Node, error) { return losses.LambdaRank(a.l, a.gains, a.discounts) }},
	"NDCGLoss1":    {"gains≥0 discounts", func(a arguments) (*G.Node, error) { return losses.NDCGLoss1(a.l, a.gains, a.discounts) }},
	"NDCGLoss2":    {"gains≥0 discounts", func(a arguments) (*G.Node, error) { return losses.NDCGLoss2(a.l, a.gains, a.discounts) }},
	"NDCGLoss2PP":  {"gains≥0 discounts", func(a arguments) (*G.Node, error) { return losses.NDCGLoss2PP(a.l, a.gains, a.discounts) }},
	"NDCGLoss2AtK": {"gains≥0 discounts", func(a arguments) (*G.Node, error) { return losses.NDCGLoss2AtK(a.l, a.gains, a.discounts) }},
	"ApproxNDCG":   {"gains≥0", func(a arguments) (*G.Node, error) { return losses.ApproxNDCG(a.l, a.gains, 1) }},
	"PiRank":       {"gains≥0 discounts", func(a arguments) (*G.Node, error) { return losses.PiRank(a.l, a.gains, a.discounts, 1) }},
	"MSE":          {"labels", func(a arguments) (*G.Node, error) { return losses.MSE(a.l, a.labels) }},
	"Ordinal":      {"labels≥0", func(a arguments) (*G.Node, error) { return losses.Ordinal(a.l, a.labels, 4) }},
	"Disparity":    {"gains exposure", func(a arguments) (*G.Node, error) { return losses.Disparity(a.l, a.gains, a.exposure) }},
	"DisparityGains": {"gains exposure", func(a arguments) (*G.Node, error) {
		return losses.DisparityGains(a.l, a.gains, a.exposure)
	}},
	"ExposureLoss": {"gains exposure discounts", func(a arguments) (*G.Node, error) {
		return losses.ExposureLoss(a.l, a.gains, a.exposure, a.discounts)
	}},
	"GroupExposure": {"groups exposure", func(a arguments) (*G.Node, error) { return losses.GroupExposure(a.l, a.groups, a.exposure) }},
	"GroupTreatment": {"gains≥0 groups exposure", func(a arguments) (*G.Node, error) {
		return losses.GroupTreatment(a.l, a.gains, a.groups, a.exposure)
	}},
	"NormalizedGains": {"gains≥0 discounts", func(a arguments) (*G.Node, error) { return losses.NormalizedGains(a.l, a.gains, a.discounts) }},
}

// An argument that is missing is an error that names it, and no panic.
func TestNilArguments(t *testing.T) {
	for name, f := range functions {
		for _, argument := range append(strings.Fields(strings.ReplaceAll(f.takes, "≥0", "")), "scores", "Discounts(-1)") {
			a := newArguments(t)
			want := argument
			switch argument {
			case "scores":
				a.l.Scores = nil
			case "gains":
				a.gains = nil
			case "labels":
				a.labels = nil
			case "groups":
				a.groups = nil
			case "exposure":
				a.exposure, want = nil, "exposures"
			case "noise":
				a.noise = nil
			case "rankings":
				a.rankings = nil
			case "discounts":
				a.discounts = nil
			case "Discounts(-1)":
				if !strings.Contains(f.takes, "discounts") {
					continue
				}
				a.discounts, want = metrics.Discounts(-1), "discounts"
			}
			if _, err := f.make(a); err == nil || !strings.Contains(err.Error(), "no "+want) || strings.Contains(err.Error(), "runtime error") {
				t.Errorf("%s without %s: error %v", name, argument, err)
			}
		}
	}
}

// Gains and labels that are no numbers are an error of the run that says where, and so
// are negative ones where the loss takes none. In padding they do not matter.
func TestNotFiniteArguments(t *testing.T) {
	for name, f := range functions {
		for _, argument := range []string{"gains", "labels"} {
			if !strings.Contains(f.takes, argument) {
				continue
			}
			for _, c := range []struct {
				row   int
				value float64
				want  string
			}{
				{5, math.NaN(), "is NaN"}, {5, math.Inf(1), "is +Inf"}, {5, -1, "is -1"}, {22, math.NaN(), ""}, {22, -1, ""},
			} {
				a := newArguments(t)
				numbers := newFixture(normal).gains
				numbers[c.row] = c.value
				node := vector(a.l.Scores.Graph(), "other "+argument, tensor.Float64, numbers)
				if argument == "gains" {
					a.gains = node
				} else {
					a.labels = node
				}
				loss, err := f.make(a)
				if err != nil {
					t.Fatalf("%s: %v", name, err)
				}
				_, err = evaluated(loss)
				want := c.want
				if c.value == -1 && !strings.Contains(f.takes, argument+"≥0") {
					want = ""
				}
				if want != "" {
					want = "row 5: the " + strings.TrimSuffix(argument, "s") + " " + want
				}
				if (err == nil) != (want == "") || err != nil && !(strings.Contains(err.Error(), want) && strings.Contains(err.Error(), "query 3")) {
					t.Errorf("%s, %s of row %d are %v: error %v, want %q", name, argument, c.row, c.value, err, want)
				}
			}
		}
	}
}
