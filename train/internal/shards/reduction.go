package shards

import "github.com/plrank/plrank/internal/mpi"

// Fold sums up vectors into the first: in rounds, each adding the upper half of those that are left
// to the lower half. The vectors r, r+P, r+2P, … of all may be folded before, and then those sums:
// for P that is a power of two, it is the same sum, bit for bit.
func Fold(v [][]float32) {
	half := 1
	for half < len(v) {
		half *= 2
	}
	for half /= 2; half > 0; half /= 2 {
		for i := 0; i < half && i+half < len(v); i++ {
			to := v[i]
			for k, x := range v[i+half] {
				to[k] += x
			}
		}
	}
}

// A Reduction sums up the gradients of all shards of all ranks, in the order of Fold.
// Every rank sums up one slice of the gradient, and gives it to all others: each number
// goes over the network twice, however many ranks there are.
type Reduction struct {
	group  mpi.Group
	shards int
	own    [][]float32 // gradients of the shards of this rank

	vectors       int       // that a rank sends: the sum of its own, or else each of its own
	slice         int       // numbers that a rank sums up
	parts, theirs []float32 // to each rank, and from each: [ranks][vectors][slice]
	record        []float64 // of one rank: Failed, 1 for Interrupted, and Losses
	result, all   []byte    // of this rank, and of all: a slice of the sum and a record
}

// NewReduction returns the reduction of gradients of that many shards, where own are the ones of this rank.
func NewReduction(g mpi.Group, shards int, own [][]float32) *Reduction {
	r := &Reduction{group: g, shards: shards, own: own, vectors: 1}
	ranks := g.Size()
	if ranks&(ranks-1) != 0 {
		r.vectors = (shards + ranks - 1) / ranks
	}
	r.slice = (len(own[0]) + ranks - 1) / ranks
	r.parts = make([]float32, ranks*r.vectors*r.slice)
	r.theirs = make([]float32, len(r.parts))
	r.record = make([]float64, 2+(shards+ranks-1)/ranks)
	r.result = make([]byte, 4*r.slice+8*len(r.record))
	r.all = make([]byte, ranks*len(r.result))
	return r
}

// A Record holds what a rank tells of a step, besides its gradients.
type Record struct {
	Failed      Failure
	Interrupted bool
	Losses      []float64 // of its shards
}

// Failure says whether a rank can compute its gradients.
type Failure byte

const (
	NoFailure Failure = iota
	OfBatch           // it cannot for this batch: a graph.BatchError
	OfRank            // it cannot at all
)

// Sum puts the sum of all gradients into total, and gives the losses of all shards, and
// whether any rank has failed, or was interrupted.
func (r *Reduction) Sum(total []float32, mine Record) Record {
	ranks := r.group.Size()
	own := r.own
	if r.vectors == 1 {
		Fold(own)
		own = own[:1]
	}
	for rank := range ranks {
		for i, v := range own {
			from, to := min(rank*r.slice, len(v)), min((rank+1)*r.slice, len(v))
			copy(r.parts[(rank*r.vectors+i)*r.slice:], v[from:to])
		}
	}
	r.group.Alltoall(mpi.Bytes(r.theirs), mpi.Bytes(r.parts))
	var slices [][]float32 // of all shards in their order, or of all ranks
	for i := range r.vectors {
		for rank := range ranks {
			slices = append(slices, r.theirs[(rank*r.vectors+i)*r.slice:][:r.slice])
		}
	}
	if r.vectors > 1 {
		slices = slices[:r.shards]
	}
	Fold(slices)
	copy(r.result, mpi.Bytes(slices[0]))
	record := r.record
	clear(record)
	record[0] = float64(mine.Failed)
	if mine.Interrupted {
		record[1] = 1
	}
	copy(record[2:], mine.Losses)
	copy(r.result[4*r.slice:], mpi.Bytes(record))
	r.group.Allgather(r.all, r.result)

	sum := Record{Losses: make([]float64, r.shards)}
	for rank := range ranks {
		answer := r.all[rank*len(r.result):][:len(r.result)]
		copy(mpi.Bytes(total[min(rank*r.slice, len(total)):]), answer[:4*r.slice])
		copy(mpi.Bytes(record), answer[4*r.slice:])
		sum.Failed, sum.Interrupted = max(sum.Failed, Failure(record[0])), sum.Interrupted || record[1] == 1
		for i, shard := 2, rank; shard < r.shards; i, shard = i+1, shard+ranks {
			sum.Losses[shard] = record[i]
		}
	}
	return sum
}
