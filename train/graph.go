package train

import (
	"fmt"

	G "gorgonia.org/gorgonia"
	"gorgonia.org/tensor"

	"github.com/plrank/plrank/losses"
	"github.com/plrank/plrank/nn"
	"github.com/plrank/plrank/ops"
)

// rung is the number of rows of the graph that takes so many documents: the
// smallest step of a ladder that grows by about an eighth, in multiples of 8. At
// most an eighth of the work is for padding, and few graphs serve all batches.
func rung(rows int) int {
	capacity := 8
	for capacity < rows {
		capacity += max(8, capacity/64*8)
	}
	return capacity
}

// A stepGraph computes the loss of a batch and its gradient, for one number of
// rows. Compiling only these prunes what Grad adds beside them.
type stepGraph struct {
	vm                        G.VM
	x, gains, labels, offsets *G.Node
	groups                    *G.Node // nil: documents have none
	loss                      G.Value
	grads                     G.Nodes
}

// An objective is what stays the same in the graphs of a run.
type objective struct {
	loss         losses.Func
	sampler      *ops.Sampler // for the gradient
	exposure     *ops.Sampler // for the exposure of fairness losses
	discounts    []float64
	highestGrade int
	grouped      bool // documents have groups
}

// exposureSamples is the number of rankings that exposure is estimated from, that
// of Oosterhuis (2021), section 7.
const exposureSamples = 1000

// setStep makes the next run draw what belongs to that step.
func (o *objective) setStep(step uint64) {
	o.sampler.SetStep(step)
	o.exposure.SetStep(step)
}

// newStepGraph builds the graph for batches of that many rows, queries and
// features.
func newStepGraph(model nn.Scorer, o *objective, rows, queries, features int) (*stepGraph, error) {
	g := G.NewGraph()
	s := &stepGraph{
		x:       G.NewMatrix(g, tensor.Float32, G.WithShape(rows, features), G.WithName("x")),
		gains:   G.NewVector(g, tensor.Float32, G.WithShape(rows), G.WithName("gains")),
		labels:  G.NewVector(g, tensor.Float32, G.WithShape(rows), G.WithName("labels")),
		offsets: G.NewVector(g, tensor.Int, G.WithShape(queries+1), G.WithName("offsets")),
	}
	if o.grouped {
		s.groups = G.NewVector(g, tensor.Int, G.WithShape(rows), G.WithName("groups"))
	}
	members, weights, err := model.BuildMembers(s.x, nn.Train)
	if err != nil {
		return nil, err
	}
	cost, err := s.cost(members, o)
	if err != nil {
		return nil, err
	}
	if s.grads, err = G.Grad(cost, weights...); err != nil {
		return nil, err
	}
	// A copy of the loss: its own value may be overwritten by the backward pass.
	read := G.Read(cost, &s.loss)
	prog, locs, err := G.CompileFunction(g, G.Nodes{s.x}, append(G.Nodes{read}, s.grads...))
	if err != nil {
		return nil, err
	}
	s.vm = G.NewTapeMachine(g, G.WithPrecompiled(prog, locs))
	return s, nil
}

// cost is the sum of the losses of all members: each learns by itself, from
// rankings of its own.
func (s *stepGraph) cost(members G.Nodes, o *objective) (sum *G.Node, err error) {
	for _, scores := range members {
		cost, err := o.loss(losses.Batch{
			Lists:        ops.Lists{Scores: scores, Offsets: s.offsets},
			Gains:        s.gains,
			Labels:       s.labels,
			HighestGrade: o.highestGrade,
			Groups:       s.groups,
			Sampler:      o.sampler,
			Exposure:     o.exposure,
			Discounts:    o.discounts,
		})
		if err != nil {
			return nil, err
		}
		if sum == nil {
			sum = cost
		} else if sum, err = G.Add(sum, cost); err != nil {
			return nil, err
		}
	}
	return sum, nil
}

// run is the loss of a batch. The gradients are in the values of grads until
// the next run.
func (s *stepGraph) run(b *batch) (float64, error) {
	rows := s.x.Shape()[0]
	if s.groups != nil {
		if err := G.Let(s.groups, tensor.New(tensor.WithShape(rows), tensor.WithBacking(b.packed.Groups))); err != nil {
			return 0, err
		}
	}
	for _, let := range []struct {
		node  *G.Node
		value *tensor.Dense
	}{
		{s.x, tensor.New(tensor.WithShape(s.x.Shape()...), tensor.WithBacking(b.packed.X))},
		{s.gains, tensor.New(tensor.WithShape(rows), tensor.WithBacking(b.gains))},
		{s.labels, tensor.New(tensor.WithShape(rows), tensor.WithBacking(b.packed.Labels))},
		{s.offsets, tensor.New(tensor.WithShape(len(b.packed.Offsets)), tensor.WithBacking(b.packed.Offsets))},
	} {
		if err := G.Let(let.node, let.value); err != nil {
			return 0, err
		}
	}
	s.vm.Reset()
	if err := s.vm.RunAll(); err != nil {
		return 0, err
	}
	switch v := s.loss.Data().(type) {
	case float32:
		return float64(v), nil
	case float64:
		return v, nil
	default:
		return 0, fmt.Errorf("the loss is a %T, want a scalar", v)
	}
}

// A scoreGraph computes scores, for one number of rows.
type scoreGraph struct {
	vm        G.VM
	x, scores *G.Node
}

func newScoreGraph(model nn.Scorer, rows, features int) (*scoreGraph, error) {
	g := G.NewGraph()
	s := &scoreGraph{x: G.NewMatrix(g, tensor.Float32, G.WithShape(rows, features), G.WithName("x"))}
	var err error
	if s.scores, _, err = model.Build(s.x, nn.Evaluate); err != nil {
		return nil, err
	}
	s.vm = G.NewTapeMachine(g)
	return s, nil
}

// run is the scores of the rows of x, until the next run.
func (s *scoreGraph) run(x []float32) ([]float32, error) {
	if err := G.Let(s.x, tensor.New(tensor.WithShape(s.x.Shape()...), tensor.WithBacking(x))); err != nil {
		return nil, err
	}
	s.vm.Reset()
	if err := s.vm.RunAll(); err != nil {
		return nil, err
	}
	return s.scores.Value().(*tensor.Dense).Float32s(), nil
}
