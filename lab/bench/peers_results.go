package main

import (
	"fmt"
	"maps"
	"math"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
)

// peerResults are the CSV files of peers/quality.
type peerResults struct {
	folder  string
	runs    []*peerRun
	queries map[string]map[string][]string // of a set: NDCG@5 of a method for every query
	others  map[string]map[string]float64  // what independent tools say, by runKey
}

// runKey names a run in all files.
func runKey(set, fold, method, seed string) string {
	return strings.Join([]string{set, fold, method, seed}, "\t")
}

func (r *peerRun) key() string { return runKey(r.Set, r.Fold, r.Method, strconv.Itoa(r.Seed)) }

func readPeers(folder string) (*peerResults, error) {
	r := &peerResults{folder: folder, queries: map[string]map[string][]string{}, others: map[string]map[string]float64{}}
	err := eachRow(filepath.Join(folder, runsFile), func(row map[string]string) error {
		v, err := numbers(row, "seed", "train_seconds", "predict_seconds", "memory_mb")
		if err != nil {
			return err
		}
		run := &peerRun{Set: row["set"], Fold: row["fold"], Method: row["method"], Setting: row["setting"],
			Seed: int(v[0]), TrainSeconds: v[1], PredictSeconds: v[2], MemoryMB: v[3]}
		r.runs = append(r.runs, run)
		run.values, err = measuresOf(row)
		return err
	})
	if err != nil {
		return nil, err
	}
	err = eachRow(filepath.Join(folder, queriesFile), func(row map[string]string) error {
		set := row["set"]
		if r.queries[set] == nil {
			r.queries[set] = map[string][]string{}
		}
		for method, value := range row {
			if method != "set" && method != "fold" && method != "query" {
				r.queries[set][method] = append(r.queries[set][method], value)
			}
		}
		return nil
	})
	if err != nil {
		return nil, err
	}
	return r, eachRow(filepath.Join(folder, independentFile), func(row map[string]string) (err error) {
		r.others[runKey(row["set"], row["fold"], row["method"], row["seed"])], err = measuresOf(row)
		return err
	})
}

// measuresOf are the peerMeasures of a row.
func measuresOf(row map[string]string) (map[string]float64, error) {
	v, err := numbers(row, peerMeasures...)
	if err != nil {
		return nil, err
	}
	values := map[string]float64{}
	for i, m := range peerMeasures {
		values[m] = v[i]
	}
	return values, nil
}

// tableSets are the collections that are tables of queries' and documents' attributes.
var tableSets = []string{"GRAPHS-2015", "QBF-2014", "f1", "msrd", "swissmetro"}

// part returns the results of tableSets, or of the others, of LETOR's kind.
func (r *peerResults) part(tables bool) *peerResults {
	part := *r
	part.runs = slices.DeleteFunc(slices.Clone(r.runs), func(run *peerRun) bool { return slices.Contains(tableSets, run.Set) != tables })
	return &part
}

// sets are the collections, the largest number of folds first.
func (r *peerResults) sets() []string {
	count := map[string]int{}
	for _, run := range r.runs {
		count[run.Set] = max(count[run.Set], len(r.folds(run.Set)))
	}
	return slices.SortedFunc(maps.Keys(count), func(a, b string) int {
		if count[a] != count[b] {
			return count[b] - count[a]
		}
		return strings.Compare(a, b)
	})
}

// folds returns the folds of a set that have a run of any method.
func (r *peerResults) folds(set string) []string {
	found := map[string]bool{}
	for _, run := range r.runs {
		if run.Set == set {
			found[run.Fold] = true
		}
	}
	return slices.Sorted(maps.Keys(found))
}

// of are the runs of a method on a set, if there are all: every fold with every seed that
// any run has.
func (r *peerResults) of(set, method string) []*peerRun {
	var runs []*peerRun
	seeds := map[int]bool{}
	for _, run := range r.runs {
		seeds[run.Seed] = true
		if run.Set == set && run.Method == method {
			runs = append(runs, run)
		}
	}
	if len(runs) != len(seeds)*len(r.folds(set)) {
		return nil
	}
	return runs
}

// bySeed are the means over folds, one for each seed.
func bySeed(runs []*peerRun, value func(*peerRun) float64) []float64 {
	sum, count := map[int]float64{}, map[int]float64{}
	for _, run := range runs {
		sum[run.Seed] += value(run)
		count[run.Seed]++
	}
	var means []float64
	for _, seed := range slices.Sorted(maps.Keys(sum)) {
		means = append(means, sum[seed]/count[seed])
	}
	return means
}

// leastBySeed is the mean over folds of the least value of any seed: of a time, what other
// work on the machine disturbed least.
func leastBySeed(runs []*peerRun, value func(*peerRun) float64) float64 {
	least := map[string]float64{}
	for _, run := range runs {
		if v, ok := least[run.Fold]; !ok || value(run) < v {
			least[run.Fold] = value(run)
		}
	}
	return mean(slices.Sorted(maps.Values(least))) // sorted: the same to the last bit
}

// methods are those with all runs of a set at least: plrank last, the others by name.
func (r *peerResults) methods() []string {
	found := map[string]bool{}
	for _, run := range r.runs {
		if run.Method != ourMethod && r.of(run.Set, run.Method) != nil {
			found[run.Method] = true
		}
	}
	return append(slices.Sorted(maps.Keys(found)), ourMethod)
}

// perQuery is NDCG@5 of a method for the queries of a set that have a relevant document.
func (r *peerResults) perQuery(set, method string) ([]float64, error) {
	var values []float64
	for _, text := range r.queries[set][method] {
		v, err := strconv.ParseFloat(text, 64)
		if err != nil {
			return nil, fmt.Errorf("%s: %s on %s: %w", queriesFile, method, set, err)
		}
		values = append(values, v)
	}
	return values, nil
}

// A queryTable gathers what becomes queriesFile.
type queryTable struct {
	methods map[string]bool
	queries map[[3]string]map[string][]float64 // by set, fold and query: of a method, for each seed
}

func newQueryTable() *queryTable {
	return &queryTable{map[string]bool{}, map[[3]string]map[string][]float64{}}
}

func (t *queryTable) add(run *peerRun, values []float64) {
	for q, v := range values {
		if !math.IsNaN(v) {
			t.addValue(run.Set, run.Fold, run.Method, q+1, v)
		}
	}
}

// addValue adds the value of one seed, or a mean of seeds.
func (t *queryTable) addValue(set, fold, method string, query int, value float64) {
	t.methods[method] = true
	key := [3]string{set, fold, fmt.Sprintf("%05d", query)}
	if t.queries[key] == nil {
		t.queries[key] = map[string][]float64{}
	}
	t.queries[key][method] = append(t.queries[key][method], value)
}

// rows are a head, and a row for each query with the means over seeds.
func (t *queryTable) rows() [][]string {
	methods := slices.Sorted(maps.Keys(t.methods))
	rows := [][]string{append([]string{"set", "fold", "query"}, methods...)}
	keys := slices.SortedFunc(maps.Keys(t.queries), func(a, b [3]string) int { return slices.Compare(a[:], b[:]) })
	for _, key := range keys {
		row := []string{key[0], key[1], strings.TrimLeft(key[2], "0")}
		for _, m := range methods {
			value := ""
			if v := t.queries[key][m]; v != nil {
				value = strconv.FormatFloat(mean(v), 'f', 6, 64)
			}
			row = append(row, value)
		}
		rows = append(rows, row)
	}
	return rows
}
