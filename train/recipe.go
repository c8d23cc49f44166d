package train

import (
	"fmt"

	"github.com/plrank/plrank/ops"
)

const (
	longFrom   = 50        // documents of a query, on average
	largeFrom  = 100_000   // training documents
	largeTotal = 2_000_000 // documents of all epochs, where that is neither few epochs nor many
)

// DefaultFor is the recipe of choice for so many training documents of so many queries, and the
// reason in words. There are two:
//
//	documents       below 100,000                  from 100,000 on
//	recipe          that of Default                large
//	networks        several small ones, averaged   one with layers of 256 and 128
//	K               10; 20 for long lists          10
//	inputs          several views of a feature,    one, by quantile
//	                ranks too for short lists
//	loss            plrank-exact                   plrank-exact+0.5*softmax
//	against noise   dropout                        group lasso
//	steps           of few queries                 of 32 queries, at a higher rate
//	rate            that of Default                rises, then falls to 0 (cosine)
//	model           weights of the best epoch      average of the weights over steps
//	epochs          those of Default               5, and up to 10 below 400,000 documents
//
// Small data are learnt by heart: there dropout helps, and the mean of networks. With much
// data one larger network does better, and what it is worth is a matter of time. The
// gradient of NDCG at 10 is of the few documents at the top; softmax adds what the others
// say, and brings most in the first epochs; on small data of long lists, of 50 documents and
// more on average, a larger K does some of that. In real collections of shorter lists it also
// says much where a value stands among those of its query. Inputs that say nothing cost quality; the
// group lasso keeps their weights small. The average of the weights is good long before the
// rate has fallen. lab/recipe.md has the trials.
func DefaultFor(documents, queries int) (c Config, reason string) {
	if documents < largeFrom {
		c, reason = Default(), fmt.Sprintf("small, below %d documents", largeFrom)
		if documents >= longFrom*queries {
			c.Cutoff = 20
			return c, fmt.Sprintf("%s, of long lists, from %d documents a query on", reason, longFrom)
		}
		c.Transform += "+rank"
		return c, fmt.Sprintf("%s, of short lists, below %d documents a query", reason, longFrom)
	}
	c = Config{
		Objective:    Objective{Loss: "plrank-exact+0.5*softmax", Cutoff: 10, NormalizeGains: true},
		Inputs:       Inputs{Transform: "quantile"},
		Model:        Model{Hidden: []int{256, 128}, Activation: ops.ReLU, Members: 1},
		Optimization: Optimization{Optimizer: "adam", LearningRate: 0.004, Schedule: "cosine", Warmup: 0.1, GroupLasso: 0.1, Average: 0.99, Batch: 32, Epochs: min(max(5, largeTotal/documents), 10)},
		Evaluation:   Evaluation{Metric: "ndcg@10"}, // the expected one is low: softmax makes for policies that are less sharp
	}
	return c, fmt.Sprintf("large, from %d documents on, which takes %d epochs (5, and up to 10 below %d documents)", largeFrom, c.Epochs, largeTotal/5)
}
