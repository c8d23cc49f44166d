// Package report is the sub-command that makes a page of runs.
package report

import (
	"cmp"
	"context"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"slices"

	"github.com/plrank/plrank/cmd/internal/cli"
	"github.com/plrank/plrank/cmd/internal/report"
	"github.com/plrank/plrank/cmd/internal/trainer"
	"github.com/plrank/plrank/cmd/plrank/internal/evaluate"
	"github.com/plrank/plrank/internal/command"
	"github.com/plrank/plrank/ranker"
)

const mostRuns = 26 // each is called by a letter

var page = cli.Page{
	Command: "report",
	Usage: []string{
		"RUN… [-out FILE]",
		"RUN|MODEL… -data FILE|DIR [-out FILE]",
	},
	Text: "Makes an HTML page of runs, the folders that plrank train -out writes. The page shows the data, the recipe, metrics with " +
		"intervals, learning curves, the features that matter, and queries with their documents. Several runs are " +
		"compared side by side, with paired tests. The report.html in a run's folder is the page of that run. With -data, the page also " +
		"shows model files of any kind, and runs whose data have moved.",
	Examples: []string{
		"runs/a runs/b -out ab.html",
		"lightgbm.txt -data test.txt -out page.html",
	},
	Topics: []string{"files"},
	Words:  true,
}

// options are the command line.
type options struct {
	cli.Source
	runs []string
	out  string
}

func (o *options) Flags() cli.Flags {
	o.out = cli.StandardOutput
	return slices.Concat(o.Source.Flags("").Without("weight-column", "scale"), o.CacheFlag(),
		cli.Flags{{Name: "out", Value: &o.out, Help: "a new `file` for the page; - is standard output"}, cli.ThreadsFlag()})
}

func (o *options) Check(line *cli.Line) error {
	o.runs = line.Args()
	if o.Data == "" {
		if err := line.RefuseOthers("without -data: runs know how their data are read", "data", "out", "threads", "cache"); err != nil {
			return err
		}
	}
	return cmp.Or(
		cli.ErrorIf(len(o.runs) == 0, "want one run or more: folders of plrank train -out"),
		cli.ErrorIf(o.out == "", "-out is empty: want a file, or -"),
		o.Source.Check(),
	)
}

// Run runs the sub-command, and returns its exit status.
var Run = cli.Command[options](page)

// Run makes the page.
func (o *options) Run(ctx context.Context, _ *cli.Line, _ io.Reader, stdout, stderr io.Writer) error {
	var files cli.NewFiles
	defer files.Remove()
	out, err := files.Open(o.out)
	if err != nil {
		return fmt.Errorf("report: %w", err)
	}
	o.know()
	var runs []*report.Run
	for _, path := range o.runs {
		opened, err := o.open(ctx, path, stderr)
		if err != nil {
			return err
		}
		runs = append(runs, opened...)
	}
	if len(runs) > mostRuns {
		return command.Usage(fmt.Errorf("%d runs: want %d at most", len(runs), mostRuns))
	}
	if err := report.Write(ctx, out, runs...); err != nil {
		return err
	}
	return files.Publish(stdout)
}

// know makes what all the models know of the columns known for each. What cannot be opened is told by open.
func (o *options) know() {
	var models []*ranker.Model
	for _, path := range o.runs {
		folders, _ := trainer.FoldsIn(path)
		for _, path := range append(folders, path) {
			for _, path := range []string{path, filepath.Join(path, cli.ModelFile)} {
				if m, err := ranker.Open(path); err == nil {
					models = append(models, m)
				}
			}
		}
	}
	o.Know(models...)
}

// open returns the run in a folder, or the runs of its folds, or a model file.
func (o *options) open(ctx context.Context, path string, stderr io.Writer) (runs []*report.Run, err error) {
	info, err := os.Stat(path)
	if err != nil {
		return nil, err
	}
	if !info.IsDir() {
		r, err := o.model(ctx, path, stderr)
		return []*report.Run{r}, err
	}
	folders, err := trainer.FoldsIn(path)
	if err != nil {
		return nil, err
	}
	if folders == nil {
		folders = []string{path}
	}
	for _, folder := range folders {
		r, err := trainer.OpenRun(ctx, folder, o.Source, stderr)
		if err != nil {
			return nil, err
		}
		if r.Missing != "" {
			command.Warn(stderr, fmt.Sprintf("%s: the page is without data: %s (-data says where they are now)", path, r.Missing))
		}
		runs = append(runs, r)
	}
	return runs, nil
}

// model returns a model file with the -data.
func (o *options) model(ctx context.Context, path string, stderr io.Writer) (*report.Run, error) {
	if o.Data == "" {
		return nil, command.Usage(fmt.Errorf("%s is a file: a model needs -data, and a run is a folder", path))
	}
	m, err := ranker.Open(path)
	if err != nil {
		return nil, err
	}
	var measuring evaluate.Measuring
	measuring.Config, _ = cli.Preset(cli.ByData)
	measuring.Source, measuring.Config.Gain = o.Source, m.File().Gain
	splits, err := measuring.Open(ctx, m, stderr)
	if err != nil {
		return nil, err
	}
	return &report.Run{Name: path, Title: filepath.Base(o.Data), Data: o.Data, Config: measuring.Config, Model: m, Splits: splits}, nil
}
