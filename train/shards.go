package train

import (
	"cmp"
	"context"
	"encoding/binary"
	"errors"
	"fmt"
	"math"
	"math/rand/v2"
	"slices"

	"github.com/plrank/plrank/internal/splitmix"
)

// The training queries are divided into Config.Shards shards. A step takes queries from all
// of them, the gradient of each shard's queries is computed by itself, and these are
// summed up in one order (see fold). The ranks share the shards: rank r of P has
// shards r, r+P, r+2P, … Whatever P is, the same numbers are computed from the same
// queries, and summed in the same order.

// checkShards reports more ranks than there are shards.
func (p *parsed) checkShards() error {
	if ranks := p.processes().Size(); ranks > p.Shards {
		return fmt.Errorf("train: %d ranks for %d shards: want as many shards at least", ranks, p.Shards)
	}
	return nil
}

// processes are those that train together.
func (p *parsed) processes() Processes {
	if p.parts.Processes == nil {
		return alone{}
	}
	return p.parts.Processes
}

// order is that of the training queries in an epoch: position i belongs to shard i mod
// Shards. A shard is a run of queries of the data, which it goes through in an order of
// its own. All shards go through the sizes of their queries in the same order, which is
// random: in a step, one has about as many documents as another, and ranks hardly wait.
func (t *Trainer) order(epoch int) []int {
	order := make([]int, len(t.queries))
	each, more := len(t.queries)/t.Shards, len(t.queries)%t.Shards
	places := rand.New(rand.NewPCG(^t.Seed, uint64(epoch))).Perm(each)
	from := 0
	for shard := range t.Shards {
		to := from + each
		if shard < more {
			to++
		}
		own := slices.Clone(t.queries[from:to])
		rng := rand.New(rand.NewPCG(t.Seed+uint64(shard)*splitmix.Gamma, uint64(epoch)))
		rng.Shuffle(len(own), func(i, j int) { own[i], own[j] = own[j], own[i] })
		if t.Shards > 1 {
			t.arrange(own[:each], places, rng)
		}
		for i, q := range own {
			order[i*t.Shards+shard] = q
		}
		from = to
	}
	return order
}

// arrange gives each query the place of its rank by size. Sizes that differ by less than a
// few percent count as equal, so that it is not always the same queries that meet.
func (t *Trainer) arrange(queries, places []int, rng *rand.Rand) {
	d := t.splits.Train
	const spread = 0.1
	size := map[int]float64{}
	for _, q := range queries {
		size[q] = float64(d.Offsets[q+1]-d.Offsets[q]) * (1 + spread*rng.Float64())
	}
	bySize := slices.SortedFunc(slices.Values(queries), func(p, q int) int { return cmp.Compare(size[p], size[q]) })
	for rank, place := range places {
		queries[place] = bySize[rank]
	}
}

// ownShards are the numbers of the shards of this rank.
func (t *Trainer) ownShards() []int {
	var own []int
	g := t.processes()
	for shard := g.Rank(); shard < t.Shards; shard += g.Size() {
		own = append(own, shard)
	}
	return own
}

// shardCapacity is the number of queries of a step that a shard can have.
func (t *Trainer) shardCapacity() int { return (t.Batch + t.Shards - 1) / t.Shards }

// fold sums up vectors into the first: in rounds, each adding the upper half of those
// that are left to the lower half. The vectors r, r+P, r+2P, … of all may be folded
// before, and then those sums: for P that is a power of two, it is the same sum, bit for
// bit.
func fold(v [][]float32) {
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

// A reduction sums up the gradients of all shards of all ranks, in the order of fold.
// Every rank sums up one slice of the gradient, and gives it to all others: each number
// goes over the network twice, however many ranks there are.
type reduction struct {
	processes Processes
	shards    int
	own       [][]float32 // gradients of the shards of this rank

	vectors       int       // that a rank sends: the sum of its own, or else each of its own
	slice         int       // numbers that a rank sums up
	parts, theirs []float32 // to each rank, and from each: [ranks][vectors][slice]
	result, all   []byte    // of this rank, and of all: a slice of the sum and a record
}

func newReduction(g Processes, shards int, own [][]float32) *reduction {
	r := &reduction{processes: g, shards: shards, own: own, vectors: 1}
	ranks := g.Size()
	if ranks&(ranks-1) != 0 {
		r.vectors = (shards + ranks - 1) / ranks
	}
	r.slice = (len(own[0]) + ranks - 1) / ranks
	r.parts = make([]float32, ranks*r.vectors*r.slice)
	r.theirs = make([]float32, len(r.parts))
	r.result = make([]byte, 4*r.slice+r.recordSize())
	r.all = make([]byte, ranks*len(r.result))
	return r
}

// A record is what a rank tells of a step, besides its gradients.
type record struct {
	failed      failure
	interrupted bool
	losses      []float64 // of its shards
}

// failure is whether a rank can compute its gradients.
type failure byte

const (
	noFailure failure = iota
	ofBatch           // it cannot for this batch: a batchError
	ofRank            // it cannot at all
)

func failureOf(err error) failure {
	switch {
	case err == nil:
		return noFailure
	case Skippable(err):
		return ofBatch
	}
	return ofRank
}

func (r *reduction) recordSize() int {
	return 8 + 8*((r.shards+r.processes.Size()-1)/r.processes.Size())
}

// sum puts the sum of all gradients into total, and gives the losses of all shards, and
// whether any rank has failed, or was interrupted.
func (r *reduction) sum(total []float32, mine record) record {
	ranks := r.processes.Size()
	own := r.own
	if r.vectors == 1 {
		fold(own)
		own = own[:1]
	}
	for rank := range ranks {
		for i, v := range own {
			from, to := min(rank*r.slice, len(v)), min((rank+1)*r.slice, len(v))
			copy(r.parts[(rank*r.vectors+i)*r.slice:], v[from:to])
		}
	}
	r.processes.Alltoall(bytesOf(r.theirs), bytesOf(r.parts))
	var slices [][]float32 // of all shards in their order, or of all ranks
	for i := range r.vectors {
		for rank := range ranks {
			slices = append(slices, r.theirs[(rank*r.vectors+i)*r.slice:][:r.slice])
		}
	}
	if r.vectors > 1 {
		slices = slices[:r.shards]
	}
	fold(slices)
	copy(r.result, bytesOf(slices[0]))
	mine.write(r.result[4*r.slice:])
	r.processes.Allgather(r.all, r.result)

	sum := record{losses: make([]float64, r.shards)}
	for rank := range ranks {
		of := r.all[rank*len(r.result):][:len(r.result)]
		copy(bytesOf(total[min(rank*r.slice, len(total)):]), of[:4*r.slice])
		sum.read(of[4*r.slice:], rank, ranks)
	}
	return sum
}

// write and read are of a record in r.result: flags, then the losses.
func (m record) write(to []byte) {
	to[0], to[1] = byte(m.failed), 0
	if m.interrupted {
		to[1] = 1
	}
	for i, loss := range m.losses {
		binary.LittleEndian.PutUint64(to[8+8*i:], math.Float64bits(loss))
	}
}

func (m *record) read(from []byte, rank, ranks int) {
	m.failed = max(m.failed, failure(from[0]))
	m.interrupted = m.interrupted || from[1] == 1
	for i, shard := 0, rank; shard < len(m.losses); i, shard = i+1, shard+ranks {
		m.losses[shard] = math.Float64frombits(binary.LittleEndian.Uint64(from[8+8*i:]))
	}
}

// newReduction makes room for the gradients of the shards of this rank, and for their sum,
// which is the first of them where there is one process.
func (t *Trainer) newReduction() {
	var own [][]float32
	for range t.ownShards() {
		own = append(own, make([]float32, len(t.weights)))
	}
	t.gradient = own[0]
	if t.processes().Size() > 1 {
		t.gradient = make([]float32, len(t.weights))
		t.shards = newReduction(t.processes(), t.Shards, own)
	}
	t.own = own
}

// errInterrupted is the end of training on all ranks, one of which was interrupted.
var errInterrupted = errors.New("a rank was interrupted")

// errElsewhere is the error of another rank.
var errElsewhere = errors.New("an error of another rank")

// lossAndGradient computes the loss of a step and its gradient: the mean over its queries,
// of all shards. Where a rank fails, all do, in the same way.
func (t *Trainer) lossAndGradient(ctx context.Context, b *stepBatch) (float64, error) {
	losses, err := t.ownShares(ctx, b)
	if t.shards == nil {
		fold(t.own)
		return sum(losses), err
	}
	if cancelled(ctx, err) { // while a graph was built: all ranks are told, and end
		err = nil
	}
	b.next() // to come to the others without work that goes on beside
	all := t.shards.sum(t.gradient, record{failed: failureOf(err), interrupted: ctx.Err() != nil, losses: losses})
	switch {
	case all.failed > failureOf(err):
		err = errElsewhere
		if all.failed == ofBatch {
			err = &batchError{err}
		}
	case all.failed == noFailure && all.interrupted:
		err = errInterrupted
	}
	if err != nil {
		return 0, err
	}
	return sum(all.losses), nil
}

// ownShares computes what the shards of this rank add to the loss of a step and to its
// gradient.
func (t *Trainer) ownShares(ctx context.Context, b *stepBatch) ([]float64, error) {
	losses := make([]float64, len(b.shards))
	for i := range b.shards {
		of, gradient := &b.shards[i], t.own[i]
		if len(of.queries) == 0 {
			clear(gradient)
			continue
		}
		loss, err := t.differentiate(ctx, t.graphs, of, t.shardCapacity(), gradient)
		if err == nil && t.shards != nil { // the sum would not tell whose it was
			if _, err = clip(gradient, 0); err != nil {
				err = &batchError{err}
			}
		}
		if err != nil {
			return losses, err
		}
		share := float64(len(of.queries)) / float64(len(b.queries))
		losses[i] = share * loss
		if share < 1 {
			for k := range gradient {
				gradient[k] *= float32(share)
			}
		}
	}
	return losses, nil
}

func sum(x []float64) (total float64) {
	for _, v := range x {
		total += v
	}
	return total
}
