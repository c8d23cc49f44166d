package train

import (
	"context"
	"errors"
	"slices"
	"sync"

	"github.com/plrank/plrank/datasets"
	"github.com/plrank/plrank/internal/parallel"
)

// A batch is what a graph runs on.
type batch struct {
	shard   int   // whose queries these are, of a step
	queries []int // of the training split
	rows    int   // capacity
	packed  datasets.Batch
	gains   []float32 // [rows]
}

// A stepBatch is what one step trains on.
type stepBatch struct {
	queries []int   // of all shards
	shards  []batch // of this rank, those without a query in this step included
	next    func()  // waits until the batch of the next step is packed
}

// pack fills b with its queries, for graphs of queryCapacity queries.
func (t *Trainer) pack(b *batch, queryCapacity int) {
	d := t.splits.Train
	used := 0
	for _, q := range b.queries {
		used += d.Offsets[q+1] - d.Offsets[q]
	}
	b.rows = datasets.Capacity(used)
	b.packed.PackTransformed(t.features[d], b.queries, b.rows, queryCapacity)
	b.gains = b.gains[:0]
	for _, q := range b.queries {
		b.gains = append(b.gains, t.gains[d.Offsets[q]:d.Offsets[q+1]]...)
	}
	for len(b.gains) < b.rows {
		b.gains = append(b.gains, 0)
	}
}

// packStep fills b with the queries of a step of an epoch over the queries in that order.
func (t *Trainer) packStep(b *stepBatch, order []int, step int) {
	t.prefetch(order, step)
	from, to := step*t.Batch, min((step+1)*t.Batch, len(order))
	b.queries = order[from:to]
	own := t.ownShards()
	if b.shards == nil {
		b.shards = make([]batch, len(own))
	}
	for i, shard := range own {
		of := &b.shards[i]
		of.shard, of.queries = shard, of.queries[:0]
		for at := range b.queries {
			if (from+at)%t.Shards == shard {
				of.queries = append(of.queries, b.queries[at])
			}
		}
		if len(of.queries) > 0 {
			t.pack(of, t.shardCapacity())
		}
	}
}

// prefetch announces queries that are to be packed soon: those of the step after some
// more, and in the first step all before it.
func (t *Trainer) prefetch(order []int, step int) {
	ahead := 1 + prefetched/t.Batch
	from, to := (step+ahead)*t.Batch, (step+ahead+1)*t.Batch
	if step == 0 {
		from = 0
	}
	own := t.ownShards()
	for at := from; at < min(to, len(order)); at++ {
		if slices.Contains(own, at%t.Shards) {
			t.features[t.splits.Train].Prefetch(order[at : at+1])
		}
	}
}

// prefetched is how many queries the disk may be asked for at once.
const prefetched = 64

// eachBatch calls f with the batches of an epoch over the queries in that order,
// one after another, while the next one is packed. It ends early with the error
// of f, or of the context.
func (t *Trainer) eachBatch(ctx context.Context, order []int, f func(*stepBatch) error) error {
	pack := func(i int) { t.packStep(&t.buffers[i%len(t.buffers)], order, i) }
	pack(0)
	for i := 0; i*t.Batch < len(order); i++ {
		if err := t.ended(ctx); err != nil {
			return err
		}
		b := &t.buffers[i%len(t.buffers)]
		b.next = func() {}
		if (i+1)*t.Batch < len(order) {
			b.next = sync.OnceFunc(parallel.Go(func() { pack(i + 1) }))
		}
		if err := with(b, f); err != nil {
			return err
		}
	}
	return t.ended(ctx)
}

// with calls f with a batch, and waits until the next one is packed, also if f panics:
// whoever recovers may close what is packed from.
func with(b *stepBatch, f func(*stepBatch) error) error {
	defer b.next()
	return f(b)
}

// ended is the error of a context that has ended. The ranks end after the
// same step, see lossAndGradient.
func (t *Trainer) ended(ctx context.Context) error {
	if t.processes().Size() > 1 {
		return nil
	}
	return ctx.Err()
}

// cancelled tells whether an error is that of a context which has ended.
func cancelled(ctx context.Context, err error) bool {
	return ctx.Err() != nil && errors.Is(err, ctx.Err())
}
