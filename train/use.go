package train

import (
	"cmp"
	"slices"

	"github.com/plrank/plrank/datasets"
	"github.com/plrank/plrank/losses"
	"github.com/plrank/plrank/metrics"
)

// A Use is what a Config is used for. It decides which settings have an effect.
type Use struct {
	Config
	Measures []metrics.Measure // that are reported
	Splits   *datasets.Splits  // to train on; nil: what is measured is trained already
	Draws    bool              // something is drawn by the seed
}

// Idle returns why the setting has no effect in a use, and what it is for, such as "with -scorer mlp: it is for -scorer forest"; "" if
// it has one.
func (s Setting) Idle(u *Use) string {
	if s.idle == nil {
		return ""
	}
	return s.idle(u)
}

// unless returns why a setting has no effect, unless it has one.
func unless(works bool, with, purpose string) string {
	if works {
		return ""
	}
	return with + ": it is for " + purpose
}

// Measured returns why a setting has no effect on measures, unless it has one on any of them, or nothing is measured.
func (u *Use) Measured(works func(metrics.Measure) bool, purpose string) string {
	if u.Measures == nil {
		return ""
	}
	with := "with -metric " + u.Metric
	for i, name := range u.Report {
		with += []string{" -report ", ","}[min(i, 1)] + name
	}
	return unless(slices.ContainsFunc(u.Measures, works), with, purpose)
}

// Learned returns why a setting has no effect on a loss, unless it has one on any of its terms.
func (u *Use) Learned(works func(losses.Term) bool, purpose string) string {
	terms, _ := losses.Terms(u.Loss) // that has been checked
	return unless(slices.ContainsFunc(terms, works), "with -loss "+u.Loss, purpose)
}

func onlySampling(u *Use) string {
	return u.Learned(func(t losses.Term) bool { return t.Sampled }, "losses that sample, such as plrank-rb")
}

func onlyGains(u *Use) string {
	return u.Learned(func(t losses.Term) bool { return !t.LabelFree && !t.RatioOnly },
		"losses that go by the size of gains, such as plrank-exact")
}

func onlyForests(u *Use) string {
	return unless(u.Scorer == forestScorer, "with -scorer "+u.Scorer, "-scorer forest")
}

func onlyNetworks(u *Use) string {
	return unless(u.Scorer != forestScorer, "with -scorer "+u.Scorer, "networks")
}

func onlyAttention(u *Use) string {
	return unless(u.Scorer == attentionScorer, "with -scorer "+u.Scorer, "-scorer attention")
}

func onlyHidden(u *Use) string {
	return cmp.Or(onlyNetworks(u), unless(len(u.Hidden) > 0, `with -hidden ""`, "hidden layers"))
}

func onlyOptimizer(name string) func(*Use) string {
	return func(u *Use) string {
		return cmp.Or(onlyNetworks(u), unless(u.Optimizer == name, "with -optimizer "+u.Optimizer, "-optimizer "+name))
	}
}

func onlyWeighted(u *Use) string {
	for _, d := range []*datasets.Dataset{u.Splits.Train, u.Splits.Vali, u.Splits.Test} {
		if d != nil && d.QueryWeights != nil {
			return ""
		}
	}
	return unless(false, "without weights of queries", "data with them, such as in a file FILE.weight")
}

func onlyTest(u *Use) string {
	if u.Splits.Test == nil {
		return "without a test split: -test names one"
	}
	return ""
}

func onlyLabels(u *Use) string {
	return unless(u.Splits == nil || u.Splits.Vali.Gains == nil, "with -clicks and no labels", "labelled data, which -vali names")
}

// The next ones always have an effect on training.

func onlyGrades(u *Use) string {
	works := u.Splits != nil || slices.ContainsFunc(u.Measures, metrics.Measure.NeedsGrade)
	return unless(works, "on these metrics", "err and graded-rbp")
}

func onlyExposure(u *Use) string {
	objective, _ := metrics.ParseDiscounts(u.Discounts, u.Cutoff.Cutoff()) // that has been checked
	works := u.Splits != nil || objective.Metric != "" ||
		slices.ContainsFunc(u.Measures, func(m metrics.Measure) bool { return m.Ranking().OfPolicy() })
	return unless(works, "on these metrics", "names of metrics, and for measures of exposure, such as -report disparity")
}

func onlyDrawn(u *Use) string {
	return unless(u.Splits != nil || u.Draws, "where nothing is drawn", "what is drawn, such as by -importance")
}
