package main

import (
	"flag"
	"fmt"
	"io"
	"strings"

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
		{title: "NAME", text: `train - train a Plackett–Luce ranker, or score documents with one`},
		{title: "SYNOPSIS", text: `train [-data FILE|DIR] [-out DIR] [flags]
train -resume -out DIR [-epochs N] [-patience N]
train -model FILE -predict FILE -scores FILE`},
		{title: "DESCRIPTION", text: `Trains a neural network that gives every document a score, so that ranking by
those scores, or drawing rankings from the Plackett–Luce policy they define, has
the highest DCG or NDCG. Prints metrics of the training, validation and test
split, beside those of random order and of the best single feature.

Without any flag, a synthetic collection is made and trained on.`},
		{title: "DATA", text: `Files are in LETOR, SVMlight or SVMrank format, a document a line:
    label qid:ID feature:value feature:value … # comment
or without qid, and with a file of query sizes beside it, named FILE.query or
FILE.group.`,
			flags: []string{"data", "vali", "test", "transform"}},
		{title: "OBJECTIVE", text: "Losses: " + strings.Join(losses.Names(), ", ") + ".",
			flags: []string{"loss", "cutoff", "samples", "gain", "normalize"}},
		{title: "MODEL", flags: []string{"hidden", "activation", "dropout", "members"}},
		{title: "OPTIMISATION", flags: []string{"optimizer", "lr", "momentum", "decay", "l2", "clip", "batch", "epochs", "seed"}},
		{title: "VALIDATION", text: "Metrics: " + strings.Join(metrics.Names(), ", ") + ", with @k for a cutoff.\n" +
			"The model of the epoch with the best validation value is kept.",
			flags: []string{"metric", "patience", "convention", "evaluation-samples", "evaluate-train", "drop-label-free-test"}},
		{title: "RECIPES AND RUNS", text: `default is a recipe that serves many collections well. paper is the set-up of
Oosterhuis, SIGIR 2021, section 5: sigmoid layers of 32 and 32, plain SGD with
one query a step, dynamic samples, DCG@5.`,
			flags: []string{"preset", "out", "resume"}},
		{title: "SCORING", text: `A model file has all it takes to score raw files: the features are transformed as
they were in training. Features that the file lacks are 0.`,
			flags: []string{"model", "predict", "scores"}},
		{title: "FILES", text: `The folder of -out holds
    config.json     what the run was asked to do
    metrics.jsonl   an object for each epoch
    result.json     final metrics of each split, and of the baselines
    model.npz       the best model on the validation split; NumPy opens it
    curve.png       the validation metric by epoch
    checkpoint.npz  where -resume goes on
A file or folder that exists is never overwritten, except by the run it belongs
to. Two runs with the same flags and data give the same files, but for the
"seconds" of an epoch and the checkpoint that keeps them, on any number of cores.`},
		{title: "EXIT STATUS", text: `0    all is well
1    an error: a line on standard error says what and where
2    a command line that makes no sense
130  interrupted (Ctrl-C). What was learnt until then is kept: the tables are
     printed and the files of -out written for the best epoch so far. -resume
     goes on after the last whole epoch. A second Ctrl-C ends at once.`},
		{title: "EXAMPLES", text: `train
train -data MQ2008/Fold1 -out runs/fold1
train -data train.txt -vali vali.txt -test test.txt -loss lambdaloss -seed 2
train -data MQ2008/Fold1 -preset paper -samples 100 -epochs 80
train -resume -out runs/fold1 -epochs 100
train -model runs/fold1/model.npz -predict new.txt -scores new.scores`},
	}
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
			fmt.Fprintln(w, indent(s.text, "  "))
		}
		for _, name := range s.flags {
			describeFlag(w, flags.Lookup(name))
		}
	}
}

func describeFlag(w io.Writer, f *flag.Flag) {
	value, usage := flag.UnquoteUsage(f)
	if value != "" {
		value = " " + value
	}
	fmt.Fprintf(w, "  -%s%s\n", f.Name, value)
	text := usage
	if b, ok := f.Value.(interface{ IsBoolFlag() bool }); ok && b.IsBoolFlag() {
		if f.DefValue == "true" {
			text += fmt.Sprintf(" (on; -%s=false is off)", f.Name)
		}
	} else if f.DefValue != "" && f.DefValue != "0" {
		text += fmt.Sprintf(" (default %s)", f.DefValue)
	}
	fmt.Fprintln(w, indent(wrap(text, 70), "        "))
}

func indent(text, by string) string {
	lines := strings.Split(text, "\n")
	for i, line := range lines {
		lines[i] = strings.TrimRight(by+line, " ")
	}
	return strings.Join(lines, "\n")
}

// wrap breaks a line at blanks.
func wrap(text string, width int) string {
	var lines []string
	line := ""
	for _, word := range strings.Fields(text) {
		if line != "" && len([]rune(line))+1+len([]rune(word)) > width {
			lines = append(lines, line)
			line = ""
		}
		line = strings.TrimPrefix(line+" "+word, " ")
	}
	return strings.Join(append(lines, line), "\n")
}
