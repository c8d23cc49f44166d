package ops

import (
	"fmt"
	"hash"
	"sync"
	"sync/atomic"

	"github.com/chewxy/hm"
	G "gorgonia.org/gorgonia"
	"gorgonia.org/tensor"

	"github.com/plrank/plrank/plackett"
)

// A Sampler is a source of sampled rankings, or of the noise of [Gumbel]: how many
// samples, how long, and the seed. What is drawn depends on the seed, the step
// and the number of the query in the batch alone, not on the other queries, nor
// on the number of cores.
//
// Every run of a graph is a step of its own: it draws anew. One sampler may serve
// many graphs, and several nodes of one graph, which draw independently. It may
// not serve graphs that run at the same time.
type Sampler struct {
	capacity, cutoff int
	seed             uint64
	id               uint64 // two samplers never make the same node, whatever their settings

	mu      sync.Mutex
	samples int
	step    uint64
	started bool         // something was drawn at step
	graph   *G.ExprGraph // by a node of this graph
	fixed   bool         // SetStep gave the step
}

var samplerIDs atomic.Uint64

// NewSampler returns a sampler of rankings of up to cutoff places, samples of them
// for every query.
func NewSampler(samples, cutoff int, seed uint64) *Sampler {
	return &Sampler{capacity: samples, samples: samples, cutoff: cutoff, seed: seed, id: samplerIDs.Add(1)}
}

// Samples is the number of samples that the next run draws.
func (s *Sampler) Samples() int {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.samples
}

// SetSamples sets the number of samples that the following runs draw: from 1 to
// the number the sampler was made with, which gives the nodes their shape. The
// samples beyond are absent (−1), and means leave them out.
func (s *Sampler) SetSamples(n int) error {
	if n < 1 || n > s.capacity {
		return fmt.Errorf("ops: %d samples: this sampler was made for 1 to %d", n, s.capacity)
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	s.samples = n
	return nil
}

// SetStep makes the following runs draw what belongs to that step, until it is
// called again: for training that can be resumed, or repeated in parts.
func (s *Sampler) SetStep(step uint64) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.step, s.fixed = step, true
}

// draw is what a node needs to know for one run of its graph.
type draw struct {
	samples    int
	seed, step uint64
}

// next gives a node its draw. The steps count the runs: a new one begins when a
// node draws again, or a node of another graph. The ordinal tells the nodes of
// one graph apart.
func (s *Sampler) next(n *drawn) draw {
	s.mu.Lock()
	defer s.mu.Unlock()
	if !s.fixed {
		if s.started && (s.graph != n.graph || n.started && n.step == s.step) {
			s.step++
		}
		s.started, s.graph = true, n.graph
		n.started, n.step = true, s.step
	}
	return draw{s.samples, s.seed + uint64(n.ordinal)*0x9e3779b97f4a7c15, s.step}
}

// drawn is the part of an op that draws from a sampler.
type drawn struct {
	sampler *Sampler
	graph   *G.ExprGraph
	ordinal int // among the nodes of the graph that draw from the sampler
	started bool
	step    uint64 // of the last run
}

// drawsFrom is an op that draws.
type drawsFrom interface{ source() *Sampler }

func (d *drawn) source() *Sampler { return d.sampler }

// newDrawn registers a node to be of graph g.
func newDrawn(s *Sampler, g *G.ExprGraph) (drawn, error) {
	if s == nil {
		return drawn{}, fmt.Errorf("no sampler: it is nil")
	}
	if s.capacity < 1 || s.cutoff < 1 {
		return drawn{}, fmt.Errorf("a sampler of %d samples and a cutoff of %d: want 1 or more of both", s.capacity, s.cutoff)
	}
	d := drawn{sampler: s, graph: g}
	for _, n := range g.AllNodes() {
		if other, ok := n.Op().(drawsFrom); ok && other.source() == s {
			d.ordinal++
		}
	}
	return d, nil
}

func (d *drawn) String() string {
	return fmt.Sprintf("sampler %d, ordinal %d, %d samples, cutoff %d", d.sampler.id, d.ordinal, d.sampler.capacity, d.sampler.cutoff)
}

// Rankings draws rankings from the Plackett–Luce model of every list: an int node
// [queries, samples, cutoff] of row numbers, likeliest first choice first,
//
//	P(y_k = d | y_1..k−1) = exp m(d) / Σ_{d' not in y_1..k−1} exp m(d').
//
// −1 stands for absent: past the end of a list shorter than the cutoff, in the
// samples beyond [Sampler.SetSamples], and for empty queries. The node is not
// differentiable. A score that is NaN or infinite is an error of the run that
// names its row.
//
// The ranking is drawn exactly, in O(D + N·K) in most cases; no list is sorted.
func Rankings(l Lists, s *Sampler) (*G.Node, error) {
	if err := l.check(); err != nil {
		return nil, fmt.Errorf("ops: Rankings: %w", err)
	}
	d, err := newDrawn(s, l.Scores.Graph())
	if err != nil {
		return nil, fmt.Errorf("ops: Rankings: %w", err)
	}
	return G.ApplyOp(&rankingsOp{listOp: newListOp(l), drawn: d}, l.with()...)
}

type rankingsOp struct {
	listOp
	drawn
	notDifferentiable
}

var (
	_ G.SDOp = &rankingsOp{}
	_ G.ADOp = &rankingsOp{}
)

func (op *rankingsOp) Arity() int    { return op.arity(0) }
func (op *rankingsOp) Type() hm.Type { return op.fn(intRankings) }

func (op *rankingsOp) InferShape(in ...G.DimSizer) (tensor.Shape, error) {
	q, err := op.queries(in)
	return tensor.Shape{q, op.sampler.capacity, op.sampler.cutoff}, err
}

func (op *rankingsOp) Do(values ...G.Value) (G.Value, error) {
	queries := 1
	if op.offsets {
		queries = values[1].Shape()[0] - 1
	}
	cutoff := op.sampler.cutoff
	out := op.out.get(tensor.Int, tensor.Shape{queries, op.sampler.capacity, cutoff})
	places := out.Ints()
	for i := range places {
		places[i] = -1
	}
	draw := op.sampler.next(&op.drawn)
	err := op.eachList("Rankings", values, func(l list) error {
		mine := places[l.query*op.sampler.capacity*cutoff:][:draw.samples*cutoff]
		return l.sampler.Draw(l.scores, plackett.Stream{Seed: draw.seed, Step: draw.step, Query: uint64(l.query)}, plackett.Rankings{Documents: mine, Cutoff: cutoff, Base: l.from})
	})
	return out, err
}

func (op *rankingsOp) WriteHash(h hash.Hash) { hashText(h, op) }
func (op *rankingsOp) Hashcode() uint32      { return hashOf(op) }
func (op *rankingsOp) String() string {
	return fmt.Sprintf("Rankings{%v, offsets: %t}", &op.drawn, op.offsets)
}

// notDifferentiable has the answers of an op without derivatives.
type notDifferentiable struct{}

func (notDifferentiable) DiffWRT(inputs int) []bool { return make([]bool, inputs) }
func (notDifferentiable) SymDiff(inputs G.Nodes, _, _ *G.Node) (G.Nodes, error) {
	return make(G.Nodes, len(inputs)), nil
}
func (notDifferentiable) DoDiff(G.ExecutionContext, G.Nodes, *G.Node) error { return nil }
