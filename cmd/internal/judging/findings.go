package judging

import (
	"fmt"
	"io"
	"math"

	"github.com/plrank/plrank/cmd/internal/cli"
	"github.com/plrank/plrank/judges"
	"github.com/plrank/plrank/train"
	"github.com/plrank/plrank/viz"
)

const (
	level = .95 // of the intervals
	few   = 5   // judgements with an effect are too few for intervals that hold

	fewQueries = 30 // are too few where queries differ much
)

// An Interval is an estimate with the ends of its interval of 95 %; null in JSON: unbounded.
type Interval struct {
	Value train.Value `json:"value"`
	Low   train.Value `json:"low"`
	High  train.Value `json:"high"`
}

func interval(e judges.Estimate) Interval {
	low, high := e.Interval(level)
	return Interval{train.Value(e.Value + 0), train.Value(low + 0), train.Value(high + 0)} // without −0
}

// Values hold a value, or the difference of two, by people alone, by the judge alone, which has no interval, and by both.
type Values struct {
	People Interval `json:"people"`
	Judge  Interval `json:"judge"`
	Both   Interval `json:"both"`
	Judged int      `json:"judged"` // queries or pairs by people that have an effect
	// Saved is how many more of these people alone would need for the interval of both.
	Saved train.Value `json:"saved"`
	Notes []string    `json:"notes"`
}

// Findings are what -json prints. Of one run, or of two, Values are at the top, too.
type Findings struct {
	Metric  string `json:"metric"`
	Queries int    `json:"queries"`
	Design  string `json:"design"`
	*Values
	Runs      []runValues  `json:"runs"`
	Pairs     []pairValues `json:"pairs,omitempty"`
	Agreement agreement    `json:"agreement"`

	notes []string
}

// agreement is judges.Agreement for JSON, where kappa may be null.
type agreement struct {
	Pairs  int         `json:"pairs"`
	Same   train.Value `json:"same"`
	Kappa  train.Value `json:"kappa"`
	Counts [][]int     `json:"counts"` // [by the judge][by people]
}

func agreed(a judges.Agreement) agreement {
	return agreement{a.Pairs, train.Value(a.Same), train.Value(a.Kappa), a.Counts}
}

type runValues struct {
	File string `json:"file"`
	Values
}

type pairValues struct {
	A int `json:"a"` // numbers of runs, from 0
	B int `json:"b"`
	Values
}

// Find estimates the values of all runs and their differences.
func (s *Study) Find() (*Findings, error) {
	f := &Findings{Metric: s.Measure.String(), Queries: len(s.Queries), Design: s.Design, Agreement: agreed(s.Agreement)}
	f.notes = append(f.notes, "The value is what people would measure on these queries and documents if they judged them all; the judge "+
		"alone has no interval.")
	if s.whole == nil && !s.systems[0].linear.Exact {
		f.notes = append(f.notes, fmt.Sprintf("Caution: %s is taken as a linear function of the gains near the judge's. Its intervals miss the "+
			"value too often where the judge's grades are far from people's; the intervals of dcg hold. Queries without a relevant document "+
			"count 0.",
			s.Measure))
	}
	for a, y := range s.systems {
		v, err := s.estimate(a, -1)
		if err != nil {
			return nil, err
		}
		if !s.samples(a) {
			unknown := Interval{train.Value(math.NaN()), train.Value(math.NaN()), train.Value(math.NaN())}
			v = Values{Judge: v.Judge, People: unknown, Both: unknown, Saved: unknown.Value,
				Notes: []string{"the pairs were drawn for the difference, and are no sample for the value of one run"}}
		}
		f.Runs = append(f.Runs, runValues{y.path, v})
	}
	for a := range s.systems {
		for b := a + 1; b < len(s.systems); b++ {
			v, err := s.estimate(a, b)
			if err != nil {
				return nil, err
			}
			f.Pairs = append(f.Pairs, pairValues{a, b, v})
		}
	}
	switch {
	case len(f.Runs) == 1:
		f.Values = &f.Runs[0].Values
	case len(f.Pairs) == 1:
		f.Values = &f.Pairs[0].Values
	}
	return f, nil
}

// samples reports whether pairs that were drawn may be a sample for the value of run a: where they were drawn for the difference of two
// runs, there are none of those that both rank alike.
func (s *Study) samples(a int) bool {
	if !s.drawn || len(s.systems) != 2 {
		return true
	}
	alike, weights := 0, map[pair]float64{}
	_, pairs, names := s.contrast(0, 1)
	for i, p := range pairs {
		weights[names[i]] = p.Weight
	}
	_, pairs, names = s.contrast(a, -1)
	for i, p := range pairs {
		if p.Weight != 0 && math.Abs(weights[names[i]]) <= 1e-12*math.Abs(p.Weight) {
			if alike++; s.people[names[i]].probability > 0 {
				return true
			}
		}
	}
	return alike == 0
}

// estimate estimates the value of run a, or of a less b unless b is below 0.
func (s *Study) estimate(a, b int) (v Values, err error) {
	var both, people judges.Estimate
	var value float64
	if s.whole != nil {
		judge, values := s.byQuery(a, b)
		for _, x := range judge {
			value += x / float64(len(judge))
		}
		both, people, _, err = judges.ByQueries(judge, values)
	} else {
		var pairs []judges.Pair
		value, pairs, _ = s.contrast(a, b)
		both, people, err = judges.ByPairs(value, pairs)
	}
	if err != nil {
		return v, fmt.Errorf("%s: %w", called(a, b), err)
	}
	value += 0 // not −0
	judge := Interval{train.Value(value), train.Value(value), train.Value(value)}
	v = Values{People: interval(people), Judge: judge, Both: interval(both), Judged: both.Judged, Notes: []string{}}
	v.Saved = train.Value(math.NaN())
	if both.StdErr > 0 && both.Freedom > 0 {
		ratio := people.StdErr / both.StdErr
		v.Saved = train.Value(float64(both.Judged) * (ratio*ratio - 1))
	}
	if both.Judged == 0 {
		v.Notes = append(v.Notes, "caution: no judgement by people has an effect")
		return v, nil
	}
	v.judgeBias(a, b)
	switch {
	case s.whole != nil && both.Judged < min(fewQueries, len(s.Queries)):
		v.Notes = append(v.Notes, fmt.Sprintf("caution: people judged %d queries; intervals of few hold less often where queries differ much",
			both.Judged))
	case s.whole == nil && !math.IsInf(both.Freedom, 1) && (both.Judged < few || both.Freedom < few-1):
		v.Notes = append(v.Notes, fmt.Sprintf("caution: %d pairs by people have an effect, too few for intervals that hold", both.Judged))
	}
	return v, nil
}

// byQuery returns the values of the queries by the judge and by people, NaN where these did not judge.
func (s *Study) byQuery(a, b int) (judge, people []float64) {
	for _, id := range s.Queries {
		y := s.systems[a]
		j, h := y.judge[y.query[id]], y.people[y.query[id]]
		if b >= 0 {
			other := s.systems[b]
			j, h = j-other.judge[other.query[id]], h-other.people[other.query[id]]
		}
		if !s.whole[id] {
			h = math.NaN()
		}
		judge, people = append(judge, j), append(people, h)
	}
	return judge, people
}

// judgeBias notes what the judge's errors do to the value.
func (v *Values) judgeBias(a, b int) {
	judge, both := float64(v.Judge.Value), float64(v.Both.Value)
	low, high := float64(v.Both.Low), float64(v.Both.High)
	switch bias := judge - both; {
	case low <= judge && judge <= high:
		if low < high && !math.IsInf(high, 1) {
			v.Notes = append(v.Notes, fmt.Sprintf("the judge's bias cannot be seen yet: it is between %+.4f and %+.4f", judge-high, judge-low))
		}
	case b < 0:
		v.Notes = append(v.Notes, fmt.Sprintf("warning: the judge's errors change the value of %s by %+.4f", called(a, b), bias))
	default:
		favoured := a
		if bias < 0 {
			favoured = b
		}
		v.Notes = append(v.Notes, fmt.Sprintf("warning: the judge's errors favour %s by %.4f", called(favoured, -1), math.Abs(bias)))
	}
}

// called is the name of a run in tables, or of a difference.
func called(a, b int) string {
	if b < 0 {
		return string(rune('A' + a))
	}
	return called(a, -1) + " − " + called(b, -1)
}

// Print prints the findings.
func (f *Findings) Print(w io.Writer) {
	for i, r := range f.Runs {
		fmt.Fprintf(w, "%s: %s\n", called(i, -1), r.File)
	}
	cli.PrintNote(w, fmt.Sprintf("%s, %d queries; %s.", f.Metric, f.Queries, f.Design))
	for i, r := range f.Runs {
		r.Values.Print(w, called(i, -1))
	}
	for _, p := range f.Pairs {
		p.Values.Print(w, called(p.A, p.B))
	}
	f.Agreement.print(w)
	for _, note := range f.notes {
		cli.PrintNote(w, note)
	}
}

// Print prints a value.
func (v Values) Print(w io.Writer, name string) {
	table := viz.Table{Columns: []string{name, "value", "low", "high"}}
	for _, row := range []struct {
		name string
		i    Interval
	}{{"judge alone", v.Judge}, {"people alone", v.People}, {"both", v.Both}} {
		if low, high := row.i.Low, row.i.High; row.name == "judge alone" {
			table.Rows = append(table.Rows, viz.Row{row.name, float64(row.i.Value), "", ""})
		} else {
			table.Rows = append(table.Rows, viz.Row{row.name, float64(row.i.Value), float64(low), float64(high)})
		}
	}
	if math.IsNaN(float64(v.Both.Value)) {
		table.Rows = table.Rows[:1]
	}
	fmt.Fprintf(w, "\n%s", table)
	if saved := float64(v.Saved); saved > 0 {
		fmt.Fprintf(w, "people alone would need about %.0f more judgements for the interval of both\n", saved)
	}
	for _, note := range v.Notes {
		cli.PrintNote(w, note)
	}
}

// print prints how often the judge and people gave which grades.
func (a agreement) print(w io.Writer) {
	if a.Pairs == 0 {
		return
	}
	table := viz.Table{Columns: []string{"judge \\ people"}}
	for g, row := range a.Counts {
		table.Columns = append(table.Columns, fmt.Sprint(g))
		cells := viz.Row{fmt.Sprint(g)}
		for _, n := range row {
			cells = append(cells, n)
		}
		table.Rows = append(table.Rows, cells)
	}
	fmt.Fprintf(w, "\n%s%.0f %% of %d pairs have the same grade; weighted κ %.2f\n\n", table, 100*a.Same, a.Pairs, a.Kappa)
}
