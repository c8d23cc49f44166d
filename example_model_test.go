package plrank_test

import (
	"context"
	"encoding/json"
	"fmt"
	"math/rand/v2"
	"os"
	"path/filepath"

	G "gorgonia.org/gorgonia"
	"gorgonia.org/tensor"

	"github.com/plrank/plrank/datasets"
	"github.com/plrank/plrank/nn"
	"github.com/plrank/plrank/ranker"
	"github.com/plrank/plrank/train"
)

// A machine is a custom model, a factorisation machine (Rendle 2010, eq. 1, 5):
//
//	score(x) = w·x + Σ_i<j (v_i·v_j) x_i x_j = w·x + ½ Σ_f [(x·v_f)² − x²·v_f²]
type machine struct {
	weights *nn.Weights
	Factors int `json:"factors"` // the length of every v_i
}

func (m *machine) arrays(features int) []nn.Array {
	return []nn.Array{{Name: "w", Shape: []int{features}}, {Name: "v", Shape: []int{features, m.Factors}}}
}

func newMachine(features int) (nn.Scorer, error) {
	m := &machine{Factors: 4}
	var err error
	if m.weights, err = nn.NewWeights(tensor.Float32, m.arrays(features)...); err != nil {
		return nil, err
	}
	rng := rand.New(rand.NewPCG(1, 0))
	initial := make([]float64, features*m.Factors)
	for i := range initial {
		initial[i] = 0.01 * rng.NormFloat64()
	}
	return m, m.weights.Set("v", initial)
}

// readMachine makes a machine from its file.
func readMachine(settings []byte, stored *nn.Weights) (nn.Scorer, error) {
	m := &machine{}
	if err := json.Unmarshal(settings, m); err != nil {
		return nil, err
	}
	var err error
	m.weights, err = stored.Select(m.arrays(len(stored.Get("w")))...)
	return m, err
}

func (m *machine) Kind() string         { return "factorisation machine" }
func (m *machine) Settings() any        { return m }
func (m *machine) Weights() *nn.Weights { return m.weights }

func (m *machine) Build(in nn.Input, _ nn.Mode) (scores *G.Node, err error) {
	x, w, v := in.Features, in.Weights[0], in.Weights[1]
	linear, err := G.Mul(x, w)
	if err != nil {
		return nil, err
	}
	all := G.Must(G.Square(G.Must(G.Mul(x, v))))
	own := G.Must(G.Mul(G.Must(G.Square(x)), G.Must(G.Square(v))))
	pairs := G.Must(G.Sum(G.Must(G.Sub(all, own)), 1))
	return G.Add(linear, G.Must(G.Mul(pairs, G.NewConstant(float32(0.5)))))
}

// A custom model is trained by PL-Rank on LETOR files, resumes from a
// checkpoint, is saved and read back, and scores documents.
func Example_customModel() {
	folder := letorFolder() // such as MQ2008/Fold1
	defer os.RemoveAll(folder)
	splits, err := datasets.Open(folder, datasets.Options{})
	check(err)
	nn.Register("factorisation machine", readMachine)

	config := train.Default()
	config.Loss, config.Transform, config.LearningRate, config.Epochs = "plrank-rb", "minmax", 0.006, 3
	trainer, err := train.New(config, train.Custom{Scorer: newMachine}, splits)
	check(err)
	fmt.Println(trainer.Architecture())
	_, err = trainer.Run(context.Background(), train.Hooks{})
	check(err)
	checkpoint := filepath.Join(folder, "checkpoint.npz")
	progress, err := trainer.Checkpoint()
	check(err)
	check(progress.Save(checkpoint))

	config.Epochs = 6
	trainer, err = train.New(config, train.Custom{Scorer: newMachine}, splits)
	check(err)
	check(trainer.Restore(checkpoint))
	result, err := trainer.Run(context.Background(), train.Hooks{})
	check(err)
	fmt.Println(len(result.History), "epochs")

	file := filepath.Join(folder, "model.npz")
	check(result.Model.Save(file))
	model, err := ranker.Open(file)
	check(err)
	scores, err := datasets.Score(model, splits.Test)
	check(err)
	fmt.Println("all documents have a score:", len(scores) == splits.Test.Rows())
	report, err := trainer.Report(model)
	check(err)
	for i, name := range []string{"random order", "machine"} {
		row := i * (len(report.Splits[2].Rankers) - 1)
		fmt.Printf("%-12s  test NDCG@10 %.1f\n", name, report.Splits[2].Value(row, "ndcg@10"))
	}
	// Output:
	// 124 inputs, factorisation machine, 620 weights
	// 6 epochs
	// all documents have a score: true
	// random order  test NDCG@10 0.2
	// machine       test NDCG@10 0.4
}
