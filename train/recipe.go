package train

import (
	"cmp"
	"fmt"
	"math"
	"reflect"
	"slices"

	"github.com/plrank/plrank/datasets"
	"github.com/plrank/plrank/forest"
	"github.com/plrank/plrank/metrics"
	"github.com/plrank/plrank/ops"
	"github.com/plrank/plrank/transforms"
)

const (
	longFrom  = 50        // documents of a query, on average
	largeFrom = 100_000   // training documents
	slowFrom  = 1_000_000 // training documents; from here on a lower rate for longer is better
)

// Default returns the zero Config: all is left to the recipe for the training data.
func Default() Config { return Config{} }

// tablesFrom is the part of the features that are of the query from which on data have the recipe of tables.
const tablesFrom = 0.1

// DefaultFor returns the recipe for the training data: one or more models, with all settings spelt out, and the reason in words.
// Several, a forest and a network, are trained one after another, and mixed by [Mix]. [Run] does so for a [Config] that leaves the models to the recipe.
//
// A network has one of three recipes. The first has two forms; the one for short queries is also for no data:
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
// From 100,000 documents on, and where a tenth of the features or more are of the query, a forest is the second model: on softmax,
// with many small steps. Large data that are no table take query-rmse, steps of 0.3 and thresholds between 255 bins, as many
// documents tell where a threshold is. Large tables take ranknet, and trees on half of the features each, whose 63 leaves are
// split one by one. Features of the query are attributes of users, trips or instances of a problem, and rank by
// thresholds and together with others.
//
// From a million documents on, the rate is half as high, the average is over five times as many steps, there
// are 20 passes over the training queries, with dropout 0.1 and two epochs each, so that there is a model soon, and the
// scale of query-rmse is four times as large.
//
// Models fit small data too closely: dropout and the decay of weights help against it, and so does the mean
// of several networks, which also varies less from seed to seed. At a low rate the best epoch is found more
// exactly. The expected metric, by which it is chosen where policies are about as sharp in all epochs, has less noise than the metric of one ranking. The gradient
// of NDCG at 10 comes from the few documents at the top: softmax adds what the others say, and so
// does a larger K for long queries, of 50 documents and more on average. The squared error of all differences within a
// query, query-rmse, says most, which large models need; by its scale, documents of the highest grade are to
// have scores that are 8 or 32 higher than documents of grade 0. Bins let them see thresholds and missing values, and products, SwiGLU, conditions
// that have to hold together. The group
// lasso keeps the weights of uninformative inputs small; of large data, the more documents, the less noise there is in a
// gradient, and the smaller a penalty is enough. lab/recipe.md has the trials.
func DefaultFor(s *datasets.Splits) (models []Config, reason string) {
	ofQuery := queryShare(s)
	network, reason := recipeFor(mlpScorer, s, ofQuery)
	if s == nil || s.Train == nil || s.Train.Gains != nil || s.Train.Rows() < largeFrom && ofQuery < tablesFrom {
		return []Config{network}, reason
	}
	forest, _ := recipeFor(forestScorer, s, ofQuery)
	return []Config{forest, network}, reason + ", and a forest"
}

// RecipeFor returns the recipe for a kind of model. Networks of all kinds have the same recipes.
//
// Gains from clicks are estimates, and may be negative: plrank-exact alone takes such gains.
// Divided by the best gain of their query, which is an estimate, too, they would not be right on average:
// they are not normalized. And no metric but the loss goes by them, if validation has no labels.
func RecipeFor(scorer string, s *datasets.Splits) (c Config, reason string) {
	return recipeFor(scorer, s, queryShare(s))
}

// recipeFor is [RecipeFor] for training data of that share of features of the query.
func recipeFor(scorer string, s *datasets.Splits, ofQuery float64) (c Config, reason string) {
	switch {
	case scorer == forestScorer:
		c, reason = forestRecipe(), "a forest"
		if s != nil && s.Train != nil && s.Train.Rows() >= largeFrom {
			reason += fmt.Sprintf(", large, from %d documents on", largeFrom)
			if ofQuery < tablesFrom {
				c.Loss, c.LearningRate, c.Bins = "query-rmse", 0.3, forest.MaxBins
			} else {
				c.Loss, c.Leaves, c.FeatureSampling = "ranknet", 63, 0.5
			}
		}
	case s == nil || s.Train == nil:
		c, reason = recipeOf(0, 1, 0, 0)
	default:
		c, reason = recipeOf(s.Train.Rows(), s.Train.Queries(), highestLabel(s.Train), ofQuery)
	}
	if s == nil || s.Train == nil {
		return c, reason
	}
	if s.Train.Gains == nil {
		return c, reason
	}
	c.Loss, c.NormalizeGains = "plrank-exact", false
	if s.Vali != nil && s.Vali.Gains != nil {
		c.Metric = LossMetric
	}
	return c, reason + ", for gains from clicks"
}

// queryShare returns the part of the features of the training data that are features of the query, 0 without data.
func queryShare(s *datasets.Splits) float64 {
	if s == nil || s.Train == nil {
		return 0
	}
	d := s.Train
	all := &transforms.Data{Name: d.Name, Features: d.Features, Offsets: d.Offsets, FeatureIDs: d.FeatureIDs}
	varying := len(transforms.Varying(transforms.Sharing{}, all))
	return float64(varying-len(transforms.VaryingWithin(transforms.Sharing{}, all))) / float64(max(1, varying))
}

// highestLabel returns the highest label, or 0 if none is higher.
func highestLabel(d *datasets.Dataset) (highest float64) {
	for _, label := range d.Labels {
		highest = max(highest, float64(label))
	}
	return highest
}

// recipeOf returns the recipe of a network for numbers of documents and queries, labels up to the highest, and a part of features that
// are of the query.
func recipeOf(documents, queries int, highest, ofQuery float64) (c Config, reason string) {
	if ofQuery >= tablesFrom {
		return tableRecipe(documents), fmt.Sprintf("a table, with %.0f %% features of the query, from %.0f %% on", 100*ofQuery, 100*tablesFrom)
	}
	if documents >= largeFrom {
		return largeRecipe(documents, highest), fmt.Sprintf("large, from %d documents on", largeFrom)
	}
	small := fmt.Sprintf("small, below %d documents", largeFrom)
	c = smallRecipe()
	if documents >= longFrom*queries {
		c.Cutoff, c.Loss = 20, "plrank-exact+0.1*softmax"
		c.Transform += "+missing"
		c.Dropout, c.Optimizer, c.WeightDecay = 0.5, "adamw", 1
		return c, fmt.Sprintf("%s, of long queries, from %d documents a query on", small, longFrom)
	}
	c.Transform += "+rank"
	return c, fmt.Sprintf("%s, of short queries, below %d documents a query", small, longFrom)
}

// smallRecipe is what the recipes for small data have in common.
func smallRecipe() Config {
	return Config{
		Objective:    Objective{Loss: "plrank-exact+0.01*softmax", Cutoff: 10, NormalizeGains: true},
		Inputs:       Inputs{Transform: "minmax+log-standard+quantile"},
		Model:        Model{Hidden: []int{64}, Activation: ops.ReLU, Dropout: 0.3, Members: 3},
		Optimization: Optimization{Optimizer: "adam", LearningRate: 0.002, GroupLasso: 0.03, Batch: 4, Epochs: 30},
		Evaluation:   Evaluation{Metric: "expected-ndcg@10"},
	}.Plain()
}

// tableRecipe is for data with features of the query, which rank together with others alone: one wide network sees these
// conditions, where views that compare the documents of a query would not. It takes about as many steps whatever the size. Its patience is
// long, as some tables need two hundred epochs, and some three.
func tableRecipe(documents int) Config {
	c := smallRecipe()
	c.Loss, c.Transform, c.Metric = "softmax", "quantile+missing", "ndcg@10" // by the expected one the best epoch is left to how sharp policies are
	c.Hidden, c.Members, c.Dropout = []int{256, 128}, 1, 0.2
	c.LearningRate, c.GroupLasso, c.Batch, c.Epochs, c.Patience = 0.002, 0.001, 32, min(200, max(12, 4_000_000/max(1, documents))), 40
	return c
}

// forestRecipe is for tables of all sizes, and other small data: a forest ends by its patience.
func forestRecipe() Config {
	c := smallRecipe() // whose settings of networks have no effect
	c.Loss, c.Transform, c.Bins, c.Metric = "softmax", "raw", 64, "ndcg@10"
	c.Scorer, c.Trees, c.Depth = forestScorer, 10, 6
	c.LearningRate, c.L2, c.Epochs, c.Patience = 0.05, 1, 400, 20
	return c
}

func largeRecipe(documents int, highest float64) Config {
	c := Config{
		Objective:    Objective{Cutoff: 10, NormalizeGains: true},
		Inputs:       Inputs{Transform: "quantile", Bins: 16},
		Model:        Model{Hidden: []int{256, 32}, Activation: ops.SwiGLU, Members: 1},
		Optimization: Optimization{Optimizer: "adam", LearningRate: 0.004, Schedule: "cosine", Warmup: 0.1, GroupLasso: 45 / math.Sqrt(float64(documents)), Average: 0.99, Batch: 32, Epochs: 8},
		Evaluation:   Evaluation{Metric: "ndcg@10"}, // the expected one is low: the policies are less sharp
	}.Plain()
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
// number of samples that grows from step to step, [Dynamic], DCG@5 under the policy. All settings are spelt out.
func Paper() Config {
	return Config{
		Objective:    Objective{Loss: "plrank2", Cutoff: 5, Samples: Dynamic},
		Inputs:       Inputs{Transform: "minmax"},
		Model:        Model{Hidden: []int{32, 32}, Activation: ops.Sigmoid},
		Optimization: Optimization{Optimizer: "sgd", LearningRate: 0.01, Batch: 1, Epochs: 40},
		Evaluation:   Evaluation{Metric: "expected-dcg@5", EvaluationSamples: 100, DropLabelFreeTest: true},
	}.Plain()
}

// forData is c with the recipe for the training data in place of what it leaves to it.
func (c Config) forData(s *datasets.Splits) Config {
	if s == nil || s.Train == nil {
		return c
	}
	recipe, _ := RecipeFor(c.Scorer, s)
	return c.orRecipe(recipe)
}

// LeavesModels reports whether c leaves all that makes a model to the recipe: the objective, the inputs but for categorical features,
// the model and the optimization. With a metric that is not a measure of rankings, by which models can be mixed, it does not.
func (c Config) LeavesModels() bool {
	_, err := metrics.ParseMeasure(cmp.Or(c.Metric, "ndcg@10"))
	return err == nil && !slices.ContainsFunc(c.Settings(), func(s Setting) bool { return s.OfModel() && !s.field().IsZero() })
}

// orRecipe is c with a recipe in place of what it leaves to it. A metric of the recipe is for the
// loss of the recipe.
func (c Config) orRecipe(recipe Config) Config {
	settings, speltOut := c.Settings(), c.speltOut()
	if c.Metric == "" && byLoss(c.Loss) {
		c.Metric = LossMetric
	}
	of := recipe.Settings()
	for i, s := range settings {
		left := s.field().IsZero()
		if speltOut {
			left = s.Unset() && s.field().Kind() == reflect.String
		}
		if left {
			s.Take(of[i])
		}
	}
	return c
}

// speltOut reports whether c began as a complete Config, such as Paper: most settings that cannot be zero are
// set. Then a number that is zero means zero, possibly an error, and is not left to a recipe.
func (c Config) speltOut() bool {
	set, unset := 0, 0
	for _, s := range c.Settings() {
		switch {
		case s.Unset():
			unset++
		case s.Plain != nil:
			set++
		}
	}
	return set > unset
}
