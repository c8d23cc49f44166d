package judging

import (
	"fmt"
	"io"
	"math"

	"github.com/plrank/plrank/cmd/internal/cli"
	"github.com/plrank/plrank/internal/num"
	"github.com/plrank/plrank/judges"
	"github.com/plrank/plrank/train"
	"github.com/plrank/plrank/viz"
)

// A Plan holds the pairs that people should judge next, and the estimates so far.
type Plan struct {
	Metric string `json:"metric"`
	Values
	// Always is the interval that holds in all rounds together.
	Always  Interval `json:"always"`
	Certain bool     `json:"certain"` // which run is better
	Judges  int      `json:"judgements"`
	Width   float64  `json:"width,omitempty"`
	// Needed is how many more judgements an interval of ± Width would cost.
	Needed *int      `json:"needed,omitempty"`
	Pools  []pool    `json:"pools"`
	Draws  []Draw    `json:"draws"`
	Agreed agreement `json:"agreement"`
	runs   []string  // paths
	single bool      // the value of one run
}

// A Draw is a pair that people should judge, and the probability with which it was drawn.
type Draw struct {
	Query       string  `json:"query"`
	Document    string  `json:"document"`
	Probability float64 `json:"probability"`
}

// A pool has the first documents of all runs.
type pool struct {
	Depth    int `json:"depth"`
	Pairs    int `json:"pairs"`
	Unjudged int `json:"unjudged"` // by people
}

// Plan draws the pairs that people should judge next for the value of one run, or the difference of two.
func (s *Study) Plan(budget int, width float64) (*Plan, error) {
	p := &Plan{Metric: s.Measure.String(), Judges: len(s.people), Width: width, Pools: s.pools(), Draws: []Draw{}, Agreed: agreed(s.Agreement)}
	a, b := 0, len(s.systems)-2 // the second run, or none
	if p.single = b < 0; !p.single {
		b = 1
	}
	for _, y := range s.systems {
		p.runs = append(p.runs, y.path)
	}
	var err error
	if p.Values, err = s.estimate(a, b); err != nil {
		return nil, err
	}
	value, pairs, names := s.contrast(a, b)
	both, _, err := judges.ByPairs(value, pairs)
	if err != nil {
		return nil, err
	}
	low, high := both.Always(level)
	p.Always = Interval{train.Value(both.Value), train.Value(low), train.Value(high)}
	if p.Certain = !p.single && (low > 0 || high < 0); p.Certain {
		return p, nil
	}
	if width > 0 && both.StdErr > 0 {
		n := judges.Needed(both, pairs, level, width)
		p.Needed = &n
	}
	probabilities := judges.Probabilities(pairs, budget)
	seed := s.config.Seed + uint64(len(s.files))<<32
	for i, drawn := range judges.Draw(probabilities, seed) {
		if drawn {
			p.Draws = append(p.Draws, Draw{names[i].query, names[i].document, probabilities[i]})
		}
	}
	return p, nil
}

// pools counts the pairs of depth-k pools, up to the deepest rank that counts.
func (s *Study) pools() (list []pool) {
	for _, depth := range []int{1, 2, 3, 5, 10, 20, 50, 100} {
		found, deeper := map[pair]bool{}, false
		for _, y := range s.systems {
			for _, id := range s.Queries {
				q := y.query[id]
				first := y.run.Offsets[q]
				rank := 0
				for _, d := range num.DescendingOrder(nil, y.run.Scores[first:y.run.Offsets[q+1]]) {
					if y.linear.Exposure[first+d] == 0 {
						continue
					}
					if rank++; rank > depth {
						deeper = true
						break
					}
					found[pair{id, y.run.DocumentIDs[first+d]}] = true
				}
			}
		}
		unjudged := 0
		for p := range found {
			if _, judged := s.people[p]; !judged {
				unjudged++
			}
		}
		if list = append(list, pool{depth, len(found), unjudged}); !deeper {
			break
		}
	}
	return list
}

// Print prints the plan.
func (p *Plan) Print(w io.Writer) {
	for i, path := range p.runs {
		fmt.Fprintf(w, "%s: %s\n", called(i, -1), path)
	}
	name := called(0, 1)
	if p.single {
		name = called(0, -1)
	}
	fmt.Fprintf(w, "%s of %s\n", p.Metric, name)
	if p.Judges > 0 {
		p.Values.Print(w, name)
	} else {
		fmt.Fprintf(w, "\njudge alone %.4f; people judged nothing yet\n", float64(p.Judge.Value))
	}
	p.Agreed.print(w)
	if low, high := float64(p.Always.Low), float64(p.Always.High); !math.IsInf(low, 0) {
		fmt.Fprintf(w, "over all rounds, from %.4f to %.4f: an interval that holds for who looks after every round\n", low, high)
	}
	switch {
	case p.Certain && p.Always.Low > 0:
		fmt.Fprintln(w, "certain: A is above B; no pairs are drawn")
	case p.Certain:
		fmt.Fprintln(w, "certain: B is above A; no pairs are drawn")
	case len(p.Draws) == 0:
		fmt.Fprintln(w, "no pair that is left has an effect; no pairs are drawn")
	default:
		fmt.Fprintf(w, "%d pairs are drawn\n", len(p.Draws))
	}
	if p.Needed != nil {
		fmt.Fprintf(w, "an interval of ±%v would cost about %d more judgements\n", p.Width, *p.Needed)
	}
	table := viz.Table{Title: "pools, for comparison", Columns: []string{"depth", "pairs", "of them not judged by people"}}
	for _, pool := range p.Pools {
		table.Rows = append(table.Rows, viz.Row{pool.Depth, pool.Pairs, pool.Unjudged})
	}
	fmt.Fprintf(w, "\n%s", table)
	cli.PrintNote(w, "Intervals are for what people would measure on these queries and documents if they judged them all.")
}
