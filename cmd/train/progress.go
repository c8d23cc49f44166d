package main

import (
	"fmt"
	"io"
	"os"
	"strings"
	"time"

	"github.com/schollz/progressbar/v3"
	"golang.org/x/term"

	"github.com/plrank/plrank/datasets"
	"github.com/plrank/plrank/internal/blas"
	"github.com/plrank/plrank/train"
)

// describe says what is going to happen.
func describe(w io.Writer, s *datasets.Splits, t *train.Trainer) {
	for _, d := range []*datasets.Dataset{s.Train, s.Vali, s.Test} {
		if d != nil {
			fmt.Fprintln(w, d)
		}
	}
	fmt.Fprintf(w, "%s with N = %v, K = %d; %s; %s; matrix products by %s\n", t.Loss, t.Samples, t.Cutoff, t.Architecture(), t.Optimizer, blas.Name())
}

// A progress shows how far training has come: by a bar on a terminal, by a line
// an epoch elsewhere.
type progress struct {
	w      io.Writer
	metric string
	epochs int
	bar    *progressbar.ProgressBar // nil: lines
	done   int                      // epochs, when training began
	best   string
}

func newProgress(w io.Writer, c train.Config, done int) *progress {
	p := &progress{w: w, metric: c.Metric, epochs: c.Epochs, done: done}
	if f, ok := w.(*os.File); ok && term.IsTerminal(int(f.Fd())) {
		p.bar = progressbar.NewOptions64(1,
			progressbar.OptionSetWriter(w), progressbar.OptionSetWidth(24), progressbar.OptionThrottle(100*time.Millisecond),
			progressbar.OptionSetPredictTime(true), progressbar.OptionClearOnFinish())
		p.bar.ChangeMax64(1)
	}
	return p
}

func (p *progress) step(s train.Step) {
	if p.bar == nil {
		return
	}
	p.bar.ChangeMax64(int64((p.epochs - p.done) * s.Steps))
	p.bar.Describe(strings.TrimSpace(fmt.Sprintf("epoch %d/%d %s", s.Epoch, p.epochs, p.best)))
	p.bar.Set64(int64((s.Epoch-1-p.done)*s.Steps + s.Step))
}

func (p *progress) epoch(e train.Epoch) {
	value := fmt.Sprintf("%s %.4f", p.metric, float64(e.Vali[p.metric]))
	if e.Best {
		p.best = "best " + value
	}
	if p.bar != nil {
		return
	}
	mark := ""
	if e.Best {
		mark = "  best"
	}
	fmt.Fprintf(p.w, "epoch %*d/%d  loss %.4f  vali %s%s\n", len(fmt.Sprint(p.epochs)), e.Epoch, p.epochs, e.Loss, value, mark)
}

func (p *progress) finish() {
	if p.bar != nil {
		p.bar.Finish()
	}
}
