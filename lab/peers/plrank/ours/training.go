package main

import (
	"cmp"
	"math"
	"math/rand/v2"
	"path/filepath"
	"slices"

	G "gorgonia.org/gorgonia"
	"gorgonia.org/tensor"

	"github.com/plrank/plrank/datasets"
	"github.com/plrank/plrank/internal/npzfile"
	"github.com/plrank/plrank/losses"
	"github.com/plrank/plrank/metrics"
	"github.com/plrank/plrank/nn"
	"github.com/plrank/plrank/ops"
	"github.com/plrank/plrank/plackett"
	"github.com/plrank/plrank/transforms"
)

// settings of the training run: the paper's, on a small collection.
type settings struct {
	Epochs  int     `json:"epochs"`
	Samples int     `json:"samples"`
	Cutoff  int     `json:"cutoff"`
	Rate    float64 `json:"rate"`
	Hidden  []int   `json:"hidden"`
}

var chosen = settings{Epochs: 40, Samples: 10, Cutoff: 5, Rate: 0.01, Hidden: []int{32, 32}}

// writeTraining writes data, initial weights, order of queries and noise of a training run by
// PL-Rank-2 in float64, and the test scores after each epoch.
func writeTraining(folder string, _ int) error {
	splits := collection()
	transform, err := datasets.FitTransform("minmax", splits.Train)
	if err != nil {
		return err
	}
	model, err := nn.NewMLP(
		nn.MLPConfig{Features: transform.Width(), Hidden: chosen.Hidden, Activation: ops.Sigmoid, Seed: 1, Dtype: tensor.Float64},
	)
	if err != nil {
		return err
	}
	var arrays []npzfile.Array
	add := func(name string, data []float64, shape ...int) {
		arrays = append(arrays, npzfile.Array{Name: name, Shape: shape, Data: slices.Clone(data)})
	}
	for _, a := range model.Weights().Arrays() {
		add(a.Name, model.Weights().Get(a.Name), a.Shape...)
	}
	training, test := prepare(splits.Train, transform), prepare(splits.Test, transform)
	for name, p := range map[string]*prepared{"train": training, "test": test} {
		add(name+"-features", p.features, len(p.gains), transform.Width())
		add(name+"-gains", p.gains, len(p.gains))
		add(name+"-offsets", floats(p.offsets), len(p.offsets))
	}
	curve, order, noise, err := learn(model, training, test)
	if err != nil {
		return err
	}
	add("scores", curve, chosen.Epochs, len(test.gains))
	add("order", floats(order), len(order))
	add("noise", noise, len(noise))
	return npzfile.Write(filepath.Join(folder, "training.npz"), chosen, arrays)
}

func collection() *datasets.Splits {
	return datasets.Synthetic(datasets.SyntheticOptions{Train: 40, Vali: 2, Test: 40, Seed: 1})
}

// A prepared split has transformed features, and only queries with a relevant document.
type prepared struct {
	features, gains []float64
	offsets         []int
	width           int
}

func prepare(d *datasets.Dataset, transform *transforms.Transform) *prepared {
	some := relevant(d)
	p := &prepared{offsets: some.Offsets, width: transform.Width()}
	for _, v := range packed(some, transform) {
		p.features = append(p.features, float64(v))
	}
	for _, label := range some.Labels {
		p.gains = append(p.gains, math.Exp2(float64(label))-1)
	}
	return p
}

// relevant has the queries with a relevant document.
func relevant(d *datasets.Dataset) *datasets.Dataset {
	var queries []int
	for q := range d.Queries() {
		if slices.Max(d.Labels[d.Offsets[q]:d.Offsets[q+1]]) > 0 {
			queries = append(queries, q)
		}
	}
	return d.Select(queries)
}

// packed are the transformed features of all documents.
func packed(d *datasets.Dataset, transform *transforms.Transform) []float32 {
	var batch datasets.Batch
	all := make([]int, d.Queries())
	for q := range all {
		all[q] = q
	}
	batch.Pack(d, transform, all, d.Rows(), d.Queries())
	return batch.X
}

// learn trains the model by ops.PLRank2, one query a step, on rankings by scores plus noise. It
// returns the test scores after each epoch, the order of queries, and the noise.
func learn(model *nn.MLP, training, test *prepared) (curve []float64, order []int, noise []float64, err error) {
	most := 0
	for q := range len(training.offsets) - 1 {
		most = max(most, training.offsets[q+1]-training.offsets[q])
	}
	scores, err := newGraph(model, most)
	if err != nil {
		return nil, nil, nil, err
	}
	defer scores.vm.Close()
	step, err := newGraph(model, most)
	if err != nil {
		return nil, nil, nil, err
	}
	if err := step.differentiate(); err != nil {
		return nil, nil, nil, err
	}
	defer step.vm.Close()
	sgd := G.NewVanillaSolver(G.WithLearnRate(chosen.Rate))
	rng := rand.New(rand.NewPCG(1, 2))
	for range chosen.Epochs {
		for _, q := range rng.Perm(len(training.offsets) - 1) {
			order = append(order, q)
			from, to := training.offsets[q], training.offsets[q+1]
			drawn := gumbel(rng, chosen.Samples*(to-from))
			noise = append(noise, drawn...)
			m, err := scores.run(training, from, to)
			if err != nil {
				return nil, nil, nil, err
			}
			step.rank(m, drawn)
			if _, err := step.run(training, from, to); err != nil {
				return nil, nil, nil, err
			}
			if err := sgd.Step(G.NodesToValueGrads(step.weights)); err != nil {
				return nil, nil, nil, err
			}
		}
		for q := range len(test.offsets) - 1 {
			for from := test.offsets[q]; from < test.offsets[q+1]; from += most {
				m, err := scores.run(test, from, min(from+most, test.offsets[q+1]))
				if err != nil {
					return nil, nil, nil, err
				}
				curve = append(curve, m...)
			}
		}
	}
	return curve, order, noise, nil
}

// A graph has the scores of one query of at most a given number of documents, and perhaps a loss.
type graph struct {
	x, scores                *G.Node
	gains, offsets, rankings *G.Node // of the loss, nil without one
	weights                  G.Nodes
	vm                       G.VM
	rows                     int
}

func newGraph(model *nn.MLP, rows int) (*graph, error) {
	g := G.NewGraph()
	width := model.Config().Features
	c := &graph{
		x:       G.NewMatrix(g, tensor.Float64, G.WithName("x"), G.WithShape(rows, width)),
		weights: model.Weights().Nodes(g),
		rows:    rows,
	}
	var err error
	c.scores, err = model.Build(nn.Input{Features: c.x, Weights: c.weights}, nn.Train)
	if err != nil {
		return nil, err
	}
	c.vm = G.NewTapeMachine(g)
	return c, nil
}

// differentiate adds the loss.
func (c *graph) differentiate() error {
	g := c.x.Graph()
	c.gains = G.NewVector(g, tensor.Float64, G.WithName("gains"), G.WithShape(c.rows))
	c.offsets = G.NewVector(g, tensor.Int, G.WithName("offsets"), G.WithShape(2))
	c.rankings = G.NewTensor(g, tensor.Int, 3, G.WithName("rankings"), G.WithShape(1, chosen.Samples, chosen.Cutoff))
	loss, err := losses.Expected(losses.DCG, losses.Sampled(plackett.PLRank2)).Mean(losses.Batch{
		Lists: ops.Lists{Scores: c.scores, Offsets: c.offsets}, Gains: c.gains, Rankings: c.rankings, Discounts: metrics.Discounts(chosen.Cutoff),
	})
	if err != nil {
		return err
	}
	if _, err := G.Grad(loss, c.weights...); err != nil {
		return err
	}
	c.vm = G.NewTapeMachine(g, G.BindDualValues(c.weights...))
	return nil
}

// rank sets the rankings: by descending score plus noise, −1 where a query is too short.
func (c *graph) rank(scores, noise []float64) {
	rankings := slices.Repeat([]int{-1}, chosen.Samples*chosen.Cutoff)
	for n := range chosen.Samples {
		y := make([]int, len(scores))
		for d := range y {
			y[d] = d
		}
		of := noise[n*len(scores):]
		slices.SortFunc(y, func(a, b int) int { return cmp.Compare(scores[b]+of[b], scores[a]+of[a]) })
		copy(rankings[n*chosen.Cutoff:(n+1)*chosen.Cutoff], y)
	}
	let(c.rankings, tensor.New(tensor.WithShape(1, chosen.Samples, chosen.Cutoff), tensor.WithBacking(rankings)))
}

// run computes the graph for rows of a split, and returns their scores.
func (c *graph) run(p *prepared, from, to int) ([]float64, error) {
	x := make([]float64, c.rows*p.width)
	copy(x, p.features[from*p.width:to*p.width])
	let(c.x, tensor.New(tensor.WithShape(c.rows, p.width), tensor.WithBacking(x)))
	if c.gains != nil {
		gains := make([]float64, c.rows)
		copy(gains, p.gains[from:to])
		let(c.gains, tensor.New(tensor.WithBacking(gains)))
		let(c.offsets, tensor.New(tensor.WithBacking([]int{0, to - from})))
	}
	c.vm.Reset()
	if err := c.vm.RunAll(); err != nil {
		return nil, err
	}
	return slices.Clone(c.scores.Value().Data().([]float64)[:to-from]), nil
}

func let(n *G.Node, v G.Value) {
	if err := G.Let(n, v); err != nil {
		panic(err) // shapes are this program's own
	}
}
