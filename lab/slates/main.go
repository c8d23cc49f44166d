// Command slates trains on objectives of diversity and of relevance, judges all by all, and sets them beside maximal marginal
// relevance (MMR) on the same scores: the tables of slates.md.
//
//	go run ./slates train -data ../../shared/data/diversity -work WORK   go on with the trainings
//	go run ./slates measure -data ../../shared/data/diversity -work WORK -write slates.md
//
// Each of the three parts of the collection is the test split of a fold; the next one is for training, and the third one for
// validation. Scores go to WORK, one file a training, and an interrupted command goes on where it was.
package main

import (
	"context"
	"errors"
	"flag"
	"fmt"
	"io"
	"log"
	"os"
	"path/filepath"
	"runtime"
	"strconv"

	"github.com/plrank/plrank/datasets"
	"github.com/plrank/plrank/internal/command"
	"github.com/plrank/plrank/internal/file"
	"github.com/plrank/plrank/ops"
	"github.com/plrank/plrank/train"
)

// losses are what is trained on, with the metric that chooses the epoch.
var losses = []struct{ name, loss, metric string }{
	{"α-nDCG", "exact-alpha-ndcg", "expected-alpha-ndcg@20"},
	{"ERR-IA", "exact-err-ia", "expected-err-ia@20"},
	{"NDCG + .05 similarity", "plrank-exact+0.05*similarity", "expected-alpha-ndcg@20"},
	{"NDCG + .2 similarity", "plrank-exact+0.2*similarity", "expected-alpha-ndcg@20"},
	{"NDCG + .5 similarity", "plrank-exact+0.5*similarity", "expected-alpha-ndcg@20"},
	{"NDCG", "plrank-exact", "expected-ndcg@20"},
	{"softmax", "softmax", "ndcg@20"},
	{"lambdarank", "lambdarank", "ndcg@20"},
}

const parts = 3

var (
	data  = flag.String("data", "../../shared/data/diversity", "the `folder` of part1.txt.gz to part3.txt.gz and subtopics.qrels.gz")
	work  = flag.String("work", "", "a `folder` for scores")
	seeds = flag.Int("seeds", 20, "trainings of a loss on a fold")
	write = flag.String("write", "", "replace the tables of this `page`, and slates/runs.csv")
)

func main() {
	log.SetFlags(0)
	runtime.GOMAXPROCS(1)
	commands := map[string]func(ctx context.Context) error{"train": trainAll, "measure": measure}
	if len(os.Args) < 2 || commands[os.Args[1]] == nil {
		log.Fatal("slates: want train or measure; see the package comment")
	}
	if err := flag.CommandLine.Parse(os.Args[2:]); err != nil {
		log.Fatal(err)
	}
	if err := commands[os.Args[1]](command.Interruptible()); err != nil {
		log.Fatal("slates: ", err)
	}
}

// part reads a part, from 0.
func part(i int) (*datasets.Dataset, error) {
	return datasets.ReadFile(filepath.Join(*data, fmt.Sprintf("part%d.txt.gz", i%parts+1)),
		datasets.ReadOptions{Subtopics: filepath.Join(*data, "subtopics.qrels.gz")})
}

// splits are the splits of a fold, whose number is its test part's.
func splits(fold int) (*datasets.Splits, error) {
	var all [parts]*datasets.Dataset
	for i := range all {
		var err error
		if all[i], err = part(fold + i); err != nil {
			return nil, err
		}
	}
	return &datasets.Splits{Test: all[0], Train: all[1], Vali: all[2]}, nil
}

func scoresPath(loss, split string, fold, seed int) string {
	return filepath.Join(*work, loss, fmt.Sprintf("%d-%d.%s", fold, seed, split))
}

// trainAll makes the scores that are missing, seed by seed.
func trainAll(ctx context.Context) error {
	if *work == "" {
		return errors.New("train: -work must be given")
	}
	var folds [parts]*datasets.Splits
	for fold := range folds {
		var err error
		if folds[fold], err = splits(fold); err != nil {
			return err
		}
	}
	for seed := 1; seed <= *seeds; seed++ {
		for _, l := range losses {
			for fold, s := range folds {
				if _, err := os.Stat(scoresPath(l.name, "vali", fold, seed)); err == nil {
					continue
				}
				c := train.Config{
					Objective:    train.Objective{Loss: l.loss, Cutoff: 20, NormalizeGains: true},
					Inputs:       train.Inputs{Transform: "minmax+log-standard+quantile"},
					Model:        train.Model{Hidden: []int{32}, Activation: ops.ReLU, Dropout: 0.3, Members: 1},
					Optimization: train.Optimization{Optimizer: "adamw", LearningRate: 0.002, WeightDecay: 1, Batch: 4, Epochs: 60},
				}.Plain()
				c.Metric, c.Seed = l.metric, uint64(seed)
				result, err := train.Run(ctx, c, s, train.Hooks{})
				if err == nil && result.Interrupted {
					err = errors.New("interrupted; the same command goes on from here")
				}
				if err == nil {
					err = errors.Join(writeScores(result.Model, s.Test, scoresPath(l.name, "test", fold, seed)),
						writeScores(result.Model, s.Vali, scoresPath(l.name, "vali", fold, seed)))
				}
				if err != nil {
					return fmt.Errorf("%s, fold %d, seed %d: %w", l.name, fold, seed, err)
				}
			}
		}
		log.Printf("seed %d", seed)
	}
	return nil
}

func writeScores(m datasets.Model, d *datasets.Dataset, path string) error {
	scores, err := datasets.Score(m, d)
	if err != nil {
		return err
	}
	if err := os.MkdirAll(filepath.Dir(path), 0o777); err != nil {
		return err
	}
	return file.Write(path, func(w io.Writer) error {
		for _, s := range scores {
			if _, err := fmt.Fprintln(w, strconv.FormatFloat(s, 'g', 9, 64)); err != nil {
				return err
			}
		}
		return nil
	})
}
