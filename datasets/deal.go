package datasets

import (
	"fmt"
	"math/rand/v2"
	"slices"

	"github.com/plrank/plrank/datasets/internal/cache"
	"github.com/plrank/plrank/datasets/internal/table"
)

// holdOutOf makes the training and the validation split of a table, the second with
// the given fraction of its queries.
func holdOutOf(t *table.Table, ids []int, fraction float64, seed uint64) (s cache.Splits, err error) {
	n := len(t.Queries)
	held := max(1, int(fraction*float64(n)))
	if n < 2 {
		return s, fmt.Errorf("datasets: %s: one query cannot be split into training and validation queries: please name a validation file", t.Path)
	}
	order := rand.New(rand.NewPCG(seed, 0x686f6c64)).Perm(n)
	splits, err := split(t, ids, order[:n-held], order[n-held:])
	if err != nil {
		return s, err
	}
	splits[1].Name += fmt.Sprintf(" (%d queries held out)", held)
	return cache.Splits{splits[0], splits[1]}, nil
}

// fold makes the splits of one fold of a table; see Options.Folds.
func fold(t *table.Table, ids []int, o Options) (s cache.Splits, err error) {
	n := len(t.Queries)
	if n < o.Folds {
		return s, fmt.Errorf("datasets: %s: %d queries cannot be dealt to %d folds", t.Path, n, o.Folds)
	}
	order := rand.New(rand.NewPCG(o.Seed, 0x666f6c64)).Perm(n)
	dealt := func(i int) []int { return order[i*n/o.Folds : (i+1)*n/o.Folds] }
	test, vali := o.Fold-1, o.Fold%o.Folds
	var train []int
	for i := range o.Folds {
		if i != test && i != vali {
			train = append(train, dealt(i)...)
		}
	}
	splits, err := split(t, ids, train, slices.Clone(dealt(vali)), slices.Clone(dealt(test)))
	if err != nil {
		return s, err
	}
	for i, d := range splits {
		d.Name += fmt.Sprintf(" (fold %d of %d: %s)", o.Fold, o.Folds, [3]string{"train", "vali", "test"}[i])
	}
	return cache.Splits(splits), nil
}

// split makes data of each list of queries, which it sorts. They share one matrix, so that
// nothing is in memory twice. The first has the warnings.
func split(t *table.Table, ids []int, queries ...[]int) ([]*table.Data, error) {
	for _, list := range queries {
		slices.Sort(list)
	}
	all, err := t.Data(ids, slices.Concat(queries...))
	if err != nil {
		return nil, err
	}
	var splits []*table.Data
	from := 0
	for i, list := range queries {
		d := all.View(from, from+len(list))
		from += len(list)
		if i > 0 {
			d.Warnings = nil
		}
		splits = append(splits, d)
	}
	return splits, nil
}
