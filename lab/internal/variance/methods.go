package variance

import "github.com/plrank/plrank/plackett"

// A Method is a way to estimate the gradient of the expected metric of a list from a number
// of rankings.
type Method struct {
	Name     string
	estimate func(w *worker, l List, from plackett.Stream, lambda []float64) error
}

// estimators are those of the paper, PL-Rank-RB, and the steps between them (docs/pl-rank-rb.md).
var estimators = []plackett.Estimator{
	plackett.PolicyGradient, {Credit: plackett.Whole, Baseline: true}, // Kool, van Hoof & Welling 2019
	plackett.PLRank1, {Credit: plackett.Onward, Baseline: true},
	plackett.PLRank2, {Credit: plackett.Later, Baseline: true}, expectedRewards,
	plackett.PLRankRB,
}

// expectedRewards is PL-Rank-2 with expected rewards.
var expectedRewards = plackett.Estimator{Credit: plackett.Later, Expected: true}

// Estimators are the estimators of package plackett, under their names, on independent rankings, the
// same for all.
func Estimators() []Method {
	var all []Method
	for _, e := range estimators {
		all = append(all, Method{e.String(), func(w *worker, l List, _ plackett.Stream, lambda []float64) error {
			_, err := w.kernel.Gradient(e, l.Scores, l.Gains, w.discounts, w.independent, lambda)
			return err
		}})
	}
	return all
}

// Competitors are other methods, which need 2 rankings or more, and lists of at most
// [MostQuasiRandom] documents:
//
//   - NAME/qmc is an estimator of package plackett on quasi-random rankings (Buchholz et al.,
//     SIGIR 2022), which are not independent: an estimator with a leave-one-out baseline is
//     then biased.
//   - unordered-set is the unordered-set estimator with its built-in baseline (Kool, van Hoof
//     and Welling, ICLR 2020) on different rankings, sampled without replacement.
func Competitors() []Method {
	all := []Method{{"unordered-set", (*worker).unorderedSet}}
	for _, e := range []plackett.Estimator{plackett.PLRank1, plackett.PLRank2, expectedRewards, plackett.PLRankRB} {
		all = append(all, Method{e.String() + "/qmc", func(w *worker, l List, from plackett.Stream, lambda []float64) error {
			if err := w.quasiRandom(l.Scores, from); err != nil {
				return err
			}
			_, err := w.kernel.Gradient(e, l.Scores, l.Gains, w.discounts, w.quasi, lambda)
			return err
		}})
	}
	return all
}
