// Package fit is the sub-command that fits a Plackett–Luce model to observed rankings.
package fit

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io"
	"math"
	"slices"
	"strings"

	"github.com/plrank/plrank/cmd/internal/cli"
	"github.com/plrank/plrank/internal/command"
	"github.com/plrank/plrank/worth"
)

var page = cli.Page{
	Command: "fit",
	Usage:   []string{"RANKINGS [-ties] [-prior N] [-test FILE] [-out FILE] [-plot FILE]"},
	Text: "Fits a Plackett–Luce model to a file of observed rankings: prints the worth of each item, its logarithm with a standard error, " +
		"and its rank with a 95 % interval. A line of the file is a ranking, such as Ann > Bob > Cem. CSV and the formats of PrefLib are " +
		"known by the ending of the name.",
	Examples: []string{
		"races.txt -out worths.csv -plot worths.svg",
		"votes.soi -unlisted last -prior 0.5",
		"tastings.csv -ties -test others.csv",
	},
	Topics: []string{"rankings"},
	Words:  true,
}

// options are the command line.
type options struct {
	rankings, test, unlisted string
	ties, asJSON             bool
	prior                    float64
	out                      string // a new file
	plot                     cli.Plot
}

func (o *options) Flags() cli.Flags {
	o.unlisted = "omit"
	return cli.Flags{
		{Name: "ties", Value: &o.ties, Help: "tied items are equally good: fit parameters of ties (Davidson and Luce)"},
		{Name: "prior", Value: cli.Float(&o.prior, 0, "0 or a positive, finite number"), Help: "`number` of wins and of losses of every item " +
			"against a ghost opponent, which draws worths together; 0.5 is weak"},
		{Name: "unlisted", Value: &o.unlisted, Help: "`what` to assume of items that a ranking leaves out: " +
			"omit, nothing; last, that they come after the others"},
		{Name: "test", Value: &o.test, Help: "a `file` of other rankings, to measure how well the model predicts them"},
		{Name: "out", Value: &o.out, Help: "a new `file` for the table of all items, in CSV"},
		o.plot.Flag("a picture of the log-worths"),
		cli.JSONFlag(&o.asJSON),
		cli.ThreadsFlag(),
	}
}

func (o *options) Check(line *cli.Line) error {
	switch words := line.Args(); len(words) {
	case 0:
		return errors.New("a file of rankings is needed, such as plrank fit races.txt")
	case 1:
		o.rankings = words[0]
	default:
		return fmt.Errorf("unexpected argument %q: want one file of rankings", words[1])
	}
	return cmp.Or(
		cli.ErrorIf(o.unlisted != "omit" && o.unlisted != "last", "-unlisted %q: want omit or last", o.unlisted),
		cli.ErrorIf(o.unlisted == "last" && !slices.Contains([]string{".soc", ".soi", ".toc", ".toi"}, worth.Ending(o.rankings)),
			"-unlisted last: %s does not list all items, as the formats of PrefLib do (.soi, .toi); in text, name after | the items that come "+
				"after the others, as in Ann > Bob | Cem, Dan", o.rankings),
		cli.ErrorIf(o.out == cli.StandardOutput, "-out -: want the name of a new file; -json prints all items to standard output"),
	)
}

// Run runs the sub-command, and returns its exit status.
func Run(args []string, stdin io.Reader, stdout, stderr io.Writer) int {
	// Not by cli.Command: the heap is small, and to collect it more often takes time.
	return page.DoUntil(command.Interruptible(), new(options), args, stdin, stdout, stderr)
}

// Run reads rankings, fits a model, and writes it. If a fit ends early, it writes what has been fitted, without standard
// errors.
func (o *options) Run(ctx context.Context, line *cli.Line, _ io.Reader, stdout, stderr io.Writer) (err error) {
	defer func() {
		if err != nil {
			err = cmp.Or(ctx.Err(), err)
		}
	}()
	var files cli.NewFiles
	defer files.Remove()
	if err := files.CheckPlot(o.plot); err != nil {
		return err
	}
	out, err := files.Open(o.out)
	if err != nil {
		return err
	}
	rankings, heldOut, err := o.read(ctx, stderr)
	if err != nil {
		return err
	}
	if o.ties && len(tieSizes(rankings)) == 1 {
		command.Warn(stderr, "-ties has no effect on "+o.rankings+", which has no ties")
	}
	found, fitErr := o.fit(ctx, rankings, stderr)
	if found == nil {
		if errors.As(fitErr, new(*worth.DisconnectedError)) {
			fitErr = fmt.Errorf("%w (-prior 0.5 is a weak one)", fitErr)
		}
		return fmt.Errorf("%s: %w", o.rankings, fitErr)
	}
	if found.Train, err = evaluate(found.model, rankings); err != nil {
		return fmt.Errorf("%s: %w", o.rankings, err)
	}
	if heldOut != nil {
		if found.Test, err = evaluate(found.model, heldOut); err != nil {
			return fmt.Errorf("%s: %w", o.test, err)
		}
	}
	if out != nil {
		if err := found.writeCSV(out); err != nil {
			return err
		}
	}
	if err := files.Publish(stdout); err != nil {
		return err
	}
	o.plot.Draw(stderr, found.draw)
	if o.asJSON {
		return cmp.Or(cli.PrintJSON(stdout, found), fitErr)
	}
	found.print(stdout)
	return fitErr
}

// fit fits a model. The error may come with one that is not at its end.
func (o *options) fit(ctx context.Context, rankings *worth.Observations, stderr io.Writer) (*result, error) {
	bar := command.NewBar(stderr)
	model, err := worth.Fit(ctx, rankings, worth.Options{Prior: o.prior, Progress: func(p worth.Progress) {
		converged := math.Log(p.Change) / math.Log(1e-9)
		bar.Set(min(1, max(0, converged)), fmt.Sprintf("step %d, log-likelihood %.6g", p.Step, p.LogLikelihood))
	}})
	bar.Finish()
	if model == nil {
		return nil, err
	}
	r := newResult(model)
	if err == nil {
		err = r.infer(ctx, o.prior > 0, stderr)
	}
	return r, err
}

// read reads the rankings, and the ones held out, if any, of the same items.
func (o *options) read(ctx context.Context, stderr io.Writer) (rankings, heldOut *worth.Observations, err error) {
	read := func(path string, items []string) (*worth.Observations, error) {
		r, err := cli.Await(ctx, func() (*worth.Observations, error) {
			return worth.ReadFile(path, worth.ReadOptions{Items: items, Unlisted: o.unlisted})
		})
		if err != nil {
			return nil, err
		}
		command.Warn(stderr, r.Warnings...)
		return r, o.checkTies(path, r, cmp.Or(rankings, r))
	}
	if rankings, err = read(o.rankings, nil); err == nil && o.test != "" {
		heldOut, err = read(o.test, rankings.Items)
	}
	return rankings, heldOut, err
}

// checkTies returns an error for the first tie of a size that the fitted rankings do not have: a model of these gives it the
// probability 0. Without -ties, they have none.
func (o *options) checkTies(path string, r, fitted *worth.Observations) error {
	sizes := map[int]bool{1: true}
	if o.ties {
		sizes = tieSizes(fitted)
	}
	for i := range r.Len() {
		for _, place := range r.At(i).Places {
			switch {
			case sizes[len(place)]:
			case o.ties:
				return fmt.Errorf("%s: ranking %d has a tie of %d items, and %s has none: it would have the probability 0", path, i+1, len(place),
					o.rankings)
			default:
				tied := r.Items[place[0]] + " = " + r.Items[place[1]] + strings.Repeat(" = …", min(1, len(place)-2))
				return fmt.Errorf("%s: ranking %d has a tie, %s: use -ties if such items are equally good; if their order is not known, leave the "+
					"ranking out", path, i+1, tied)
			}
		}
	}
	return nil
}

// tieSizes returns the numbers of items at the places of rankings.
func tieSizes(r *worth.Observations) map[int]bool {
	sizes := map[int]bool{1: true}
	for i := range r.Len() {
		for _, place := range r.At(i).Places {
			sizes[len(place)] = true
		}
	}
	return sizes
}
