package ops

import (
	"fmt"
	"sync"

	G "gorgonia.org/gorgonia"

	"github.com/plrank/plrank/internal/num"
	"github.com/plrank/plrank/internal/op"
	"github.com/plrank/plrank/plackett"
)

// A Sampler is a source of sampled rankings, or of the noise of [Gumbel]: how many
// samples, how long, and the seed. What is drawn depends on the seed, the step
// and the number of the query in the batch alone, not on the other queries, nor
// on the number of cores.
//
// Every run of a graph is another step, and draws anew. One sampler may serve
// many graphs, and several nodes of one graph, which draw independently. So do the
// nodes of several samplers of one seed in one graph. A sampler may not serve graphs
// that run at the same time.
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

// NewSampler returns a sampler of rankings of up to cutoff documents, samples of them
// for every query.
func NewSampler(samples, cutoff int, seed uint64) *Sampler {
	return &Sampler{capacity: samples, samples: samples, cutoff: cutoff, seed: seed, id: op.NewID()}
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

// drawn is a node that draws from a sampler, and what it draws in a run of its graph.
type drawn struct {
	graph   *G.ExprGraph
	started bool

	samples    int
	seed, step uint64 // the seed is another one for every node
}

// rankingStream is the seed that nodes of a graph may share, told apart by their ordinals.
type rankingStream uint64

// stream is the stream of random numbers of a query.
func (d *drawn) stream(l *op.List) plackett.Stream {
	return plackett.Stream{Seed: d.seed, Step: d.step, Query: uint64(l.Query)}
}

// next sets what a node draws. The steps count the runs: a new one begins when a
// node draws again, or a node of another graph.
func (s *Sampler) next(d *drawn) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if !s.fixed {
		if s.started && (s.graph != d.graph || d.started && d.step == s.step) {
			s.step++
		}
		s.started, s.graph = true, d.graph
		d.started = true
	}
	d.samples, d.step = s.samples, s.step
}

// drawFor makes a function on lists, yet to be applied, draw from the sampler.
func (s *Sampler) drawFor(f *op.ListFunc, l Lists) (*drawn, error) {
	if err := op.Check(l); err != nil {
		return nil, fmt.Errorf("%s: %w", f.Name, err)
	}
	d := &drawn{graph: l.Scores.Graph()}
	switch {
	case s == nil:
		return nil, fmt.Errorf("%s: no sampler: it is nil", f.Name)
	case s.capacity < 1 || s.cutoff < 1:
		return nil, fmt.Errorf("%s: a sampler of %d samples and a cutoff of %d: want 1 or more of both", f.Name, s.capacity, s.cutoff)
	case d.graph == nil:
		return nil, fmt.Errorf("%s: the scores belong to no graph", f.Name)
	}
	stream := rankingStream(s.seed)
	ordinal := op.Ordinal(d.graph, stream)
	d.seed = s.seed + uint64(ordinal)*num.SplitMixGamma
	f.Source, f.Begin = stream, func() { s.next(d) }
	f.Settings = fmt.Sprintf("sampler %d, ordinal %d, %d samples, cutoff %d", s.id, ordinal, s.capacity, s.cutoff)
	return d, nil
}
