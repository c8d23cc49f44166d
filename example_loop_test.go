package plrank_test

import (
	"fmt"
	"os"
	"path/filepath"
	"slices"

	G "gorgonia.org/gorgonia"
	"gorgonia.org/tensor"

	"github.com/plrank/plrank/datasets"
	"github.com/plrank/plrank/losses"
	"github.com/plrank/plrank/metrics"
	"github.com/plrank/plrank/nn"
	"github.com/plrank/plrank/ops"
	"github.com/plrank/plrank/plackett"
	"github.com/plrank/plrank/transforms"
)

// A training loop without package train: LETOR files, a transform, packed batches, a
// Gorgonia graph, Gorgonia's Adam, and NDCG on the validation split.
func Example_trainingLoop() {
	folder := letorFolder() // such as MQ2008/Fold1
	defer os.RemoveAll(folder)
	splits, err := datasets.Open(folder, datasets.Options{})
	check(err)
	transform, err := datasets.FitTransform("minmax+log-standard", splits.Train)
	check(err)
	model, err := nn.NewMLP(nn.MLPConfig{Features: transform.Width(), Hidden: []int{32}, Activation: ops.ReLU, Seed: 1})
	check(err)

	// One graph of a fixed size serves all batches: smaller ones are padded.
	const queries = 4
	most := 0
	for q := range splits.Train.Queries() {
		most = max(most, splits.Train.Offsets[q+1]-splits.Train.Offsets[q])
	}
	rows := queries * most
	g := G.NewGraph()
	x := G.NewMatrix(g, tensor.Float32, G.WithName("x"), G.WithShape(rows, transform.Width()))
	gains := G.NewVector(g, tensor.Float32, G.WithName("gains"), G.WithShape(rows))
	offsets := G.NewVector(g, tensor.Int, G.WithName("offsets"), G.WithShape(queries+1))
	weights := model.Weights().Nodes(g)
	scores, err := model.Build(nn.Input{Features: x, Offsets: offsets, Weights: weights}, nn.Train)
	check(err)
	lists := ops.Lists{Scores: scores, Offsets: offsets}
	loss, err := losses.Expected(losses.DCG, losses.Sampled(plackett.PLRankRB)).Mean(losses.Batch{
		Lists: lists, Gains: gains, Discounts: metrics.Discounts(10), Sampler: ops.NewSampler(100, 10, 1),
	})
	check(err)
	_, err = G.Grad(loss, weights...)
	check(err)
	vm := G.NewTapeMachine(g, G.BindDualValues(weights...))
	defer vm.Close()
	adam := G.NewAdamSolver(G.WithLearnRate(0.003))

	fmt.Printf("NDCG@10 before: %.1f\n", ndcg(model, transform, splits.Vali))
	all := make([]int, splits.Train.Queries())
	for q := range all {
		all[q] = q
	}
	var batch datasets.Batch
	for range 8 { // epochs
		for some := range slices.Chunk(all, queries) {
			batch.Pack(splits.Train, transform, some, rows, queries)
			batchGains, err := metrics.Exp2Gain.Gains32(batch.Labels)
			check(err)
			check(G.Let(x, tensor.New(tensor.WithShape(rows, transform.Width()), tensor.WithBacking(batch.X))))
			check(G.Let(gains, tensor.New(tensor.WithBacking(batchGains))))
			check(G.Let(offsets, tensor.New(tensor.WithBacking(batch.Offsets))))
			check(vm.RunAll())
			check(adam.Step(G.NodesToValueGrads(weights)))
			vm.Reset()
		}
	}
	fmt.Printf("NDCG@10 after:  %.1f\n", ndcg(model, transform, splits.Vali))
	// Output:
	// NDCG@10 before: 0.3
	// NDCG@10 after:  0.6
}

// ndcg scores a dataset in one graph and returns the mean NDCG@10.
func ndcg(model nn.Scorer, transform *transforms.Transform, d *datasets.Dataset) float64 {
	all := make([]int, d.Queries())
	for q := range all {
		all[q] = q
	}
	var batch datasets.Batch
	batch.Pack(d, transform, all, d.Rows(), d.Queries())
	g := G.NewGraph()
	x := G.NewMatrix(g, tensor.Float32, G.WithName("x"), G.WithShape(d.Rows(), transform.Width()),
		G.WithValue(tensor.New(tensor.WithShape(d.Rows(), transform.Width()), tensor.WithBacking(batch.X))))
	offsets := G.NewVector(g, tensor.Int, G.WithName("offsets"), G.WithShape(d.Queries()+1),
		G.WithValue(tensor.New(tensor.WithBacking(batch.Offsets))))
	scores, err := model.Build(nn.Input{Features: x, Offsets: offsets, Weights: model.Weights().Nodes(g)}, nn.Evaluate)
	check(err)
	vm := G.NewTapeMachine(g)
	defer vm.Close()
	check(vm.RunAll())
	values, err := nn.Float64s(scores.Value())
	check(err)
	measure, err := metrics.ParseMeasure("ndcg@10")
	check(err)
	perQuery, err := measure.PerQuery(metrics.Queries{Scores: values, Labels: d.Labels, Offsets: d.Offsets})
	check(err)
	return metrics.Mean(perQuery, metrics.LabelFreeSkip)
}

// letorFolder writes synthetic data to a folder of LETOR files.
func letorFolder() string {
	folder, err := os.MkdirTemp("", "letor")
	check(err)
	s := datasets.Synthetic(datasets.SyntheticOptions{Train: 60, Vali: 30, Test: 30, Seed: 1})
	for name, d := range map[string]*datasets.Dataset{"train.txt": s.Train, "vali.txt": s.Vali, "test.txt": s.Test} {
		f, err := os.Create(filepath.Join(folder, name))
		check(err)
		check(datasets.WriteLETOR(f, d))
		check(f.Close())
	}
	return folder
}
