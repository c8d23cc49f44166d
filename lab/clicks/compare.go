package main

import (
	"fmt"
	"math/rand/v2"
	"slices"

	"github.com/plrank/plrank/clicks"
	"github.com/plrank/plrank/datasets"
)

// compare counts the impressions until a decision between two models whose clicks differ by 2 %, by team draft and by A/B, with
// looks all the time, and how often the decision is wrong.
func compare([]string) error {
	const queries, documents, cutoff = 500, 20, 10
	d := made(queries, documents, 1)
	u := user(cutoff)
	random := rand.New(rand.NewPCG(1, 2))
	champion, other := make([]float64, d.Rows()), make([]float64, d.Rows())
	for r := range champion {
		champion[r] = float64(d.Labels[r]) + .5*random.NormFloat64()
		other[r] = .3 * random.NormFloat64()
	}
	// mixed has the scores of the champion, changed at random in one query of four, and a part of what the labels say more.
	mixed := func(part float64) []float64 {
		scores := slices.Clone(champion)
		for r := range scores {
			if r/documents%4 == 0 {
				scores[r] += other[r]
			}
			scores[r] += part * (float64(d.Labels[r]) - scores[r])
		}
		return scores
	}
	logger := func(name string, scores []float64) clicks.Logger {
		return clicks.Logger{Model: name, Cutoff: cutoff, Draft: true, Scores: func(d *datasets.Dataset, q int) ([]float64, error) {
			return scores[d.Offsets[q]:d.Offsets[q+1]], nil
		}}
	}
	alone := func(l clicks.Logger) clicks.Logger { // a draft with itself is its ranking
		l.Others = []clicks.Logger{l}
		return l
	}
	value := func(scores []float64) (sum float64) {
		theta := theta(cutoff)
		for q := range queries {
			order := make([]int, documents)
			for i := range order {
				order[i] = q*documents + i
			}
			slices.SortStableFunc(order, func(a, b int) int { return cmpDown(scores[a], scores[b]) })
			for k, r := range order[:cutoff] {
				sum += theta[k] * u.Attraction(d.Labels[r])
			}
		}
		return sum
	}
	part := func(ratio float64) float64 { // with this ratio of the clicks
		low, high := 0., .5
		for range 40 {
			if middle := (low + high) / 2; value(mixed(middle)) < ratio*value(champion) {
				low = middle
			} else {
				high = middle
			}
		}
		return low
	}
	fmt.Println("difference,by,runs,mean impressions,wrong decisions,undecided")
	for _, c := range []struct {
		ratio             float64
		ab                bool
		runs, every, most int
	}{{1.02, false, 100, 250, 100_000}, {1.02, true, 20, 10_000, 2_000_000}} {
		a, b := logger("a", champion), logger("b", mixed(part(c.ratio)))
		total, wrong, undecided := 0, 0, 0
		for run := range c.runs {
			comparison := &clicks.Comparison{}
			decision := ""
			n := 0
			for ; decision == "" && n < c.most; n += c.every {
				seed := uint64(run)<<32 | uint64(n)
				loggers := []clicks.Logger{a}
				if loggers[0].Others = []clicks.Logger{b}; c.ab {
					loggers = []clicks.Logger{alone(a), alone(b)}
				}
				for i, logger := range loggers {
					l, err := clicks.Simulate(d, logger, u, c.every/len(loggers), 2*seed+uint64(i))
					if err != nil {
						return err
					}
					for j := range l.Impressions {
						im := &l.Impressions[j]
						im.ID = fmt.Sprint(n, " ", i, " ", im.ID)
						if im.Model = logger.Model; c.ab {
							im.Interleaving = nil
						}
					}
					if err := comparison.Add(l); err != nil {
						return err
					}
				}
				all, err := comparison.Results()
				if err != nil {
					return err
				}
				decision = all[0].Decision
			}
			total += n
			switch decision {
			case "":
				undecided++
			case "a":
				wrong++
			}
		}
		by := "team draft"
		if c.ab {
			by = "a/b"
		}
		fmt.Printf("%.0f %%,%s,%d,%d,%d,%d\n", 100*(c.ratio-1), by, c.runs, total/c.runs, wrong, undecided)
	}
	return nil
}

// cmpDown orders numbers from the highest.
func cmpDown(a, b float64) int {
	switch {
	case a > b:
		return -1
	case a < b:
		return 1
	}
	return 0
}
