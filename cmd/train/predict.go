package main

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"strconv"

	"github.com/plrank/plrank/datasets"
	"github.com/plrank/plrank/train"
)

// runTag is the last word of the lines of a TREC run.
const runTag = "plrank"

// predict scores the rows of a file.
func predict(ctx context.Context, o *options, stderr io.Writer) error {
	ranker, err := train.LoadRanker(o.model)
	if err != nil {
		return err
	}
	read := o.ReadOptions()
	read.Context = ctx
	read.FeatureIDs, read.FeatureNames = ranker.FeatureIDs(), ranker.FeatureNames()
	d, err := datasets.ReadFile(o.predict, read)
	if err != nil {
		return err
	}
	warn(d.Warnings, stderr)
	scores, err := ranker.Score(d)
	if err != nil {
		return err
	}
	return writeNew([]output{
		{o.scores, func(w io.Writer) error { return writeScores(w, d.InSourceOrder(scores)) }},
		{o.runFile, func(w io.Writer) error { return datasets.WriteRun(w, d, scores, runTag) }},
		{o.qrels, func(w io.Writer) error { return datasets.WriteQrels(w, d) }},
	})
}

func writeScores(w io.Writer, scores []float64) error {
	out := bufio.NewWriter(w)
	for _, s := range scores {
		out.WriteString(strconv.FormatFloat(s, 'g', -1, 32)) // a failed write stays failed
		out.WriteByte('\n')
	}
	return out.Flush()
}

// An output is a file to write; one without a path is not wanted.
type output struct {
	path  string
	write func(io.Writer) error
}

// writeNew writes all files, which must not exist, or none.
func writeNew(outputs []output) (err error) {
	var made []string
	defer func() {
		if err != nil {
			for _, path := range made {
				os.Remove(path)
			}
		}
	}()
	for _, out := range outputs {
		if out.path == "" {
			continue
		}
		f, err := os.OpenFile(out.path, os.O_WRONLY|os.O_CREATE|os.O_EXCL, 0o644)
		if err != nil {
			return fmt.Errorf("train: results go to new files: %w", err)
		}
		made = append(made, out.path)
		if err := errors.Join(out.write(f), f.Close()); err != nil {
			return fmt.Errorf("train: %s: %w", out.path, err)
		}
	}
	return nil
}
