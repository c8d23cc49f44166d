package score

import (
	"context"
	"fmt"
	"io"
	"math"
	"math/bits"
	"strconv"

	"github.com/plrank/plrank/datasets"
	"github.com/plrank/plrank/internal/parallel"
	"github.com/plrank/plrank/metrics"
	"github.com/plrank/plrank/plackett"
	"github.com/plrank/plrank/ranker"
)

// A block is some queries of the file, and their scores.
type block struct {
	*datasets.Dataset
	first   int       // number in the file of the first query
	scores  []float64 // of the model
	compact []float64 // the scores divided by the temperature, as plackett.Compact returns them, for drawing; nil: nothing is drawn
	noisy   []float64 // as many, overwritten by each draw
}

// A result is a file, and what is written to it of a block.
type result struct {
	path  string // "": not asked for
	write func(w io.Writer, b *block) error
}

// results returns the results that can be asked for. Each drawn ranking of a query has a file of its own, because
// programs that read TREC runs take one ranking a query.
func (o *options) results() ([]result, error) {
	var objective metrics.DiscountedGain // of the exposure
	if o.exposure != "" {
		var err error
		if objective, err = metrics.ParseDiscounts(o.discounts, o.cutoff.Cutoff()); err != nil {
			return nil, err
		}
		if objective.Metric == "arp" { // without a cutoff: its discounts depend on how many there are
			return nil, fmt.Errorf("score: -discounts arp needs a number for -cutoff, not %v", o.cutoff)
		}
	}
	list := []result{
		{o.out, func(w io.Writer, b *block) error { return b.writeLines(w, b.scores, 32) }},
		{o.exposure, func(w io.Writer, b *block) error { return o.writeExposure(w, b, &objective) }},
		{o.qrels, func(w io.Writer, b *block) error { return datasets.WriteQrels(w, b.Dataset) }},
	}
	if o.draw == 0 {
		return append(list, result{o.run, func(w io.Writer, b *block) error {
			return datasets.WriteRun(w, b.Dataset, b.scores, runTag)
		}}), nil
	}
	for i := range o.draw {
		path := o.run
		if o.draw > 1 {
			path = fmt.Sprintf("%s.%d", path, i+1)
		}
		list = append(list, result{path, func(w io.Writer, b *block) error { return o.writeDraw(w, b, i) }})
	}
	return list, nil
}

// newBlock returns a block, which is ready for drawing if anything is to be drawn.
func (o *options) newBlock(d *datasets.Dataset, scores []float64, first int) (*block, error) {
	b := &block{Dataset: d, first: first, scores: scores}
	if o.draw == 0 {
		return b, nil
	}
	b.compact, b.noisy = make([]float64, len(scores)), make([]float64, len(scores))
	for q, id := range d.QueryIDs {
		own := b.noisy[d.Offsets[q]:d.Offsets[q+1]]
		for i, s := range scores[d.Offsets[q]:d.Offsets[q+1]] {
			if own[i] = s / o.temperature; math.IsInf(own[i], 0) {
				return nil, fmt.Errorf("score: query %s: the score %v, divided by -temperature %v, is beyond the range of float64", id, s,
					o.temperature)
			}
		}
		plackett.Compact(own, b.compact[d.Offsets[q]:d.Offsets[q+1]])
	}
	return b, nil
}

// writeLines writes a number a line, with all digits of a float of 32 or 64 bits.
func (b *block) writeLines(w io.Writer, values []float64, bits int) error {
	var line []byte
	for _, v := range b.InSourceOrder(values) {
		line = append(strconv.AppendFloat(line[:0], v, 'g', -1, bits), '\n')
		if _, err := w.Write(line); err != nil {
			return err
		}
	}
	return nil
}

// writeExposure writes the expected exposure of all documents of a block under the policy.
func (o *options) writeExposure(w io.Writer, b *block, objective *metrics.DiscountedGain) error {
	longest := 0
	for q := range b.Queries() {
		longest = max(longest, b.Offsets[q+1]-b.Offsets[q])
	}
	if longest > len(objective.Discounts) { // a power of 2, so that exposures do not depend on other queries
		*objective = objective.Over(1 << bits.Len(uint(longest-1)))
	}
	exposure := make([]float64, len(b.scores))
	if err := parallel.Each(b.Queries(), parallel.Workers(b.Queries()), func(_, q int) error {
		from, to := b.Offsets[q], b.Offsets[q+1]
		policy := ranker.Policy{Temperature: o.temperature}
		if _, err := policy.Exposure(context.Background(), exposure[from:from], b.scores[from:to], objective.Discounts); err != nil {
			return fmt.Errorf("score: query %s: %w", b.QueryIDs[q], err)
		}
		return nil
	}); err != nil {
		return err
	}
	return b.writeLines(w, exposure, 64)
}

// runTag begins the last word of the lines of a TREC run, the tag. The temperature of the policy
// follows, unless it is 1, and the number of a draw.
const runTag = "plrank"

// writeDraw writes a ranking of every query, drawn from the policy, to a TREC run: the order of
// the scores plus Gumbel noise. These sums are what is written.
func (o *options) writeDraw(w io.Writer, b *block, number int) error {
	for q := range b.Queries() {
		noisy := b.noisy[b.Offsets[q]:b.Offsets[q+1]]
		plackett.Gumbel(plackett.Stream{Seed: o.seed, Query: uint64(b.first + q)}, uint64(number), noisy)
		for r := range noisy {
			noisy[r] += b.compact[b.Offsets[q]+r]
		}
	}
	tag := runTag
	if o.temperature != 1 {
		tag += fmt.Sprintf("-temperature-%v", o.temperature)
	}
	return datasets.WriteRun(w, b.Dataset, b.noisy, fmt.Sprintf("%s-%d", tag, number+1))
}
