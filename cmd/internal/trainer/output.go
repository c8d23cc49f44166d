package trainer

import (
	"encoding/json"
	"fmt"
	"io"
	"slices"

	"github.com/plrank/plrank/datasets"
	"github.com/plrank/plrank/internal/blas"
	"github.com/plrank/plrank/internal/command"
	"github.com/plrank/plrank/train"
)

// describe says what is going to happen.
func describe(w io.Writer, s *datasets.Splits, t *train.Trainer) {
	for _, d := range []*datasets.Dataset{s.Train, s.Vali, s.Test} {
		if d != nil {
			command.Note(w, d.String())
		}
	}
	for _, weights := range []struct {
		what   string
		values []float32
	}{{"documents", s.Train.Weights}, {"queries", s.Train.QueryWeights}} {
		if len(weights.values) > 0 {
			fmt.Fprintf(w, "weights of %s, from %g to %g, count in the loss\n", weights.what, slices.Min(weights.values), slices.Max(weights.values))
		}
	}
	model := fmt.Sprintf("%s; %s", t.Objective(), t.Architecture())
	if t.Config.Scorer != "forest" {
		model += fmt.Sprintf("; %s; matrix products by %s", t.Config.Optimizer, blas.Name())
	}
	command.Note(w, model)
	if n := t.LeftOut(); n > 0 {
		command.Note(w, fmt.Sprintf("%d training queries, %d without a relevant document left out: %s learns nothing from them",
			s.Train.Queries(), n, t.Config.Loss))
	}
	command.Note(w, fmt.Sprintf("the best epoch is the one of the best %s on the validation split", t.Validation()))
}

// A progress shows how far training has come: a line an epoch, and a bar on a
// terminal.
type progress struct {
	terminal *command.Bar
	metric   string
	epochs   int
	done     int // epochs, when training began
	best     string
	skipped  int           // the last epoch with a batch that was skipped
	json     *json.Encoder // of standard output, or nil
}

func (p *progress) step(s train.Step) {
	if s.Skipped != nil && s.Epoch != p.skipped { // the first of an epoch
		p.skipped = s.Epoch
		p.terminal.Line(fmt.Sprintf("warning: a batch was skipped: %v", s.Skipped))
	}
	ended := float64(s.Epoch-1-p.done) + float64(s.Step)/float64(s.Steps)
	p.terminal.Set(ended/float64(p.epochs-p.done), fmt.Sprintf("%d/%d epochs%s", s.Epoch, p.epochs, p.best))
}

// initial shows the validation of the model that training begins with.
func (p *progress) initial(vali train.Values) error {
	p.takeBest(vali)
	p.terminal.Line(fmt.Sprintf("initial model  vali %s %.4f  best", p.metric, float64(vali[p.metric])))
	return p.encode(map[string]train.Values{"initial": vali})
}

func (p *progress) takeBest(vali train.Values) {
	p.best = fmt.Sprintf(", best\u00a0%.4f", float64(vali[p.metric])) // one word, that is shown or not
}

func (p *progress) encode(v any) error {
	if p.json == nil {
		return nil
	}
	return p.json.Encode(v)
}

func (p *progress) epoch(e train.Epoch) error {
	value := fmt.Sprintf("%s %.4f", p.metric, float64(e.Vali[p.metric]))
	mark := ""
	if e.Best {
		p.takeBest(e.Vali)
		mark = "  best"
	}
	if e.Skipped > 0 {
		mark += fmt.Sprintf("  skipped batches: %d", e.Skipped)
	}
	p.terminal.LineLeft(fmt.Sprintf("epoch %*d/%d  loss %.4f  vali %s%s", len(fmt.Sprint(p.epochs)), e.Epoch, p.epochs, e.Loss, value, mark))
	return p.encode(e)
}
