package main

import (
	"fmt"

	"github.com/plrank/plrank/clicks"
	"github.com/plrank/plrank/ranker"
)

// leastSize is the effective sample size below which a log says too little about a model.
const leastSize = 100

// gate estimates from a log that the candidate was not trained on how many more clicks an impression would have if the candidate
// had drawn the rankings. It passes the candidate if the whole interval of the difference is above 0. report says what was found.
func gate(log *clicks.Log, candidate *ranker.Model) (pass bool, report string, err error) {
	target := clicks.Target{
		Policy: func(im *clicks.Impression) ([]float64, error) {
			scores, err := score(candidate, im.Features, log.Levels)
			if err != nil {
				return nil, err
			}
			return clicks.Logged(&clicks.Impression{Documents: im.Documents, Scores: scores, Temperature: policy(scores).Temperature})
		},
		Baseline: clicks.Logged,
		Unit:     func(im *clicks.Impression) string { return im.Query },
	}
	estimates, err := clicks.Evaluate(log, target, clicks.IIPS) // which needs no position bias
	if err != nil {
		return false, "", err
	}
	e := estimates[0]
	report = fmt.Sprintf("%+.3f clicks a search (%+.3f … %+.3f)", e.Difference.Mean, e.Difference.Low, e.Difference.High)
	if e.EffectiveSize < leastSize || e.BaselineSize < leastSize {
		return false, fmt.Sprintf("%s; effective sample sizes %.0f and %.0f", report, e.EffectiveSize, e.BaselineSize), nil
	}
	return e.Difference.Low > 0, report, nil
}
