package main

import (
	"context"

	"github.com/plrank/plrank/lab/internal/source"
)

// A subcommand is an experiment, or what is done with several.
type subcommand struct {
	name  string
	what  string // it does, for -help
	flags []string
	run   func(context.Context, *session) error
}

var (
	dataFlags  = append([]string{"seed", "out"}, source.Flags...)
	trainFlags = append([]string{"losses", "runs", "batch", "lr"}, dataFlags...)
)

func subcommands() []subcommand {
	return []subcommand{
		{"samples", `sample efficiency, the paper's Figure 1: DCG@5 against the epoch for each loss and
number of samples, mean and standard deviation over the runs`,
			append([]string{"samples", "without", "epochs"}, trainFlags...), runSamples},
		{"epochs", `costs, the paper's Table 1: the time of an epoch for each loss and number of
samples. The runs of all take turns. As many training queries are measured as
-trial-seconds allow, drawn from all query sizes; the time of all is in
proportion to their number`,
			append([]string{"samples", "without", "trial-seconds"}, trainFlags...), runEpochs},
		{"time", `time efficiency, the paper's Figure 2 and Table 2: DCG@5 against training time for
each loss, with a growing number of samples, and paired t-tests of where it ends`,
			append([]string{"seconds"}, trainFlags...), runTime},
		{"fairness", `the paper's Figure 3: the disparity of exposure against the epoch,
where it is what is optimised, by each estimator, with a growing number of
samples, or with fixed ones by -samples. With -weights, the frontier of
relevance and fairness instead`,
			append([]string{"samples", "epochs", "weights"}, trainFlags...), runFairness},
		{"variance", `variance: the trace of the covariance of the gradients with respect to the scores,
against samples N, cutoff K and documents D, for the paper's network untrained,
half-trained and trained by PL-Rank-RB, or for -model; all estimators and their
competitors, and their bias against the exact gradient; the variance along each
estimator's own training, and the variance of picking a query; with a synthetic
collection, the same on normal scores`,
			append([]string{"model", "repeats", "epochs", "batch", "lr"}, dataFlags...), runVariance},
		{"exact", `exact gradients by plackett.Expectation on normal scores: their error against the tolerance,
the cutoff, the documents and the spread of the scores, what they cost compared
with PL-Rank-RB, and the weights of pairs; the tables of docs/exact.md`,
			[]string{"seed", "out"}, runExact},
		{"changes", `changes of the default recipe, and what each is worth: the queries of the
training and the validation split are dealt to five parts. Each measures what three
of the others train; the fourth picks the best epoch. The trials of recipe.md`,
			append([]string{"changes", "runs"}, dataFlags...), runChanges},
		{"all", `all of these but exact and changes, with -weights too, within -minutes or about that: measures what each
loss costs, then chooses runs and epochs and what to leave out, the expensive
first, and says so. -runs and -epochs are the most it takes`,
			append([]string{"samples", "without", "epochs", "minutes"}, trainFlags...), runAll},
		{"document", `makes the generated parts of a Markdown file, and their plots, anew from the CSV
files in folders of results: between comments FOLDER/CHAPTER/n the n-th table that
report.md has of a subcommand, between FOLDER/CHAPTER/command its command, between
FOLDER/FILE.csv that file. It writes FOLDER/CHAPTER-table-n.csv, the n-th table as
a CSV file, if the file links to it`,
			[]string{"document"}, runDocument},
	}
}

func subcommandNames() []string {
	var list []string
	for _, c := range subcommands() {
		list = append(list, c.name)
	}
	return list
}
