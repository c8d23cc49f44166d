// Package score is the sub-command that scores the documents of a file with a model.
package score

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"

	"github.com/plrank/plrank/cmd/internal/cli"
	"github.com/plrank/plrank/datasets"
	"github.com/plrank/plrank/internal/command"
	"github.com/plrank/plrank/ranker"
)

var page = cli.Page{
	Command: "score",
	Usage: []string{
		"-model FILE -data FILE [-out FILE]",
		"-model FILE -data FILE -run FILE [-draw N] [-qrels FILE]",
		"-model FILE -data FILE -exposure FILE",
	},
	Text: "Scores every document of a file with a trained model, from raw features: the model file has the transform. " +
		"Documents with higher scores rank higher.",
	Examples: []string{
		"-model runs/fold1/model.npz -data new.txt -out new.scores",
		"-model runs/fold1/model.npz -data - < new.txt > new.scores",
		"-model runs/fold1/model.npz -data new.txt -run new.run -draw 10",
	},
	Topics: []string{"scoring"},
}

// Run runs the sub-command, and returns its exit status.
var Run = cli.Command[options](page)

// A scoring writes the results for the documents of a file, block by block.
type scoring struct {
	*options
	model         *ranker.Model
	files         cli.NewFiles
	write         []func(b *block) error // to each file
	bar           *command.Bar
	stderr        io.Writer
	size          int64 // of the file of documents; 0: not known
	queries, rows int   // so far
	used          *cli.UsedFeatures
}

// Run scores the file, and writes all results asked for, or none.
func (o *options) Run(ctx context.Context, _ *cli.Line, stdin io.Reader, stdout, stderr io.Writer) error {
	results, err := o.results()
	if err != nil {
		return err
	}
	s := &scoring{options: o, bar: command.NewBar(stderr), stderr: stderr}
	defer s.files.Remove()
	for _, r := range results {
		out, err := s.files.Open(r.path)
		if err != nil {
			return fmt.Errorf("score: %w", err)
		}
		if out != nil {
			s.write = append(s.write, func(b *block) error { return r.write(out, b) })
		}
	}
	path := o.Data
	if path == cli.StandardOutput {
		f, ok := stdin.(*os.File)
		if !ok {
			return errors.New("score: standard input is not a file")
		}
		path = f.Name()
	}
	warnings, err := cli.Await(ctx, func() ([]string, error) { return s.file(ctx, path) })
	s.bar.Finish()
	if err != nil {
		return err
	}
	command.Warn(stderr, warnings...)
	if err := s.files.Publish(stdout); err != nil {
		return fmt.Errorf("score: %w", err)
	}
	return nil
}

// file scores a file, and returns the warnings.
func (s *scoring) file(ctx context.Context, path string) (warnings []string, err error) {
	if s.model, err = ranker.Open(s.options.model); err != nil {
		return nil, err
	}
	if s.BaseColumn != "" && !s.model.File().BaseScores {
		command.Warn(s.stderr, "-base-column has no effect with "+s.options.model+", which was trained without base scores")
	}
	again := false
	if info, err := os.Stat(path); err == nil && info.Mode().IsRegular() {
		again, s.size = true, info.Size()
	}
	read := s.Source.Options(ctx, cli.Without(datasets.OptionsFor(s.model), "weight", "group"))
	if read.Labels = "unused"; s.qrels != "" {
		read.Labels = "needed"
	}
	s.used = cli.NewUsedFeatures(s.model)
	warnings, err = datasets.ReadBlocks(path, read, s.block)
	switch {
	case errors.Is(err, datasets.ErrReturns) && !again:
		return nil, fmt.Errorf("%w (in a file, which can be read again, they need not)", err)
	case errors.Is(err, datasets.ErrReturns): // only the whole file has the queries
		if err := s.files.Empty(); err != nil {
			return nil, fmt.Errorf("score: %w", err)
		}
		d, err := datasets.ReadFile(path, read)
		if err != nil {
			return nil, err
		}
		s.queries, s.rows, s.used = 0, 0, cli.NewUsedFeatures(s.model)
		if err := s.block(d, s.size); err != nil {
			return nil, err
		}
		warnings = d.Warnings
	case err != nil:
		return nil, cli.WithFlags(err)
	}
	return append(warnings, s.used.Missing(path)...), nil
}

// block scores the next queries of the file. Read counts the bytes so far.
func (s *scoring) block(d *datasets.Dataset, read int64) error {
	scores, err := datasets.Score(s.model, d)
	if err != nil {
		return err
	}
	b, err := s.newBlock(d, scores, s.queries)
	if err != nil {
		return err
	}
	for _, write := range s.write {
		if err := write(b); err != nil {
			return err
		}
	}
	s.used.Add(d)
	s.queries, s.rows = s.queries+d.Queries(), s.rows+d.Rows()
	part := 0.
	if s.size > 0 {
		part = float64(read) / float64(s.size)
	}
	s.bar.Set(part, fmt.Sprintf("%d documents", s.rows))
	return nil
}
