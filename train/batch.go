package train

import (
	"context"

	"github.com/plrank/plrank/datasets"
	"github.com/plrank/plrank/internal/parallel"
)

// A batch is what one step trains on.
type batch struct {
	queries []int // of the training split
	rows    int   // capacity
	packed  datasets.Batch
	gains   []float32 // [rows]
}

// pack fills b with the given queries, for graphs of queryCapacity queries.
func (t *Trainer) pack(b *batch, queries []int, queryCapacity int) {
	d := t.splits.Train
	b.queries = queries
	used := 0
	for _, q := range queries {
		used += d.Offsets[q+1] - d.Offsets[q]
	}
	b.rows = datasets.Capacity(used)
	b.packed.PackTransformed(t.features[d], queries, b.rows, queryCapacity)
	b.gains = b.gains[:0]
	for _, q := range queries {
		b.gains = append(b.gains, t.gains[d.Offsets[q]:d.Offsets[q+1]]...)
	}
	for len(b.gains) < b.rows {
		b.gains = append(b.gains, 0)
	}
}

// eachBatch calls f with the batches of an epoch over the queries in that order,
// one after another, while the next one is packed. It ends early with the error
// of f, or of the context.
func (t *Trainer) eachBatch(ctx context.Context, order []int, f func(*batch) error) error {
	pack := func(i int) {
		t.pack(&t.buffers[i%len(t.buffers)], order[i*t.Batch:min((i+1)*t.Batch, len(order))], t.Batch)
	}
	pack(0)
	for i := 0; i*t.Batch < len(order); i++ {
		if err := ctx.Err(); err != nil {
			return err
		}
		wait := func() {}
		if (i+1)*t.Batch < len(order) {
			wait = parallel.Go(func() { pack(i + 1) })
		}
		err := f(&t.buffers[i%len(t.buffers)])
		wait()
		if err != nil {
			return err
		}
	}
	return ctx.Err()
}
