package clicks

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io"
	"math"
	"path/filepath"
	"slices"
	"strings"

	logs "github.com/plrank/plrank/clicks"
	"github.com/plrank/plrank/cmd/internal/cli"
	"github.com/plrank/plrank/datasets"
	"github.com/plrank/plrank/internal/command"
	"github.com/plrank/plrank/internal/names"
	"github.com/plrank/plrank/metrics"
	"github.com/plrank/plrank/ranker"
	"github.com/plrank/plrank/train"
)

const (
	loggedName    = "logged" // the logging policy as baseline
	leastSize     = 100      // effective sample size that the gate wants, of a model and of the baseline
	leastUnits    = 20       // that the gate wants
	leastSampled  = 100      // resamples: the ends of an interval of 95 % are between the outer ones of fewer
	mostSampled   = 1_000_000
	modelEnding   = ".npz" // of words that are models
	impressionKey = "impression"
)

var evaluatePage = cli.Page{
	Command: "clicks evaluate",
	Usage:   []string{"LOGS… MODELS… [-bias FILE] [-baseline FILE] [-require X] [flags]"},
	Text: "Estimates from the log of another policy how many clicks an impression would get on average if a model drew the rankings, and " +
		"the difference from a baseline, with 95 % intervals. Files that end in .npz are models. Estimator iips needs no position bias; it " +
		"is unbiased if a click depends only on the document and its rank. A log may be larger than memory.",
	Examples: []string{
		"logs new.npz -baseline old.npz -require 0",
		"logs new.npz newer.npz -bias bias.json -json",
	},
	Words: true,
}

// units lists what can be resampled as a whole.
var units = map[string]func(im *logs.Impression) string{
	"query":       func(im *logs.Impression) string { return im.Query },
	"client":      func(im *logs.Impression) string { return im.Client },
	impressionKey: nil,
}

type evaluateOptions struct {
	cli.Source
	logs, models          []string
	model, baseline, bias string
	estimator, unit       string
	require, temperature  float64
	resamples             int
	seed                  uint64
	asJSON                bool
}

func (o *evaluateOptions) flags() cli.Flags {
	o.baseline, o.unit, o.resamples = loggedName, "query", 10000
	ofData := dataFlags(&o.Source, "; features of the documents, in place of those in the log").Without("base-column", "minus-one")
	return append(ofData, cli.Flags{
		{Name: "model", Value: &o.model, Help: "another model `file`"},
		{Name: "baseline", Value: &o.baseline, Help: "a model `file` to compare with, or logged, the logging policy"},
		{Name: "require", Value: cli.Float(&o.require, -math.MaxFloat64, "a finite number"), Help: "exit with status 1 unless every model is " +
			"shown to be better: by the first estimator, the interval of the difference is above this `number`, the effective sample sizes of " +
			"model and baseline are at least 100, and there are at least 20 units"},
		{Name: "estimator", Value: &o.estimator, Help: "`names`, with commas between: " +
			strings.Join(texts(logs.ValueEstimators()), ", ") + "; a number in brackets is a clip, as in iips(0.001); the default " +
			"is iips, and with -bias also policy-aware and dr"},
		{Name: "bias", Value: &o.bias, Help: "a `file` with the position bias, see plrank clicks bias"},
		{Name: "temperature", Value: cli.Float(&o.temperature, 0, "a positive, finite number, or 0"),
			Help: "`number` that divides the scores of models; 0 is the temperature of each impression"},
		{Name: "unit", Value: &o.unit,
			Help: "`what` the intervals resample as a whole: query, client or impression"},
		{Name: "resamples", Value: cli.Int(&o.resamples, leastSampled, mostSampled), Help: "`number` of resamples"},
		{Name: "seed", Value: &o.seed, Help: "`seed` of the resamples"},
		cli.JSONFlag(&o.asJSON),
	}...)
}

func (o *evaluateOptions) check(line *cli.Line) error {
	for _, word := range line.Args() {
		if filepath.Ext(word) == modelEnding {
			o.models = append(o.models, word)
		} else {
			o.logs = append(o.logs, word)
		}
	}
	if o.model != "" {
		o.models = append(o.models, o.model)
	}
	_, known := units[o.unit]
	switch {
	case len(o.logs) == 0:
		return errNoLogs
	case len(o.models) == 0:
		return errors.New("want a model to evaluate: a file whose name ends in .npz, or -model FILE")
	case !known:
		return fmt.Errorf("unknown unit %q: %s", o.unit, names.Want(o.unit, []string{"query", "client", impressionKey}))
	}
	return o.Source.Check()
}

// estimators returns the estimators of the flag, nil without it.
func (o *evaluateOptions) estimators() (all []logs.Estimator) {
	if o.estimator == "" {
		return nil
	}
	for name := range strings.SplitSeq(o.estimator, ",") {
		all = append(all, logs.Estimator(strings.TrimSpace(name)))
	}
	return all
}

func (o *evaluateOptions) run(ctx context.Context, line *cli.Line, stdout, stderr io.Writer) error {
	line.WarnIdle(stderr, &train.Use{})
	r, err := cli.Await(ctx, func() (*values, error) { return o.evaluate(ctx, stderr) })
	if err != nil {
		return err
	}
	if line.Given("require") {
		r.gate(o.require)
	}
	if !o.asJSON {
		r.print(stdout)
	} else if err := cli.PrintJSON(stdout, r); err != nil {
		return err
	}
	if r.Refused != nil {
		return fmt.Errorf("clicks evaluate: refused: %s", strings.Join(r.Refused, "; "))
	}
	return nil
}

// A candidate is a model to evaluate on the log, or the baseline.
type candidate struct {
	path       string
	model      *ranker.Model
	policy     logs.PolicyFunc
	scorer     *scorer          // of the features in the part of the log; nil with -data
	evaluation *logs.Evaluation // nil before the first part
	seen       int              // queries that the model was trained on
}

// newQueries returns the queries of a part of the log that are not known yet, with the features of their candidates, and makes them known.
func newQueries(part *logs.Log, known map[string]bool) *datasets.Dataset {
	d := &datasets.Dataset{Offsets: []int{0}, FeatureIDs: slices.Clone(part.FeatureIDs)}
	for _, im := range part.Impressions {
		n := len(im.Documents)
		if known[im.Query] || n == 0 {
			continue
		}
		known[im.Query] = true
		for row := 0; im.Sparse != nil && row < n; row++ {
			d.Sparse.Append(im.Sparse.Row(row))
		}
		for i := len(d.FeatureIDs); i < len(im.Features)/n; i++ {
			d.FeatureIDs = append(d.FeatureIDs, i+1)
		}
		if im.Sparse != nil || hasFeatures(im) && len(im.Features) == n*len(d.FeatureIDs) {
			d.QueryIDs, d.Offsets = append(d.QueryIDs, im.Query), append(d.Offsets, len(d.Labels)+n)
			d.Labels, d.Features = append(d.Labels, make([]float32, n)...), append(d.Features, im.Features...)
		}
	}
	return d
}

// candidates opens the models and, last, the baseline. With -data, join gives a log the features of the first model.
func (o *evaluateOptions) candidates(ctx context.Context, stderr io.Writer) (all []*candidate, join func(*logs.Log) int, err error) {
	var models []*ranker.Model
	for _, path := range append(o.models, o.baseline) {
		c := &candidate{path: path, policy: logs.Logged}
		if path != loggedName {
			if c.model, err = ranker.Open(path); err != nil {
				return nil, nil, err
			}
			c.policy = func(im *logs.Impression) ([]float64, error) { return c.scorer.policy(im) }
			models = append(models, c.model)
		}
		all = append(all, c)
	}
	o.Know(models...)
	join = func(*logs.Log) int { return 0 }
	for i, c := range all {
		if o.Data == "" || c.model == nil {
			continue
		}
		d, err := openData(ctx, o.Source, c.model, false, o.seed, stderr)
		if err != nil {
			return nil, nil, err
		}
		scores, err := datasets.Score(c.model, d)
		if err != nil {
			return nil, nil, err
		}
		if c.policy = valuesOf(d, scores, o.temperature); i == 0 {
			join = logs.Join(d)
		}
		if i < len(o.models) {
			cli.WarnOfSeenQueries(stderr, o.Data, c.path, d.CountSeen(c.model.Seen), d.Queries())
		}
	}
	return all, join, nil
}

// evaluate reads the log and evaluates all models on it.
func (o *evaluateOptions) evaluate(ctx context.Context, stderr io.Writer) (*values, error) {
	candidates, join, err := o.candidates(ctx, stderr)
	if err != nil {
		return nil, err
	}
	models := candidates[:len(o.models)]
	target := logs.Target{Unit: units[o.unit], Bootstrap: metrics.Bootstrap{Resamples: o.resamples, Seed: o.seed}}
	if o.bias != "" {
		if target.Bias, err = logs.ReadBias(o.bias); err != nil {
			return nil, err
		}
		cli.WarnOfBias(stderr, o.estimator)
	}
	left, read, wide, clients, queries := 0, 0, false, false, map[string]bool{}
	_, err = scanLog(ctx, o.logs, stderr, func(part *logs.Log) error {
		clients = clients || slices.ContainsFunc(part.Impressions, func(im logs.Impression) bool { return im.Client != "" })
		left, wide = left+join(part), wide || part.LeavesOutFeatures()
		if read += len(part.Impressions); len(part.Impressions) == 0 {
			return nil
		}
		for _, c := range candidates {
			if c.model != nil && o.Data == "" { // columns may have more texts than in the part before
				if c.scorer, err = newScorer(c.path, c.model, part, o.temperature); err != nil {
					return err
				}
			}
		}
		fresh := newQueries(part, queries)
		for _, c := range models {
			if o.Data == "" && fresh.IsSparse() {
				c.seen += c.scorer.known(fresh).CountSeen(c.model.Seen)
			} else if o.Data == "" {
				c.seen += fresh.CountSeen(c.model.Seen)
			}
			if err := o.add(c, candidates[len(models)], target, part); err != nil {
				return err
			}
		}
		return nil
	})
	if err != nil {
		return nil, err
	}
	cli.WarnOfLeftOut(stderr, left, o.Data)
	cli.WarnOfRegression(stderr, cmp.Or(o.estimator, string(logs.DR)), wide && o.bias != "")
	for _, c := range models {
		cli.WarnOfSeenQueries(stderr, strings.Join(o.logs, " "), c.path, c.seen, len(queries))
	}
	if read == 0 {
		return nil, fmt.Errorf("%s: no impressions to evaluate on", strings.Join(o.logs, " "))
	}
	if o.unit == "client" && !clients {
		return nil, fmt.Errorf("-unit client: no impression of %s has a client: want query or impression", strings.Join(o.logs, " "))
	}
	return o.values(models)
}

// add evaluates a model on a part of the log.
func (o *evaluateOptions) add(c, baseline *candidate, target logs.Target, part *logs.Log) (err error) {
	if c.evaluation == nil {
		target.Policy, target.Baseline = c.policy, baseline.policy
		if c.evaluation, err = logs.NewEvaluation(target, o.estimators()...); err != nil {
			return err
		}
	}
	return c.evaluation.Add(part)
}

// values is what -json prints.
type values struct {
	Baseline    string       `json:"baseline"`
	Unit        string       `json:"unit"`
	Impressions int          `json:"impressions"`
	Units       int          `json:"units"` // resampled
	Models      []modelValue `json:"models"`
	Require     *float64     `json:"require,omitempty"`
	Refused     []string     `json:"refused,omitempty"` // why
}

type modelValue struct {
	Model     string     `json:"model"`
	Version   string     `json:"version"`
	Estimates []estimate `json:"estimates"`

	Cautions map[logs.Estimator]string `json:"cautions,omitempty"` // about intervals, see clicks.Estimate
}

type estimate struct {
	Estimator     string   `json:"estimator"`
	Value         interval `json:"value"` // clicks per impression
	Difference    interval `json:"difference"`
	EffectiveSize float64  `json:"effectiveSize"`
	BaselineSize  float64  `json:"baselineEffectiveSize"`
	LargestWeight float64  `json:"largestWeight"`
}

type interval struct {
	Mean float64 `json:"mean"`
	Low  float64 `json:"low"`
	High float64 `json:"high"`
}

func (o *evaluateOptions) values(models []*candidate) (*values, error) {
	r := &values{Baseline: o.baseline, Unit: o.unit}
	for _, c := range models {
		m := modelValue{Model: c.path, Version: c.model.Digest(), Cautions: map[logs.Estimator]string{}}
		all, err := c.evaluation.Estimates()
		if err != nil {
			return nil, err
		}
		for _, e := range all {
			if e.Caution != "" {
				m.Cautions[e.Estimator] = e.Caution
			}
			r.Impressions, r.Units = e.Impressions, e.Units
			m.Estimates = append(m.Estimates, estimate{string(e.Estimator), interval{e.Value, e.Low, e.High}, interval(e.Difference),
				e.EffectiveSize, e.BaselineSize, e.LargestWeight})
		}
		r.Models = append(r.Models, m)
	}
	return r, nil
}

// gate refuses the models that are not shown to be better by more than a number.
func (r *values) gate(least float64) {
	r.Require = &least
	if r.Units < leastUnits {
		r.Refused = append(r.Refused, fmt.Sprintf("the intervals come from %d units (by %s), want at least %d: the log says too little about "+
			"how much clicks vary; use a longer log, or another -unit", r.Units, r.Unit, leastUnits))
		return
	}
	for _, m := range r.Models {
		switch e := m.Estimates[0]; {
		case e.Value.Low == e.Value.High:
			r.Refused = append(r.Refused, fmt.Sprintf("%s: the value is %.4f in every unit (by %s), so the log does not say how much clicks "+
				"vary; see plrank clicks check for their number", m.Model, e.Value.Mean, r.Unit))
		case e.EffectiveSize < leastSize:
			r.Refused = append(r.Refused, fmt.Sprintf("%s: the effective sample size is %.1f impressions, want at least %d: the log says too "+
				"little about this policy; use a longer log, or the log of a more similar policy", m.Model, e.EffectiveSize, leastSize))
		case e.BaselineSize < leastSize:
			r.Refused = append(r.Refused, fmt.Sprintf("%s: the effective sample size of the baseline %s is %.1f impressions, want at least %d: "+
				"the log says too little about it; use -baseline logged, the logging policy", m.Model, r.Baseline, e.BaselineSize, leastSize))
		case !(e.Difference.Low > least):
			r.Refused = append(r.Refused, fmt.Sprintf("%s: the difference from %s is %.4f, with the interval %.4f … %.4f by %s: want its "+
				"lower end above %v", m.Model, r.Baseline, e.Difference.Mean, e.Difference.Low, e.Difference.High, e.Estimator, least))
		}
	}
}

func (r *values) print(w io.Writer) {
	fmt.Fprintf(w, "%d impressions; clicks per impression, with 95 %% intervals by %s (%d units)\n", r.Impressions, r.Unit, r.Units)
	for _, m := range r.Models {
		fmt.Fprintf(w, "\n%s, version %s\n", command.Printable(m.Model), m.Version)
		rows := []string{"value", "  interval", "difference from " + command.Printable(r.Baseline), "  interval", "effective sample size",
			"  of the baseline", "largest weight"}
		var names, cautions []string
		for _, e := range m.Estimates {
			if names = append(names, e.Estimator); m.Cautions[logs.Estimator(e.Estimator)] != "" {
				cautions = append(cautions, fmt.Sprintf("* %s: %s\n", e.Estimator, m.Cautions[logs.Estimator(e.Estimator)]))
			}
		}
		cli.PrintTable(w, rows, names, func(row, column int) string {
			e, mark := m.Estimates[column], ""
			if m.Cautions[logs.Estimator(e.Estimator)] != "" {
				mark = " *"
			}
			return []string{
				fmt.Sprintf("%.4f", e.Value.Mean), e.Value.words() + mark, fmt.Sprintf("%.4f", e.Difference.Mean), e.Difference.words() + mark,
				fmt.Sprintf("%.1f", e.EffectiveSize), fmt.Sprintf("%.1f", e.BaselineSize), fmt.Sprintf("%.2f", e.LargestWeight),
			}[row]
		})
		fmt.Fprint(w, strings.Join(cautions, ""))
	}
	if r.Require != nil && r.Refused == nil {
		fmt.Fprintf(w, "\npassed: better than %s by more than %v\n", command.Printable(r.Baseline), *r.Require)
	}
}

func (i interval) words() string { return fmt.Sprintf("%.4f … %.4f", i.Low, i.High) }
