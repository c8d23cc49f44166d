package trainer

import (
	"encoding/json"
	"fmt"
	"io"
	"math"
	"slices"
	"strings"

	"github.com/plrank/plrank/cmd/internal/cli"
	"github.com/plrank/plrank/datasets"
	"github.com/plrank/plrank/internal/blas"
	"github.com/plrank/plrank/internal/command"
	"github.com/plrank/plrank/recipe"
	"github.com/plrank/plrank/train"
)

// describe says which data are learned from.
func describe(w io.Writer, s *datasets.Splits) {
	for _, split := range cli.Named(s) {
		command.Note(w, split.Data.String())
	}
	for _, weights := range []struct {
		what   string
		values []float32
	}{{"documents", s.Train.Weights}, {"queries", s.Train.QueryWeights}} {
		if len(weights.values) > 0 {
			fmt.Fprintf(w, "weights of %s, from %g to %g, count in the loss\n", weights.what, slices.Min(weights.values), slices.Max(weights.values))
		}
	}
}

// describeModel says what is going to be trained.
func describeModel(w io.Writer, data *datasets.Dataset, t *train.Trainer) {
	command.Note(w, words(t))
	if n := t.LeftOut(); n > 0 {
		command.Note(w, fmt.Sprintf("%d training queries, %d without a relevant document left out: %s learns nothing from them",
			data.Queries(), n, t.Config.Loss))
	}
	command.Note(w, fmt.Sprintf("the best epoch is the one of the best %s on the validation split", t.Validation()))
}

// words describes a model and what it learns.
func words(t *train.Trainer) string {
	model := fmt.Sprintf("%s; %s", t.Objective(), t.Architecture())
	if t.Config.Scorer != "forest" {
		model += fmt.Sprintf("; %s; matrix products by %s", t.Config.Optimizer, blas.Name())
	}
	return model
}

// sayWhatWasTaken says what each model had, and what was taken of it.
func sayWhatWasTaken(w io.Writer, r *recipe.Result) {
	if r.Shares == nil {
		return
	}
	var had, taken []string
	for i, value := range r.Values {
		if !math.IsNaN(value) { // of a model that was not trained
			had = append(had, fmt.Sprintf("model %d %.4f", i+1, value))
		}
		if r.Shares[i] > 0 {
			taken = append(taken, fmt.Sprintf("model %d with %.2f", i+1, r.Shares[i]))
		}
	}
	command.Note(w, fmt.Sprintf("%s on the validation split: %s", r.Metric, strings.Join(had, ", ")))
	command.Note(w, fmt.Sprintf("shares by %d queries: %s", r.Queries, strings.Join(taken, ", ")))
}

// A progress shows how far training has come: a bar on a terminal, and else a few lines.
type progress struct {
	terminal *command.Bar
	stderr   io.Writer // for warnings
	metric   string
	epochs   int
	done     int // epochs, when training began
	model    int // of several, from 1, which have no line an epoch; 0: the only one
	best     string
	skipped  int           // batches
	warned   bool          // of the first of them
	json     *json.Encoder // of standard output, or nil
}

func (p *progress) step(s train.Step) {
	if s.Skipped != nil && !p.warned {
		p.warned = true
		if text := fmt.Sprintf("a batch was skipped: %v", s.Skipped); p.terminal.Shown() {
			p.terminal.Line("warning: " + text)
		} else {
			command.Warn(p.stderr, text)
		}
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

// mostLines is how many of the epochs have a line where no terminal shows a bar, besides the first.
const mostLines = 10

func (p *progress) epoch(e train.Epoch) error {
	p.skipped += e.Skipped
	value := fmt.Sprintf("%s %.4f", p.metric, float64(e.Vali[p.metric]))
	mark := ""
	if e.Best {
		p.takeBest(e.Vali)
		mark = "  best"
	}
	e.Model = p.model
	due := e.Epoch == p.done+1 || e.Epoch*mostLines/p.epochs > (e.Epoch-1)*mostLines/p.epochs
	if p.terminal.Shown() || p.model > 0 || !due {
		return p.encode(e)
	}
	for _, t := range e.Targets {
		value += "  " + t.String()
	}
	p.terminal.LineLeft(fmt.Sprintf("epoch %*d/%d  loss %.4f  vali %s%s", len(fmt.Sprint(p.epochs)), e.Epoch, p.epochs, e.Loss, value, mark))
	return p.encode(e)
}
