package main

import (
	"context"
	"fmt"

	"github.com/plrank/plrank/clicks"
	"github.com/plrank/plrank/datasets"
	"github.com/plrank/plrank/ranker"
	"github.com/plrank/plrank/recipe"
	"github.com/plrank/plrank/train"
)

// learn trains a model on a log: it estimates which ranks users look at, turns clicks into gains, and maximises the expected gain
// of rankings, close to the logged ones where clicks are few.
func learn(ctx context.Context, log *clicks.Log, seed uint64) (*ranker.Model, clicks.Bias, error) {
	bias, _, err := clicks.EstimateBias(log, clicks.AllPairs)
	if err != nil {
		return nil, bias, fmt.Errorf("position bias: %w", err)
	}
	gains, err := clicks.Gains(log, bias, clicks.DR)
	if err != nil {
		return nil, bias, fmt.Errorf("gains: %w", err)
	}
	gains.Name = "clicks"
	splits, err := datasets.HoldOut(gains, seed) // a part of the queries chooses the best epoch
	if err != nil {
		return nil, bias, err
	}
	config := recipe.Single("mlp", splits).Models[0]
	config.Loss = "plrank-exact+0.1*exposure-risk(0.95)"
	config.Cutoff, config.Members, config.Epochs, config.Seed = shown, 1, 10, seed
	result, err := train.Run(ctx, config, splits, train.Hooks{})
	if err != nil {
		return nil, bias, fmt.Errorf("training: %w", err)
	}
	return result.Model, bias, nil
}
