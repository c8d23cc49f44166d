package main

import (
	"fmt"
	"io"
	"strings"

	"github.com/plrank/plrank/internal/command"
	"github.com/plrank/plrank/losses"
	"github.com/plrank/plrank/metrics"
)

// A section of the manual: text, then flags.
type section struct {
	title string
	text  string
	flags []string
}

func manual() []section {
	return []section{
		{title: "NAME", text: `train - train Plackett–Luce rankers, score documents with them, describe data`},
		{title: "SYNOPSIS", text: `train [-data FILE|DIR] [-out DIR] [flags]
train -data DIR -folds all [-out DIR] [flags]
train -data FILE -folds N [-out DIR] [flags]
train -resume -out DIR [-epochs N] [-patience N]
train -model FILE -predict FILE [-scores FILE] [-exposure FILE] [-run FILE]
train -model FILE -data FILE|DIR [-importance FILE] [-json]
train -model FILE -onnx FILE
train -describe [-json] [-data FILE|DIR] [-fold N]`},
		{title: "DESCRIPTION", text: `Trains a neural network that gives every document a score, so that ranking by
those scores, or drawing rankings from the Plackett–Luce policy they define, has
the highest DCG or NDCG. Prints metrics of the training, validation and test
split, beside those of random order and of the best single feature.

Without any flag, a small synthetic collection is made and trained on.`},
		{title: "DATA", text: `Files are in LETOR, SVMlight or SVMrank format, a document a line:
    label qid:ID feature:value feature:value … # docid = ID
or without qid, and with a file of query sizes beside it, named FILE.query or
FILE.group; a # begins a comment, also within a word. Or they are comma-, tab- or
semicolon-separated values, with a header that names a label, a query id and the
features; every row is a document, whatever it begins with. They may be compressed
by gzip or zstd.

A split may be in many parts: the files of a folder train, vali or test, or files
such as train-00003-of-00010.txt. All documents of a query must be in one part.
With -cache, memory then need not hold more than one part and some 30 bytes a
document.

A feature that a line of LETOR does not mention is 0. NULL, NaN, NA, ? and an
empty separated value are missing: the transform makes them 0, which is the
lowest value of the query for minmax, the mean of the training documents for
standard and log-standard, their median for quantile, and the middle of the
query's ranks for rank. Documents with label -1 are not labelled: they are left
out of training, and scored by -predict. Where -1 is the only label below 1, as
in SVMrank's files, -minus-one must say whether it means that.

Weights may lie beside the data in FILE.weight, one a line: of documents, as for
LightGBM, where there are as many, else of queries, as for XGBoost. The weights
of documents may be a column instead, see -weight-column.

For losses and measures that compare groups of documents, -group-column, or a
file beside each file of data, named FILE.groups, with the group of one document
a line. A group is any word; nothing, and -1, is none. The column is then no
feature, in LETOR as in separated values: the model does not see it. Scoring needs
no groups, and leaves such a column out.

A folder has a file for each split, such as train.txt, vali.txt and test.txt, or
set1.train.txt and its companions; or it has folders Fold1, Fold2, … of those.`,
			flags: []string{"data", "scale", "vali", "test", "fold", "folds", "duplicates", "minus-one", "headerless", "label-column", "query-column", "document-column", "weight-column", "group-column", "groups", "cache", "transform", "categorical"}},
		{title: "DESCRIBING DATA", text: `Counts queries, documents, features and labels, and names the features that are
constant and those with missing values; unlabelled documents count, too (so that
-cache keeps a copy of its own for it). In JSON this is one object:
    queries, documents, features   how many, all splits together
    labels                         documents by label
    labelFree                      queries without a label above 0
    documentsPerQuery              min, mean and max
    constant, missing              ids of such features
    groups                         name, documents and meanLabel of each, if any`,
			flags: []string{"describe", "json"}},
		{title: "OBJECTIVE", text: "Losses:\n" + command.Indent(command.Wrap(strings.Join(losses.Names(), " "), 72), "    ") + `
A sum of them, each maybe with a weight before it and a *, is a loss as well:
plrank-exact+0.5*disparity.

plrank-exact, disparity, ee-l, group-exposure and group-treatment are exact, and
those by scores alone, such as softmax or lambdarank, sample nothing either:
-samples is for the others.

Training queries without a relevant document are left out, and counted, unless a
loss of the sum learns from them:
` + command.Indent(command.Wrap(strings.Join(labelFreeLosses(), " "), 72), "    ") + `

The losses of the PL-Rank family, policy-gradient and placement-policy-gradient
optimise, under the policy, the sum over ranks of discount times gain:
    DCG        -discounts dcg -normalize=false
    NDCG       -discounts dcg
    precision  -discounts precision -gain binary -normalize=false
    RBP        -discounts rbp -gain binary -normalize=false
    ARP        -discounts arp -gain linear`,
			flags: []string{"loss", "cutoff", "samples", "gain", "highest-grade", "discounts", "normalize"}},
		{title: "MODEL", flags: []string{"scorer", "hidden", "activation", "dropout", "members", "blocks", "heads", "latent-cross"}},
		{title: "OPTIMISATION", flags: []string{"optimizer", "lr", "momentum", "weight-decay", "decay", "schedule", "warmup", "l2", "group-lasso", "clip", "average", "batch", "epochs", "on-nan", "seed"}},
		{title: "VALIDATION", text: "Metrics, with @k for a cutoff:\n" + command.Indent(command.Wrap(strings.Join(metrics.Names(), " "), 72), "    ") + `
With expected- before it, a metric is the expectation under the policy: exact,
but for map, err and pair-accuracy at a cutoff, which are estimated from
-evaluation-samples rankings; the tables have their standard errors. Measures of
fairness are of the expected exposure of the documents under the policy; that of
a fairness loss is reported by itself. Gains are those before -normalize, so
that runs can be compared; with -normalize=false they are those that a fairness
loss has:
` + command.Indent(command.Wrap(strings.Join(metrics.FairnessNames(), " "), 72), "    ") + `
Less is better for arp, disparity, abs-disparity, ee-l and ee-d. The model of the
epoch with the best validation value is kept: by -metric loss that of the lowest
loss on the validation split, without dropout; losses that estimate another by
sampling, such as plrank2, are computed exactly, and what others draw is the same
in every epoch. In a weighted sum of metrics, of which more is better, those of
which less is better need a weight below 0. A value that is undefined is never the
best: a training whose first epoch has none ends with an error.`,
			flags: []string{"metric", "patience", "report", "convention", "ties", "weighted-metrics", "evaluation-samples", "evaluate-train", "evaluate-test", "drop-label-free-test"}},
		{title: "RECIPES AND RUNS", text: `default is a recipe that serves many collections well. It goes by the training
data: with fewer than 50 documents a query, on average, with more, and with 100000
documents or more it sets some of the defaults above to others. A run says which
recipe it takes and what it sets; all folds of -folds take that of the first.
paper is the set-up of Oosterhuis, SIGIR 2021, section 7: sigmoid layers of 32 and
32, plain SGD with one query a step, dynamic samples, DCG@5.`,
			flags: []string{"preset", "config", "init-model", "baseline", "out", "resume", "threads", "version"}},
		{title: "SEVERAL PROCESSES", text: `Built with -tags mpi, over Open MPI, the command trains under mpirun with as many
processes (ranks) as are asked for, on one machine or on several:
    mpirun -n 4 train -data DIR -out DIR
Each has its part of the training queries. The model does not depend on how many
there are: it is that of one process with the same -shards, bit for bit. Only the
first rank prints and writes files. See docs/scale.md.`,
			flags: []string{"shards"}},
		{title: "SCORING", text: `A model file has all it takes to score raw files: the features are transformed as
they were in training. Where the features have names, separated values are read by
them, and must have a column for each; a feature that a file of LETOR does not
mention is 0, with a warning. Those that the model does not know are left out,
with a warning. Documents without an id are called qid.1, qid.2, … in TREC files.

The transform minmax is relative to the query: the score of a document depends on
which other documents stand beside it. To score a few candidates as they were
scored among all, keep all in the file.

Files may be of any length: they are scored as they are read, a few megabytes at a
time. The documents of a query should stand together, as they do in most files;
otherwise the whole file is read into memory, and one from a pipe is an error.`,
			flags: []string{"model", "predict", "scores", "run", "draw", "temperature", "exposure", "qrels"}},
		{title: "EXPORTING A MODEL", text: `-model with -onnx writes a model for ONNX Runtime, and for what runs it, such as
Vespa and Triton: from the raw features of the documents of a query,
float32 [documents, features], to their scores. See docs/serving.md.`,
			flags: []string{"onnx"}},
		{title: "MEASURING A MODEL", text: `-model with -data prints the metrics of a saved model on labelled data, of every
split of a folder or of all of a file, beside those of random order. The flags of
VALIDATION say which metrics, and -gain and -highest-grade are the model's own
unless they are given. A label above the highest grade is an error for the metrics
that go by it. -metric loss is for training alone.

A warning says how many of the queries the model was trained on: those with the
same documents, by the features that the model uses, whatever their ids, labels
and format. Training warns likewise of queries that two splits share. The version
that is printed is that of the file's content, as in the answers of cmd/serve.

-importance exchanges the values of one feature after another among the documents
of each query, at random, five times, and measures how much worse the ranking gets
(permutation importance; Breiman 2001). Features that say the same share what they
are worth.`,
			flags: []string{"importance"}},
		{title: "FILES", text: `The folder of -out holds
    config.json     what the run was asked to do
    metrics.jsonl   an object for each epoch
    result.json     final metrics of each split, and of the baselines
    model.npz       the best model on the validation split; NumPy opens it
    initial.npz     a copy of -init-model, from which -resume goes on
    curve.png       the validation metric by epoch; without it, where it cannot
                    be drawn or written, there is a warning
    checkpoint.npz  where -resume goes on; checkpoint.previous.npz, the one before
                    it, is for the case that this one is damaged
With -folds all it holds config.json, such a folder for each fold (fold1, …) and
    summary.json    mean, sd and values of each metric over the folds
A file or folder that exists is never overwritten, except by the run it belongs
to. Two runs with the same flags and data give the same files, but for the
times of an epoch and the checkpoint that keeps them, on any number of cores.`},
		{title: "EXIT STATUS", text: `0    all is well
1    an error: standard error says what and where, in a line; of a file with
     malformed lines it names the first ten, each in a line
2    a command line that makes no sense
130  interrupted (Ctrl-C). What was learnt until then is kept: the tables are
     printed and the files of -out written for the best epoch so far. -resume
     goes on after the last whole epoch, or, with -folds all, in the fold that
     was interrupted; the table is then of the folds before. A second Ctrl-C
     ends at once.`},
		{title: "EXAMPLES", text: `train
train -data MQ2008/Fold1 -out runs/fold1
train -data train.txt -vali vali.txt -test test.txt -loss lambdaloss -seed 2
train -data MQ2008/Fold1 -loss plrank-exact+0.5*disparity -report ee-l,map
train -data shop.csv -group-column brand -loss plrank-exact+group-exposure
train -data MQ2008/Fold1 -preset paper -samples 100 -epochs 80
train -data MQ2008 -folds all -baseline golearn -out runs/mq2008
train -resume -out runs/fold1 -epochs 100
train -describe -data MQ2008 -fold 3
train -data MQ2008/Fold1 -config runs/fold1/config.json -lr 0.002
train -model runs/fold1/model.npz -predict new.txt -scores new.scores
train -model runs/fold1/model.npz -predict - -scores -
train -model runs/fold1/model.npz -onnx model.onnx
train -model runs/fold1/model.npz -predict new.txt -draw 10 -run new.run
train -model runs/fold1/model.npz -data MQ2008/Fold1/test.txt
train -model runs/fold1/model.npz -data test.txt -importance importance.svg
train -model runs/fold1/model.npz -predict new.txt -run new.run -qrels new.qrels`},
	}
}

// labelFreeLosses are those that learn from queries without a relevant document.
func labelFreeLosses() (names []string) {
	for _, name := range losses.Names() {
		if terms, err := losses.Terms(name); err == nil && terms[0].LabelFree {
			names = append(names, name)
		}
	}
	return names
}

// help prints the manual page.
func help(w io.Writer) {
	flags := defaults().flags()
	for i, s := range manual() {
		if i > 0 {
			fmt.Fprintln(w)
		}
		fmt.Fprintln(w, s.title)
		if s.text != "" {
			fmt.Fprintln(w, command.Indent(s.text, "  "))
		}
		for _, name := range s.flags {
			command.DescribeFlag(w, flags.Lookup(name))
		}
	}
}
