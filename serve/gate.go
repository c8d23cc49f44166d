package serve

import (
	"context"
	"runtime"
	"sync"
)

// coreWork is the price of the largest small work, which takes a few megabytes. Larger work counts as that for each core
// that it keeps busy.
const coreWork = 20_000_000

// A gate is a weighted semaphore: it admits work while the costs of all work inside are within its room. Large work leaves
// half of the room to small work, which so never waits for it: at most as much is inside as the cores can compute, since
// more would take more memory, and not finish sooner.
type gate struct {
	cores int
	half  float64

	mu   sync.Mutex
	room float64    // that is left
	left *sync.Cond // work has left, or a context has ended
}

func newGate() *gate {
	cores := runtime.GOMAXPROCS(0)
	g := &gate{cores: cores, half: float64(cores) * coreWork}
	g.room, g.left = 2*g.half, sync.NewCond(&g.mu)
	return g
}

// enter waits for room until the context ends. Large work keeps that many cores busy. The caller calls leave after the work.
func (g *gate) enter(ctx context.Context, price float64, cores int) (leave func(), err error) {
	cost, needed := price, price
	if price > coreWork {
		cost = float64(cores) * coreWork
		needed = cost + g.half
	}
	g.mu.Lock()
	defer g.mu.Unlock()
	if g.room < needed {
		defer context.AfterFunc(ctx, func() { g.add(0) })()
	}
	for g.room < needed {
		if err := ctx.Err(); err != nil {
			return nil, err
		}
		g.left.Wait()
	}
	g.room -= cost
	return func() { g.add(cost) }, nil
}

// add gives room back, and wakes those who wait.
func (g *gate) add(cost float64) {
	g.mu.Lock()
	g.room += cost
	g.mu.Unlock()
	g.left.Broadcast()
}
