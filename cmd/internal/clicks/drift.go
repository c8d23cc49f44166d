package clicks

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"hash/maphash"
	"io"
	"maps"
	"math"
	"math/rand/v2"
	"slices"
	"strconv"
	"time"

	"gonum.org/v1/gonum/floats"
	"gonum.org/v1/gonum/stat"

	logs "github.com/plrank/plrank/clicks"
	"github.com/plrank/plrank/cmd/internal/cli"
	"github.com/plrank/plrank/internal/command"
	"github.com/plrank/plrank/metrics"
	"github.com/plrank/plrank/ranker"
	"github.com/plrank/plrank/viz"
)

var driftPage = cli.Page{
	Command: "clicks drift",
	Usage:   []string{"-model FILE LOGS [-threshold X] [-group FEATURE] [flags]"},
	Text: "Reports which features of a log differ from the data that the model was trained on: by the population stability index of " +
		"their quantiles or categories, above what chance would give; with new categories, missing values, since when, and what that does " +
		"to scores and to the exposure of groups. With -threshold, the exit status is 3 if there is drift.",
	Examples: []string{"-model deployed.npz logs -threshold 0.1"},
	Words:    true,
}

type driftOptions struct {
	model, group string
	threshold    float64
	asJSON       bool
}

func (o *driftOptions) flags() cli.Flags {
	o.threshold = leastIndex
	return cli.Flags{
		{Name: "model", Value: &o.model, Help: "the model `file`, as plrank train writes it"},
		{Name: "threshold", Value: cli.Float(&o.threshold, 0, "a number of 0 or more"), Help: "`index` beyond chance from which a feature " +
			"has drifted; if it is given, the exit status is 3 when one has"},
		{Name: "group", Value: &o.group, Help: "the `feature` of texts whose exposure is compared"},
		cli.JSONFlag(&o.asJSON),
	}
}

func (o *driftOptions) check(line *cli.Line) error {
	if line.NArg() == 0 {
		return errNoLogs
	}
	return cli.ErrorIf(o.model == "", "-model is needed: the model that the documents are for")
}

const (
	leastIndex = 0.01
	mostScored = 20_000 // impressions that are scored one by one; then one of 16
	mostKept   = 300    // impressions, to measure what drift does
	mostNames  = 10_000 // of new categories
	mostListed = 10
	exposedTo  = 10 // ranks
)

// A watch adds up a log for one model.
type watch struct {
	model       *ranker.Model
	path        string
	drift       *ranker.Drift
	seed        maphash.Seed
	impressions int
	unknown     []map[string]int // by feature: new categories
	sample      []sampled
	random      *rand.Rand
}

// A sampled impression has the features of its documents as the model reads them.
type sampled struct {
	rows        []float32
	temperature float64
}

func (w *watch) add(part *logs.Log) error {
	if !slices.ContainsFunc(part.Impressions, hasFeatures) {
		return errors.New("the log has no features of its documents, which drift is about: plrank serve logs them")
	}
	s, err := newScorer(w.path, w.model, part, 1)
	if err != nil {
		return err
	}
	for i := range part.Impressions {
		im := &part.Impressions[i]
		if !hasFeatures(*im) {
			continue
		}
		rows, err := s.rows(im)
		if err != nil {
			return err
		}
		var scores []float64
		if !w.model.OnBaseScores() && (w.impressions < mostScored || w.impressions%16 == 0) {
			if scores, err = w.model.Score(nil, rows); err != nil {
				return fmt.Errorf("impression %q: %w", im.ID, err)
			}
		}
		w.drift.Add(maphash.String(w.seed, im.Query), im.Time, rows, scores)
		w.impressions++
		w.nameUnknown(s, part, im)
		if one := (sampled{rows, im.Temperature}); len(w.sample) < mostKept {
			w.sample = append(w.sample, one)
		} else if at := w.random.IntN(w.impressions); at < mostKept {
			w.sample[at] = one
		}
	}
	return nil
}

// nameUnknown counts the texts of an impression that the model does not know.
func (w *watch) nameUnknown(s *scorer, part *logs.Log, im *logs.Impression) {
	width := len(im.Features) / len(im.Documents)
	for i, levels := range s.levels {
		if levels == nil {
			continue
		}
		for d := range im.Documents {
			v := im.Features[d*width+s.columns[i]]
			if !(v >= 1) || levels[int(v)] != 0 {
				continue
			}
			if w.unknown[i] == nil {
				w.unknown[i] = map[string]int{}
			}
			if text := part.Levels[s.columns[i]][int(v)-1]; w.unknown[i][text] > 0 || len(w.unknown[i]) < mostNames {
				w.unknown[i][text]++
			}
		}
	}
}

// drifted is what -json prints.
type drifted struct {
	Model       string     `json:"model"`
	Version     string     `json:"version"`
	Impressions int        `json:"impressions"`
	Alarms      []alarm    `json:"alarms"`
	Scores      *alarm     `json:"scores,omitempty"` // shifted or not
	Features    []alarm    `json:"features"`         // all, the most shifted first
	Exposure    []exposure `json:"exposure,omitempty"`
}

type alarm struct {
	Feature string     `json:"feature"`
	Index   float64    `json:"psi"`
	Noise   float64    `json:"noise"`
	Alarm   bool       `json:"alarm"`
	Since   *time.Time `json:"since,omitempty"`
	Missing [2]float64 `json:"missing"` // the share before and now
	Unseen  [2]float64 `json:"unseen"`  // of texts that training did not see
	New     []category `json:"newCategories,omitempty"`
	// ScoreChange is the mean change of a score by the drift of this feature, in standard deviations of the scores, and TopChange
	// the share of the first ten documents that changed.
	ScoreChange float64 `json:"scoreChange"`
	TopChange   float64 `json:"topChange"`
}

type category struct {
	Name  string `json:"name"`
	Count int    `json:"count"`
}

// An exposure is the share of a group in the exposure of the first ten ranks, as if nothing had drifted, and now.
type exposure struct {
	Group  string  `json:"group"`
	Before float64 `json:"before"`
	Now    float64 `json:"now"`
}

func (o *driftOptions) run(ctx context.Context, line *cli.Line, stdout, stderr io.Writer) error {
	model, err := ranker.Open(o.model)
	if err != nil {
		return err
	}
	drift, err := ranker.NewDrift(model)
	if err != nil {
		return fmt.Errorf("clicks drift: %s: %w", o.model, err)
	}
	group := -1
	if o.group != "" {
		column, ok := model.Column(o.group)
		if _, text := model.Level(max(0, column), ""); !ok || !text {
			return command.Usage(fmt.Errorf("-group %s: %s has no feature of texts of that name", o.group, o.model))
		}
		group = column
	}
	w := &watch{model: model, path: o.model, drift: drift, seed: maphash.MakeSeed(), random: rand.New(rand.NewPCG(1, 2)),
		unknown: make([]map[string]int, len(model.FeatureIDs()))}
	if _, err := scanLog(ctx, line.Args(), stderr, w.add); err != nil {
		return err
	}
	r, err := w.findings(o.threshold, group)
	if err != nil {
		return err
	}
	if !o.asJSON {
		r.print(stdout)
	} else if err := cli.PrintJSON(stdout, r); err != nil {
		return err
	}
	if line.Given("threshold") && (len(r.Alarms) > 0 || r.Scores != nil && r.Scores.Alarm) {
		return command.ErrFound
	}
	return nil
}

// findings ends the watch.
func (w *watch) findings(least float64, group int) (*drifted, error) {
	if w.impressions == 0 {
		return nil, errors.New("the log has no impressions")
	}
	r := &drifted{Model: w.path, Version: w.model.Digest(), Impressions: w.impressions, Alarms: []alarm{}}
	ids, names := w.model.FeatureIDs(), w.model.FeatureNames()
	before := make([]bool, len(ids))
	for _, s := range w.drift.Shifts(least) {
		a := alarm{Index: s.PSI, Noise: s.Noise, Alarm: s.Alarm, Missing: s.Missing, Unseen: s.Unseen}
		if s.Alarm {
			a.Since = &s.Since
		}
		if s.Column == len(ids) {
			a.Feature = "score"
			r.Scores = &a
			continue
		}
		if a.Feature = strconv.Itoa(ids[s.Column]); names != nil && names[s.Column] != "" {
			a.Feature = names[s.Column]
		}
		for _, name := range slices.Sorted(maps.Keys(w.unknown[s.Column])) {
			a.New = append(a.New, category{name, w.unknown[s.Column][name]})
		}
		slices.SortStableFunc(a.New, func(a, b category) int { return cmp.Compare(b.Count, a.Count) })
		a.New = a.New[:min(len(a.New), mostListed)]
		if s.Alarm {
			before[s.Column] = true
			only := make([]bool, len(ids))
			only[s.Column] = true
			var err error
			if a.ScoreChange, a.TopChange, err = w.effect(only); err != nil {
				return nil, err
			}
			r.Alarms = append(r.Alarms, a)
		}
		r.Features = append(r.Features, a)
	}
	order := func(a, b alarm) int { return cmp.Compare(b.Index-b.Noise, a.Index-a.Noise) }
	slices.SortStableFunc(r.Alarms, order)
	slices.SortStableFunc(r.Features, order)
	if group >= 0 {
		return r, w.expose(r, before, group)
	}
	return r, nil
}

// undone returns the sample with some features as they were in training: each value becomes the one at the same position of the
// reference, and texts that are new the most frequent one.
func (w *watch) undone(features []bool) []sampled {
	width := len(features)
	all := make([]sampled, len(w.sample))
	for i, s := range w.sample {
		all[i] = sampled{slices.Clone(s.rows), s.temperature}
	}
	for c, is := range features {
		if !is {
			continue
		}
		column := &w.model.File().Reference.Columns[c]
		var values []float64
		for _, s := range w.sample {
			for at := c; at < len(s.rows); at += width {
				if v := float64(s.rows[at]); v == v {
					values = append(values, v)
				}
			}
		}
		slices.Sort(values)
		frequent := float32(0)
		if len(column.Texts) > 0 {
			frequent, _ = w.model.Level(c, column.Texts[0])
		}
		for _, s := range all {
			for at := c; at < len(s.rows); at += width {
				switch v := float64(s.rows[at]); {
				case column.Bounds == nil && v == 0:
					s.rows[at] = frequent
				case column.Bounds != nil && v == v:
					low, _ := slices.BinarySearch(values, v)
					high, _ := slices.BinarySearch(values, math.Nextafter(v, math.Inf(1)))
					s.rows[at] = float32(column.Value(float64(low+high) / 2 / float64(len(values))))
				}
			}
		}
	}
	return all
}

// effect returns what the drift of features changed: see [alarm].
func (w *watch) effect(features []bool) (scores, top float64, err error) {
	if w.model.OnBaseScores() {
		return 0, 0, nil
	}
	var all []float64
	n := 0.
	for i, s := range w.undone(features) {
		now, err := w.model.Score(nil, w.sample[i].rows)
		if err != nil {
			return 0, 0, err
		}
		before, err := w.model.Score(nil, s.rows)
		if err != nil {
			return 0, 0, err
		}
		all = append(all, now...)
		scores += floats.Distance(now, before, 1)
		n += float64(len(now))
		cutoff := min(exposedTo, len(now))
		first := ranker.Rank(nil, before)[:cutoff]
		for _, d := range ranker.Rank(nil, now)[:cutoff] {
			if !slices.Contains(first, d) {
				top += 1 / float64(cutoff) / float64(len(w.sample))
			}
		}
	}
	sd := stat.StdDev(all, nil)
	if !(sd > 0) {
		sd = 1
	}
	return scores / n / sd, top, nil
}

// expose compares the exposure of groups of documents, by the texts of a feature.
func (w *watch) expose(r *drifted, features []bool, group int) error {
	if w.model.OnBaseScores() {
		return errors.New("-group: the exposure by a model on base scores is not known: logs have none")
	}
	undone := w.undone(features)
	shares := map[string][2]float64{}
	discounts := metrics.Discounts(exposedTo)
	for i, s := range w.sample {
		for side, rows := range [][]float32{undone[i].rows, s.rows} {
			scores, err := w.model.Score(nil, rows)
			if err != nil {
				return err
			}
			theta := discounts[:min(len(discounts), len(scores))]
			shown, err := (ranker.Policy{Temperature: cmp.Or(s.temperature, 1)}).Exposure(context.Background(), nil, scores, theta)
			if err != nil {
				return err
			}
			for d, x := range shown {
				name := "other"
				if v := s.rows[d*len(features)+group]; v >= 1 {
					name = w.model.Levels()[group][int(v)-1]
				}
				share := shares[name]
				share[side] += x / floats.Sum(theta) / float64(len(w.sample))
				shares[name] = share
			}
		}
	}
	for _, name := range slices.Sorted(maps.Keys(shares)) {
		r.Exposure = append(r.Exposure, exposure{name, shares[name][0], shares[name][1]})
	}
	return nil
}

func (r *drifted) print(w io.Writer) {
	table := viz.Table{Columns: []string{"feature", "index", "by chance", "missing", "unseen", "since", "scores", "first ten"}}
	row := func(a *alarm) {
		since, scores, top := "–", "", ""
		if a.Alarm {
			since, scores, top = a.Since.Format(time.RFC3339), fmt.Sprintf("%.2f sd", a.ScoreChange), fmt.Sprintf("%.1f %%", 100*a.TopChange)
		}
		change := func(x [2]float64) string { return fmt.Sprintf("%.1f → %.1f %%", 100*x[0], 100*x[1]) }
		table.Rows = append(table.Rows, viz.Row{command.Printable(a.Feature), a.Index, a.Noise, change(a.Missing), change(a.Unseen), since,
			scores, top})
	}
	for i := range r.Features[:min(len(r.Features), max(mostListed, len(r.Alarms)))] {
		row(&r.Features[i])
	}
	if r.Scores != nil {
		row(r.Scores)
	}
	fmt.Fprint(w, table)
	for _, a := range r.Features {
		for _, c := range a.New {
			fmt.Fprintf(w, "%s: new category %s, %d documents\n", command.Printable(a.Feature), strconv.Quote(c.Name), c.Count)
		}
	}
	if r.Exposure != nil {
		table := viz.Table{Title: "\nexposure by group", Columns: []string{"group", "without drift", "now"}}
		for _, e := range r.Exposure {
			table.Rows = append(table.Rows, viz.Row{command.Printable(e.Group), e.Before, e.Now})
		}
		fmt.Fprint(w, table)
	}
	fmt.Fprintf(w, "%d impressions, %d features drifted\n", r.Impressions, len(r.Alarms))
}
