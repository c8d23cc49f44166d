package clicks

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io"
	"math"
	"slices"
	"strings"

	logs "github.com/plrank/plrank/clicks"
	"github.com/plrank/plrank/cmd/internal/cli"
	"github.com/plrank/plrank/datasets"
	"github.com/plrank/plrank/internal/names"
	"github.com/plrank/plrank/train"
	"github.com/plrank/plrank/viz"
)

// affine is the method for known relevance.
const affine = "affine"

var biasPage = cli.Page{
	Command: "clicks bias",
	Usage: []string{
		"LOGS [-method M] [-out FILE] [-plot FILE]",
		"LOGS -method affine -data FILE [-out FILE] [-plot FILE]",
	},
	Text: "Estimates position bias: α, the probability that users examine a rank, relative to the first rank. The logging policy put " +
		"documents at different ranks, so clicks on the same documents can be compared. Users who trust the ranking also click on " +
		"documents that are not relevant, with probability β. Only method affine estimates β; it needs documents with known labels.",
	Examples: []string{
		"logs -out bias.json -plot bias.svg",
		"logs -method em",
	},
	Topics: []string{"clicks"},
	Words:  true,
}

type biasOptions struct {
	cli.Source
	method, out string
	plot        cli.Plot
	asJSON      bool
}

func methods() []string { return append(texts(logs.Methods()), affine) }

func (o *biasOptions) flags() cli.Flags {
	o.method = string(logs.AllPairs)
	return append(dataFlags(&o.Source, "; for method affine, the labels of the documents").Without("base-column"), cli.Flags{
		{Name: "method", Value: &o.method, Help: "`name`: all-pairs and harvest (neighbouring ranks alone) need scores in " +
			"the log; em needs none, but assumes that relevance is a function of the features; affine needs -data"},
		{Name: "out", Value: &o.out, Help: "a new `file` in JSON, for -bias of other commands"},
		o.plot.Flag("a picture of it"),
		cli.JSONFlag(&o.asJSON),
	}...)
}

func (o *biasOptions) check(line *cli.Line) error {
	switch {
	case line.NArg() == 0:
		return errNoLogs
	case !slices.Contains(methods(), o.method):
		return fmt.Errorf("unknown method %q: %s", o.method, names.Want(o.method, methods()))
	case (o.method == affine) != (o.Data != ""):
		return errors.New("-method affine and -data need each other")
	case o.out == cli.StandardOutput:
		return errors.New("-out -: want the name of a new file, or -json, which prints to standard output")
	}
	return o.Source.Check()
}

func (o *biasOptions) run(ctx context.Context, line *cli.Line, stdout, stderr io.Writer) error {
	line.WarnIdle(stderr, &train.Use{})
	var files cli.NewFiles
	defer files.Remove()
	if err := files.CheckPlot(o.plot); err != nil {
		return err
	}
	out, err := files.Open(o.out)
	if err != nil {
		return err
	}
	r, err := o.estimate(ctx, line.Args(), stderr)
	if err != nil {
		return err
	}
	if out != nil {
		if err := r.Bias.Write(out); err != nil {
			return err
		}
	}
	if err := files.Publish(stdout); err != nil {
		return err
	}
	o.plot.Draw(stderr, r.draw)
	if o.asJSON {
		return cli.PrintJSON(stdout, r)
	}
	r.print(stdout)
	return nil
}

// estimate reads the log, and estimates the position bias.
func (o *biasOptions) estimate(ctx context.Context, paths []string, stderr io.Writer) (*biasResult, error) {
	var e *logs.BiasEstimation
	join := func(*logs.Log) int { return 0 }
	if o.method == affine {
		d, err := openData(ctx, o.Source, nil, true, 0, stderr)
		if err != nil {
			return nil, err
		}
		join, e = logs.Join(d), logs.NewAffineEstimation(relevanceOf(d))
	} else {
		var err error
		if e, err = logs.NewBiasEstimation(logs.Method(o.method)); err != nil {
			return nil, err
		}
	}
	left, wide := 0, false
	_, err := scanLog(ctx, paths, stderr, func(part *logs.Log) error {
		left, wide = left+join(part), wide || part.LeavesOutFeatures()
		return e.Add(part)
	})
	if err != nil {
		return nil, err
	}
	cli.WarnOfRegression(stderr, o.method, wide)
	cli.WarnOfLeftOut(stderr, left, o.Data)
	return cli.Await(ctx, func() (*biasResult, error) {
		bias, report, err := e.Estimate()
		return &biasResult{o.method, bias, report}, err
	})
}

// relevanceOf returns a function for (2^label − 1)/(2^highest − 1), as in clicks.Simulate, by the labels of d.
func relevanceOf(d *datasets.Dataset) logs.PolicyFunc {
	relevance, highest := make([]float64, d.Rows()), math.Exp2(float64(slices.Max(d.Labels)))-1
	for row, label := range d.Labels {
		relevance[row] = (math.Exp2(float64(label)) - 1) / cmp.Or(highest, 1)
	}
	return valuesOf(d, relevance, 1)
}

// A biasResult is what -json prints.
type biasResult struct {
	Method string `json:"method"`
	logs.Bias
	logs.BiasReport
}

func (r *biasResult) print(w io.Writer) {
	table := viz.Table{Columns: []string{"rank", "clicks", "α", "interval"}}
	if r.Beta != nil {
		table.Columns = append(table.Columns, "β", "interval")
	}
	words := func(value float64, low, high []float64, k int) string {
		if k >= len(low) {
			return "not known"
		}
		return interval{value, low[k], high[k]}.words()
	}
	for k, a := range r.Alpha {
		row := viz.Row{k + 1, r.ClickRate[k], a, words(a, r.Low, r.High, k)}
		if r.Beta != nil {
			row = append(row, r.Beta[k], words(r.Beta[k], r.BetaLow, r.BetaHigh, k))
		}
		table.Rows = append(table.Rows, row)
	}
	fmt.Fprint(w, table)
	fmt.Fprintf(w, "estimated by %s from %d impressions; intervals of 95 %% by resampling impressions\n", r.Method, r.Impressions)
	if r.Method == string(logs.RegressionEM) {
		unsettled := ""
		if r.Unsettled {
			unsettled = ", after which the probabilities still changed"
		}
		fmt.Fprintf(w, "%d iterations%s\n", r.Iterations, unsettled)
	}
}

func (r *biasResult) draw(path string) error {
	p := viz.Plot{Title: "Position bias, by " + strings.ToLower(r.Method), X: "rank", Y: "α", Series: []viz.Series{
		{Name: "α", Y: r.Alpha, Low: r.Low, High: r.High}, {Name: "clicks", Y: r.ClickRate},
	}}
	if r.Beta != nil {
		p.Series = append(p.Series, viz.Series{Name: "β", Y: r.Beta, Low: r.BetaLow, High: r.BetaHigh})
	}
	return p.Save(path)
}
