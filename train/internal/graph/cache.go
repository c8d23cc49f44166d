package graph

import "errors"

// A Cache has compiled graphs by their number of rows. Its zero value is empty.
type Cache[T interface{ Close() error }] map[int]T

// mostGraphs is how many there may be at once: more than an epoch of usual data has.
const mostGraphs = 64

// Get gives the graph of so many rows, which it makes if there is none.
func (g *Cache[T]) Get(rows int, build func() (T, error)) (made T, err error) {
	if s, ok := (*g)[rows]; ok {
		return s, nil
	}
	if len(*g) >= mostGraphs {
		if err := g.Close(); err != nil {
			return made, err
		}
	}
	if *g == nil {
		*g = Cache[T]{}
	}
	if made, err = build(); err == nil {
		(*g)[rows] = made
	}
	return made, err
}

// Close frees the memory of all graphs. They are made again when they are needed.
func (g Cache[T]) Close() error {
	var errs []error
	for rows, s := range g {
		errs = append(errs, s.Close())
		delete(g, rows)
	}
	return errors.Join(errs...)
}
