package main

import (
	"cmp"
	"fmt"
	"math/rand/v2"
	"slices"

	"github.com/plrank/plrank/clicks"
	"github.com/plrank/plrank/datasets"
)

// A rivalry has a champion, and a challenger that gets 2 % more clicks: it has other scores in one query of four, and a little
// more of what the labels say.
type rivalry struct {
	d      *datasets.Dataset
	user   clicks.User
	models [2]clicks.Logger
}

const rivalDocuments, rivalCutoff = 20, 10

func newRivalry() *rivalry {
	r := &rivalry{d: made(500, rivalDocuments, 1), user: user(rivalCutoff)}
	random := rand.New(rand.NewPCG(1, 2))
	var champion, other []float64
	for _, label := range r.d.Labels {
		champion = append(champion, float64(label)+.5*random.NormFloat64())
		other = append(other, .3*random.NormFloat64())
	}
	challenger := func(part float64) []float64 {
		scores := slices.Clone(champion)
		for i := range scores {
			if i/rivalDocuments%4 == 0 {
				scores[i] += other[i]
			}
			scores[i] += part * (float64(r.d.Labels[i]) - scores[i])
		}
		return scores
	}
	low, high := 0., .5
	for range 40 {
		if middle := (low + high) / 2; r.clicks(challenger(middle)) < 1.02*r.clicks(champion) {
			low = middle
		} else {
			high = middle
		}
	}
	for i, scores := range [][]float64{champion, challenger(low)} {
		r.models[i] = clicks.Logger{Model: []string{"champion", "challenger"}[i], Cutoff: rivalCutoff, Draft: true,
			Scores: func(d *datasets.Dataset, q int) ([]float64, error) { return scores[d.Offsets[q]:d.Offsets[q+1]], nil }}
	}
	return r
}

// clicks returns the expected clicks of all queries, ranked by scores.
func (r *rivalry) clicks(scores []float64) (sum float64) {
	theta := theta(rivalCutoff)
	for q := range r.d.Queries() {
		var order []int
		for i := range rivalDocuments {
			order = append(order, q*rivalDocuments+i)
		}
		slices.SortStableFunc(order, func(a, b int) int { return cmp.Compare(scores[b], scores[a]) })
		for k, i := range order[:rivalCutoff] {
			sum += theta[k] * r.user.Attraction(r.d.Labels[i])
		}
	}
	return sum
}

// add adds n impressions, interleaved or half by each model. A draft with itself is a model's own ranking.
func (r *rivalry) add(c *clicks.Comparison, ab bool, n int, seed uint64) error {
	first := r.models[0]
	first.Others = r.models[1:]
	loggers := []clicks.Logger{first}
	if ab {
		loggers = nil
		for _, m := range r.models {
			m.Others = []clicks.Logger{m}
			loggers = append(loggers, m)
		}
	}
	for i, logger := range loggers {
		l, err := clicks.Simulate(r.d, logger, r.user, n/len(loggers), 2*seed+uint64(i))
		if err != nil {
			return err
		}
		for j := range l.Impressions {
			im := &l.Impressions[j]
			im.ID = fmt.Sprint(seed, " ", i, " ", im.ID)
			if im.Model = logger.Model; ab {
				im.Interleaving = nil
			}
		}
		if err := c.Add(l); err != nil {
			return err
		}
	}
	return nil
}

// compare counts the impressions until a decision between these models, by team draft and by A/B, with looks all the time, and how
// often the decision is wrong.
func compare([]string) error {
	r := newRivalry()
	fmt.Println("difference,by,runs,mean impressions,wrong decisions,undecided")
	for _, c := range []struct {
		by                string
		runs, every, most int
	}{{"team draft", 100, 250, 100_000}, {"a/b", 20, 10_000, 2_000_000}} {
		total, decided := 0, map[string]int{}
		for run := range c.runs {
			comparison := &clicks.Comparison{Baseline: "champion"}
			decision := ""
			for n := 0; decision == "" && n < c.most; n += c.every {
				if err := r.add(comparison, c.by == "a/b", c.every, uint64(run)<<32|uint64(n)); err != nil {
					return err
				}
				all, err := comparison.Results()
				if err != nil {
					return err
				}
				decision = all[0].Decision
				total += c.every
			}
			decided[decision]++
		}
		fmt.Printf("2 %%,%s,%d,%d,%d,%d\n", c.by, c.runs, total/c.runs, decided["champion"], decided[""])
	}
	return nil
}
