// Package score is the sub-command that scores the documents of a file with a model.
package score

import (
	"context"
	"fmt"
	"io"

	"github.com/plrank/plrank/cmd/internal/help"
	"github.com/plrank/plrank/cmd/internal/input"
	"github.com/plrank/plrank/internal/command"
	bar "github.com/plrank/plrank/internal/progress"
	"github.com/plrank/plrank/metrics"
)

var page = help.Page{
	Command: "score",
	Usage: []string{
		"-model FILE -data FILE [-out FILE]",
		"-model FILE -data FILE -run FILE [-draw N] [-qrels FILE]",
		"-model FILE -data FILE -exposure FILE",
	},
	Text:  "Scores every document of a file with a trained model, from raw features: the model file has the transform. A higher score is a higher rank.",
	Flags: []string{"model", "data", "out", "run", "qrels", "draw", "exposure", "temperature", "cutoff", "discounts", "seed", "threads"},
	Examples: []string{
		"-model runs/fold1/model.npz -data new.txt -out new.scores",
		"-model runs/fold1/model.npz -data - < new.txt > new.scores",
		"-model runs/fold1/model.npz -data new.txt -run new.run -draw 10",
	},
	Topics: []string{"scoring"},
}

// Run is the sub-command, and its exit status.
func Run(args []string, stdin io.Reader, stdout, stderr io.Writer) int {
	input.LimitGarbage()
	return run(command.Interruptible(), args, stdin, stdout, stderr)
}

func run(ctx context.Context, args []string, stdin io.Reader, stdout, stderr io.Writer) int {
	return command.Run("score", stdout, stderr, func(stdout io.Writer) error {
		var o options
		flags := o.flags()
		if printed, err := page.Parse(stdout, flags, args); printed || err != nil {
			return err
		}
		if err := o.check(flags); err != nil {
			return command.Usage(err)
		}
		o.threads.Use()
		return score(ctx, &o, stdin, stdout, stderr)
	})
}

// score scores the file, and makes all results that are asked for, or none.
func score(ctx context.Context, o *options, stdin io.Reader, stdout, stderr io.Writer) error {
	s := &scoring{policy: policy{o.seed, o.temperature}}
	defer s.files.Remove()
	if err := s.create(o); err != nil {
		return fmt.Errorf("score: %w", err)
	}
	if s.exposure != nil {
		objective, err := metrics.ParseObjective(o.discounts, o.cutoff)
		if err != nil {
			return err
		}
		s.discounts = objective.Discounts
	}
	path, err := path(o.Data, stdin)
	if err != nil {
		return err
	}
	s.bar = bar.New(stderr)
	warnings, err := command.Await(ctx, func() ([]string, error) { return s.file(ctx, o, path) })
	s.bar.Finish()
	if err != nil {
		return err
	}
	input.Warn(stderr, warnings...)
	if err := s.files.Publish(stdout); err != nil {
		return fmt.Errorf("score: %w", err)
	}
	return nil
}
