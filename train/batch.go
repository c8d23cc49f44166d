package train

import (
	"context"

	"github.com/plrank/plrank/datasets"
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
	b.rows = rung(used)
	b.packed.Pack(d, t.transform, queries, b.rows, queryCapacity)
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
	ctx, cancel := context.WithCancel(ctx)
	ready := make(chan *batch)
	free := make(chan *batch, len(t.buffers))
	for i := range t.buffers {
		free <- &t.buffers[i]
	}
	go func() {
		defer close(ready)
		for len(order) > 0 {
			n := min(t.Batch, len(order))
			select {
			case <-ctx.Done():
				return
			case b := <-free:
				t.pack(b, order[:n], t.Batch)
				order = order[n:]
				ready <- b
			}
		}
	}()
	defer func() { // the packing has ended when this function does
		cancel()
		for range ready {
		}
	}()
	for b := range ready {
		if err := ctx.Err(); err != nil {
			return err
		}
		if err := f(b); err != nil {
			return err
		}
		free <- b
	}
	return ctx.Err()
}
