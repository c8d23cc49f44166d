package clicks

import (
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
	"github.com/plrank/plrank/internal/names"
	"github.com/plrank/plrank/ranker"
	"github.com/plrank/plrank/train"
)

var simulatePage = cli.Page{
	Command: "clicks simulate",
	Usage:   []string{"-data FILE|DIR [-model FILE] [-user NAME] [-bias FILE] [-n N] -out LOG"},
	Text: "Makes a log. Queries are drawn evenly from the data, and rankings from the policy of a model; without a model, all rankings are " +
		"equally likely. A user who examines a document clicks it with probability (2^label − 1)/(2^highest − 1). For a folder or a " +
		"synthetic collection, the training split is used.",
	Examples: []string{
		"-data shop.csv -model old.npz -n 20000 -out log.jsonl",
		"-data shop.csv -user cascade -without-features -out log.jsonl",
	},
}

type simulateOptions struct {
	cli.Source
	model, user, bias, out string
	others                 []string // models to interleave with
	temperature            float64
	cutoff, n              int
	seed                   uint64
	lean                   bool // without features
}

// mostCutoff bounds the length of the default bias. No query has that many documents.
const mostCutoff = 1 << 20

// users lists the click models.
var users = []string{"position-based", "cascade"}

func (o *simulateOptions) flags() cli.Flags {
	o.user, o.temperature, o.cutoff, o.n = users[0], 1, 10, 10000
	return append(dataFlags(&o.Source, ""), cli.Flags{
		{Name: "model", Value: &o.model, Help: "a model `file`, whose policy draws the rankings"},
		{Name: "interleave", Value: o.addOther, Needs: []string{"model"}, Help: "another model `file`, which makes the rankings together with " +
			"-model by team draft; repeat it for several"},
		{Name: "temperature", Value: cli.Float(&o.temperature, math.SmallestNonzeroFloat64, "a positive, finite number"),
			Help: "`number` that divides the scores; a higher one explores more",
			Idle: func(*train.Use) string {
				if o.others != nil {
					return "with -interleave: a team draft goes by the order of the scores"
				}
				if o.model != "" {
					return ""
				}
				return "without -model: all rankings are equally likely"
			}},
		{Name: "cutoff", Value: cli.Int(&o.cutoff, 1, mostCutoff), Help: "`documents` of a ranking"},
		{Name: "user", Value: &o.user, Help: "`name` of the click model: " + strings.Join(users, ", ") +
			"; position-based users also click by trust if the -bias has β"},
		{Name: "bias", Value: &o.bias, Help: "a `file` with the position bias, see plrank clicks bias; without it, α is 1/rank"},
		{Name: "n", Value: cli.Int(&o.n, 1, logs.MostSimulated), Help: "`number` of impressions; several logs, by different -seed, have more"},
		{Name: "seed", Value: &o.seed, Help: "`seed` of all that is random"},
		{Name: "without-features", Value: &o.lean, Help: "leave out the features of documents: the log is much smaller, but " +
			"whoever reads it needs them by -data"},
		{Name: "out", Value: &o.out, Help: "a new `file` for the log; - is standard output"},
	}...)
}

func (o *simulateOptions) check(*cli.Line) error {
	switch {
	case o.model == "" && o.BaseColumn != "":
		return errors.New("-base-column has no effect without -model: base scores alone draw no rankings")
	case o.Data == "":
		return errors.New("-data is needed: the documents, with labels")
	case o.out == "":
		return errors.New("-out is needed: the file for the log")
	case !slices.Contains(users, o.user):
		return fmt.Errorf("unknown user %q: %s", o.user, names.Want(o.user, users))
	case o.user == "cascade" && o.bias != "":
		return errors.New("-bias has no effect with -user cascade: the first click is the last")
	}
	return o.Source.Check()
}

func (o *simulateOptions) run(ctx context.Context, line *cli.Line, stdout, stderr io.Writer) error {
	line.WarnIdle(stderr, &train.Use{})
	var files cli.NewFiles
	defer files.Remove()
	out, err := files.Open(o.out)
	if err != nil {
		return err
	}
	behaviour, err := o.behaviour()
	if err != nil {
		return err
	}
	l, err := cli.Await(ctx, func() (*logs.Log, error) { return o.simulate(ctx, behaviour, stderr) })
	if err != nil {
		return err
	}
	clicked := 0.0
	for i := range l.Impressions {
		for _, c := range l.Impressions[i].Clicks {
			clicked += c
		}
		if o.lean {
			l.Impressions[i].Features = nil
		}
	}
	if err := logs.Write(out, l); err != nil {
		return err
	}
	if err := files.Publish(stdout); err != nil {
		return err
	}
	fmt.Fprintf(stderr, "%d impressions with %.0f clicks\n", len(l.Impressions), clicked)
	return nil
}

// behaviour returns the click model of the users.
func (o *simulateOptions) behaviour() (logs.Behaviour, error) {
	var b logs.Bias
	for k := range o.cutoff {
		b.Alpha = append(b.Alpha, 1/float64(k+1))
	}
	if o.bias != "" {
		var err error
		if b, err = logs.ReadBias(o.bias); err != nil {
			return nil, err
		}
	}
	if o.user == "cascade" {
		return logs.Cascade(), nil
	}
	return logs.AffineClicks(b), nil
}

// addOther reads the flag -interleave.
func (o *simulateOptions) addOther(text string) error {
	o.others = append(o.others, text)
	return nil
}

func (o *simulateOptions) simulate(ctx context.Context, behaviour logs.Behaviour, stderr io.Writer) (*logs.Log, error) {
	logging, d, err := o.logger(ctx, o.model, stderr)
	if err != nil {
		return nil, err
	}
	logging.Temperature, logging.Cutoff, logging.Draft = o.temperature, o.cutoff, o.others != nil
	for _, path := range o.others {
		other, _, err := o.logger(ctx, path, stderr)
		if err != nil {
			return nil, err
		}
		logging.Others = append(logging.Others, other)
	}
	return logs.Simulate(d, logging, logs.User{Behaviour: behaviour}, o.n, o.seed)
}

// logger returns the policy of a model, and the data as it reads them; without a model all rankings are equally likely.
func (o *simulateOptions) logger(ctx context.Context, path string, stderr io.Writer) (logging logs.Logger, d *datasets.Dataset, err error) {
	logging.Model = "uniform"
	var model *ranker.Model
	if path != "" {
		if model, err = ranker.Open(path); err != nil {
			return logging, nil, err
		}
		logging.Model, logging.Version = filepath.Base(path), model.Digest()
		if o.others != nil {
			logging.Model = path // whose last part may be the same for all
		}
	}
	if d, err = openData(ctx, o.Source, model, true, o.seed, stderr); err != nil || model == nil {
		return logging, d, err
	}
	scores, err := datasets.Score(model, d)
	logging.Scores = func(d *datasets.Dataset, q int) ([]float64, error) { return scores[d.Offsets[q]:d.Offsets[q+1]], nil }
	return logging, d, err
}
