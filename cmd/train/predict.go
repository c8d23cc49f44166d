package main

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"slices"
	"strconv"
	"strings"

	"github.com/plrank/plrank/cmd/internal/command"
	"github.com/plrank/plrank/datasets"
	"github.com/plrank/plrank/metrics"
	"github.com/plrank/plrank/plackett"
	"github.com/plrank/plrank/ranker"
)

// runTag is the last word of the lines of a TREC run.
const runTag = "plrank"

// standard is standard input or output in the place of a file.
const standard = "-"

// predict scores the rows of a file.
func predict(ctx context.Context, o *options, stdout, stderr io.Writer) error {
	type result struct {
		d      *datasets.Dataset
		scores []float64
	}
	r, err := command.Await(ctx, func() (r result, err error) {
		r.d, r.scores, err = score(ctx, o, stderr)
		return r, err
	})
	if err != nil {
		return err
	}
	d, scores := r.d, r.scores
	exposure, err := exposures(ctx, o, d, scores)
	if err != nil {
		return err
	}
	return writeNew(stdout, []output{
		{o.scores, func(w io.Writer) error { return writeLines(w, d.InSourceOrder(scores), 32) }},
		{o.exposure, func(w io.Writer) error { return writeLines(w, d.InSourceOrder(exposure), 64) }},
		{o.runFile, func(w io.Writer) error { return writeRankings(w, d, scores, o) }},
		{o.qrels, func(w io.Writer) error { return datasets.WriteQrels(w, d) }},
	})
}

// score reads the model and the rows, and scores them.
func score(ctx context.Context, o *options, stderr io.Writer) (*datasets.Dataset, []float64, error) {
	model, err := ranker.Open(o.model)
	if err != nil {
		return nil, nil, err
	}
	path := o.predict
	if path == standard {
		path = os.Stdin.Name()
	}
	read := o.ReadOptions()
	read.Context, read.FeatureIDs, read.FeatureNames = ctx, model.FeatureIDs(), model.FeatureNames()
	d, err := datasets.ReadFile(path, read)
	if err != nil {
		return nil, nil, err
	}
	warn(d.Warnings, stderr)
	warnLacking(model.UsedFeatures(), d, stderr)
	scores, err := model.Scores(d)
	return d, scores, err
}

// warnLacking counts the features that the model uses and that are 0 in all documents,
// as those are that a file does not mention.
func warnLacking(used []int, d *datasets.Dataset, stderr io.Writer) {
	var lacking []string
	for i, id := range d.FeatureIDs {
		if _, ok := slices.BinarySearch(used, id); !ok {
			continue
		}
		empty := true
		for row := 0; row < d.Rows() && empty; row++ {
			empty = d.Row(row)[i] == 0
		}
		if empty {
			lacking = append(lacking, strconv.Itoa(id))
		}
	}
	if n := len(lacking); n > 0 {
		const most = 10
		if n > most {
			lacking = append(lacking[:most], "…")
		}
		warn([]string{fmt.Sprintf("%s: %d of the %d features that the model uses are missing, or 0 everywhere: %s", d.Name, n, len(used), strings.Join(lacking, ", "))}, stderr)
	}
}

// exposures are the expected exposures of all rows, if they are asked for.
func exposures(ctx context.Context, o *options, d *datasets.Dataset, scores []float64) ([]float64, error) {
	if o.exposure == "" {
		return nil, nil
	}
	objective, err := metrics.ParseObjective(o.Discounts, o.Cutoff)
	if err != nil {
		return nil, err
	}
	exposure := make([]float64, len(scores))
	var policy plackett.Expectation
	for q, id := range d.QueryIDs {
		if err := ctx.Err(); err != nil {
			return nil, err
		}
		from, to := d.Offsets[q], d.Offsets[q+1]
		if err := policy.Exposure(scores[from:to], objective.Discounts, exposure[from:to]); err != nil {
			return nil, fmt.Errorf("train: query %s: %w", id, err)
		}
	}
	return exposure, nil
}

// writeRankings writes the ranking by descending score, or rankings drawn from the policy,
// whose tags end in their numbers: a draw is the order of the scores plus Gumbel noise,
// and these sums are what is written.
func writeRankings(w io.Writer, d *datasets.Dataset, scores []float64, o *options) error {
	if o.draw == 0 {
		return datasets.WriteRun(w, d, scores, runTag)
	}
	noisy := make([]float64, len(scores))
	for i := range o.draw {
		for q := range d.Queries() {
			from, to := d.Offsets[q], d.Offsets[q+1]
			plackett.Gumbel(plackett.Stream{Seed: o.Seed, Query: uint64(q)}, uint64(i), noisy[from:to])
		}
		for r, s := range scores {
			noisy[r] += s
		}
		if err := datasets.WriteRun(w, d, noisy, fmt.Sprintf("%s-%d", runTag, i+1)); err != nil {
			return err
		}
	}
	return nil
}

// writeLines writes a number a line, with all digits of so many bits.
func writeLines(w io.Writer, values []float64, bits int) error {
	out := bufio.NewWriter(w)
	for _, v := range values {
		out.WriteString(strconv.FormatFloat(v, 'g', -1, bits)) // a failed write stays failed
		out.WriteByte('\n')
	}
	return out.Flush()
}

// An output is a file to write; one without a path is not wanted.
type output struct {
	path  string
	write func(io.Writer) error
}

// writeNew writes all files, which must not exist, or none, and then what goes to
// standard output.
func writeNew(stdout io.Writer, outputs []output) (err error) {
	var made []string
	defer func() {
		if err != nil {
			for _, path := range made {
				os.Remove(path)
			}
		}
	}()
	for _, out := range outputs {
		if out.path == "" || out.path == standard {
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
	for _, out := range outputs {
		if out.path == standard {
			return out.write(stdout)
		}
	}
	return nil
}
