package train

import (
	"fmt"
	"slices"

	"gorgonia.org/tensor"

	"github.com/plrank/plrank/datasets"
	"github.com/plrank/plrank/nn"
	"github.com/plrank/plrank/ranker"
	"github.com/plrank/plrank/train/internal/network"
	"github.com/plrank/plrank/train/internal/trees"
	"github.com/plrank/plrank/transforms"
)

// A scoring gives the scores of some chunks of d that stand one after another, at the indices of
// their rows: see datasets.Dataset.Blocks.
type scoring interface {
	Score(d *datasets.Dataset, chunks []int) ([]float64, error)
}

// chunkRows is how many rows are scored at once, at least where there are as many.
const chunkRows = trees.ChunkRows

// modelScoring is by a trained model, of all documents: each rank computes them.
type modelScoring struct{ *ranker.Model }

func (m modelScoring) Score(d *datasets.Dataset, _ []int) ([]float64, error) {
	return datasets.Score(m, d)
}

// runScoring is scores that there are already.
type runScoring []float64

func (r runScoring) Score(d *datasets.Dataset, _ []int) ([]float64, error) {
	if len(r) != d.Rows() {
		return nil, fmt.Errorf("train: %s: %d scores for %d documents", d.Name, len(r), d.Rows())
	}
	return r, nil
}

func init() { ranker.RegisterOthers(byGraphs) }

// byGraphs returns a forward pass that runs the graphs of a model of any kind that package nn knows, and nil for other kinds. In a
// program that imports this package, package ranker uses it for kinds without a forward pass on slices. Several goroutines may
// call it at once. A program that builds graphs itself at the same time has a data race, since Gorgonia numbers some nodes, such
// as Rectify's, by a global counter.
func byGraphs(f *ranker.File) (ranker.Forward, error) {
	if !slices.Contains(nn.Kinds(), f.Kind) {
		return nil, nil
	}
	model, err := Scorer(f)
	if err != nil {
		return nil, err
	}
	return network.Forward(model, f.Transform.Width())
}

// File returns the file of a model that was trained without a [Trainer], on the features of d after the transform t, with the gain
// of that name. Its highest grade is the highest label of d. If d has base scores, the model adds to them. The file has a copy of
// the weights.
func File(model nn.Scorer, t *transforms.Transform, d *datasets.Dataset, gain string) (*ranker.File, error) {
	f := fileFor(t, d, gain)
	return f, network.Fill(f, model, model.Weights())
}

// fileFor is the file of a model that was trained on d, without the model.
func fileFor(t *transforms.Transform, d *datasets.Dataset, gain string) *ranker.File {
	var vectors []transforms.Vector
	for i, name := range d.Vectors.Names {
		if d.Products != nil {
			vectors = append(vectors, transforms.Vector{Name: name, Dimension: d.Vectors.Dimensions[i]})
		}
	}
	return &ranker.File{
		Vectors: vectors, Products: d.Products,
		Transform: t, FeatureIDs: d.FeatureIDs, FeatureNames: d.FeatureNames, Levels: d.Levels, NumberLevels: d.NumberLevels, Gain: gain,
		Columns: d.Roles, BaseScores: d.BaseScores != nil, Sparse: d.IsSparse(), Grade: d.HighestLabel(),
	}
}

var dtypes = map[string]tensor.Dtype{"float32": tensor.Float32, "float64": tensor.Float64}

// weightsOf returns the weights of a model file.
func weightsOf(f *ranker.File) (*nn.Weights, error) {
	var arrays []nn.Array
	for _, a := range f.Arrays {
		arrays = append(arrays, nn.Array{Name: a.Name, Shape: a.Shape})
	}
	weights, err := nn.NewWeights(dtypes[f.Dtype], arrays...)
	if err != nil {
		return nil, err
	}
	for _, a := range f.Arrays {
		if err := weights.Set(a.Name, a.Values); err != nil {
			return nil, err
		}
	}
	return weights, nil
}

// Scorer returns the model of a file, of any kind that package nn knows, to build graphs of. It has a copy of the weights.
func Scorer(f *ranker.File) (nn.Scorer, error) {
	weights, err := weightsOf(f)
	if err != nil {
		return nil, err
	}
	return nn.Read(f.Kind, f.Settings, weights)
}
