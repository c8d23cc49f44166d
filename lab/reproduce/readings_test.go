package main

import (
	"math"
	"slices"
	"strconv"
	"testing"

	"gonum.org/v1/gonum/stat/distuv"

	"github.com/plrank/plrank/metrics"
)

// What reproduction.md and variance.md say of their tables without a mark of a test in them.

// Our estimates equal the estimates of the authors' code to rounding, and so is training on the same noise
// as long as rounding has not changed a ranking, which is for ten epochs at least.
func TestAuthorsAgree(t *testing.T) {
	const dir = "authors/"
	estimates, err := readTable(dir+authorsEstimatesFile, "difference")
	if err != nil {
		t.Fatal(err)
	}
	off, err := estimates.floats("difference")
	if err != nil || len(off) < 30 || !(slices.Max(off) < 1e-13) {
		t.Errorf("estimates differ by %v, %v", off, err)
	}
	training, err := readTable(dir+authorsTrainingFile, "epoch", "difference")
	if err != nil {
		t.Fatal(err)
	}
	for i, difference := range training.texts("difference") {
		epoch := training.texts("epoch")[i]
		if v, err := strconv.ParseFloat(difference, 64); err != nil || len(epoch) == 1 && !(v < 1e-10) {
			t.Errorf("after epoch %s test scores differ by %v, %v", epoch, v, err)
		}
	}
}

// From the same initial weights neither the mean nor the variance of any loss differs between the codes, and what the
// authors' script for fairness does otherwise in an estimate gives it no bias.
func TestAuthorsEndWhereWeDo(t *testing.T) {
	losses, err := readTable("authors/"+authorsLossesFile, "code", "loss", "epoch", "dcg@5")
	if err != nil {
		t.Fatal(err)
	}
	for _, loss := range losses.distinct("loss") {
		last := losses.where("loss", loss).where("epoch", "40")
		ours, err := last.where("code", "plrank").floats("dcg@5")
		if err != nil {
			t.Fatal(err)
		}
		theirs, err := last.where("code", "2021").floats("dcg@5")
		if err != nil {
			t.Fatal(err)
		}
		test, err := metrics.PairedT(theirs, ours)
		if err != nil || len(ours) != paperRuns || test.PValue < pairLevel || sameVariance(theirs, ours) < pairLevel {
			t.Errorf("%s: %+v, variances differ with p = %v, %v", loss, test, sameVariance(theirs, ours), err)
		}
	}
	sharing, err := readTable("authors/sharing.csv", "bias", "standard error")
	if err != nil {
		t.Fatal(err)
	}
	bias, err := sharing.floats("bias")
	if err != nil {
		t.Fatal(err)
	}
	errors, err := sharing.floats("standard error")
	if err != nil {
		t.Fatal(err)
	}
	for i := range bias {
		if !(bias[i] < 2*errors[i]) {
			t.Errorf("row %d: bias %v, standard error %v", i+1, bias[i], errors[i])
		}
	}
}

// Every method lowers the disparity of the test split from its first epoch to its last.
func TestDisparityFalls(t *testing.T) {
	for _, dir := range []string{"MQ2008-Fold1-fairness", "yahoo-0.05-fairness", "mslr-0.01-fairness"} {
		all, err := readFairness(dir)
		if err != nil {
			t.Fatal(err)
		}
		var p []float64
		for _, loss := range all.distinct("loss") {
			c, err := curveOf(all.where("loss", loss), disparity)
			if err != nil {
				t.Fatal(err)
			}
			test, err := metrics.PairedT(c.last(), c.at(0))
			if err != nil || !(test.Difference < 0) || test.Pairs != paperRuns {
				t.Errorf("%s, %s: %+v, %v", dir, loss, test, err)
			}
			p = append(p, test.PValue)
		}
		if p, err = metrics.Holm(p); err != nil || !(slices.Max(p) < pairLevel) {
			t.Errorf("%s: p %v, %v", dir, p, err)
		}
	}
}

// adjusted are the p-values of one-sided tests of standard normal variates, above 0, by Holm's method.
func adjusted(t *testing.T, z []float64) []float64 {
	t.Helper()
	p := make([]float64, len(z))
	for i := range z {
		p[i] = distuv.UnitNormal.Survival(z[i])
	}
	p, err := metrics.Holm(p)
	if err != nil {
		t.Fatal(err)
	}
	return p
}

// On normal scores only PL-Rank-RB on quasi-random rankings is biased, with 24 documents at every spread and with 125 from
// sd 2 on; and the median of the ratios of PL-Rank-RB is below the ratio of the means.
func TestOnlyQuasiRandomBaselinesAreBiasedOnNormalScores(t *testing.T) {
	all, err := readTable("../variance/mslr-0.005/"+normalFile, append(slices.Clone(normalColumns), spreadColumns...)...)
	if err != nil {
		t.Fatal(err)
	}
	rb := all.where("estimator", "plrank-rb")
	ratios, err := rb.numbers("ratio", "ratio_p50")
	if err != nil {
		t.Fatal(err)
	}
	for i, ratio := range ratios[0] {
		if median := ratios[1][i]; !(median < ratio) {
			t.Errorf("row %d: the median %v is not below %v", i, median, ratio)
		}
	}
	table := all.where("cutoff", "5").where("samples", "10")
	c, err := table.numbers("bias", "bias_se", "documents", "sd")
	if err != nil {
		t.Fatal(err)
	}
	z := make([]float64, len(table.rows))
	for i := range z {
		z[i] = c[0][i] / c[1][i]
	}
	for i, p := range adjusted(t, z) {
		name := table.texts("estimator")[i]
		want := name == "plrank-rb/qmc" && (c[2][i] == 24 || c[3][i] >= 2)
		if got := p < pairLevel; got != want {
			t.Errorf("%s, %v documents, sd %v: p = %.2g", name, c[2][i], c[3][i], p)
		}
	}
}

// The methods with less variance than PL-Rank-RB, on independent rankings, on networks of any stage.
func TestLessVarianceThanRB(t *testing.T) {
	for _, dir := range []string{"mslr-0.005", "MQ2008-Fold1", "MSLR-sample"} {
		all, err := readTable("../variance/"+dir+"/"+varianceFile, varianceColumns...)
		if err != nil {
			t.Fatal(err)
		}
		all = all.where("axis", methodsAxis)
		for _, stage := range all.distinct("stage") {
			rows := all.where("stage", stage)
			c, err := rows.numbers("trace", "trace_se")
			if err != nil {
				t.Fatal(err)
			}
			rb := slices.Index(rows.texts("estimator"), "plrank-rb")
			var z []float64
			for i, trace := range c[0] {
				z = append(z, (c[0][rb]-trace)/math.Hypot(c[1][rb], c[1][i]))
			}
			for i, p := range adjusted(t, z) {
				name := rows.texts("estimator")[i]
				want := dir == "mslr-0.005" && stage == "trained" && slices.Contains([]string{"plrank1-loo", "unordered-set"}, name)
				if got := p < pairLevel; got != want && name != "plrank-rb/qmc" {
					t.Errorf("%s, %s, %s: p = %.2g", dir, stage, name, p)
				}
			}
		}
	}
}
