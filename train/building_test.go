package train

import (
	"bytes"
	"context"
	"hash"
	"runtime"
	"sync"
	"sync/atomic"
	"testing"

	"github.com/chewxy/hm"
	G "gorgonia.org/gorgonia"
	"gorgonia.org/tensor"

	"github.com/plrank/plrank/datasets"
	"github.com/plrank/plrank/losses"
	"github.com/plrank/plrank/nn"
	"github.com/plrank/plrank/ops"
	"github.com/plrank/plrank/ranker"
)

// rectified is max(0, x·w), by an op of Gorgonia's that counts in one number of the process
// when its node is made: the race detector sees it.
type rectified struct {
	weights *nn.Weights
	inside  *atomic.Int32 // goroutines that build
	broken  *atomic.Bool
}

func (r *rectified) Kind() string         { return "rectified" }
func (r *rectified) Settings() any        { return nil }
func (r *rectified) Weights() *nn.Weights { return r.weights }

func (r *rectified) Build(in nn.Input, _ nn.Mode) (*G.Node, error) {
	if r.inside.Add(1) > 1 {
		r.broken.Store(true)
	}
	defer r.inside.Add(-1)
	for range 100 {
		runtime.Gosched()
	}
	x, err := G.Mul(in.Features, in.Weights[0])
	if err != nil {
		return nil, err
	}
	return G.Rectify(x)
}

// Forward may be called by several goroutines at once, also for the first time, when each
// of them builds a graph.
func TestGraphsAreBuiltOneAtATime(t *testing.T) {
	d := queriesOf([]int{1, 3, 9, 30, 100, 300}, 2, 4)
	fitted, err := datasets.FitTransform("none", d)
	if err != nil {
		t.Fatal(err)
	}
	var inside atomic.Int32
	var broken atomic.Bool
	array := nn.Array{Name: "w", Shape: []int{fitted.Width()}}
	nn.Register("rectified", func(_ []byte, stored *nn.Weights) (nn.Scorer, error) {
		w, err := stored.Select(array)
		return &rectified{w, &inside, &broken}, err
	})
	ranker.Register("rectified", byGraphs)
	f := &ranker.File{Kind: "rectified", Settings: []byte("null"), Dtype: "float32", Transform: fitted, FeatureIDs: d.FeatureIDs, Gain: "exp2"}
	f.Arrays = []ranker.Array{{Name: "w", Shape: array.Shape, Values: make([]float64, fitted.Width())}}
	var file bytes.Buffer
	if err := f.Write(&file); err != nil {
		t.Fatal(err)
	}
	m, err := ranker.Read(&file)
	if err != nil {
		t.Fatal(err)
	}
	var group sync.WaitGroup
	for range 4 {
		group.Go(func() {
			for q := range d.Queries() {
				if _, err := m.Score(nil, d.Features[d.Offsets[q]*d.Width():d.Offsets[q+1]*d.Width()]); err != nil {
					t.Error(err)
				}
			}
		})
	}
	group.Wait()
	if broken.Load() {
		t.Error("two graphs were built at the same time")
	}
}

// A run that is interrupted while a graph is built ends there, not when the graph is done.
func TestBuildingEndsWithTheContext(t *testing.T) {
	c := Config{Model: Model{Hidden: []int{4}, Members: 3}, Optimization: Optimization{Epochs: 1}}
	for name, loss := range map[string]func(cancel func(), l losses.Batch) (*G.Node, error){
		"before the next member": func(cancel func(), b losses.Batch) (*G.Node, error) {
			cancel()
			return ops.SumOverDocuments(b.Lists, b.Lists.Scores)
		},
		"while it is compiled": func(cancel func(), b losses.Batch) (*G.Node, error) {
			n, err := G.ApplyOp(&endless{cancel: cancel, until: t.Context()}, b.Lists.Scores)
			if err != nil {
				return nil, err
			}
			return ops.SumOverDocuments(b.Lists, n)
		},
	} {
		ctx, cancel := context.WithCancel(ctx)
		calls := 0
		tr, err := New(c.Plain(), Custom{Loss: func(b losses.Batch) (*G.Node, error) {
			calls++
			return loss(cancel, b)
		}}, small())
		if err != nil {
			t.Fatal(err)
		}
		r, err := tr.Run(ctx, Hooks{})
		if err != nil || !r.Interrupted {
			t.Errorf("%s: %+v, error %v", name, r, err)
		}
		if name == "before the next member" && calls != 1 {
			t.Errorf("%s: the loss was built %d times after the end", name, calls-1)
		}
	}
}

// endless is an op that takes until the end of the test to compile, and interrupts the run
// while it does.
type endless struct {
	cancel func()
	until  context.Context
}

var vectorType = G.TensorType{Dims: 1, Of: tensor.Float32}

func (e *endless) Arity() int    { return 1 }
func (e *endless) Type() hm.Type { return hm.NewFnType(vectorType, vectorType) }
func (e *endless) InferShape(in ...G.DimSizer) (tensor.Shape, error) {
	return in[0].(tensor.Shape), nil
}
func (e *endless) Do(in ...G.Value) (G.Value, error) { return in[0], nil }
func (e *endless) ReturnsPtr() bool                  { return false }
func (e *endless) CallsExtern() bool                 { return false }
func (e *endless) WriteHash(hash.Hash)               {}
func (e *endless) Hashcode() uint32                  { return 7 }
func (e *endless) String() string                    { return "endless" }
func (e *endless) DiffWRT(int) []bool                { return []bool{true} }
func (e *endless) SymDiff(_ G.Nodes, _, grad *G.Node) (G.Nodes, error) {
	return G.Nodes{grad}, nil
}

func (e *endless) OverwritesInput() int {
	e.cancel()
	<-e.until.Done()
	return -1
}
