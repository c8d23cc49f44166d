package train

import (
	"fmt"

	"github.com/plrank/plrank/datasets"
	"github.com/plrank/plrank/ops"
)

// A Size is how large training data are.
type Size struct{ Queries, Documents, Features int }

// SizeOf is the size of d.
func SizeOf(d *datasets.Dataset) Size { return Size{d.Queries(), d.Rows(), d.Width()} }

const (
	largeFrom  = 100_000   // training documents
	largeTotal = 2_000_000 // documents of all epochs, where that is neither few epochs nor many
)

// DefaultFor is the recipe of choice for training data of a size, and the reason in words.
// There are two, and how many documents there are is what decides:
//
//	documents       below 100,000                  from 100,000 on
//	recipe          that of Default                large
//	networks        several small ones, averaged   one with layers of 256 and 128
//	inputs          several views of a feature     one, by quantile
//	loss            plrank-exact                   plrank-exact+0.1*softmax
//	against noise   dropout                        group lasso
//	steps           of few queries                 of 32 queries, at a higher rate
//	rate            that of Default                rises, then falls to 0 (cosine)
//	model           weights of the best epoch      average of the weights over steps
//	epochs          many, ends by patience         5, and up to 10 below 400,000 documents
//
// Small data are learnt by heart: there dropout helps, and the mean of networks. With much
// data one larger network does better, and what it is worth is a matter of time. The
// gradient of NDCG at 10 is of the few documents at the top; softmax adds what the others
// say, and brings most in the first epochs. Inputs that say nothing cost quality, and the
// group lasso leaves them out. The average of the weights is good long before the rate has
// fallen. docs/RECIPE.md has the trials.
func DefaultFor(size Size) (c Config, reason string) {
	c = Default()
	if size.Documents < largeFrom {
		return c, fmt.Sprintf("small, below %d documents", largeFrom)
	}
	c.Transform = "quantile"
	c.Hidden, c.Activation, c.Dropout, c.Members = []int{256, 128}, ops.ReLU, 0, 1
	c.Loss, c.Metric = "plrank-exact+0.1*softmax", "ndcg@10" // softmax makes for less sharp policies
	c.Optimizer, c.LearningRate, c.Batch = "adam", 0.004, 32
	c.Schedule, c.Warmup, c.GroupLasso, c.Average = "cosine", 0.1, 0.1, 0.99
	c.Epochs, c.Patience = min(max(5, largeTotal/size.Documents), 10), 0
	return c, fmt.Sprintf("large, from %d documents on, which takes %d epochs (5, and up to 10 below %d documents)", largeFrom, c.Epochs, largeTotal/5)
}
