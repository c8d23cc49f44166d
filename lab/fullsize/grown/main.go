// Command grown says what the mixture of a run is worth while its forest grows: NDCG@10 of the validation and the test split of the
// network, model1, with the first trees of the forest, model2, mixed as at the end.
//
//	grown TRUTH SCALE SEED RUN
//
// It prints rows of trees, vali and test, from 50 trees on, each with twice the trees.
package main

import (
	"errors"
	"fmt"
	"math"
	"os"
	"path/filepath"
	"strconv"

	"gonum.org/v1/gonum/stat"

	"github.com/plrank/plrank/datasets"
	"github.com/plrank/plrank/metrics"
	"github.com/plrank/plrank/ranker"
	"github.com/plrank/plrank/train"
)

func main() {
	if err := run(os.Args[1:]); err != nil {
		fmt.Fprintln(os.Stderr, "grown:", err)
		os.Exit(1)
	}
}

func run(args []string) error {
	if len(args) != 4 {
		return errors.New("want a truth, a scale, a seed and a run")
	}
	scale, err := strconv.ParseFloat(args[1], 64)
	if err != nil {
		return fmt.Errorf("scale: %w", err)
	}
	seed, err := strconv.ParseUint(args[2], 10, 64)
	if err != nil {
		return fmt.Errorf("seed: %w", err)
	}
	splits, err := datasets.SyntheticShape("mslr/"+args[0], scale, seed)
	if err != nil {
		return err
	}
	splits.Train = nil // to have its memory back
	network, err := ranker.Open(filepath.Join(args[3], "model1", "model.npz"))
	if err != nil {
		return err
	}
	grown, err := ranker.Open(filepath.Join(args[3], "model2", "model.npz"))
	if err != nil {
		return err
	}
	forest, err := grown.File().Forest()
	if err != nil {
		return err
	}
	fmt.Println("trees,vali,test")
	all := forest.Trees
	for trees := 50; ; trees *= 2 {
		trees = min(trees, len(all))
		forest.Trees = all[:trees]
		f := *grown.File()
		if err := f.SetForest(forest); err != nil {
			return err
		}
		part, err := ranker.New(&f)
		if err != nil {
			return err
		}
		mixture, _, err := train.Mix(train.Config{}, splits.Vali, network, part)
		if err != nil {
			return err
		}
		vali, err := ndcg(mixture, splits.Vali)
		if err != nil {
			return err
		}
		test, err := ndcg(mixture, splits.Test)
		if err != nil {
			return err
		}
		fmt.Printf("%d,%.6f,%.6f\n", trees, vali, test)
		if trees == len(all) {
			return nil
		}
	}
}

// ndcg returns the mean NDCG@10 of the queries with a relevant document.
func ndcg(m *ranker.Model, d *datasets.Dataset) (float64, error) {
	measure, err := metrics.ParseMeasure("ndcg@10")
	if err != nil {
		return 0, err
	}
	in := metrics.Queries{Labels: d.Labels, Offsets: d.Offsets, LabelFree: metrics.LabelFreeSkip}
	if in.Scores, err = datasets.Score(m, d); err != nil {
		return 0, err
	}
	values, err := metrics.Estimates(in, []metrics.Measure{measure})
	if err != nil {
		return 0, err
	}
	var known []float64
	for _, v := range measure.Counted(in, values[0]) {
		if !math.IsNaN(v) {
			known = append(known, v)
		}
	}
	return stat.Mean(known, nil), nil
}
