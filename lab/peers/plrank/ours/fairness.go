package main

import (
	"context"
	"encoding/csv"
	"fmt"
	"os"
	"path/filepath"
	"strconv"

	"github.com/plrank/plrank/datasets"
	"github.com/plrank/plrank/recipe"
	"github.com/plrank/plrank/train"
	"github.com/plrank/plrank/transforms"
)

// fairEpochs is the number of epochs of the authors' script.
const fairEpochs = 20

// fairScale is the scale of the collection in Yahoo's shape.
const fairScale = 0.005

var (
	fairLosses   = []string{"disparity(plrank2)", "disparity(lambdaloss)"}
	fairMeasures = []string{"disparity", "abs-disparity"}
)

// printFairness prints the measures on the test split in the course of the given runs, without the query
// size as a feature and with it, as in the authors' script; and writes the collection as that reads it.
func printFairness(folder string, runs int) error {
	out := csv.NewWriter(os.Stdout)
	if err := out.Write(append([]string{"code", "loss", "length", "run", "epoch"}, fairMeasures...)); err != nil {
		return err
	}
	splits, transform, err := fairCollection()
	if err != nil {
		return err
	}
	if err := writeLETOR(filepath.Join(folder, "letor"), splits, transform.Width()); err != nil {
		return err
	}
	for _, length := range []string{"no", "yes"} {
		data := &datasets.Splits{
			Train: inputs(splits.Train, transform, length),
			Vali:  inputs(splits.Vali, transform, length),
			Test:  inputs(splits.Test, transform, length),
		}
		for run := range runs {
			for _, loss := range fairLosses {
				begin := []string{"plrank", loss, length, strconv.Itoa(run + 1)}
				if err := writeFairRun(out, begin, data, loss, uint64(run+1)); err != nil {
					return err
				}
			}
		}
	}
	return nil
}

// fairCollection has no queries in which nothing is relevant, and the transform of the paper.
func fairCollection() (*datasets.Splits, *transforms.Transform, error) {
	splits, err := datasets.SyntheticShape("yahoo", fairScale, 1)
	if err != nil {
		return nil, nil, err
	}
	for _, d := range []**datasets.Dataset{&splits.Train, &splits.Vali, &splits.Test} {
		*d = relevant(*d)
	}
	transform, err := datasets.FitTransform("minmax", splits.Train)
	return splits, transform, err
}

// inputs is a dataset of transformed features, and of the query size if length is yes. Constant
// features are left out of training, so it differs by a thousandth in the first document.
func inputs(d *datasets.Dataset, transform *transforms.Transform, length string) *datasets.Dataset {
	x, width := packed(d, transform), transform.Width()
	to := *d
	to.Features, to.FeatureIDs, to.FeatureNames = nil, nil, nil
	for q := range d.Queries() {
		for r := d.Offsets[q]; r < d.Offsets[q+1]; r++ {
			to.Features = append(to.Features, x[r*width:(r+1)*width]...)
			if length == "yes" {
				size := float32(d.Offsets[q+1] - d.Offsets[q])
				if r == 0 {
					size += 0.001
				}
				to.Features = append(to.Features, size)
			}
		}
	}
	for c := range len(to.Features) / d.Rows() {
		to.FeatureIDs = append(to.FeatureIDs, c+1)
	}
	return &to
}

func writeFairRun(out *csv.Writer, begin []string, data *datasets.Splits, loss string, seed uint64) error {
	c := recipe.Paper()
	c.Transform = "none"
	c.Loss, c.Seed, c.Epochs, c.Report, c.EvaluateTest = loss, seed, fairEpochs, fairMeasures, true
	result, err := train.Run(context.Background(), c, data, train.Hooks{})
	if err != nil {
		return err
	}
	for _, epoch := range result.History {
		if epoch.Epoch != 1 && epoch.Epoch%4 > 0 {
			continue
		}
		row := append(begin, strconv.Itoa(epoch.Epoch))
		for _, m := range fairMeasures {
			row = append(row, fmt.Sprintf("%.6g", float64(epoch.Test[m])))
		}
		if err := out.Write(row); err != nil {
			return err
		}
	}
	out.Flush()
	return out.Error()
}

// writeLETOR writes a folder as the authors' script reads it, which leaves out the last query of
// each file: one of a single document is added.
func writeLETOR(dir string, splits *datasets.Splits, varying int) error {
	if err := os.MkdirAll(dir, 0o755); err != nil {
		return err
	}
	for name, d := range map[string]*datasets.Dataset{"train": splits.Train, "vali": splits.Vali, "test": splits.Test} {
		file, err := os.Create(filepath.Join(dir, name+".txt"))
		if err != nil {
			return err
		}
		if err := datasets.WriteLETOR(file, d); err != nil {
			return err
		}
		fmt.Fprintf(file, "0 qid:last %d:0\n", d.FeatureIDs[0])
		if err := file.Close(); err != nil {
			return err
		}
	}
	info := fmt.Sprintf(
		`{"Webscope_C14_Set1": {"num_folds": 1, "fold_paths": [%q], "num_relevance_labels": 5, "num_nonzero_feat": %d, "num_unique_feat": %d, "query_normalized": false}}`,
		dir+"/",
		splits.Train.Width(),
		varying,
	)
	return os.WriteFile(filepath.Join(dir, "info.json"), []byte(info), 0o644)
}
