// Package recipe chooses models for data, with their settings, and says why; and it mixes models.
//
//	plan := recipe.For(splits)
//	result, err := plan.Run(ctx, splits, train.Hooks{})
//
// A [Plan] is one or more complete configurations of package train. To change a setting, change it in the Models that have it.
package recipe

import (
	"cmp"
	"fmt"
	"math"

	"github.com/plrank/plrank/datasets"
	"github.com/plrank/plrank/forest"
	"github.com/plrank/plrank/ops"
	"github.com/plrank/plrank/ranker"
	"github.com/plrank/plrank/train"
)

const (
	longFrom  = 50        // documents of a query, on average
	largeFrom = 100_000   // training documents
	slowFrom  = 1_000_000 // training documents; from here on a lower rate for longer is better
)

// tablesFrom is the part of the features that are of the query from which on large data have the recipe of tables, and small data the
// network of tables as a candidate. To try both recipes on part of large data costs many times the forest, and gains little
// (lab/recipe.md).
const tablesFrom = 0.1

// A Plan says which models are trained for some data, and why. Several are trained one after another, and mixed by [Mix].
type Plan struct {
	Models []train.Config // complete
	Reason string         // in words
}

// For returns the plan for training data. Below 100,000 documents several models are tried, see [Plan.Train]; from there on, where each
// takes long, they are a forest and a network; and for gains from clicks, or without data, it is a network. Sparse documents have a
// small network, on maxabs, and a forest on ranknet of trees of 31 leaves; where its weights would take more than 512 MB, a forest alone.
//
// The network of a plan of one, see [Single], has one of three recipes. The first has two forms; the one for short queries is also for
// no data:
//
//	features of     fewer than a tenth                                    a tenth or more
//	the query
//	documents       below 100,000                     from 100,000 on     any number
//	queries         short           long, of 50
//	                                documents
//	networks        three small ones, averaged        one of 256 and 32,  one of 256 and 128
//	                                                  SwiGLU
//	K               10              20                10                  10
//	inputs          several views of a feature        one, by quantile,   one, by quantile,
//	                and ranks       and what is       through 16 bins     and what is
//	                                missing                               missing
//	loss            plrank-exact and                                      softmax
//	                0.01 of         0.1 of            0.02 of
//	                softmax         softmax           query-rmse
//	against noise   dropout 0.3,    dropout 0.5,      group lasso of      dropout 0.2,
//	                group lasso     weight decay,     45/√documents       group lasso
//	                of 0.03         group lasso                           of 0.001
//	                                of 0.03
//	steps           of 4 queries                      of 32 queries       of 32 queries
//	rate            low, constant                     rises, then falls   low, constant
//	                                                  to 0 (cosine)
//	model           each network of its best epoch    average of the      the best epoch
//	                                                  weights over steps
//	epochs          30                                8                   up to 200, of large
//	                                                                      data fewer
//
// Forests are on softmax, with many small steps. Large data that are no table take query-rmse, steps of 0.3 and thresholds between 255
// bins, as many documents tell where a threshold is. Large tables take ranknet, and trees on half of the features each, whose 63 leaves are
// split one by one. Features of the query are attributes of users, trips or instances of a problem, and rank by
// thresholds and together with others.
//
// From a million documents on, the rate is half as high, the average is over five times as many steps, there
// are 20 passes over the training queries, with dropout 0.1 and two epochs each, so that there is a model soon, and the
// scale of query-rmse is four times as large.
//
// Models fit small data too closely: dropout and the decay of weights help against it, and so does the mean
// of several networks, which also varies less from seed to seed. At a low rate the best epoch is found more
// exactly. The expected metric, by which it is chosen where policies are about as sharp in all epochs, has less noise than the metric of
// one ranking. The gradient
// of NDCG at 10 comes from the few documents at the top: softmax adds what the others say, and so
// does a larger K for long queries, of 50 documents and more on average. The squared error of all differences within a
// query, query-rmse, says most, which large models need; by its scale, documents of the highest grade are to
// have scores that are 8 or 32 higher than documents of grade 0. Bins let them see thresholds and missing values, and products, SwiGLU,
// conditions
// that have to hold together. The group
// lasso keeps the weights of uninformative inputs small; of large data, the more documents, the less noise there is in a
// gradient, and the smaller a penalty is enough. lab/recipe.md has the trials.
func For(s *datasets.Splits) Plan {
	if s == nil || s.Train == nil || s.Train.Gains != nil {
		return Single("mlp", s)
	}
	if s.Train.IsSparse() {
		return sparsePlan(s)
	}
	if documents, queries := s.Train.Rows(), s.Train.Queries(); documents < largeFrom {
		models := candidates(documents, queries)
		if documentsOfLevel(s.Train) > 0 {
			models[1].Leaves = levelLeaves // and the other forest is symmetric
		}
		if queryShare(s) >= tablesFrom {
			models = append(models, tableRecipe(documents))
		}
		return Plan{models, fmt.Sprintf("small, below %d documents: %d models are tried", largeFrom, len(models))}
	}
	ofQuery := queryShare(s)
	network, reason := recipeFor("mlp", s, ofQuery)
	forest, _ := recipeFor(ranker.ForestKind, s, ofQuery)
	return Plan{[]train.Config{forest, network}, reason + ", and a forest"}
}

// candidates returns the models that are tried on small data, few and different, so that validation can tell which suit them: two
// forests, for labels by thresholds, the one by squared errors for noise; a linear model, for few queries; a wide network with
// bins, for smooth functions of attributes, and categories; and networks that see several views of a feature, for scores. Tables have their
// own network, too, which took as long as the others, and was not better, on other data.
func candidates(documents, queries int) []train.Config {
	softmax, squares := forestRecipe(), forestRecipe()
	softmax.Scorer, squares.Scorer = ranker.ForestKind, ranker.ForestKind
	squares.Loss, squares.LearningRate, squares.L2, squares.Patience = "query-rmse", 0.1, 3, 10

	views, _ := viewsRecipe(documents, queries)
	views.Epochs, views.Patience = 45, 10
	linear := train.Default()
	linear.Hidden, linear.Members, linear.Metric = nil, 1, softmax.Metric
	linear.Epochs, linear.Patience = 60, 10

	wide := train.Default()
	wide.Loss, wide.Transform, wide.Bins, wide.Metric = "softmax", "quantile+missing", 16, softmax.Metric
	wide.Hidden, wide.Members, wide.Dropout = []int{128, 64}, 1, 0.2
	wide.LearningRate, wide.GroupLasso, wide.Batch, wide.Patience = 0.002, 0.003, 16, 10
	wide.Epochs = min(120, 3_000_000/max(1, documents)) // about as many steps whatever the size, from 25,000 documents on
	return []train.Config{squares, softmax, linear, wide, views}
}

// Single returns the plan of one model of a kind, see train.Scorers. Networks of all kinds have the same settings.
//
// Gains from clicks are estimates, and may be negative: plrank-exact alone takes such gains.
// Divided by the best gain of their query, which is an estimate, too, they would not be right on average:
// they are not normalized. And no metric but the loss goes by them, if validation has no labels.
func Single(scorer string, s *datasets.Splits) Plan {
	c, reason := recipeFor(scorer, s, queryShare(s))
	return Plan{[]train.Config{c}, reason}
}

// recipeFor returns the settings of a kind of model for training data of that share of features of the query.
func recipeFor(scorer string, s *datasets.Splits, ofQuery float64) (c train.Config, reason string) {
	d := &datasets.Dataset{} // no data
	if s != nil && s.Train != nil {
		d = s.Train
	}
	switch {
	case d.IsSparse():
		c, reason = sparseRecipe(scorer), fmt.Sprintf("sparse documents of %d features", d.Width())
	case scorer == ranker.ForestKind:
		c, reason = forestRecipe(), "a forest"
		if documentsOfLevel(d) >= levelDocuments {
			c.Leaves, reason = levelLeaves, fmt.Sprintf("a forest, with levels of %d documents and more", levelDocuments)
		}
		if d.Rows() >= largeFrom {
			reason += fmt.Sprintf(", large, from %d documents on", largeFrom)
			if ofQuery < tablesFrom {
				c.Loss, c.LearningRate, c.Bins = "query-rmse", 0.3, forest.MaxBins
			} else {
				c.Loss, c.Leaves, c.FeatureSampling = "ranknet", 63, 0.5
			}
		}
	default:
		c, reason = recipeOf(d.Rows(), max(1, d.Queries()), d.HighestLabel(), ofQuery)
	}
	if c.Scorer = scorer; d.Gains == nil {
		return c, reason
	}
	c.Loss, c.NormalizeGains = "plrank-exact", false
	if s.Vali != nil && s.Vali.Gains != nil {
		c.Metric = train.LossMetric
	}
	return c, reason + ", for gains from clicks"
}

// levelLeaves are the leaves of trees for categories with more levels than bins. Alone, such a forest needs many documents of a level: it
// looks for users that like a kind of items, and finds some in noise, too. Symmetric trees do neither.
const (
	levelLeaves    = 31
	levelDocuments = 100
)

// documentsOfLevel returns the mean number of documents of a level, of categories with more levels than bins the least one, 0 without any.
func documentsOfLevel(d *datasets.Dataset) (documents int) {
	for _, levels := range d.Levels {
		if n := len(levels); n > forestRecipe().Bins {
			documents = min(cmp.Or(documents, d.Rows()), d.Rows()/n)
		}
	}
	return documents
}

// queryShare returns the part of the features of the training data that are features of the query, 0 without data.
func queryShare(s *datasets.Splits) float64 {
	if s == nil || s.Train == nil {
		return 0
	}
	d := s.Train
	varying, within := d.Varying(false), d.Varying(true)
	return float64(len(varying)-len(within)) / float64(max(1, len(varying)))
}

// recipeOf returns the recipe of a network for numbers of documents and queries, labels up to the highest, and a part of features that
// are of the query.
func recipeOf(documents, queries int, highest, ofQuery float64) (c train.Config, reason string) {
	if ofQuery >= tablesFrom {
		return tableRecipe(documents), fmt.Sprintf("a table, with %.0f %% features of the query, from %.0f %% on", 100*ofQuery, 100*tablesFrom)
	}
	if documents >= largeFrom {
		return largeRecipe(documents, highest), fmt.Sprintf("large, from %d documents on", largeFrom)
	}
	c, reason = viewsRecipe(documents, queries)
	return c, fmt.Sprintf("small, below %d documents, %s", largeFrom, reason)
}

// viewsRecipe is for small data.
func viewsRecipe(documents, queries int) (c train.Config, reason string) {
	c = train.Default()
	if documents >= longFrom*queries {
		c.Cutoff, c.Loss, c.Transform = 20, "plrank-exact+0.1*softmax", "minmax+log-standard+quantile+missing"
		c.Dropout, c.Optimizer, c.WeightDecay = 0.5, "adamw", 1
		return c, fmt.Sprintf("of long queries, from %d documents a query on", longFrom)
	}
	return c, fmt.Sprintf("of short queries, below %d documents a query", longFrom)
}

// tableRecipe is for data with features of the query, which rank together with others alone: one wide network sees these
// conditions, where views that compare the documents of a query would not. It takes about as many steps whatever the size. Its patience is
// long, as some tables need two hundred epochs, and some three.
func tableRecipe(documents int) train.Config {
	c := train.Default()
	// by the expected one the best epoch is left to how sharp policies are
	c.Loss, c.Transform, c.Metric = "softmax", "quantile+missing", "ndcg@10"
	c.Hidden, c.Members, c.Dropout = []int{256, 128}, 1, 0.2
	c.LearningRate, c.GroupLasso, c.Batch, c.Epochs, c.Patience = 0.002, 0.001, 32, min(200, max(12, 4_000_000/max(1, documents))), 40
	return c
}

// forestRecipe is for tables of all sizes, and other small data: a forest ends by its patience.
func forestRecipe() train.Config {
	c := train.Default() // whose settings of networks have no effect
	c.Loss, c.Transform, c.Bins, c.Metric = "softmax", "raw", 64, "ndcg@10"
	c.Trees, c.Depth = 10, 6
	c.LearningRate, c.L2, c.Epochs, c.Patience = 0.05, 1, 400, 20
	return c
}

// sparsePlan is for sparse documents: a network for sums of many words, and a forest.
func sparsePlan(s *datasets.Splits) Plan {
	forest, reason := recipeFor(ranker.ForestKind, s, 0)
	network, _ := recipeFor("mlp", s, 0)
	if copies := 6; 4*copies*network.Hidden[0]*s.Train.Width() > 512<<20 { // of the weights, Adam's among them
		return Plan{[]train.Config{forest}, reason + ": a forest, as a network takes too much memory"}
	}
	return Plan{[]train.Config{network, forest}, reason + ": a small network and a forest"}
}

// sparseRecipe is for sparse documents. A word says something of few documents, which a symmetric tree would spend a level on. Trees are as
// deep as their leaves allow: below a question for one word nearly all documents are still together (lab/recipe.md). There
// are 100, as many as LightGBM grows: 400 rank better, and take three times as long.
func sparseRecipe(scorer string) train.Config {
	c := forestRecipe()
	if scorer == ranker.ForestKind {
		c.Loss, c.Leaves, c.Depth, c.LearningRate, c.Epochs, c.Patience = "ranknet", 31, 0, 0.1, 10, 5
		return c
	}
	c = train.Default()
	c.Loss, c.Transform, c.Hidden, c.Members, c.Metric = "softmax", "maxabs", []int{32}, 1, "ndcg@10"
	c.Batch, c.Epochs, c.Patience = 16, 10, 2
	return c
}

func largeRecipe(documents int, highest float64) train.Config {
	c := train.Default()
	c.Transform, c.Bins, c.Metric = "quantile", 16, "ndcg@10" // the expected one is low: the policies are less sharp
	c.Hidden, c.Activation, c.Members, c.Dropout = []int{256, 32}, ops.SwiGLU, 1, 0
	c.LearningRate, c.Schedule, c.Warmup, c.Average = 0.004, "cosine", 0.1, 0.99
	c.GroupLasso, c.Batch, c.Epochs = 45/math.Sqrt(float64(documents)), 32, 8
	apart := 8.0 // scores of the highest grade and of 0
	if documents >= slowFrom {
		apart = 32
		c.LearningRate, c.Average, c.Dropout = 0.002, 0.998, 0.1
		c.Epochs, c.EpochsPerPass, c.Warmup = 40, 2, 0.2 // twenty passes
	}
	if highest == 0 { // labels all alike, or negative
		highest = apart
	}
	c.Loss = fmt.Sprintf("plrank-exact+0.02*query-rmse(%.3g)", min(max(apart/highest, 1e-6), 1e6))
	return c
}

// Paper returns the set-up of the experiments of Oosterhuis (2021), section 7, with
// PL-Rank-2: two hidden layers of 32 sigmoids, plain SGD, one query a step, a
// number of samples that grows from step to step, [train.Dynamic], DCG@5 under the policy.
func Paper() train.Config {
	return train.Config{
		Objective:    train.Objective{Loss: "plrank2", Cutoff: 5, Samples: train.Dynamic},
		Inputs:       train.Inputs{Transform: "minmax"},
		Model:        train.Model{Hidden: []int{32, 32}, Activation: ops.Sigmoid},
		Optimization: train.Optimization{Optimizer: "sgd", LearningRate: 0.01, Batch: 1, Epochs: 40},
		Evaluation:   train.Evaluation{Metric: "expected-dcg@5", DropLabelFreeTest: true},
	}.Plain()
}
