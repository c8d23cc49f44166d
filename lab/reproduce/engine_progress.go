package main

import (
	"fmt"
	"io"
	"sync"

	"github.com/plrank/plrank/internal/command"
)

// A progress shows how many trials are done: by a bar on a terminal, by a line a
// trial elsewhere.
type progress struct {
	mu       sync.Mutex
	what     string
	parts    []float64 // of each trial, from 0 to 1
	ready    int
	terminal *command.Bar
}

func newProgress(w io.Writer, what string, trials int) *progress {
	return &progress{what: what, parts: make([]float64, trials), terminal: command.NewBar(w)}
}

// at says how much of a trial is done.
func (p *progress) at(trial int, part float64) {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.parts[trial] = part
	p.show()
}

// done says that a trial is done.
func (p *progress) done(trial int, name string) {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.ready++
	p.parts[trial] = 1
	p.show()
	p.terminal.Line(fmt.Sprintf("%s: %d of %d trials: %s", p.what, p.ready, len(p.parts), name))
}

func (p *progress) show() {
	sum := 0.0
	for _, part := range p.parts {
		sum += part
	}
	p.terminal.Set(sum/float64(len(p.parts)), fmt.Sprintf("%d/%d trials of %s", p.ready, len(p.parts), p.what))
}

func (p *progress) finish() { p.terminal.Finish() }
