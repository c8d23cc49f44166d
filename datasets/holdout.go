package datasets

import (
	"fmt"
	"math/rand/v2"
	"slices"
)

// HoldOut splits the queries of d: 20 %, drawn by the seed, become the validation split.
func HoldOut(d *Dataset, seed uint64) (*Splits, error) {
	n := d.Queries()
	if n < 2 {
		return nil, fmt.Errorf("%s: %d queries: want two at least, to hold out some for validation; or -vali names labelled data", d.Name, n)
	}
	order := rand.New(rand.NewPCG(seed, 0)).Perm(n)
	vali, train := order[:max(1, n/5)], order[max(1, n/5):]
	slices.Sort(vali)
	slices.Sort(train)
	s := &Splits{Train: d.Select(train), Vali: d.Select(vali)}
	s.Vali.Name += " (held out)"
	return s, nil
}
