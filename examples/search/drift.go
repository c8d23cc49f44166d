package main

import (
	"time"

	"github.com/plrank/plrank/clicks"
	"github.com/plrank/plrank/ranker"
)

// leastDrift is the index from which a feature has moved: see ranker.Shift.
const leastDrift = .1

// drifted returns the features of a log that are not as they were when a model was trained. A query counts once.
func drifted(m *ranker.Model, log *clicks.Log) (names []string, err error) {
	if m == nil {
		return nil, nil
	}
	d, err := ranker.NewDrift(m)
	if err != nil {
		return nil, err
	}
	seen := map[string]bool{}
	for _, im := range log.Impressions {
		if !seen[im.Query] {
			seen[im.Query] = true
			d.Add(uint64(len(seen)), time.Time{}, ownLevels(m, im.Features, log.Levels), nil)
		}
	}
	for _, s := range d.Shifts(leastDrift) {
		if s.Alarm && s.Column < len(columns.FeatureNames) {
			names = append(names, columns.FeatureNames[s.Column])
		}
	}
	return names, nil
}
