package score

import (
	"cmp"
	"math"

	"github.com/plrank/plrank/cmd/internal/cli"
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
}

func (o *options) Flags() cli.Flags {
	o.temperature, o.cutoff, o.discounts = 1, 10, "dcg"
	return append(cli.Flags{
		{Name: "model", Value: &o.model, Help: "a model `file`"},
		{Name: "data", Value: &o.Data, Help: "the `file` of the documents, of any length, compressed or not; - is standard input"},
		{Name: "out", Value: &o.out, Help: "a new `file` for the scores, one a line, in the order of the file; without it, and where no " +
			"other result is asked for, standard output"},
		{Name: "run", Value: &o.run, Help: "a new `file` for the rankings, as a TREC run: lines of \"qid Q0 docid rank score tag\"; - is " +
			"standard output, here and below"},
		{Name: "qrels", Value: &o.qrels, Help: "a new `file` for the labels, as TREC judgements: lines of \"qid 0 docid label\""},
		{Name: "draw", Value: cli.Int(&o.draw, 0, mostDraws), Help: "draw `N` rankings of every query from the Plackett–Luce policy of the " +
			"scores, by -seed, instead of ranking by score; more than one go to FILE.1, FILE.2, … of -run FILE"},
		{Name: "exposure", Value: &o.exposure, Help: "a new `file` for the expected exposure of every document under the policy, one a line"},
		{Name: "temperature", Value: cli.Float(&o.temperature, math.SmallestNonzeroFloat64, "a positive, finite number"),
			Needs: []string{"draw", "exposure"},
			Help:  "divide the scores of the policy by this `number`: above 1, drawn rankings vary more"},
		{Name: "cutoff", Value: &o.cutoff, Needs: []string{"exposure"},
			Help: "number of `ranks` that get exposure; all (or 0) is every rank"},
		{Name: "discounts", Value: &o.discounts, Needs: []string{"exposure"},
			Help: "`name` of the exposure of each rank: dcg, precision, rbp(0.9), or numbers such as 1,0.5,0.25; precision and " +
				"numbers need a cutoff"},
		{Name: "seed", Value: &o.seed, Needs: []string{"draw"}, Help: "`seed` of drawn rankings"},
		cli.ThreadsFlag(),
	}, o.ReadingFlags()...)
}

// mostDraws limits the rankings drawn of a query at once: each has an open file.
const mostDraws = 1000

func (o *options) Check(*cli.Line) error {
	printed := 0
	for _, path := range []string{o.out, o.run, o.qrels, o.exposure} {
		if path == cli.StandardOutput {
			printed++
		}
	}
	if o.out == "" && o.run == "" && o.qrels == "" && o.exposure == "" {
		o.out = cli.StandardOutput
	}
	return cmp.Or(
		cli.ErrorIf(o.model == "" || o.Data == "", "-model and -data are both needed"),
		cli.ErrorIf(printed > 1, "standard output, -, has room for one of -out, -run, -qrels and -exposure"),
		cli.ErrorIf(o.draw > 1 && o.run == cli.StandardOutput,
			"-draw %d: each ranking has a file of its own: -run must name one, not standard output", o.draw),
		cli.ErrorIf(o.draw > 0 && o.run == "", "-draw %d: want -run for the rankings", o.draw),
		o.Source.Check(),
	)
}
