package datasets

import (
	"fmt"
	"maps"
	"math/rand/v2"
	"slices"
	"strings"

	"github.com/plrank/plrank/datasets/internal/reader"
)

// read reads the splits from their files. Without a validation file and a fraction to hold out there
// there are two splits.
func (o Options) read(files reader.Splits, holdOut float64) (s splits, err error) {
	var tables [3]*reader.Table
	defer func() {
		for _, t := range tables {
			if t != nil {
				t.Free()
			}
		}
	}()
	read := reader.FileOptions{Options: reader.Options(o.Read), ChunkSize: o.chunkSize}
	names := reader.NewNames(read.Options)
	for i, split := range files {
		if split.Path == "" {
			continue
		}
		read.Labels = o.labels(i)
		if tables[i], err = reader.Read(split, read, names); err != nil {
			return s, err
		}
		if i > 0 && tables[0].Layout.IDs == nil && o.Read.FeatureIDs == nil { // LETOR text
			tables[i].WarnOfPositions()
		}
		if i == 0 {
			read.Options = read.ByNames(tables[0].IDs, tables[0].Layout)
			if weight := read.WeightColumn; weight != "" { // only the training split needs weights
				read.WeightColumn, read.Roles = "", maps.Clone(read.Roles)
				if read.Roles == nil {
					read.Roles = map[string]string{}
				}
				read.Roles["weight"] = weight
			}
		}
	}
	ids, err := o.check(tables)
	if err != nil {
		return s, err
	}
	train, vali, test := tables[0], tables[1], tables[2]
	asSparse := reader.IsSparse(ids, tables[:]...)
	switch {
	case o.Folds > 0:
		return o.fold(train, ids)
	case vali == nil && holdOut > 0:
		n := len(train.Queries)
		if n < 2 {
			return s, fmt.Errorf("datasets: %s: one query cannot be split into training and validation queries: please name a validation file",
				train.Path)
		}
		order, held := rand.New(rand.NewPCG(o.Seed, 0x686f6c64)).Perm(n), max(1, int(holdOut*float64(n)))
		s, err = split(train, ids, order[:n-held], order[n-held:])
	default:
		if s[0], err = newJudged(train, ids, asSparse); err == nil && vali != nil {
			s[1], err = newJudged(vali, ids, asSparse)
		}
	}
	if err == nil && test != nil {
		s[2], err = newJudged(test, ids, asSparse)
	}
	return s, err
}

// labels is ReadOptions.Labels of a split: where documents without a label are left out, there must be some with one.
func (o Options) labels(split int) string {
	switch {
	case split == 0 && o.FeaturesOnly:
		return reader.UnusedLabels
	case o.Read.Labels == "" && o.Read.FeatureIDs == nil, o.Read.Labels == "" && o.Unlabelled != "keep":
		return reader.NeededLabels
	}
	return o.Read.Labels
}

// check compares the tables of the splits with the options, leaves out the documents without a label, and gives the columns of
// all.
func (o Options) check(tables [3]*reader.Table) (ids []int, err error) {
	ids = o.Read.FeatureIDs
	minusOne, belowOne := 0, 0
	var names []string
	for i, t := range tables {
		if t == nil {
			continue
		}
		names = append(names, t.Path)
		if o.Read.FeatureIDs == nil {
			ids = reader.Union(ids, t.IDs)
		}
		if i == 0 && o.FeaturesOnly {
			continue
		}
		minusOne += t.MinusOne
		belowOne += t.BelowOne
		if o.Unlabelled != "keep" {
			if err := reader.DropUnlabelled(t); err != nil {
				return nil, err
			}
		}
	}
	if minusOne > 0 && belowOne == 0 && o.Read.MinusOne == "" && o.Unlabelled != "keep" {
		return nil, fmt.Errorf("datasets: %s: %w", strings.Join(names, ", "), ErrMinusOne)
	}
	tables[0].WarnOfAbsent(ids)
	return ids, nil
}

// fold makes the splits of one fold of a table; see Options.Folds.
func (o Options) fold(t *reader.Table, ids []int) (s splits, err error) {
	n := len(t.Queries)
	if n < o.Folds {
		return s, fmt.Errorf("datasets: %s: %d queries cannot be dealt to %d folds", t.Path, n, o.Folds)
	}
	order := rand.New(rand.NewPCG(o.Seed, 0x666f6c64)).Perm(n)
	var train []int
	dealt := func(fold int) []int { return order[fold*n/o.Folds : (fold+1)*n/o.Folds] }
	for fold := range o.Folds {
		if fold != o.Fold-1 && fold != o.Fold%o.Folds {
			train = append(train, dealt(fold)...)
		}
	}
	return split(t, ids, train, dealt(o.Fold%o.Folds), dealt(o.Fold-1))
}

var splitNames = [3]string{"train", "vali", "test"}

// split makes data of each list of queries, which it sorts. They share one matrix, so that
// nothing is in memory twice. The first has the warnings.
func split(t *reader.Table, ids []int, queries ...[]int) (s splits, err error) {
	var ordered []reader.Query
	for _, list := range queries {
		slices.Sort(list)
		for _, q := range list {
			ordered = append(ordered, t.Queries[q])
		}
	}
	t.Queries = ordered
	all, err := newJudged(t, ids, reader.IsSparse(ids, t))
	if err != nil {
		return s, err
	}
	from := 0
	for i, list := range queries {
		s[i] = all.view(from, from+len(list))
		from += len(list)
		if i > 0 {
			s[i].Warnings = nil
		}
	}
	return s, nil
}
