package clicks

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io"
	"maps"
	"math"
	"slices"
	"strconv"
	"strings"
	"time"

	logs "github.com/plrank/plrank/clicks"
	"github.com/plrank/plrank/cmd/internal/cli"
	"github.com/plrank/plrank/internal/command"
	"github.com/plrank/plrank/viz"
)

var comparePage = cli.Page{
	Command: "clicks compare",
	Usage:   []string{"LOGS [flags]"},
	Text: "Compares models on the users of one log: interleaved rankings (plrank serve -interleave), or impressions of several models " +
		"(A/B). The difference is in clicks per impression. Interleaving counts clicks on the documents that a model contributed, so its " +
		"differences are not the differences of the models alone, which -bias estimates. Intervals hold at every time: look every " +
		"day, and stop at the first decision. They count clients, who may come back.",
	Examples: []string{
		"logs",
		"logs -weight click=1 -weight purchase=20 -window 72h -segment device -json",
	},
	Words: true,
}

type compareOptions struct {
	reading        logs.ReadOptions
	baseline, bias string
	level          float64
	asJSON         bool
}

// readingFlags returns the flags for which events count.
func readingFlags(o *logs.ReadOptions) cli.Flags {
	add := func(text string) error {
		action, value, _ := strings.Cut(text, "=")
		v, err := strconv.ParseFloat(value, 64)
		if err != nil || action == "" || math.IsNaN(v) || math.IsInf(v, 0) {
			return errors.New("want ACTION=VALUE, such as purchase=20")
		}
		if o.Weights == nil {
			o.Weights = map[string]float64{}
		}
		o.Weights[action] = v
		return nil
	}
	return cli.Flags{
		{Name: "weight", Value: add, Help: "what an event counts, as `ACTION=VALUE` with its action_name; repeat it for several; without " +
			"it a click counts 1"},
		{Name: "window", Value: cli.Duration(&o.Window, 0, 10000*time.Hour), Help: "`time` after its query in which an event counts; queries " +
			"whose window is not over are left out; 0 is any time"},
	}
}

func (o *compareOptions) flags() cli.Flags {
	o.level = .95
	return append(readingFlags(&o.reading), cli.Flags{
		{Name: "segment", Value: &o.reading.Segment, Help: "also compare within each value of this `name` in query_attributes"},
		{Name: "baseline", Value: &o.baseline, Help: "`name` of the model to compare with; otherwise the first of -interleave"},
		{Name: "bias", Value: &o.bias, Help: "a `file` with the position bias, see plrank clicks bias: also estimate the difference of the " +
			"models alone from interleaved rankings"},
		{Name: "level", Value: cli.Float(&o.level, 0, "a number from 0 to 1"), Help: "`probability` that no decision is wrong"},
		cli.JSONFlag(&o.asJSON),
	}...)
}

func (o *compareOptions) check(line *cli.Line) error {
	if line.NArg() == 0 {
		return errNoLogs
	}
	return cli.ErrorIf(!(o.level > 0 && o.level < 1), "-level %v: want a number between 0 and 1", o.level)
}

// A comparison is what -json prints of a difference: bounds that are not finite are null.
type comparison struct {
	logs.Difference
	Low  *float64 `json:"low"`
	High *float64 `json:"high"`
}

type comparisons struct {
	Level    float64             `json:"level"`
	Versions map[string][]string `json:"versions"` // by model
	Results  []comparison        `json:"results"`
}

func (o *compareOptions) run(ctx context.Context, line *cli.Line, stdout, stderr io.Writer) error {
	c := &logs.Comparison{Level: o.level, Baseline: o.baseline, Segments: o.reading.Segment != ""}
	if o.bias != "" {
		var err error
		if c.Bias, err = logs.ReadBias(o.bias); err != nil {
			return err
		}
	}
	if _, err := scanWith(ctx, o.reading, line.Args(), stderr, c.Add); err != nil {
		return err
	}
	all, err := c.Results()
	if err != nil {
		return err
	}
	r := comparisons{o.level, c.Versions(), nil}
	for _, d := range all {
		one := comparison{Difference: d}
		if !math.IsInf(d.High, 1) {
			one.Low, one.High = &d.Low, &d.High
		}
		r.Results = append(r.Results, one)
	}
	for _, model := range slices.Sorted(maps.Keys(r.Versions)) {
		if n := len(r.Versions[model]); n > 1 {
			command.Warn(stderr, fmt.Sprintf("%s has %d versions in the log, which are compared as one", command.Printable(model), n))
		}
	}
	if o.asJSON {
		return cli.PrintJSON(stdout, r)
	}
	r.print(stdout)
	return nil
}

func (r *comparisons) print(w io.Writer) {
	table := viz.Table{Title: "clicks per impression against " + command.Printable(r.Results[0].Baseline),
		Columns: []string{"model", "by", "segment", "impressions", "difference", "interval", "preference", "e-value", "decision"}}
	counterfactual := viz.Table{Title: "\nif each model ranked alone (policy-aware)", Columns: []string{"model", "segment", "difference",
		"interval"}}
	for _, d := range r.Results {
		words, preference, decision := "not known yet", "–", d.Decision+" is better"
		if d.Low != nil {
			words = interval{d.Difference.Difference, *d.Low, *d.High}.words()
		}
		if d.Preference != nil {
			preference = fmt.Sprintf("%.3f (%.3f … %.3f)", *d.Preference, *d.PreferenceLow, *d.PreferenceHigh)
		}
		switch {
		case d.More > 0:
			decision = fmt.Sprintf("none: about %d more impressions", d.More)
		case d.Decision == "":
			decision = "none"
		}
		segment := cmp.Or(command.Printable(d.Segment), "all")
		table.Rows = append(table.Rows, viz.Row{command.Printable(d.Model), string(d.Way), segment, d.Impressions,
			d.Difference.Difference, words, preference, fmt.Sprintf("%.3g", d.EValue), command.Printable(decision)})
		if c := d.Counterfactual; c != nil {
			counterfactual.Rows = append(counterfactual.Rows, viz.Row{command.Printable(d.Model), segment, c.Difference,
				interval{c.Difference, c.Low, c.High}.words()})
		}
	}
	fmt.Fprint(w, table)
	if counterfactual.Rows != nil {
		fmt.Fprint(w, counterfactual)
	}
	cli.PrintNote(w, fmt.Sprintf("intervals of %v %% at every time, for all models together; each segment by itself", 100*r.Level))
}
