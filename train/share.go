package train

import (
	"fmt"
	"unsafe"

	"github.com/plrank/plrank/datasets"
	"github.com/plrank/plrank/metrics"
)

// The ranks share the fitting of the transform, and the measuring of a model:
// each scores and measures some of the queries, and tells the others. All get the same
// numbers, whatever their number.

// sharing is the processes as package datasets takes it.
func (p *parsed) sharing() datasets.Sharing {
	g := p.processes()
	return datasets.Sharing{Rank: g.Rank(), Size: g.Size(), Allgather: g.Allgather}
}

// shares are the chunks of d and, of these, with which one the part of each rank begins,
// and their number.
func (t *Trainer) shares(d *datasets.Dataset) (all, begin []int) {
	all = chunks(d)
	ranks := t.processes().Size()
	for rank := range ranks + 1 {
		begin = append(begin, rank*(len(all)-1)/ranks)
	}
	return all, begin
}

// measure gives the means of the measures of a model on d.
func (t *Trainer) measure(r *Ranker, d *datasets.Dataset) ([]metrics.Summary, error) {
	g := t.processes()
	features := t.features[d]
	d, err := r.scorable(d)
	if err := Agree(g, err); err != nil {
		return nil, err
	}
	all, begin := t.shares(d)
	scores, err := r.score(d, features, all[begin[g.Rank()]:begin[g.Rank()+1]+1])
	if err := Agree(g, err); err != nil {
		return nil, err
	}
	if g.Size() == 1 {
		return t.means(d, scores, t.measures)
	}
	var queries, rows []int // with which the parts begin
	for _, chunk := range begin {
		queries, rows = append(queries, all[chunk]), append(rows, d.Offsets[all[chunk]])
	}
	share(g, scores, rows)

	// The queries of other ranks are empty to this one.
	in := t.input(d, scores)
	own := in
	own.Offsets = make([]int, len(d.Offsets))
	for q, offset := range d.Offsets {
		own.Offsets[q] = min(max(offset, rows[g.Rank()]), rows[g.Rank()+1])
	}
	estimates, err := metrics.Estimates(own, t.bound(d, t.measures))
	if err != nil {
		err = fmt.Errorf("train: %s: %w", d.Name, err)
	}
	if err := Agree(g, err); err != nil {
		return nil, err
	}
	means := make([]metrics.Summary, len(estimates))
	for i, m := range t.measures {
		share(g, estimates[i].PerQuery, queries)
		share(g, estimates[i].StdErr, queries)
		if means[i], err = mean(m, in, estimates[i]); err != nil {
			return nil, fmt.Errorf("train: %s: %w", d.Name, err)
		}
	}
	return means, nil
}

// share completes numbers of which rank r has those from begin[r] to begin[r+1]−1.
func share(g Processes, numbers []float64, begin []int) {
	room := 0
	for rank := range g.Size() {
		room = max(room, begin[rank+1]-begin[rank])
	}
	mine, all := make([]float64, room), make([]float64, g.Size()*room)
	copy(mine, numbers[begin[g.Rank()]:begin[g.Rank()+1]])
	g.Allgather(bytesOf(all), bytesOf(mine))
	for rank := range g.Size() {
		copy(numbers[begin[rank]:begin[rank+1]], all[rank*room:])
	}
}

// bytesOf is the memory of numbers. The ranks have one byte order.
func bytesOf[T float32 | float64](x []T) []byte {
	return unsafe.Slice((*byte)(unsafe.Pointer(unsafe.SliceData(x))), int(unsafe.Sizeof(T(0)))*len(x))
}
