package graph

import (
	"context"
	"fmt"
	"sync"

	G "gorgonia.org/gorgonia"
)

// building is held while nodes are made: Gorgonia numbers some of them, those of Rectify
// among others, with a counter of the process.
var building sync.Mutex

// compiled makes the machine that computes the outputs. Gorgonia cannot be stopped while it
// compiles, which takes long for a large graph: when the context ends, it is left alone.
func compiled(ctx context.Context, g *G.ExprGraph, input *G.Node, outputs G.Nodes) (G.VM, error) {
	type result struct {
		vm  G.VM
		err error
	}
	done := make(chan result, 1)
	go func() {
		defer func() {
			if r := recover(); r != nil {
				done <- result{err: fmt.Errorf("the graph cannot be compiled: panic: %v", r)}
			}
		}()
		prog, locs, err := G.CompileFunction(g, G.Nodes{input}, outputs)
		if err != nil {
			done <- result{err: err}
			return
		}
		done <- result{vm: G.NewTapeMachine(g, G.WithPrecompiled(prog, locs))}
	}()
	select {
	case r := <-done:
		return r.vm, r.err
	case <-ctx.Done():
		return nil, ctx.Err()
	}
}
