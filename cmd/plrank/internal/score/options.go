package score

import (
	"cmp"
	"flag"
	"math"
	"slices"

	"github.com/plrank/plrank/cmd/internal/cli"
	"github.com/plrank/plrank/internal/command"
	"github.com/plrank/plrank/train"
)

// options are the command line.
type options struct {
	cli.Source
	model                     string
	out, run, qrels, exposure string
	draw                      int // rankings of each query
	temperature               float64
	cutoff                    train.RankCount
	discounts                 string
	seed                      uint64
	threads                   cli.Threads
	line                      *flag.FlagSet // with the flags that were given
}

func (o *options) Flags() *flag.FlagSet {
	f := flag.NewFlagSet("score", flag.ContinueOnError)
	f.StringVar(&o.model, "model", "", "a model `file`")
	f.StringVar(&o.Data, "data", "", "the `file` of the documents, of any length and maybe compressed; - is standard input")
	f.StringVar(&o.out, "out", "", "a new `file` for the scores, one a line, in the order of the file; without it, and where no other result is asked for, standard output")
	f.StringVar(&o.run, "run", "", "a new `file` for the rankings, as a TREC run: lines of \"qid Q0 docid rank score tag\"; - is standard output, here and below")
	f.StringVar(&o.qrels, "qrels", "", "a new `file` for the labels, as TREC judgements: lines of \"qid 0 docid label\"")
	cli.IntVar(f, &o.draw, "draw", 0, mostDraws, "draw `N` rankings of every query from the Plackett–Luce policy of the scores, by -seed, instead of ranking by score; more than one go to FILE.1, FILE.2, … of -run FILE")
	f.StringVar(&o.exposure, "exposure", "", "a new `file` for the expected exposure of every document under the policy, one a line")
	o.temperature = 1
	cli.FloatVar(f, &o.temperature, "temperature", math.SmallestNonzeroFloat64, "a positive, finite number", "divide the scores of the policy by this `number`: above 1, drawn rankings vary more")
	f.TextVar(&o.cutoff, "cutoff", train.RankCount(10), "`ranks` that give exposure; all (or 0): every rank, however long the lists")
	f.StringVar(&o.discounts, "discounts", "dcg", "exposure of each rank (`name`): dcg, precision, rbp(0.9), or numbers such as 1,0.5,0.25; precision and numbers need a cutoff")
	f.Uint64Var(&o.seed, "seed", 0, "`seed` of drawn rankings")
	o.threads.Define(f)
	o.Define(f, "", slices.Concat(cli.SplitFlags, cli.TrainingFlags)...)
	return f
}

// mostDraws limits the rankings drawn of a query at once: each has an open file.
const mostDraws = 1000

func (o *options) Check(given *flag.FlagSet) error {
	o.line = given
	printed := 0
	for _, path := range []string{o.out, o.run, o.qrels, o.exposure} {
		if path == cli.StandardOutput {
			printed++
		}
	}
	if o.out == "" && o.run == "" && o.qrels == "" && o.exposure == "" {
		o.out = cli.StandardOutput
	}
	o.threads.Use()
	draws, exposes := command.IsGiven(given, "draw"), command.IsGiven(given, "exposure")
	return cmp.Or(
		cli.ErrorIf(o.model == "" || o.Data == "", "-model and -data are both needed"),
		cli.ErrorIf(printed > 1, "standard output, -, has room for one of -out, -run, -qrels and -exposure"),
		cli.ErrorIf(o.draw > 1 && o.run == cli.StandardOutput, "-draw %d: each ranking has a file of its own: -run must name one, not standard output", o.draw),
		cli.ErrorIf(o.draw > 0 && o.run == "", "-draw %d: want -run for the rankings", o.draw),
		cli.CheckIdle(given,
			cli.Use{Works: draws || exposes, Flags: []string{"temperature"}, Why: "without -draw or -exposure"},
			cli.Use{Works: draws, Flags: []string{"seed"}, Why: "without -draw"},
			cli.Use{Works: exposes, Flags: []string{"cutoff", "discounts"}, Why: "without -exposure"}),
		o.Source.Check(),
	)
}
