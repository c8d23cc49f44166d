// Package export implements the sub-command that writes a model in the format of other programs.
package export

import (
	"context"
	"flag"
	"fmt"
	"io"

	"github.com/plrank/plrank/cmd/internal/cli"
	"github.com/plrank/plrank/ranker"
)

var page = cli.Page{
	Command:  "export",
	Usage:    []string{"-model FILE -onnx FILE"},
	Text:     "Writes a model for ONNX Runtime, and for servers that run it, such as Vespa and Triton.",
	Flags:    []string{"model", "onnx"},
	Examples: []string{"-model runs/fold1/model.npz -onnx model.onnx"},
}

// options are the command line.
type options struct{ model, onnx string }

func (o *options) Flags() *flag.FlagSet {
	f := flag.NewFlagSet("export", flag.ContinueOnError)
	f.StringVar(&o.model, "model", "", "a model `file`")
	f.StringVar(&o.onnx, "onnx", "", "a new `file` for the model in ONNX format, with the transform: from the raw features of the documents of a query, float32 [documents, features], to their scores; - is standard output. docs/serving.md shows its use")
	return f
}

func (o *options) Check(*flag.FlagSet) error {
	return cli.ErrorIf(o.model == "" || o.onnx == "", "-model and -onnx are both needed")
}

// Run runs the sub-command, and returns its exit status.
func Run(args []string, stdin io.Reader, stdout, stderr io.Writer) int {
	return page.Do(new(options), args, stdin, stdout, stderr)
}

// Run writes the model.
func (o *options) Run(_ context.Context, _ *flag.FlagSet, _ io.Reader, stdout, stderr io.Writer) error {
	m, err := ranker.Open(o.model)
	if err != nil {
		return err
	}
	if err := write(m, o.onnx, stdout); err != nil {
		return fmt.Errorf("export: %w", err)
	}
	fmt.Fprintln(stderr, use(m))
	return nil
}

// use says what the input of the model must be.
func use(m *ranker.Model) string {
	words := "the score of a document does not depend on the others: any documents may be scored together"
	if m.ComparesDocuments() {
		words = "scores compare the documents of a query: all of one query, and no others, must be scored together"
	}
	if m.File().BaseScores {
		words += "; base_scores, a second input, are the scores of the ranker that the model was trained on top of"
	}
	return words
}

// write writes the model in ONNX format to a new file.
func write(m *ranker.Model, path string, stdout io.Writer) error {
	var files cli.NewFiles
	defer files.Remove()
	out, err := files.Open(path)
	if err != nil {
		return err
	}
	if err := m.WriteONNX(out); err != nil {
		return fmt.Errorf("%s: %w", path, err)
	}
	return files.Publish(stdout)
}
