package main

import (
	"fmt"
	"io"
	"os"
	"sync"
	"time"

	"github.com/schollz/progressbar/v3"
	"golang.org/x/term"
)

// A progress shows how many cells are done: by a bar on a terminal, by a line a
// cell elsewhere.
type progress struct {
	mu    sync.Mutex
	w     io.Writer
	what  string
	parts []float64 // of each cell, from 0 to 1
	ready int
	bar   *progressbar.ProgressBar // nil: lines
}

// perCell is how finely the bar divides a cell.
const perCell = 1000

func newProgress(w io.Writer, what string, cells int) *progress {
	p := &progress{w: w, what: what, parts: make([]float64, cells)}
	if f, ok := w.(*os.File); ok && term.IsTerminal(int(f.Fd())) {
		p.bar = progressbar.NewOptions(perCell*cells,
			progressbar.OptionSetWriter(w), progressbar.OptionSetWidth(24), progressbar.OptionThrottle(100*time.Millisecond),
			progressbar.OptionSetPredictTime(true), progressbar.OptionClearOnFinish())
		p.bar.Describe(what)
	}
	return p
}

// at says how much of a cell is done.
func (p *progress) at(cell int, part float64) {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.parts[cell] = part
	p.show()
}

// done says that a cell is done.
func (p *progress) done(cell int, name string) {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.ready++
	p.parts[cell] = 1
	p.show()
	if p.bar == nil {
		fmt.Fprintf(p.w, "%s: %d of %d cells: %s\n", p.what, p.ready, len(p.parts), name)
	}
}

// show brings the bar to where the cells are.
func (p *progress) show() {
	if p.bar == nil {
		return
	}
	sum := 0.0
	for _, part := range p.parts {
		sum += part
	}
	p.bar.Describe(fmt.Sprintf("%s: %d of %d cells", p.what, p.ready, len(p.parts)))
	p.bar.Set(int(perCell * sum))
}

func (p *progress) finish() {
	if p.bar != nil {
		p.bar.Finish()
	}
}
