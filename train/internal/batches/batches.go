// Package batches packs training queries for graphs, step by step.
package batches

import (
	"context"
	"slices"
	"sync"

	"github.com/plrank/plrank/datasets"
	"github.com/plrank/plrank/internal/parallel"
	"github.com/plrank/plrank/train/internal/graph"
	"github.com/plrank/plrank/train/internal/shards"
	"github.com/plrank/plrank/transforms"
)

// Data are what a run learns from.
type Data struct {
	Train    *datasets.Dataset
	Queries  []int                 // of it, those that the loss learns from
	Gains    []float32             // of its documents
	Features *datasets.Transformed // of its documents
}

// Documents returns the number of documents of a query.
func (d *Data) Documents(query int) int { return d.Train.Offsets[query+1] - d.Train.Offsets[query] }

// A Part is a part of a model that is evaluated and kept by itself.
type Part interface {
	Score(d *datasets.Dataset, chunks []int) ([]float64, error) // as it is trained
	Keep()                                                      // as it is, in the model that is evaluated
}

// A Shard is what a graph runs on: the queries of a step that are in one shard.
type Shard struct {
	Number  int
	Queries []int // of the training split
	graph.Batch
}

// A Step is what one step trains on.
type Step struct {
	Queries []int   // of all shards
	Shards  []Shard // of this rank, those without a query in this step included
	Next    func()  // waits until the batch of the next step is packed
}

// Batches pack the queries of an epoch, step by step.
type Batches struct {
	Vectors  []int // that follow the features in a row
	Data     *Data
	Division shards.Division
	Own      []int // shards of this rank
	Sparse   bool  // the model takes sparse documents
	buffers  [2]Step
}

// Pack fills b with its queries, for graphs of that many queries.
func (p *Batches) Pack(b *Shard, queries int) {
	b.Rows = p.Data.capacity(b.Queries)
	PackFeatures(&b.Packed, p.Data.Features, p.Sparse, p.Vectors, b.Queries, b.Rows, queries)
	PackGains(&b.Batch, p.Data.Train, p.Data.Gains, b.Queries...)
}

// PackFeatures packs queries for graphs of that many rows and queries. Sparse documents stay sparse for a model that takes them, with
// entries padded to a capacity.
func PackFeatures(b *datasets.Batch, x *datasets.Transformed, takesSparse bool, vectors []int, these []int, rows, queries int) {
	if !takesSparse || !x.IsSparse() {
		b.Sparse = datasets.Sparse{}
		b.PackTransformed(x, these, rows, queries, vectors...)
		return
	}
	b.PackSparse(x, these, rows, queries)
	s := &b.Sparse
	capacity := Capacity(len(s.Values))
	s.Columns, s.Values = Padded(s.Columns, nil, capacity, 0), Padded(s.Values, nil, capacity, 0)
}

// PackWithoutFeatures fills b with its queries, for graphs of that many queries, to which the scores of the documents are given.
func (d *Data) PackWithoutFeatures(b *Shard, queries int) {
	b.Rows = d.capacity(b.Queries)
	b.Packed.Pack(d.Train, NoFeatures(d.Train), b.Queries, b.Rows, queries)
	PackGains(&b.Batch, d.Train, d.Gains, b.Queries...)
	b.Packed.X = make([]float32, b.Rows)
}

// capacity returns the capacity for the documents of queries.
func (d *Data) capacity(queries []int) int {
	used := 0
	for _, q := range queries {
		used += d.Documents(q)
	}
	return Capacity(used)
}

// Capacity returns the number of rows of the static graph for a number of documents: the smallest that suffices of 8, 16, 24, …,
// which grow by about an eighth from 128 on. At most an eighth of the work is for padding, and few graphs serve all batches.
func Capacity(rows int) int {
	capacity := 8
	for capacity < rows {
		capacity += max(8, capacity/64*8)
	}
	return capacity
}

// NoFeatures is a transform that gives no features of d.
func NoFeatures(d *datasets.Dataset) *transforms.Transform {
	return &transforms.Transform{Inputs: d.Width()}
}

// PackGains fills a batch with the gains of its queries of d, and zeros up to its number of rows.
func PackGains(b *graph.Batch, d *datasets.Dataset, gains []float32, queries ...int) {
	b.Gains = b.Gains[:0]
	for _, q := range queries {
		b.Gains = append(b.Gains, gains[d.Offsets[q]:d.Offsets[q+1]]...)
	}
	b.Gains = Padded(b.Gains, nil, b.Rows, 0)
}

// Padded appends values to a slice, and then fill until it has that length.
func Padded[T any](to, values []T, length int, fill T) []T {
	for to = append(to, values...); len(to) < length; {
		to = append(to, fill)
	}
	return to
}

// PackStep fills b with the queries of a step of a pass over the queries in that order.
func (p *Batches) PackStep(b *Step, order []int, step int) {
	p.prefetch(order, step)
	size := p.Division.Batch
	from, to := step*size, min((step+1)*size, len(order))
	b.Queries = order[from:to]
	if b.Shards == nil {
		b.Shards = make([]Shard, len(p.Own))
	}
	for i, shard := range p.Own {
		part := &b.Shards[i]
		part.Number, part.Queries = shard, part.Queries[:0]
		for at := range b.Queries {
			if (from+at)%p.Division.Shards == shard {
				part.Queries = append(part.Queries, b.Queries[at])
			}
		}
		if len(part.Queries) > 0 {
			p.Pack(part, p.Division.Capacity())
		}
	}
}

// prefetch announces queries that are to be packed some steps later, in the first step all before.
func (p *Batches) prefetch(order []int, step int) {
	size := p.Division.Batch
	ahead := 1 + prefetched/size
	from, to := (step+ahead)*size, (step+ahead+1)*size
	if step == 0 {
		from = 0
	}
	for at := from; at < min(to, len(order)); at++ {
		if slices.Contains(p.Own, at%p.Division.Shards) {
			p.Data.Features.Prefetch(order[at])
		}
	}
}

// prefetched is how many queries the disk may be asked for at once.
const prefetched = 64

// ForSteps calls f with the batches of the steps of a pass over the queries in that order, from the first to before the end,
// one after another, while the next one is packed. It ends early with the error of f, or of the context.
func (p *Batches) ForSteps(ctx context.Context, order []int, first, end int, f func(*Step) error) error {
	pack := func(i int) { p.PackStep(&p.buffers[i%len(p.buffers)], order, i) }
	pack(first)
	for i := first; i < end; i++ {
		if err := p.ended(ctx); err != nil {
			return err
		}
		b := &p.buffers[i%len(p.buffers)]
		b.Next = func() {}
		if i+1 < end {
			b.Next = sync.OnceFunc(parallel.Go(func() { pack(i + 1) }))
		}
		if err := with(b, f); err != nil {
			return err
		}
	}
	return p.ended(ctx)
}

// with calls f with a batch, and waits until the next one is packed, also if f panics:
// whoever recovers may close what is packed from.
func with(b *Step, f func(*Step) error) error {
	defer b.Next()
	return f(b)
}

// ended is the error of a context that has ended. The ranks end after the
// same step, see OfAll.
func (p *Batches) ended(ctx context.Context) error {
	if p.Division.Ranks > 1 {
		return nil
	}
	return ctx.Err()
}
