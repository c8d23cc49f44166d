package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"math"
	"os"
	"slices"
	"strconv"
	"strings"

	"github.com/plrank/plrank/datasets"
	"github.com/plrank/plrank/internal/command"
	"github.com/plrank/plrank/internal/parallel"
	bar "github.com/plrank/plrank/internal/progress"
	"github.com/plrank/plrank/internal/source"
	"github.com/plrank/plrank/metrics"
	"github.com/plrank/plrank/plackett"
	"github.com/plrank/plrank/ranker"
)

// runTag begins the last word of the lines of a TREC run, the tag. The temperature of the policy
// follows, unless it is 1, and the number of a draw.
const runTag = "plrank"

// standard is standard input or output in the place of a file.
const standard = "-"

// predict scores the documents of a file.
func predict(ctx context.Context, o *options, stdout, stderr io.Writer) error {
	p := &prediction{draw: o.draw, seed: o.Seed, temperature: o.temperature, tag: runTag}
	if p.temperature != 1 {
		p.tag = fmt.Sprintf("%s-temperature-%v", runTag, p.temperature)
	}
	defer p.outputs.remove()
	for out, path := range map[**output]string{&p.scores: o.scores, &p.exposure: o.exposure, &p.qrels: o.qrels} {
		var err error
		if *out, err = p.outputs.open(path); err != nil {
			return err
		}
	}
	for _, path := range runFiles(o.runFile, o.draw) {
		run, err := p.outputs.open(path)
		if err != nil {
			return err
		}
		p.runs = append(p.runs, run)
	}
	if p.exposure != nil {
		objective, err := metrics.ParseObjective(o.Discounts, o.Cutoff)
		if err != nil {
			return err
		}
		p.discounts = objective.Discounts
	}
	p.bar = bar.New(stderr)
	warnings, err := command.Await(ctx, func() ([]string, error) { return p.file(ctx, o) })
	p.bar.Finish()
	if err != nil {
		return err
	}
	warn(warnings, stderr)
	return p.outputs.publish(stdout)
}

// A prediction is what is made of the documents of a file, block by block.
type prediction struct {
	model     *ranker.Model
	draw      int // rankings of each query; 0: that of the scores
	seed      uint64
	discounts []float64 // of the exposure

	temperature float64 // of the policy
	tag         string  // of the lines of a TREC run

	outputs                 outputs
	scores, exposure, qrels *output   // nil: not wanted
	runs                    []*output // one for each ranking of a query

	bar           *bar.Bar
	size          int64 // of the file; 0: not known
	queries, rows int   // so far
	used          used
}

// file scores a file, and gives the warnings.
func (p *prediction) file(ctx context.Context, o *options) (warnings []string, err error) {
	if p.model, err = ranker.Open(o.model); err != nil {
		return nil, err
	}
	path := o.predict
	if path == standard {
		path = os.Stdin.Name()
	}
	again := false
	if info, err := os.Stat(path); err == nil && info.Mode().IsRegular() {
		again, p.size = true, info.Size()
	}
	read := o.ReadOptions()
	read.Context, read.FeatureIDs, read.FeatureNames = ctx, p.model.FeatureIDs(), p.model.FeatureNames()
	p.used = newUsed(p.model)
	warnings, err = datasets.ReadBlocks(path, read, p.block)
	switch {
	case errors.Is(err, datasets.ErrReturns) && !again:
		return nil, fmt.Errorf("%w (in a file, which can be read again, they need not)", err)
	case errors.Is(err, datasets.ErrReturns): // only the whole file has the queries
		if err := p.outputs.empty(); err != nil {
			return nil, err
		}
		d, err := datasets.ReadFile(path, read)
		if err != nil {
			return nil, err
		}
		p.queries, p.rows, p.used = 0, 0, newUsed(p.model)
		if err := p.block(d, p.size); err != nil {
			return nil, err
		}
		warnings = d.Warnings
	case err != nil:
		return nil, source.WithFlags(err)
	}
	return append(warnings, p.used.lacking(path)...), nil
}

// block scores some queries, the next ones of the file.
func (p *prediction) block(d *datasets.Dataset, read int64) error {
	scores, err := p.model.Scores(d)
	if err != nil {
		return err
	}
	if p.scores != nil {
		writeLines(p.scores, d.InSourceOrder(scores), 32)
	}
	policy, err := tempered(d, scores, p.temperature)
	if err != nil {
		return err
	}
	if p.exposure != nil {
		exposure, err := exposures(d, policy, p.discounts)
		if err != nil {
			return err
		}
		writeLines(p.exposure, d.InSourceOrder(exposure), 64)
	}
	if err := p.writeRankings(d, scores, policy); err != nil {
		return err
	}
	if p.qrels != nil {
		if err := datasets.WriteQrels(p.qrels, d); err != nil {
			return err
		}
	}
	p.used.add(d)
	p.queries, p.rows = p.queries+d.Queries(), p.rows+d.Rows()
	part := 0.
	if p.size > 0 {
		part = float64(read) / float64(p.size)
	}
	p.bar.Set(part, fmt.Sprintf("%d documents", p.rows))
	return nil
}

// tempered are the scores of the policy: those of the model divided by the temperature.
func tempered(d *datasets.Dataset, scores []float64, temperature float64) ([]float64, error) {
	if temperature == 1 {
		return scores, nil
	}
	divided := make([]float64, len(scores))
	for q, id := range d.QueryIDs {
		for r := d.Offsets[q]; r < d.Offsets[q+1]; r++ {
			if divided[r] = scores[r] / temperature; math.IsInf(divided[r], 0) {
				return nil, fmt.Errorf("train: query %s: the score %v, divided by -temperature %v, is beyond the range of float64", id, scores[r], temperature)
			}
		}
	}
	return divided, nil
}

// exposures are the expected exposures of all rows, under the policy of the scores.
func exposures(d *datasets.Dataset, scores, discounts []float64) ([]float64, error) {
	exposure := make([]float64, len(scores))
	policies := make([]plackett.Expectation, parallel.Workers(d.Queries()))
	err := parallel.Each(d.Queries(), len(policies), func(worker, q int) error {
		from, to := d.Offsets[q], d.Offsets[q+1]
		if err := policies[worker].Exposure(scores[from:to], discounts, exposure[from:to]); err != nil {
			return fmt.Errorf("train: query %s: %w", d.QueryIDs[q], err)
		}
		return nil
	})
	return exposure, err
}

// runFiles are the files for so many drawn rankings of every query: programs that read TREC
// runs take one of a query. 0 is the ranking by the scores.
func runFiles(path string, draw int) (paths []string) {
	switch {
	case path == "":
		return nil
	case draw <= 1:
		return []string{path}
	}
	for i := range draw {
		paths = append(paths, fmt.Sprintf("%s.%d", path, i+1))
	}
	return paths
}

// writeRankings writes the ranking by descending score, or rankings drawn from the policy,
// whose tags end in their numbers: a draw is the order of the policy's scores plus Gumbel
// noise, and these sums are what is written, of scores that plackett.Compact gives.
func (p *prediction) writeRankings(d *datasets.Dataset, scores, policy []float64) error {
	if p.draw == 0 && p.runs != nil {
		return datasets.WriteRun(p.runs[0], d, scores, runTag)
	}
	noisy, compact := make([]float64, len(scores)), make([]float64, len(scores))
	for q := range d.Queries() {
		plackett.Compact(policy[d.Offsets[q]:d.Offsets[q+1]], compact[d.Offsets[q]:d.Offsets[q+1]])
	}
	for i, run := range p.runs {
		for q := range d.Queries() {
			own := noisy[d.Offsets[q]:d.Offsets[q+1]]
			plackett.Gumbel(plackett.Stream{Seed: p.seed, Query: uint64(p.queries + q)}, uint64(i), own)
			for r := range own {
				own[r] += compact[d.Offsets[q]+r]
			}
		}
		if err := datasets.WriteRun(run, d, noisy, fmt.Sprintf("%s-%d", p.tag, i+1)); err != nil {
			return err
		}
	}
	return nil
}

// writeLines writes a number a line, with all digits of so many bits.
func writeLines(out *output, values []float64, bits int) {
	var line []byte
	for _, v := range values {
		line = append(strconv.AppendFloat(line[:0], v, 'g', -1, bits), '\n')
		out.Write(line) // a failed write stays failed
	}
}

// used are the features that a model uses, and which of them have been seen in documents.
type used struct {
	ids  []int
	seen []bool
}

func newUsed(model *ranker.Model) used {
	ids := model.UsedFeatures()
	return used{ids, make([]bool, len(ids))}
}

// add looks at documents.
func (u used) add(d *datasets.Dataset) {
	for i, id := range u.ids {
		column, ok := slices.BinarySearch(d.FeatureIDs, id)
		for row := 0; row < d.Rows() && ok && !u.seen[i]; row++ {
			u.seen[i] = d.Row(row)[column] != 0
		}
	}
}

// lacking is a warning of the features that are 0 in all documents, as those are that a
// file does not mention; none if there are none.
func (u used) lacking(name string) (warnings []string) {
	var lacking []string
	for i, id := range u.ids {
		if !u.seen[i] {
			lacking = append(lacking, strconv.Itoa(id))
		}
	}
	n := len(lacking)
	if n == 0 {
		return nil
	}
	const most = 10
	if n > most {
		lacking = append(lacking[:most], "…")
	}
	return []string{fmt.Sprintf("%s: %d of the %d features that the model uses are missing, or 0 everywhere: %s", name, n, len(u.ids), strings.Join(lacking, ", "))}
}
