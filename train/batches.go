package train

import (
	"context"
	"errors"
	"slices"
	"sync"

	"github.com/plrank/plrank/datasets"
	"github.com/plrank/plrank/internal/parallel"
	"github.com/plrank/plrank/train/internal/graph"
	"github.com/plrank/plrank/train/internal/shards"
)

// A shardBatch is what a graph runs on, of the queries of a step that are in one shard.
type shardBatch struct {
	shard   int
	queries []int // of the training split
	graph.Batch
}

// A stepBatch is what one step trains on.
type stepBatch struct {
	queries []int        // of all shards
	shards  []shardBatch // of this rank, those without a query in this step included
	next    func()       // waits until the batch of the next step is packed
}

// batches pack the queries of an epoch, step by step.
type batches struct {
	data     *runData
	division shards.Division
	own      []int // shards of this rank
	buffers  [2]stepBatch
}

// pack fills b with its queries, for graphs of queryCapacity queries.
func (p *batches) pack(b *shardBatch, queryCapacity int) {
	d := p.data.splits.Train
	used := 0
	for _, q := range b.queries {
		used += p.data.documents(q)
	}
	b.Rows = datasets.Capacity(used)
	b.Packed.PackTransformed(p.data.features[d], b.queries, b.Rows, queryCapacity)
	packGains(&b.Batch, d, p.data.gains, b.queries...)
}

// packStep fills b with the queries of a step of a pass over the queries in that order.
func (p *batches) packStep(b *stepBatch, order []int, step int) {
	p.prefetch(order, step)
	size := p.division.Batch
	from, to := step*size, min((step+1)*size, len(order))
	b.queries = order[from:to]
	if b.shards == nil {
		b.shards = make([]shardBatch, len(p.own))
	}
	for i, shard := range p.own {
		of := &b.shards[i]
		of.shard, of.queries = shard, of.queries[:0]
		for at := range b.queries {
			if (from+at)%p.division.Shards == shard {
				of.queries = append(of.queries, b.queries[at])
			}
		}
		if len(of.queries) > 0 {
			p.pack(of, p.division.Capacity())
		}
	}
}

// prefetch announces queries that are to be packed some steps later, in the first step all before.
func (p *batches) prefetch(order []int, step int) {
	size := p.division.Batch
	ahead := 1 + prefetched/size
	from, to := (step+ahead)*size, (step+ahead+1)*size
	if step == 0 {
		from = 0
	}
	for at := from; at < min(to, len(order)); at++ {
		if slices.Contains(p.own, at%p.division.Shards) {
			p.data.features[p.data.splits.Train].Prefetch(order[at : at+1])
		}
	}
}

// prefetched is how many queries the disk may be asked for at once.
const prefetched = 64

// forSteps calls f with the batches of the steps of a pass over the queries in that order, from the first to before the end,
// one after another, while the next one is packed. It ends early with the error of f, or of the context.
func (p *batches) forSteps(ctx context.Context, order []int, first, end int, f func(*stepBatch) error) error {
	pack := func(i int) { p.packStep(&p.buffers[i%len(p.buffers)], order, i) }
	pack(first)
	for i := first; i < end; i++ {
		if err := p.ended(ctx); err != nil {
			return err
		}
		b := &p.buffers[i%len(p.buffers)]
		b.next = func() {}
		if i+1 < end {
			b.next = sync.OnceFunc(parallel.Go(func() { pack(i + 1) }))
		}
		if err := with(b, f); err != nil {
			return err
		}
	}
	return p.ended(ctx)
}

// with calls f with a batch, and waits until the next one is packed, also if f panics:
// whoever recovers may close what is packed from.
func with(b *stepBatch, f func(*stepBatch) error) error {
	defer b.next()
	return f(b)
}

// ended is the error of a context that has ended. The ranks end after the
// same step, see gradients.of.
func (p *batches) ended(ctx context.Context) error {
	if p.division.Ranks > 1 {
		return nil
	}
	return ctx.Err()
}

// cancelled reports whether an error is the error of a context that has ended.
func cancelled(ctx context.Context, err error) bool {
	return ctx.Err() != nil && errors.Is(err, ctx.Err())
}
