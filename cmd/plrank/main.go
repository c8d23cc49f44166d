// Command plrank trains ranking models, and scores, measures, exports and serves with them.
// See plrank help.
package main

import (
	"io"
	"os"

	"github.com/plrank/plrank/cmd/internal/describe"
	"github.com/plrank/plrank/cmd/internal/evaluate"
	"github.com/plrank/plrank/cmd/internal/export"
	"github.com/plrank/plrank/cmd/internal/score"
	"github.com/plrank/plrank/cmd/internal/serve"
	"github.com/plrank/plrank/cmd/internal/trainer"
)

// A subcommand is the first word after plrank.
type subcommand struct {
	name, summary string
	run           func(args []string, stdin io.Reader, stdout, stderr io.Writer) int
}

var subcommands = []subcommand{
	{"train", "train a ranking model, and measure it", trainer.Run},
	{"score", "score the documents of a file with a model", score.Run},
	{"evaluate", "measure a model on labelled data", evaluate.Run},
	{"describe", "count queries, documents, features, labels and groups", describe.Run},
	{"export", "write a model in ONNX format", export.Run},
	{"serve", "rank documents over HTTP with trained models", serve.Run},
}

func main() { os.Exit(run(os.Args[1:], os.Stdin, os.Stdout, os.Stderr)) }
