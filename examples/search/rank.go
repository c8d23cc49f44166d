package main

import (
	"math/rand/v2"

	"gonum.org/v1/gonum/stat"

	"github.com/plrank/plrank/clicks"
	"github.com/plrank/plrank/ranker"
)

// score returns the scores of the candidates, from features as columns describes them, or by texts of their own. Without a model
// they are of the fusion.
func score(m *ranker.Model, x []float32, levels [][]string) ([]float64, error) {
	width := len(columns.FeatureIDs)
	var scores []float64
	if m == nil {
		for i := 0; i < len(x); i += width {
			scores = append(scores, float64(x[i]))
		}
		return scores, nil
	}
	return m.Score(nil, ownLevels(m, x, levels))
}

// ownLevels returns features with the model's own numbers of texts.
func ownLevels(m *ranker.Model, x []float32, levels [][]string) []float32 {
	width := len(columns.FeatureIDs)
	own := make([]float32, len(x))
	for i, v := range x {
		if own[i] = v; i%width < len(levels) && levels[i%width] != nil && v > 0 {
			own[i], _ = m.Level(i%width, levels[i%width][int(v)-1])
		}
	}
	return own
}

// policy returns the policy that draws rankings. Its temperature depends on the scores alone, so that rankings by BM25 and by any
// model vary about as much.
func policy(scores []float64) ranker.Policy {
	if sd := stat.StdDev(scores, nil); sd > 0 {
		return ranker.Policy{Temperature: sd / 1.5}
	}
	return ranker.Policy{Temperature: 1}
}

// draw makes an impression: a ranking drawn from the policy, with what later estimates need.
func draw(s Search, id string, m *ranker.Model, hits []Hit, x []float32) (*clicks.Impression, error) {
	scores, err := score(m, x, columns.Levels)
	if err != nil {
		return nil, err
	}
	im := newImpression(s, id, hits, x)
	im.Model, im.Version, im.Scores, im.Temperature, im.Seed = "shop", version(m), scores, policy(scores).Temperature, rand.Uint64()
	im.Shown, _, err = policy(scores).Draw(nil, scores, shown, im.Seed)
	im.Clicks = make([]float64, len(im.Shown))
	return im, err
}

// byScore returns the candidates in the order of a model's scores, which most users see.
func byScore(m *ranker.Model, x []float32) ([]int, error) {
	scores, err := score(m, x, columns.Levels)
	if err != nil {
		return nil, err
	}
	return ranker.Rank(make([]int, 0, len(scores)), scores), nil
}
