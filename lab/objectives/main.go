// Command objectives trains on the metrics that people report, and measures what each is good for: the tables of
// objectives.md. It needs a Python with the packages of peers/quality/trees.txt:
//
//	go run ./objectives train -data DIR -work WORK -python PYTHON    go on with the trainings
//	go run ./objectives measure -work WORK                           objectives/runs.csv, means.csv and tests.csv
//	go run ./objectives tables -write objectives.md                  the tables of the page
//
// DIR holds a folder for each collection, as for peers/quality/run.py. Scores of test splits go to WORK, one file a training.
// Those that are there are not made again, and an interrupted command goes on where it was.
package main

import (
	"context"
	"errors"
	"flag"
	"fmt"
	"io"
	"log"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"slices"
	"strings"

	"github.com/plrank/plrank/datasets"
	"github.com/plrank/plrank/internal/command"
	"github.com/plrank/plrank/internal/file"
	"github.com/plrank/plrank/ops"
	"github.com/plrank/plrank/recipe"
	"github.com/plrank/plrank/train"
)

// sets are the collections from small to large: of an interrupted study the first ones are complete.
var sets = []string{
	"lightgbm-lambdarank",
	"MSLR-sample",
	"QBF-2014",
	"msmarco-dev",
	"f1",
	"GRAPHS-2015",
	"MQ2008",
	"swissmetro",
	"MQ2007",
	"msrd",
	fullSize,
}

// fullSize is a synthetic collection of MSLR-WEB30K's size and shape. Its labels come from a mixture, which no library has the
// form of.
const fullSize, fullSizeShape = "full-size", "mslr/mixture"

// methods are ours, which are networks that differ by the loss, and the methods of peers.py.
var methods = []struct {
	name   string
	loss   string // "" of peers.py
	cutoff train.RankCount
	metric string // chooses the epoch
	own    string // what an exact loss is the expectation of, up to sign
}{
	{"exact NDCG", "plrank-exact", 10, "expected-ndcg@10", "ndcg@10"},
	{"exact MRR", "exact-mrr", 10, "expected-mrr@10", "mrr@10"},
	{"exact MAP", "exact-map", 10, "expected-map@10", "map@10"},
	{"exact ERR", "exact-err", 10, "expected-err@10", "err@10"},
	{"exact success", "exact-success", 1, "expected-hits@1", "hits@1"},
	{"softmax", "softmax", 10, "ndcg@10", ""},
	{"lambdarank", "lambdarank", 10, "ndcg@10", ""},
	{name: "LightGBM lambdarank"},
	{name: "XGBoost rank:map"},
	{name: "CatBoost YetiRank MRR"},
	{name: "CatBoost YetiRank MAP"},
	{name: "CatBoost YetiRank ERR"},
}

func main() {
	log.SetFlags(0)
	runtime.GOMAXPROCS(1)
	commands := map[string]func(ctx context.Context, args []string) error{"train": trainAll, "measure": measure, "tables": tables}
	if len(os.Args) < 2 || commands[os.Args[1]] == nil {
		log.Fatal("objectives: want train, measure or tables; see the package comment")
	}
	if err := commands[os.Args[1]](command.Interruptible(), os.Args[2:]); err != nil {
		log.Fatal("objectives: ", err)
	}
}

// trainAll makes the scores that are missing, set by set.
func trainAll(ctx context.Context, args []string) error {
	f := flag.NewFlagSet("train", flag.ExitOnError)
	data := f.String("data", "", "a `folder` of collections")
	work := f.String("work", "", "a `folder` for what is made")
	python := f.String("python", "python3", "Python with peers/quality/trees.txt")
	seeds := f.Int("seeds", 20, "trainings of a method on a fold")
	only := f.String("sets", strings.Join(sets, ","), "names of collections, with commas between")
	f.Parse(args)
	if *data == "" || *work == "" {
		return errors.New("train: -data and -work must be given")
	}
	run := func(script string, args ...string) error {
		c := exec.CommandContext(ctx, *python, append([]string{script}, args...)...)
		c.Stdout, c.Stderr = os.Stderr, os.Stderr
		return c.Run()
	}
	var peers []string
	for _, m := range methods {
		if m.loss == "" {
			peers = append(peers, m.name)
		}
	}
	for _, set := range strings.Split(*only, ",") {
		folds := filepath.Join(*work, "folds", set)
		if err := prepare(*data, folds, set, run); err != nil {
			return err
		}
		names, err := foldsOf(*work, set)
		if err != nil {
			return err
		}
		for _, fold := range names {
			log.Printf("%s %s", set, fold)
			folder, err := os.ReadFile(filepath.Join(folds, fold+".path"))
			if err != nil {
				return err
			}
			out := filepath.Join(*work, "runs", set, fold)
			if err := run("objectives/peers.py", append([]string{string(folder), out, fmt.Sprint(*seeds)}, peers...)...); err != nil {
				return err
			}
			if err := trainOurs(ctx, string(folder), out, *seeds); err != nil {
				return fmt.Errorf("%s %s: %w", set, fold, err)
			}
		}
	}
	return nil
}

// prepare writes a file NAME.path for each fold of a collection to folds. The synthetic one is made there.
func prepare(data, folds, set string, python func(script string, args ...string) error) error {
	if set != fullSize {
		source, err := source(data, set)
		if err != nil {
			return err
		}
		return python("peers/quality/prepare.py", source, folds)
	}
	folder, path := filepath.Join(folds, "all"), filepath.Join(folds, "all.path")
	if exists(path) {
		return nil
	}
	c := exec.Command("go", "run", "./fullsize/collection", fullSizeShape, "1", "1", folder)
	c.Stderr = os.Stderr
	if err := c.Run(); err != nil {
		return fmt.Errorf("%v: %w", c, err)
	}
	return os.WriteFile(path, []byte(folder), 0o666)
}

// source returns the folder of a collection, which may be one of tables.
func source(data, set string) (string, error) {
	for _, path := range []string{filepath.Join(data, set), filepath.Join(data, "tables", set)} {
		if _, err := os.Stat(path); err == nil {
			return path, nil
		}
	}
	return "", fmt.Errorf("%s has no collection %s; -sets chooses others", data, set)
}

// foldsOf returns the names of the folds that were prepared.
func foldsOf(work, set string) ([]string, error) {
	paths, err := filepath.Glob(filepath.Join(work, "folds", set, "*.path"))
	for i, p := range paths {
		paths[i] = strings.TrimSuffix(filepath.Base(p), ".path")
	}
	return paths, err
}

func scoresPath(out, method string, seed int) string {
	return filepath.Join(out, method, fmt.Sprintf("%d.scores", seed))
}

// baseConfig returns one network of the default recipe for small data in its two forms, for 15 epochs; at full size the default
// network, for four passes.
func baseConfig(splits *datasets.Splits) train.Config {
	const long, many = 50, 1_000_000 // documents of a query, on average, and of the training split
	if splits.Train.Rows() >= many {
		c := recipe.Single("mlp", splits).Models[0]
		c.Epochs = 4 * c.EpochsPerPass
		return c
	}
	c := train.Config{
		Objective:    train.Objective{NormalizeGains: true},
		Inputs:       train.Inputs{Transform: "minmax+log-standard+quantile+rank"},
		Model:        train.Model{Hidden: []int{64}, Activation: ops.ReLU, Dropout: 0.3, Members: 1},
		Optimization: train.Optimization{Optimizer: "adam", LearningRate: 0.002, GroupLasso: 0.03, Batch: 4, Epochs: 15},
	}.Plain()
	if splits.Train.Rows() >= long*splits.Train.Queries() {
		c.Transform = "minmax+log-standard+quantile+missing"
		c.Dropout, c.Optimizer, c.WeightDecay = 0.5, "adamw", 1
	}
	return c
}

// trainOurs trains on a fold what is missing, by a recipe in which the loss, its cutoff and the metric that chooses the epoch
// differ.
func trainOurs(ctx context.Context, folder, out string, seeds int) error {
	var splits *datasets.Splits
	for seed := 1; seed <= seeds; seed++ {
		for _, m := range methods {
			path := scoresPath(out, m.name, seed)
			if _, err := os.Stat(path); err == nil || m.loss == "" {
				continue
			}
			if splits == nil {
				var err error
				if splits, err = open(folder); err != nil {
					return err
				}
			}
			c := baseConfig(splits)
			c.Loss, c.Cutoff, c.Metric, c.Seed = m.loss, m.cutoff, m.metric, uint64(seed)
			result, err := train.Run(ctx, c, splits, train.Hooks{})
			if err != nil {
				return fmt.Errorf("%s: %w", m.name, err)
			}
			if result.Interrupted {
				return errors.New("interrupted; the same command goes on from here")
			}
			scores, err := datasets.Score(result.Model, splits.Test)
			if err != nil {
				return err
			}
			if err := os.MkdirAll(filepath.Dir(path), 0o777); err != nil {
				return err
			}
			err = file.Write(path, func(w io.Writer) error {
				for _, s := range splits.Test.InSourceOrder(scores) {
					if _, err := fmt.Fprintf(w, "%.9g\n", s); err != nil {
						return err
					}
				}
				return nil
			})
			if err != nil {
				return err
			}
		}
	}
	return nil
}

// open opens a fold as peers/quality/data.py does: columns named …_c are categories, and the position of a race is its outcome.
func open(folder string) (*datasets.Splits, error) {
	if synthetic(folder) {
		return datasets.SyntheticShape(fullSizeShape, 1, 1)
	}
	o := datasets.Options{}
	test, err := datasets.ReadFile(testFile(folder), datasets.ReadOptions{})
	if err != nil {
		return nil, err
	}
	if slices.ContainsFunc(test.LeftOut, func(name string) bool { return strings.HasSuffix(name, "_c") }) {
		o.Read.Categorical = []string{"*_c"}
	}
	if slices.Contains(test.FeatureNames, "position") {
		o.Read.Ignore = []string{"position"}
	}
	return datasets.Open(folder, o)
}

// synthetic reports whether a fold has the arrays of the synthetic collection.
func synthetic(folder string) bool { return exists(filepath.Join(folder, "test.features")) }

// openTest opens the test split of a fold.
func openTest(folder string) (*datasets.Dataset, error) {
	if synthetic(folder) {
		splits, err := open(folder)
		if err != nil {
			return nil, err
		}
		return splits.Test, nil
	}
	return datasets.ReadFile(testFile(folder), datasets.ReadOptions{})
}

// testFile returns the file of the test split of a prepared fold.
func testFile(folder string) string {
	if table := filepath.Join(folder, "test.csv.gz"); exists(table) {
		return table
	}
	return filepath.Join(folder, "test.txt")
}

func exists(path string) bool {
	_, err := os.Stat(path)
	return err == nil
}
