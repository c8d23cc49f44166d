package recipe

import (
	"context"
	"slices"

	"github.com/plrank/plrank/datasets"
	"github.com/plrank/plrank/ranker"
	"github.com/plrank/plrank/train"
)

// OfModel reports whether the setting of that flag makes a model. A plan of several models has a value of it for each.
func OfModel(flag string) bool {
	return slices.ContainsFunc(new(train.Config).Settings(), func(s train.Setting) bool {
		return s.Flag == flag && s.Group != "" && s.Group != "Evaluation" && !s.Measuring && !s.Resumable &&
			s.Flag != "categorical" && s.Flag != "shards"
	})
}

// A Result holds what the training of a Plan ended with. Of several models, the Model is their mixture, and the History has the
// epochs of one after another, numbered from 1.
type Result struct {
	*train.Result
	Shares []float64 // of the models in the mixture, see Mix; nil: it is a single model
}

// Run trains the models on splits, and mixes them.
func (p Plan) Run(ctx context.Context, s *datasets.Splits, h train.Hooks) (*Result, error) {
	return p.Train(s.Vali, func(_ int, c train.Config) (*train.Result, error) { return train.Run(ctx, c, s, h) })
}

// Train is Run with a function that trains a model, given its index. The shares of a mixture are chosen on vali, by the metric of the
// first model. After a model whose training was interrupted, no other is trained.
func (p Plan) Train(vali *datasets.Dataset, one func(i int, c train.Config) (*train.Result, error)) (*Result, error) {
	var results []*train.Result
	for i, c := range p.Models {
		r, err := one(i, c)
		if err != nil {
			return nil, err
		}
		if results = append(results, r); r.Interrupted {
			break
		}
	}
	if len(results) == 1 {
		return &Result{Result: results[0]}, nil
	}
	all := &Result{Result: new(train.Result)}
	var models []*ranker.Model
	for i, r := range results {
		models = append(models, r.Model)
		for _, e := range r.History {
			e.Epoch, e.Model = len(all.History)+1, i+1
			all.History = append(all.History, e)
		}
		all.Interrupted = r.Interrupted
	}
	var err error
	all.Model, all.Shares, err = Mix(p.Models[0], vali, models...)
	return all, err
}
