// Command plrank trains ranking models, and scores, measures, exports and serves with them. It also fits
// worths to observed rankings.
// See plrank help.
package main

import (
	"fmt"
	"io"
	"os"
	"slices"
	"strings"

	"github.com/plrank/plrank/cmd/internal/cli"
	"github.com/plrank/plrank/cmd/internal/clicks"
	"github.com/plrank/plrank/cmd/internal/trainer"
	"github.com/plrank/plrank/cmd/plrank/internal/compare"
	"github.com/plrank/plrank/cmd/plrank/internal/describe"
	"github.com/plrank/plrank/cmd/plrank/internal/evaluate"
	"github.com/plrank/plrank/cmd/plrank/internal/explain"
	"github.com/plrank/plrank/cmd/plrank/internal/export"
	"github.com/plrank/plrank/cmd/plrank/internal/fit"
	"github.com/plrank/plrank/cmd/plrank/internal/fuse"
	"github.com/plrank/plrank/cmd/plrank/internal/judge"
	"github.com/plrank/plrank/cmd/plrank/internal/mix"
	"github.com/plrank/plrank/cmd/plrank/internal/report"
	"github.com/plrank/plrank/cmd/plrank/internal/score"
	"github.com/plrank/plrank/cmd/plrank/internal/serve"
	"github.com/plrank/plrank/cmd/plrank/internal/tune"
	"github.com/plrank/plrank/internal/command"
	"github.com/plrank/plrank/internal/names"
	"github.com/plrank/plrank/internal/version"
)

// A table holds the sub-commands, the first words after plrank, in the order in which help lists them.
type table []struct {
	name, summary string
	run           func(args []string, stdin io.Reader, stdout, stderr io.Writer) int
}

var subcommands = table{
	{"train", "train a ranking model, and measure it", trainer.Run},
	{"tune", "train with several settings, and find the best", tune.Run},
	{"mix", "mix models, such as a network and a forest", mix.Run},
	{"score", "score the documents of a file with a model", score.Run},
	{"evaluate", "measure a model, or scores from anywhere, on labelled data", evaluate.Run},
	{"compare", "compare models, scores or runs query by query", compare.Run},
	{"judge", "draw the pairs that people should judge beside a judge", judge.Run},
	{"fuse", "combine runs of several searches by learned weights", fuse.Run},
	{"describe", "count queries, documents, features, labels and groups", describe.Run},
	{"explain", "say why a document is above another", explain.Run},
	{"report", "make a page of runs: metrics, curves, features, queries", report.Run},
	{"export", "write a model in ONNX format", export.Run},
	{"serve", "rank documents over HTTP with trained models", serve.Run},
	{"clicks", "estimate position bias, evaluate policies from logs, gate a deployment", clicks.Run},
	{"fit", "fit worths of items to observed rankings", fit.Run},
}

func main() { os.Exit(subcommands.run(os.Args[1:], os.Stdin, os.Stdout, os.Stderr)) }

// run runs the command, and returns its exit status.
func (t table) run(args []string, stdin io.Reader, stdout, stderr io.Writer) int {
	if len(args) == 0 {
		t.overview(stderr)
		return command.ExitUsage
	}
	name := strings.TrimLeft(args[0], "-")
	topic := name == "help" && len(args) == 2
	if topic && slices.Contains(t.names(), args[1]) {
		status := t.run([]string{args[1], "-help"}, stdin, stdout, stderr)
		if !slices.Contains(cli.Topics(), args[1]) {
			return status
		}
		fmt.Fprintln(stdout) // clicks is a topic, too
	}
	for _, s := range t {
		if s.name == args[0] {
			return s.run(args[1:], stdin, stdout, stderr)
		}
	}
	return command.Run("plrank", stdout, stderr, func(stdout io.Writer) error {
		switch {
		case topic:
			return command.Usage(cli.PrintTopic(stdout, args[1]))
		case name == "help" || name == "h":
			t.overview(stdout)
			return nil
		case name == "version":
			return version.Print(stdout)
		}
		return command.Usage(fmt.Errorf("unknown command %q: %s", args[0], names.Want(args[0], append(t.names(), "help"))))
	})
}

func (t table) names() (list []string) {
	for _, s := range t {
		list = append(list, s.name)
	}
	return list
}

// overview prints the sub-commands and the topics.
func (t table) overview(w io.Writer) {
	fmt.Fprint(w, "plrank trains Plackett–Luce ranking models, and scores documents with them.\n\nCommands (plrank COMMAND -help explains "+
		"the flags):\n")
	for _, s := range t {
		fmt.Fprintf(w, "  %-11s %s\n", s.name, s.summary)
	}
	fmt.Fprint(w, "  version     print the version\n\nTopics, by plrank help TOPIC:\n")
	cli.PrintTopics(w)
}
