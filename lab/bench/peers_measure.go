package main

import (
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"

	"github.com/plrank/plrank/datasets"
	"github.com/plrank/plrank/lab/internal/csvfile"
	"github.com/plrank/plrank/metrics"
)

// The files of results.
const (
	runsFile        = "runs.csv"        // a row for each method, fold and seed
	queriesFile     = "queries.csv"     // a row for each query, NDCG@5 of every method, mean of the seeds
	independentFile = "independent.csv" // what other tools say of the same scores
)

// peerMeasures are the columns of figures that are measured: NDCG with its expected value
// where scores are equal, and with the order of the file there, as other tools have it.
var peerMeasures = []string{"ndcg@5", "ndcg@10", "ordered-ndcg@5", "ordered-ndcg@10"}

// A peerRun is one fit: what it was, as the scripts say in its JSON file, and how good.
type peerRun struct {
	Set            string  `json:"set"`
	Fold           string  `json:"fold"`
	Method         string  `json:"method"`
	Seed           int     `json:"seed"`
	Setting        string  `json:"setting"`
	Machine        string  `json:"machine"`
	TrainSeconds   float64 `json:"train_seconds"`
	PredictSeconds float64 `json:"predict_seconds"`
	MemoryMB       float64 `json:"memory_mb"`

	values map[string]float64 // of peerMeasures
}

// measurePeers measures the scores in the working folder of peers/quality/run.py. What
// the folder of results has of other fits stays.
func measurePeers(work, results string) error {
	paths, err := filepath.Glob(filepath.Join(work, "runs", "*", "*", "*", "*.json")) // which are written last
	if err != nil || len(paths) == 0 {
		return fmt.Errorf("bench: %s has no runs, SET/FOLD/METHOD/SEED.json below runs (%v)", work, err)
	}
	slices.Sort(paths)
	tests := map[string]*datasets.Dataset{} // by the file that says where they are
	var runs [][]string
	perQuery := newQueryTable()
	for _, path := range paths {
		run, err := readPeerRun(path)
		if err != nil {
			return err
		}
		where := filepath.Join(work, "folds", run.Set, run.Fold+".path")
		if tests[where] == nil {
			folder, err := os.ReadFile(where)
			if err != nil {
				return fmt.Errorf("bench: %w", err)
			}
			test := filepath.Join(string(folder), "test.csv.gz")
			read := datasets.ReadOptions{QueryColumn: "query", LabelColumn: "label", DocumentColumn: "document", Categorical: []string{"*"}}
			if _, err := os.Stat(test); err != nil {
				test, read = filepath.Join(string(folder), "test.txt"), datasets.ReadOptions{}
			}
			if tests[where], err = datasets.ReadFile(test, read); err != nil {
				return fmt.Errorf("bench: %w", err)
			}
		}
		scores := strings.TrimSuffix(path, ".json") + ".scores"
		queries, err := run.measure(scores, tests[where])
		if err != nil {
			return fmt.Errorf("bench: %s: %w", scores, err)
		}
		perQuery.add(run, queries)
		row := []string{run.Set, run.Fold, run.Method, strconv.Itoa(run.Seed), run.Setting, run.Machine,
			short(run.TrainSeconds), short(run.PredictSeconds), short(run.MemoryMB)}
		for _, m := range peerMeasures {
			row = append(row, strconv.FormatFloat(run.values[m], 'f', 8, 64))
		}
		runs = append(runs, row)
	}
	if err := os.MkdirAll(results, 0o755); err != nil {
		return fmt.Errorf("bench: %w", err)
	}
	if runs, err = withEarlier(results, runs, perQuery); err != nil {
		return err
	}
	if err := csvfile.Write(filepath.Join(results, runsFile), runs); err != nil {
		return err
	}
	return csvfile.Write(filepath.Join(results, queriesFile), perQuery.rows())
}

// withEarlier adds to what was made what the folder of results says of other fits. It gives
// the rows of runsFile, with their head.
func withEarlier(results string, runs [][]string, perQuery *queryTable) ([][]string, error) {
	type fit [3]string // set, fold and method
	made := map[fit]bool{}
	for _, run := range runs {
		made[fit(run[:3])] = true
	}
	head := append(
		[]string{"set", "fold", "method", "seed", "setting", "machine", "train_seconds", "predict_seconds", "memory_mb"},
		peerMeasures...)
	err := eachEarlierRow(filepath.Join(results, runsFile), func(row map[string]string) error {
		if made[fit{row["set"], row["fold"], row["method"]}] {
			return nil
		}
		var values []string
		for _, column := range head {
			values = append(values, row[column])
		}
		runs = append(runs, values)
		return nil
	})
	if err != nil {
		return nil, err
	}
	slices.SortFunc(runs, func(a, b []string) int { return slices.Compare(a[:4], b[:4]) }) // by fit and seed
	return append([][]string{head}, runs...), eachEarlierRow(filepath.Join(results, queriesFile), func(row map[string]string) error {
		for method, value := range row {
			if method == "set" || method == "fold" || method == "query" || value == "" || made[fit{row["set"], row["fold"], method}] {
				continue
			}
			query, err := strconv.Atoi(row["query"])
			if err != nil {
				return fmt.Errorf("column query: %w", err)
			}
			mean, err := strconv.ParseFloat(value, 64)
			if err != nil {
				return fmt.Errorf("column %s: %w", method, err)
			}
			perQuery.addValue(row["set"], row["fold"], method, query, mean)
		}
		return nil
	})
}

// eachEarlierRow is eachRow of a file that need not be there.
func eachEarlierRow(path string, take func(row map[string]string) error) error {
	err := eachRow(path, take)
	if errors.Is(err, fs.ErrNotExist) {
		return nil
	}
	if err != nil {
		return fmt.Errorf("bench: %w", err)
	}
	return nil
}

func readPeerRun(path string) (*peerRun, error) {
	text, err := os.ReadFile(path)
	if err != nil {
		return nil, fmt.Errorf("bench: %w", err)
	}
	run := &peerRun{}
	if err := json.Unmarshal(text, run); err != nil {
		return nil, fmt.Errorf("bench: %s: %w", path, err)
	}
	return run, nil
}

// measure measures scores, one a line in the order of the documents. It gives NDCG@5 of
// every query, NaN of those without a relevant document.
func (r *peerRun) measure(path string, test *datasets.Dataset) ([]float64, error) {
	text, err := os.ReadFile(path)
	if err != nil {
		return nil, err
	}
	lines := strings.Fields(string(text))
	if len(lines) != test.Rows() {
		return nil, fmt.Errorf("%d scores for the %d documents of %s", len(lines), test.Rows(), test.Name)
	}
	scores := make([]float64, len(lines))
	for row := range scores {
		line := row
		if test.SourceRows != nil { // queries that came in parts have been joined
			line = test.SourceRows[row]
		}
		if scores[row], err = strconv.ParseFloat(lines[line], 64); err != nil {
			return nil, fmt.Errorf("line %d: %w", line+1, err)
		}
	}
	in := metrics.Queries{Scores: scores, Labels: test.Labels, Offsets: test.Offsets}
	var perQuery []float64
	r.values = map[string]float64{}
	for _, name := range peerMeasures {
		bare, ordered := strings.CutPrefix(name, "ordered-")
		in.Ties = metrics.TiesRandom
		if ordered {
			in.Ties = metrics.TiesOrder
		}
		measure, err := metrics.ParseMeasure(bare)
		if err != nil {
			return nil, err
		}
		values, err := measure.PerQuery(in)
		if err != nil {
			return nil, err
		}
		if name == peerMeasures[0] {
			perQuery = values
		}
		r.values[name] = metrics.Mean(values, metrics.LabelFreeSkip)
	}
	return perQuery, nil
}

func short(v float64) string { return strconv.FormatFloat(v, 'g', 4, 64) }
