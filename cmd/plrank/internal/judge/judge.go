// Package judge is the sub-command that says which pairs people should judge beside a judge.
package judge

import (
	"bytes"
	"cmp"
	"context"
	"fmt"
	"io"

	"github.com/plrank/plrank/cmd/internal/cli"
	"github.com/plrank/plrank/cmd/internal/judging"
	"github.com/plrank/plrank/internal/command"
	"github.com/plrank/plrank/train"
)

var page = cli.Page{
	Command: "judge",
	Usage:   []string{"A.run [B.run] -judge QRELS -budget N [-qrels SO-FAR] [-out FILE]"},
	Text: "Draws the pairs of a query and a document that people should judge next, so that the interval of the difference of two TREC " +
		"runs, or of the value of one, gets narrow fastest: lines of \"query document probability\", to which people add the grade as a fourth " +
		"word. It goes on round after round, and prints what is known so far; it draws none when it is certain which run is better.",
	Examples: []string{
		"bm25.run dense.run -judge llm.qrels -budget 60 -out round1.txt",
		"A.run B.run -judge llm.qrels -budget 60 -qrels 1.txt -out 2.txt",
		"A.run B.run -judge llm.qrels -budget 60 -qrels 1.txt,2.txt -width .01",
	},
	Words: true,
}

// options are the command line.
type options struct {
	config train.Config
	runs   []string
	judge  string // file
	people string // files, with commas
	out    string // file
	budget int
	width  float64
	asJSON bool
}

func (o *options) Flags() cli.Flags {
	o.config, _ = cli.Preset(cli.ByData)
	o.config.Metric = judging.UsualMetric
	o.out = cli.StandardOutput
	measuring := cli.MeasuringFlags(&o.config).Without("report", "discounts", "evaluation-samples", "convention")
	return append(cli.Flags{
		{Name: "judge", Value: &o.judge, Help: "a `file` of TREC judgements by a judge, such as a language model, for all pairs"},
		{Name: "budget", Value: cli.Int(&o.budget, 1, 1_000_000), Help: "how `many` pairs to draw"},
		{Name: "qrels", Value: &o.people, Help: "`files` with judgements by people so far: the rounds, in order, with commas between them; " +
			"those of a file without probabilities are known, and are no sample"},
		{Name: "out", Value: &o.out, Help: "a new `file` for the pairs; -: standard output, what is known then goes to standard error"},
		{Name: "width", Value: cli.Float(&o.width, 0, "a number above 0"), Help: "also say how many more judgements an interval of ± this " +
			"`much` costs"},
		cli.JSONFlag(&o.asJSON),
	}, measuring...)
}

func (o *options) Check(line *cli.Line) error {
	o.runs = line.Args()
	return cmp.Or(
		cli.ErrorIf(len(o.runs) < 1 || len(o.runs) > 2, "want two runs, or one, not %d", len(o.runs)),
		cli.ErrorIf(o.judge == "" || o.budget == 0, "-judge and -budget are both needed"),
		cli.ErrorIf(line.Given("width") && o.width == 0, "-width 0: want a number above 0"),
		cli.ErrorIf(o.asJSON && o.out == cli.StandardOutput, "-json needs -out FILE: the pairs go to standard output"),
		cli.ErrorIf(cli.HasLoss(o.config.Metric), "-metric loss is for training"),
		cli.Check(o.config),
	)
}

// Run runs the sub-command, and returns its exit status.
var Run = cli.Command[options](page)

// Run draws the pairs.
func (o *options) Run(_ context.Context, _ *cli.Line, _ io.Reader, stdout, stderr io.Writer) error {
	var files cli.NewFiles
	defer files.Remove()
	out, err := files.Open(o.out)
	if err != nil {
		return err
	}
	labels, err := judging.Read(o.judge, o.people)
	if err != nil {
		return err
	}
	study, err := judging.Open(o.config, labels, true, o.runs...)
	if err != nil {
		return err
	}
	plan, err := study.Plan(o.budget, o.width)
	if err != nil {
		return err
	}
	command.Warn(stderr, labels.Warnings...)
	for _, d := range plan.Draws {
		fmt.Fprintf(out, "%s %s %v\n", d.Query, d.Document, d.Probability)
	}
	state := stderr
	if o.out != cli.StandardOutput {
		state = stdout
	}
	var text bytes.Buffer
	if o.asJSON {
		err = cli.PrintJSON(&text, plan)
	} else {
		plan.Print(&text)
	}
	if err == nil {
		err = files.Publish(stdout)
	}
	if err == nil {
		_, err = text.WriteTo(state)
	}
	return err
}
