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

// arguments are a batch whose rankings and noise are given, and the exposure of its documents.
type arguments struct {
	losses.Batch
	exposure *G.Node
}

func newArguments(t *testing.T) arguments {
	t.Helper()
	b := sampled(t, newFixture(normal).batch(tensor.Float64))
	b.Rankings = G.Must(ops.Rankings(b.Lists, b.Sampler))
	b.Noise = G.Must(ops.Gumbel(b.Lists, b.Sampler))
	exposure := G.Must(ops.Exposure(b.Lists, b.Rankings, nil, b.Discounts))
	b.Sampler = nil
	return arguments{b, exposure}
}

// takes is what losses and functions for gains take. The fairness losses, on a given exposure, have
// an exclamation mark.
var takes = map[string]string{
	"plrank1": "gains rankings discounts", "plrank2": "gains rankings discounts", "plrank-rb": "gains rankings discounts",
	"plrank-exact": "gains discounts", "exact-mrr": "labels≥0 discounts", "exact-map": "labels≥0 discounts",
	"exact-err": "labels≥0 discounts", "exact-success": "labels≥0 discounts", "exact-alpha-ndcg": "intents discounts",
	"exact-err-ia": "intents discounts", "similarity": "discounts",
	"policy-gradient": "gains rankings discounts", "placement-policy-gradient": "gains rankings discounts",
	"stochasticrank": "gains noise discounts", "lambdaloss": "gains noise discounts", "lambdaloss-deterministic": "gains discounts",
	"xe-ndcg": "gains≥0 noise", "hinge": "gains", "gumbel-approxndcg": "gains≥0 noise", "neuralndcg": "gains≥0 discounts",
	"cross-entropy": "labels≥0", "softmax": "gains≥0", "listnet": "labels", "listmle": "rankings", "partial-listmle": "gains≥0", "ranknet": "gains",
	"lambdarank": "gains≥0 discounts", "ndcg-loss1": "gains≥0 discounts", "ndcg-loss2": "gains≥0 discounts",
	"ndcg-loss2pp": "gains≥0 discounts", "ndcg-loss2k": "gains≥0 discounts", "approxndcg": "gains≥0", "pirank": "gains≥0 discounts",
	"mse": "labels", "query-rmse": "labels", "ordinal": "labels≥0",
	"disparity!": "gains exposure", "ee-l!": "gains exposure discounts", "group-exposure!": "groups exposure", "group-treatment!": "gains≥0 groups exposure",
	"DisparityGains": "gains exposure", "NormalizedGains": "gains≥0 discounts",
}

// make builds what takes has.
func (a arguments) make(name string) (*G.Node, error) {
	switch fairness, given := strings.CutSuffix(name, "!"); {
	case given:
		return losses.OnExposure(fairness, a.Batch, a.exposure)
	case name == "DisparityGains":
		return losses.DisparityGains(a.Lists, a.Gains, a.exposure)
	case name == "NormalizedGains":
		return losses.NormalizedGains(a.Lists, a.Gains, a.Discounts)
	}
	return meanOf(name, a.Batch)
}

// A loss returns an error that names a missing argument, and does not panic.
func TestMissingArgumentIsNamed(t *testing.T) {
	for name, arguments := range takes {
		for _, argument := range append(strings.Fields(strings.ReplaceAll(arguments, "≥0", "")), "scores", "Discounts(-1)") {
			a := newArguments(t)
			want := argument
			switch argument {
			case "scores":
				a.Lists.Scores = nil
			case "gains":
				a.Gains = nil
			case "labels":
				a.Labels = nil
			case "groups":
				a.Groups = nil
			case "intents":
				a.Intents = nil
			case "exposure":
				a.exposure, want = nil, "exposures"
			case "noise":
				a.Noise, want = nil, "sampler"
			case "rankings":
				a.Rankings, want = nil, "sampler"
				if name == "listmle" { // takes the ideal ones then
					a.Gains, want = nil, "gains"
				}
			case "discounts":
				a.Discounts = nil
			case "Discounts(-1)":
				if !strings.Contains(arguments, "discounts") {
					continue
				}
				a.Discounts, want = metrics.Discounts(-1), "discounts"
			}
			if _, err := a.make(name); err == nil || !strings.Contains(err.Error(), "no "+want) || strings.Contains(err.Error(), "runtime error") {
				t.Errorf("%s without %s: error %v", name, argument, err)
			}
		}
	}
}

// Gains and labels that are NaN make the run return an error that says where, and so
// are negative ones where the loss takes none. In padding they do not matter.
func TestArgumentsThatAreNotFiniteAreErrors(t *testing.T) {
	for name, arguments := range takes {
		for _, argument := range []string{"gains", "labels"} {
			if !strings.Contains(arguments, argument) {
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
				node := vector(a.Lists.Scores.Graph(), "other "+argument, tensor.Float64, numbers)
				if argument == "gains" {
					a.Gains = node
				} else {
					a.Labels = node
				}
				loss, err := a.make(name)
				if err != nil {
					t.Fatalf("%s: %v", name, err)
				}
				_, err = evaluated(loss)
				want := c.want
				if c.value == -1 && !strings.Contains(arguments, argument+"≥0") {
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
