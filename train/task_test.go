package train

import (
	"errors"
	"slices"
	"strings"
	"testing"

	"github.com/plrank/plrank/datasets"
	"github.com/plrank/plrank/internal/mpi"
	"github.com/plrank/plrank/internal/testkit"
	"github.com/plrank/plrank/metrics"
	"github.com/plrank/plrank/nn"
	"github.com/plrank/plrank/ops"
)

// A rank that has another task than the others.
type otherRank struct {
	Config
	Custom
	*datasets.Splits
}

// One rank with other data, other settings or other parts ends all before a step is made, and
// every rank says which one it is and what differs.
func TestRanksMustHaveTheSameTask(t *testing.T) {
	t.Parallel()
	c := busy("adam")
	c.Shards = 4
	for _, test := range []struct {
		name   string
		change func(*otherRank)
		want   string
	}{
		{"a label", func(r *otherRank) { r.Train.Labels[1] = 3 - r.Train.Labels[1] }, "labels of the training split"},
		{"a value", func(r *otherRank) { r.Train.Features[3]++ }, "feature values of the training split"},
		{"a value of another split", func(r *otherRank) { r.Vali.Features[3]++ }, "feature values of the validation split"},
		{"a label of the test split", func(r *otherRank) { r.Test.Labels[0] = 3 - r.Test.Labels[0] }, "labels of the test split"},
		{"no test split", func(r *otherRank) { r.Test = nil }, "the test split"},
		{"fewer queries", func(r *otherRank) { r.Train = r.Train.Select([]int{0, 1, 2, 3, 4, 5, 6, 7, 8, 9}) }, "labels, queries of the training split"},
		{"weights", func(r *otherRank) { r.Train.QueryWeights = slices.Repeat([]float32{2}, r.Train.Queries()) }, "weights of the training split"},
		{"fewer features", func(r *otherRank) {
			for _, d := range []*datasets.Dataset{r.Train, r.Vali, r.Test} {
				narrow := make([]float32, 0, 2*d.Rows())
				for row := range d.Rows() {
					narrow = append(narrow, d.Row(row)[:2]...)
				}
				d.Features, d.FeatureIDs = narrow, d.FeatureIDs[:2]
			}
		}, "feature ids, feature values of the training split"},
		{"rate", func(r *otherRank) { r.LearningRate *= 2 }, "learningRate is 0.02, on rank 0 0.01"},
		{"loss", func(r *otherRank) { r.Config.Loss = "softmax" }, `loss is "softmax", on rank 0 "plrank-rb"`},
		{"batch", func(r *otherRank) { r.Batch++ }, "batch is "},
		{"epochs", func(r *otherRank) { r.Epochs++ }, "epochs is "},
		{"patience", func(r *otherRank) { r.Patience++ }, "patience is "},
		{"seed", func(r *otherRank) { r.Seed++ }, "seed is "},
		{"layers", func(r *otherRank) { r.Hidden = []int{3} }, "hidden is [3], on rank 0 [8,4]"},
		{"shards", func(r *otherRank) { r.Shards++ }, "shards is "},
		{"optimizer", func(r *otherRank) { r.Config.Optimizer = "sgd" }, "optimizer is "},
		{"report", func(r *otherRank) { r.Report = []string{"map"} }, `report is ["map"], on rank 0 null`},
		{"a metric of its own", func(r *otherRank) {
			r.Metrics = []metrics.Measure{metrics.NewMeasure("zero", false, func(in metrics.Queries) ([]float64, error) { return make([]float64, len(in.Offsets)-1), nil })}
		}, `the metrics (["zero"], on rank 0 [])`},
		{"a model of its own", func(r *otherRank) {
			r.Custom.Scorer = func(features int) (nn.Scorer, error) {
				return nn.NewMLP(nn.MLPConfig{Features: features, Hidden: []int{5}, Activation: ops.ReLU})
			}
		}, "hidden is "},
		{"an initial model", func(r *otherRank) { r.Initial = current(t, mustNew(t, r.Config, small())) }, "the initial model"},
	} {
		texts := map[string]bool{}
		for rank, err := range testkit.OnRanks(3, func(g mpi.Group) error {
			r := otherRank{c, Custom{Processes: g}, small()}
			if g.Rank() == 1 {
				test.change(&r)
			}
			return second(New(r.Config.Plain(), r.Custom, r.Splits))
		}) {
			var agreed mpi.Agreed
			if !errors.As(err, &agreed) || !strings.HasPrefix(err.Error(), "rank 1 of 3: train: ") || !strings.Contains(err.Error(), " differs from rank 0 by ") || !strings.Contains(err.Error(), test.want) {
				t.Errorf("%s: rank %d: %v, want %s", test.name, rank, err, test.want)
				continue
			}
			texts[err.Error()] = true
		}
		if len(texts) > 1 {
			t.Errorf("%s: messages differ: %v", test.name, texts)
		}
	}
}

// Models of one's own that differ are found before their gradients are exchanged; settings
// that one rank alone cannot use end all, too.
func TestRanksMustHaveTheSameModel(t *testing.T) {
	c := busy("adam")
	c.Shards = 2
	model := func(hidden int, g mpi.Group) error {
		return second(New(c.Plain(), Custom{Processes: g, Scorer: func(features int) (nn.Scorer, error) {
			return nn.NewMLP(nn.MLPConfig{Features: features, Hidden: []int{hidden}, Activation: ops.ReLU})
		}}, small()))
	}
	for rank, err := range testkit.OnRanks(2, func(g mpi.Group) error { return model(3+g.Rank(), g) }) {
		if err == nil || !strings.HasPrefix(err.Error(), "rank 1 of 2: train: differs from rank 0 by the model (mlp ") {
			t.Errorf("rank %d: %v", rank, err)
		}
	}
	for rank, err := range testkit.OnRanks(2, func(g mpi.Group) error { return model(3*g.Rank(), g) }) {
		if err == nil || !strings.HasPrefix(err.Error(), "rank 0 of 2: ") {
			t.Errorf("rank %d: %v", rank, err)
		}
	}
	for rank, err := range testkit.OnRanks(2, func(g mpi.Group) error {
		c := c
		if g.Rank() == 1 {
			c.Loss = "plrnk"
		}
		return second(New(c.Plain(), Custom{Processes: g}, small()))
	}) {
		if err == nil || !strings.HasPrefix(err.Error(), `rank 1 of 2: `) || !strings.Contains(err.Error(), `no loss "plrnk"`) {
			t.Errorf("rank %d: %v", rank, err)
		}
	}
}
