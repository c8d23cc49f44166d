package main

import (
	"fmt"
	"hash/fnv"
	"slices"

	"github.com/plrank/plrank/clicks"
	"github.com/plrank/plrank/ranker"
)

// interleave makes an impression of two models: they take turns, each with the best of its products that are left. A user who asks again
// gets the same ranking.
func interleave(s Search, id string, champion, challenger *ranker.Model, hits []Hit, x []float32) (*clicks.Impression, error) {
	hash := fnv.New64a()
	fmt.Fprint(hash, s.Client, "|", s.Key())
	im := newImpression(s, id, hits, x)
	im.Model, im.Seed, im.Interleaving = "champion+challenger", hash.Sum64()>>11, new(clicks.Interleaving)
	for i, m := range []*ranker.Model{champion, challenger} {
		scores, err := score(m, x, columns.Levels)
		if err != nil {
			return nil, err
		}
		im.Interleaving.Models = append(im.Interleaving.Models,
			clicks.Contributor{Name: []string{"champion", "challenger"}[i], Version: version(m), Scores: scores})
	}
	im.Shown = im.Interleaving.Draft(shown, im.Seed)
	im.Clicks = make([]float64, len(im.Shown))
	return im, nil
}

// newImpression returns an impression of candidates, without a ranking.
func newImpression(s Search, id string, hits []Hit, x []float32) *clicks.Impression {
	im := &clicks.Impression{ID: id, Client: s.Client, Query: s.Key(), Features: x, Cutoff: shown}
	for _, h := range hits {
		im.Documents = append(im.Documents, h.ID)
	}
	return im
}

// trial returns which of two models users prefer, by the interleaved impressions of a log; "": it is not certain yet. The error is 5 % at
// most, also if it is asked every night.
func trial(log *clicks.Log, challenger *ranker.Model) (better, report string, err error) {
	own := *log
	own.Impressions = slices.DeleteFunc(slices.Clone(log.Impressions), func(im clicks.Impression) bool {
		return im.Interleaving == nil || im.Interleaving.Models[1].Version != version(challenger)
	})
	if len(own.Impressions) == 0 {
		return "", "no impressions", nil
	}
	c := clicks.Comparison{Baseline: "champion"}
	if err := c.Add(&own); err != nil {
		return "", "", err
	}
	found, err := c.Results()
	if err != nil {
		return "", "", err
	}
	d := found[0]
	return d.Decision, fmt.Sprintf("%+.3f clicks a search (%+.3f … %+.3f) in %d", d.Difference, d.Low, d.High, d.Impressions), nil
}
