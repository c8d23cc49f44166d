package main

import (
	"context"
	"fmt"
	"slices"
	"sync"

	G "gorgonia.org/gorgonia"
	"gorgonia.org/tensor"

	"github.com/plrank/plrank/datasets"
	"github.com/plrank/plrank/lab/internal/variance"
	"github.com/plrank/plrank/metrics"
	"github.com/plrank/plrank/nn"
	"github.com/plrank/plrank/ranker"
	"github.com/plrank/plrank/train"
	"github.com/plrank/plrank/transforms"
	"github.com/plrank/plrank/viz"
)

const (
	trainingFile = "variance-training.csv"
	// Gradients with respect to the weights are measured on fewer queries and estimates:
	// each takes a pass through the network.
	weightQueries = 30
	weightRepeats = 20
)

// trainingEpochs are when the variance is measured along the training, the last epoch as
// well; 0 is before it.
var trainingEpochs = []int{0, 1, 2, 5, 10, 20}

var trainingColumns = []string{"data", "estimator", "epoch", "samples", "queries", "trace", "trace_se", "sampling", "picking"}

// A trainingPoint is the variance of a method for the network that it has trained so far.
type trainingPoint struct {
	Epoch    int     `json:"epoch"`
	Trace    float64 `json:"trace"` // with respect to the scores
	TraceErr float64 `json:"traceError"`
	Sampling float64 `json:"sampling"` // with respect to the weights, by sampling rankings
	Picking  float64 `json:"picking"`  // the same by picking a query
}

// runVarianceTraining trains the paper's network by each estimator, and measures the
// variance of that one on the way.
func (s *session) runVarianceTraining(ctx context.Context) error {
	t := newTable(trainingColumns...)
	list := paperEstimators()
	bar := newProgress(s.stderr, s.command+": along the training", len(list))
	defer bar.finish()
	for i, m := range list {
		c := s.config(m.Name, varianceSamples, 0)
		c.EvaluateTest = false
		d, gains, err := s.varianceData(c.Plain().Gain)
		if err != nil {
			return err
		}
		settings := struct {
			Config  train.Config `json:"config"`
			Repeats int          `json:"repeats"`
		}{c, s.Repeats}
		points, err := kept(s, trialFile("variance-training-"+m.Name, settings), settings, func() ([]trainingPoint, error) {
			return s.alongTraining(ctx, c, m, d, gains, func(part float64) { bar.at(i, part) })
		})
		if err != nil {
			return err
		}
		for _, p := range points {
			t.add(s.data.ID.Name, m.Name, p.Epoch, varianceSamples, d.Queries(), p.Trace, p.TraceErr, p.Sampling, p.Picking)
		}
		bar.done(i, m.Name)
	}
	return t.write(s.file(trainingFile))
}

func (s *session) alongTraining(
	ctx context.Context,
	c train.Config,
	m variance.Method,
	d *datasets.Dataset,
	gains []float64,
	done func(float64),
) ([]trainingPoint, error) {
	t, err := train.New(c, train.Custom{}, s.data.splits)
	if err != nil {
		return nil, err
	}
	var points []trainingPoint
	measure := func(epoch int) error {
		current, err := t.Current()
		if err != nil {
			return err
		}
		p, err := s.trainingPoint(ctx, m, current, d, gains)
		p.Epoch = epoch
		points = append(points, p)
		return err
	}
	if err := measure(0); err != nil {
		return nil, err
	}
	result, err := t.Run(ctx, train.Hooks{Epoch: func(_ *train.Trainer, e train.Epoch) error {
		done(float64(e.Epoch) / float64(c.Epochs))
		if !slices.Contains(trainingEpochs, e.Epoch) && e.Epoch != c.Epochs {
			return nil
		}
		return measure(e.Epoch)
	}})
	if err != nil {
		return nil, err
	}
	if result.Interrupted {
		return nil, ctx.Err()
	}
	return points, nil
}

func (s *session) trainingPoint(
	ctx context.Context,
	m variance.Method,
	model *ranker.Model,
	d *datasets.Dataset,
	gains []float64,
) (p trainingPoint, err error) {
	st, err := newStage("", model, d, gains)
	if err != nil {
		return p, err
	}
	discounts := metrics.Discounts(varianceCutoff)
	measure := func(lists []variance.List, repeats int) (trace, stdErr float64, err error) {
		traces, err := variance.Measure(
			ctx,
			lists,
			discounts,
			variance.Options{Methods: []variance.Method{m}, Samples: varianceSamples, Repeats: repeats, Seed: s.Seed},
		)
		trace, stdErr = variance.Mean(traces).Trace(m.Name)
		return trace, stdErr, err
	}
	if p.Trace, p.TraceErr, err = measure(st.Lists, s.Repeats); err != nil {
		return p, err
	}
	pull, err := newBackward(model, d)
	if err != nil {
		return p, err
	}
	for q := range st.Lists {
		st.Lists[q].Pull = func(lambda []float64) ([]float64, error) { return pull.weights(q, lambda) }
	}
	if p.Sampling, _, err = measure(st.Lists[:min(weightQueries, len(st.Lists))], min(weightRepeats, s.Repeats)); err != nil {
		return p, err
	}
	p.Picking, err = variance.Picking(st.Lists, discounts)
	return p, err
}

// A backward is the backward pass of a network: gradients with respect to the scores of a
// query become such with respect to the weights.
type backward struct {
	mu        sync.Mutex
	data      *datasets.Dataset
	transform *transforms.Transform
	batch     datasets.Batch
	x, lambda *G.Node
	gradients G.Nodes
	vm        G.VM
}

func newBackward(model *ranker.Model, d *datasets.Dataset) (*backward, error) {
	file := model.File()
	scorer, err := train.Scorer(file)
	if err != nil {
		return nil, err
	}
	rows := 0
	for q := range d.Queries() {
		rows = max(rows, d.Offsets[q+1]-d.Offsets[q])
	}
	g := G.NewGraph()
	b := &backward{
		data: d, transform: file.Transform,
		x:      G.NewMatrix(g, tensor.Float32, G.WithShape(rows, file.Transform.Width()), G.WithName("x")),
		lambda: G.NewVector(g, tensor.Float32, G.WithShape(rows), G.WithName("lambda")),
	}
	weights := scorer.Weights().Nodes(g)
	scores, err := scorer.Build(nn.Input{Features: b.x, Weights: weights}, nn.Evaluate)
	if err != nil {
		return nil, err
	}
	// The gradient of Σ_d λ_d m_d with respect to the weights.
	product, err := G.HadamardProd(scores, b.lambda)
	if err != nil {
		return nil, err
	}
	sum, err := G.Sum(product)
	if err != nil {
		return nil, err
	}
	if b.gradients, err = G.Grad(sum, weights...); err != nil {
		return nil, err
	}
	b.vm = G.NewTapeMachine(g)
	return b, nil
}

// weights maps the gradient with respect to the scores of query q.
func (b *backward) weights(q int, lambda []float64) ([]float64, error) {
	b.mu.Lock()
	defer b.mu.Unlock()
	rows := b.x.Shape()[0]
	b.batch.Pack(b.data, b.transform, []int{q}, rows, 1)
	padded := make([]float32, rows)
	for d, x := range lambda {
		padded[d] = float32(x)
	}
	if err := G.Let(b.x, tensor.New(tensor.WithShape(b.x.Shape()...), tensor.WithBacking(b.batch.X))); err != nil {
		return nil, err
	}
	if err := G.Let(b.lambda, tensor.New(tensor.WithShape(rows), tensor.WithBacking(padded))); err != nil {
		return nil, err
	}
	b.vm.Reset()
	if err := b.vm.RunAll(); err != nil {
		return nil, fmt.Errorf("reproduce: %w", err)
	}
	var all []float64
	for _, n := range b.gradients {
		numbers, err := nn.Float64s(n.Value())
		if err != nil {
			return nil, err
		}
		all = append(all, numbers...)
	}
	return all, nil
}

// trainingTraces are the variances along each method's own training.
func trainingTraces(t *csvTable) (viz.Table, error) {
	return trainingTable(t, "trace of the covariance with respect to the scores", func(rows *csvTable) ([]string, error) {
		return withErrors(rows, "trace", "trace_se")
	})
}

// trainingNoise compares the noise of sampling rankings with the noise of picking a query.
func trainingNoise(t *csvTable) (viz.Table, error) {
	return trainingTable(
		t,
		"trace of the covariance with respect to the weights, from sampling rankings, divided by that from picking a query",
		func(rows *csvTable) ([]string, error) {
			columns, err := rows.numbers("sampling", "picking")
			if err != nil {
				return nil, err
			}
			var texts []string
			for i, sampling := range columns[0] {
				texts = append(texts, brief(sampling/columns[1][i]))
			}
			return texts, nil
		},
	)
}

// trainingTable has a row for each method and a column for each epoch.
func trainingTable(t *csvTable, what string, texts func(*csvTable) ([]string, error)) (viz.Table, error) {
	table := viz.Table{
		Title: fmt.Sprintf(
			"%s, each method along its own training, K = %d, N = %d: %s",
			t.texts("data")[0],
			varianceCutoff,
			varianceSamples,
			what,
		),
		Columns: []string{"method"},
	}
	for _, epoch := range t.distinct("epoch") {
		table.Columns = append(table.Columns, "epoch "+epoch)
	}
	for _, estimator := range t.distinct("estimator") {
		row, err := texts(t.where("estimator", estimator))
		if err != nil {
			return table, err
		}
		table.Rows = append(table.Rows, textRow(row, varianceMethod(estimator).label))
	}
	return table, nil
}

// trainingPlot draws the first of these.
func trainingPlot(t *csvTable) (figure, error) {
	title := t.texts("data")[0] + ", each method along its own training"
	traces := viz.Plot{Title: title, X: "training epoch", Y: "trace of the covariance", LogY: true}
	for _, estimator := range t.distinct("estimator") {
		s, err := spreadSeries(t.where("estimator", estimator), "epoch", "trace", "trace_se")
		if err != nil {
			return figure{}, err
		}
		m := varianceMethod(estimator)
		s.Name, s.Color = m.label, m.color
		traces.Series = append(traces.Series, s)
	}
	return figure{"variance-training", traces}, nil
}
