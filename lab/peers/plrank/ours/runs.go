package main

import (
	"context"
	"errors"
	"fmt"
	"path/filepath"

	"github.com/plrank/plrank/datasets"
	"github.com/plrank/plrank/internal/npzfile"
	"github.com/plrank/plrank/nn"
	"github.com/plrank/plrank/ops"
	"github.com/plrank/plrank/recipe"
	"github.com/plrank/plrank/train"
)

// A method is a loss with its learning rate.
type method struct {
	Loss string  `json:"loss"`
	Rate float64 `json:"rate"`
}

var methods = []method{
	{"policy-gradient", 0.01}, {"plrank1", 0.01}, {"plrank2", 0.01}, {"lambdaloss", 0.001},
}

// writeRuns writes DCG@5 on the test split after every epoch of every run, "curve-METHOD" by
// number, and the initial weights of every run: made from its number as the seed, the same for every method.
func writeRuns(folder string, runs int) error {
	splits := collection()
	transform, err := datasets.FitTransform("minmax", splits.Train)
	if err != nil {
		return err
	}
	var arrays []npzfile.Array
	for i, m := range methods {
		var curves []float64
		for run := range runs {
			curve, err := trained(splits, m, uint64(run+1))
			if err != nil {
				return err
			}
			curves = append(curves, curve...)
		}
		arrays = append(arrays, npzfile.Array{Name: fmt.Sprintf("curve-%d", i), Shape: []int{runs, chosen.Epochs}, Data: curves})
	}
	for run := range runs {
		model, err := nn.NewMLP(nn.MLPConfig{Features: transform.Width(), Hidden: chosen.Hidden, Activation: ops.Sigmoid, Seed: uint64(run + 1)})
		if err != nil {
			return err
		}
		for _, a := range model.Weights().Arrays() {
			arrays = append(arrays, npzfile.Array{Name: fmt.Sprintf("%s-%d", a.Name, run+1), Shape: a.Shape, Data: model.Weights().Get(a.Name)})
		}
	}
	return npzfile.Write(filepath.Join(folder, "runs.npz"), methods, arrays)
}

// printSpread prints where runs of PL-Rank-2 end.
func printSpread(_ string, runs int) error {
	fmt.Println("code,anew,run,dcg@5")
	splits := collection()
	for run := range runs {
		curve, err := trained(splits, method{"plrank2", chosen.Rate}, uint64(run+1))
		if err != nil {
			return err
		}
		fmt.Printf("plrank,all,%d,%.7g\n", run+1, curve[len(curve)-1])
	}
	return nil
}

// trained is DCG@5 on the test split after every epoch.
func trained(splits *datasets.Splits, m method, seed uint64) (curve []float64, err error) {
	c := recipe.Paper()
	c.Loss, c.LearningRate, c.Seed = m.Loss, m.Rate, seed
	c.Samples, c.Epochs, c.Hidden, c.EvaluateTest = train.SampleCount(chosen.Samples), chosen.Epochs, chosen.Hidden, true
	result, err := train.Run(context.Background(), c, splits, train.Hooks{})
	if err != nil {
		return nil, err
	}
	for _, epoch := range result.History {
		value, ok := epoch.Test["dcg@5"]
		if !ok {
			return nil, errors.New("package train reports no dcg@5")
		}
		curve = append(curve, float64(value))
	}
	return curve, nil
}
