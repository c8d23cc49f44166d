package judging

import (
	"fmt"
	"math"
	"slices"

	"github.com/plrank/plrank/datasets"
	"github.com/plrank/plrank/judges"
	"github.com/plrank/plrank/metrics"
	"github.com/plrank/plrank/train"
)

// UsualMetric is measured unless -metric names another: a sum, so that intervals hold.
const UsualMetric = "dcg@10"

// A Study measures runs on labels.
type Study struct {
	*Labels
	Measure metrics.Measure
	Design  string   // a sentence on how the pairs or queries of people are taken to be chosen
	Queries []string // that all runs have
	systems []*system
	config  train.Config
	known   bool            // judgements without a probability are known, and no sample
	equal   map[int]float64 // the probability of the pairs of a file without one
	whole   map[string]bool // the queries that people judged, of a study by queries; nil: it is by pairs
}

// system is a run, measured by the judge.
type system struct {
	path   string
	run    *datasets.Run
	linear metrics.Linear
	gains  []float64 // [rows] by people, where they judged
	judge  []float64 // [queries of the run] the measure by the judge and by people, of a study by queries
	people []float64
	query  map[string]int
}

// Open measures runs on labels by the metric of the configuration. Where known is set, judgements without probabilities are no
// sample: they are known.
func Open(c train.Config, l *Labels, known bool, paths ...string) (*Study, error) {
	measure, err := metrics.ParseMeasure(c.Metric)
	if err != nil {
		return nil, fmt.Errorf("-metric: want one metric: %w", err)
	}
	if c.HighestGrade == 0 {
		c.HighestGrade = float64(l.highest)
	}
	if c.LabelFree == metrics.LabelFreeSkip.String() {
		c.LabelFree = metrics.LabelFreeZero.String() // judge and people would measure different queries
	}
	c.Metric, c.Report = measure.String(), []string{measure.String()}
	s := &Study{Labels: l, Measure: measure, config: c, known: known}
	for _, path := range paths {
		run, err := datasets.ReadRun(path, l.union)
		if err != nil {
			return nil, err
		}
		l.Warnings = append(l.Warnings, run.Warnings...)
		y := &system{path: path, run: run, query: map[string]int{}}
		for q, id := range run.QueryIDs {
			y.query[id] = q
		}
		s.systems = append(s.systems, y)
	}
	for _, id := range l.union.QueryIDs {
		if !slices.ContainsFunc(s.systems, func(y *system) bool { _, found := y.query[id]; return !found }) {
			s.Queries = append(s.Queries, id)
		}
	}
	if len(s.Queries) == 0 {
		return nil, fmt.Errorf("%s: no query is in all runs", l.union.Name)
	}
	linear := s.linearize()
	if !known && l.files != nil && !l.drawn {
		s.whole = s.wholeQueries(linear == nil && s.systems[0].linear.Exact)
	}
	if s.whole != nil {
		s.Design = fmt.Sprintf("people judged %d of %d queries, taken to be a random sample of them", len(s.whole), len(s.Queries))
		return s, s.measureQueries()
	}
	if linear != nil {
		return nil, fmt.Errorf("%w; or judgements by people of whole queries, for which every metric will do", linear)
	}
	s.lackingLabels()
	s.probabilities()
	return s, nil
}

// linearize makes the systems linear in the gains.
func (s *Study) linearize() error {
	in, err := settings(s.config)
	for _, y := range s.systems {
		if err != nil {
			return err
		}
		in.Scores, in.Labels, in.Offsets, in.Unranked = y.run.Scores, y.run.Labels, y.run.Offsets, y.run.Unranked
		if y.linear, err = s.Measure.Linearize(in); err != nil {
			continue
		}
		if !y.linear.Exact && in.LabelFree == metrics.LabelFreeOne {
			return fmt.Errorf("-convention one with judgements of pairs and %s: queries without a relevant document count 0", s.Measure)
		}
		in.Labels = s.byPeople(y.run)
		var people metrics.Linear
		people, err = s.Measure.Linearize(in)
		y.gains = people.Values
	}
	return err
}

// settings returns the settings of a measure.
func settings(c train.Config) (in metrics.Queries, err error) {
	if in.Gain, err = metrics.ParseGain(c.Gain); err != nil {
		return in, err
	}
	if in.LabelFree, err = metrics.ParseLabelFree(c.LabelFree); err != nil {
		return in, err
	}
	in.HighestGrade = c.HighestGrade
	in.Ties, err = metrics.ParseTies(c.Ties)
	return in, err
}

// byPeople returns the labels by people, 0 where they judged nothing.
func (s *Study) byPeople(run *datasets.Run) []float32 {
	labels := make([]float32, len(run.Labels))
	for q, id := range run.QueryIDs {
		for row := run.Offsets[q]; row < run.Offsets[q+1]; row++ {
			labels[row] = s.people[pair{id, run.DocumentIDs[row]}].grade
		}
	}
	return labels
}

// wholeQueries returns the queries whose pairs people judged as far as the judge did, or for an exactly linear measure as far as the
// runs show them; nil if they judged other queries in part.
func (s *Study) wholeQueries(exact bool) map[string]bool {
	left, shown, touched := map[string]int{}, map[string]int{}, map[string]bool{} // pairs that people did not judge
	for p := range s.people {
		touched[p.query] = true
	}
	for p := range s.judge {
		if _, judged := s.people[p]; !judged {
			left[p.query]++
		}
	}
	for p := range s.shown() {
		if _, judged := s.people[p]; !judged {
			shown[p.query]++
		}
	}
	whole := map[string]bool{}
	for _, id := range s.Queries {
		if touched[id] {
			if left[id] > 0 && (!exact || shown[id] > 0) {
				return nil
			}
			whole[id] = true
		}
	}
	return whole
}

// shown returns the pairs whose rank counts in a run.
func (s *Study) shown() map[pair]bool {
	shown := map[pair]bool{}
	for _, y := range s.systems {
		for _, id := range s.Queries {
			q := y.query[id]
			for row := y.run.Offsets[q]; row < y.run.Offsets[q+1] && y.linear.Exposure != nil; row++ {
				if y.linear.Exposure[row] != 0 {
					shown[pair{id, y.run.DocumentIDs[row]}] = true
				}
			}
		}
	}
	return shown
}

// lackingLabels warns of pairs that the judge did not judge.
func (s *Study) lackingLabels() {
	shown, lacking := s.shown(), 0
	for p := range shown {
		if !s.judge[p] {
			lacking++
		}
	}
	if lacking > 0 {
		s.Warnings = append(s.Warnings, fmt.Sprintf("%s: %d of the %d pairs that the runs show have no label by the judge: it counts as 0",
			s.union.Name, lacking, len(shown)))
	}
}

// measureQueries measures the systems by query, by the labels of the judge and of people.
func (s *Study) measureQueries() error {
	for _, y := range s.systems {
		people := *y.run.Dataset
		people.Labels = s.byPeople(y.run)
		for data, values := range map[*datasets.Dataset]*[]float64{y.run.Dataset: &y.judge, &people: &y.people} {
			run := *y.run
			run.Dataset = data
			report, err := train.EvaluateRun(s.config, train.Custom{}, &run)
			if err != nil {
				return err
			}
			*values = report.Splits[0].PerQuery[s.config.Metric]
		}
	}
	return nil
}

// probabilities finds the probabilities of judgements whose files do not say them: equal ones for all pairs that the judge judged, or
// for all that the runs show, if all of them are among these, which would be unlikely by chance.
func (s *Study) probabilities() {
	s.equal, s.Design = map[int]float64{}, "people judged pairs that were drawn for this value, with the probabilities of the files"
	left, shown := map[pair]bool{}, s.shown()
	for p := range s.judge {
		left[p] = true
	}
	for round, path := range s.files {
		var plain []pair
		among, own := true, true // the shown pairs, and the judge's
		for p, h := range s.people {
			if h.round == round+1 && h.probability == 0 {
				plain, among, own = append(plain, p), among && shown[p], own && s.judge[p]
			}
		}
		if plain != nil && s.known {
			s.equal[round+1] = 1
		} else if plain != nil {
			n := float64(len(plain))
			from, chance := "the judge", 0.0
			for p := range left {
				if shown[p] {
					chance++
				}
			}
			all := float64(len(left))
			if chance = n * math.Log(chance/all); among && (chance < math.Log(.01) || !own) {
				from, all = "the runs", 0
				for p := range shown {
					if s.people[p].round == 0 || s.people[p].round > round {
						all++
					}
				}
			}
			s.equal[round+1] = min(1, n/all)
			s.Design = fmt.Sprintf("the %d pairs of %s are taken to be drawn with equal probability from the %.0f pairs of %s", len(plain), path,
				all, from)
		}
		for p, h := range s.people {
			if h.round == round+1 {
				delete(left, p)
			}
		}
	}
}

// contrast returns the value of run a by the judge, or a less b unless b is below 0, and its pairs, with their names.
func (s *Study) contrast(a, b int) (value float64, pairs []judges.Pair, names []pair) {
	index, queries := map[pair]int{}, float64(len(s.Queries))
	for _, side := range []struct {
		number int
		sign   float64
	}{{a, 1}, {b, -1}} {
		if side.number < 0 {
			continue
		}
		y := s.systems[side.number]
		for _, id := range s.Queries {
			q := y.query[id]
			value += side.sign * y.linear.PerQuery[q] / queries
			for row := y.run.Offsets[q]; row < y.run.Offsets[q+1]; row++ {
				name := pair{id, y.run.DocumentIDs[row]}
				i, found := index[name]
				if !found {
					i = len(pairs)
					index[name], names = i, append(names, name)
					p := judges.Pair{Grade: int(y.run.Labels[row]), Judge: y.linear.Values[row], People: math.NaN()}
					if h, judged := s.people[name]; judged {
						p.People, p.Probability, p.Round = y.gains[row], h.probability, h.round
						if p.Probability == 0 {
							p.Probability = s.equal[h.round]
						}
					}
					pairs = append(pairs, p)
				}
				pairs[i].Weight += side.sign * y.linear.Weights[row] / queries
			}
		}
	}
	return value, pairs, names
}
