package datasets

import (
	"slices"
	"testing"

	"pgregory.net/rapid"
)

// A batch holds what the queries give one by one, however it is packed.
func TestBatchHoldsTheQueriesItPacks(t *testing.T) {
	d := Synthetic(SyntheticOptions{Train: 12, Vali: 1, Test: 1}).Train
	tr, err := FitTransform("minmax+log-standard", d)
	if err != nil {
		t.Fatal(err)
	}
	var b Batch
	rapid.Check(t, func(r *rapid.T) {
		queries := rapid.SliceOfN(rapid.IntRange(0, d.Queries()-1), 0, 8).Draw(r, "queries")
		rows := 0
		for _, q := range queries {
			rows += d.Offsets[q+1] - d.Offsets[q]
		}
		capacity, queryCapacity := rows+rapid.IntRange(0, 50).Draw(r, "padding"), len(queries)+rapid.IntRange(0, 3).Draw(r, "empty")
		b.Pack(d, tr, queries, capacity, queryCapacity)
		w := tr.Width()
		if len(b.X) != capacity*w || len(b.Labels) != capacity || len(b.Offsets) != queryCapacity+1 || b.Rows() != rows {
			r.Fatalf("sizes %d, %d, %d", len(b.X), len(b.Labels), len(b.Offsets))
		}
		for i, q := range queries {
			one := d.Select([]int{q})
			want := make([]float32, one.Rows()*w)
			tr.Query(want, one.Features)
			if !slices.Equal(b.X[b.Offsets[i]*w:b.Offsets[i+1]*w], want) || !slices.Equal(b.Labels[b.Offsets[i]:b.Offsets[i+1]], one.Labels) {
				r.Fatalf("query %d differs", q)
			}
		}
		if slices.ContainsFunc(b.X[rows*w:], func(v float32) bool { return v != 0 }) || slices.ContainsFunc(b.Labels[rows:], func(v float32) bool { return v != 0 }) {
			r.Fatal("padding is not zero")
		}
		for _, o := range b.Offsets[len(queries):] {
			if o != rows {
				r.Fatalf("offsets %v", b.Offsets)
			}
		}
	})
}
