package score

import (
	"fmt"
	"io"
	"math"
	"math/bits"
	"strconv"

	"github.com/plrank/plrank/datasets"
	"github.com/plrank/plrank/internal/parallel"
	"github.com/plrank/plrank/metrics"
	"github.com/plrank/plrank/plackett"
)

// A block is some queries of the file, and their scores.
type block struct {
	*datasets.Dataset
	first   int       // number in the file of the first query
	scores  []float64 // of the model
	policy  []float64 // the scores divided by the temperature
	compact []float64 // policy as plackett.Compact returns it, for drawing; nil: nothing is drawn
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
	var exposures exposures
	if o.exposure != "" {
		var err error
		if exposures.objective, err = metrics.ParseDiscounts(o.discounts, o.cutoff.Cutoff()); err != nil {
			return nil, err
		}
		if exposures.objective.Metric == "arp" { // without a cutoff: its discounts depend on how many there are
			return nil, fmt.Errorf("score: -discounts arp needs a number for -cutoff, not %v", o.cutoff)
		}
	}
	list := []result{
		{o.out, func(w io.Writer, b *block) error { return b.writeLines(w, b.scores, 32) }},
		{o.exposure, func(w io.Writer, b *block) error { return exposures.write(w, b) }},
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

// newBlock returns a block with its scores divided by the temperature.
func (o *options) newBlock(d *datasets.Dataset, scores []float64, first int) (*block, error) {
	b := &block{Dataset: d, first: first, scores: scores, policy: scores}
	if o.temperature != 1 {
		b.policy = make([]float64, len(scores))
		for q, id := range d.QueryIDs {
			for r := d.Offsets[q]; r < d.Offsets[q+1]; r++ {
				if b.policy[r] = scores[r] / o.temperature; math.IsInf(b.policy[r], 0) {
					return nil, fmt.Errorf("score: query %s: the score %v, divided by -temperature %v, is beyond the range of float64", id,
						scores[r], o.temperature)
				}
			}
		}
	}
	if o.draw > 0 {
		b.compact, b.noisy = make([]float64, len(scores)), make([]float64, len(scores))
		for q := range d.Queries() {
			plackett.Compact(b.policy[d.Offsets[q]:d.Offsets[q+1]], b.compact[d.Offsets[q]:d.Offsets[q+1]])
		}
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

// exposures computes the expected exposure of all documents under the policy.
type exposures struct {
	objective    metrics.DiscountedGain
	expectations []plackett.Expectation // one a worker, which keeps what it computes from the discounts
}

// write writes the exposures of a block.
func (x *exposures) write(w io.Writer, b *block) error {
	longest := 0
	for q := range b.Queries() {
		longest = max(longest, b.Offsets[q+1]-b.Offsets[q])
	}
	if longest > len(x.objective.Discounts) { // a power of 2, so that exposures do not depend on other queries
		x.objective = x.objective.Over(1 << bits.Len(uint(longest-1)))
	}
	for len(x.expectations) < parallel.Workers(b.Queries()) {
		x.expectations = append(x.expectations, plackett.Expectation{})
	}
	exposure := make([]float64, len(b.policy))
	err := parallel.Each(b.Queries(), len(x.expectations), func(worker, q int) error {
		from, to := b.Offsets[q], b.Offsets[q+1]
		if err := x.expectations[worker].Exposure(b.policy[from:to], x.objective.Discounts, exposure[from:to]); err != nil {
			return fmt.Errorf("score: query %s: %w", b.QueryIDs[q], err)
		}
		return nil
	})
	if err != nil {
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
