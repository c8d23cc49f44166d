package metrics

import (
	"errors"
	"fmt"

	"github.com/plrank/plrank/internal/scratch"
	"github.com/plrank/plrank/plackett"
)

// draws makes the policy's rankings, query by query.
type draws struct {
	policy  Policy
	sampler plackett.Sampler
	ranked  []int
}

func (p Policy) draws() (*draws, error) {
	if p.Samples < 0 {
		return nil, fmt.Errorf("metrics: %d samples: want 1 or more, or 0 for 100", p.Samples)
	}
	if p.Samples == 0 {
		p.Samples = 100
	}
	return &draws{policy: p}, nil
}

// of gives rankings of the query's documents, numbered from 0, down to the rank depth, one
// after another.
func (d *draws) of(q query, depth int) ([]int, error) {
	p := d.policy
	d.ranked = scratch.Sized(d.ranked, p.Samples*depth)
	err := d.sampler.Draw(q.scores, plackett.Stream{Seed: p.Seed, Step: p.Step, Query: uint64(q.number)}, plackett.Rankings{Documents: d.ranked, Cutoff: depth})
	return d.ranked, err
}

// rankingReader checks given rankings and reads them query by query.
type rankingReader struct {
	Rankings
	ranked []int
	seen   []int // seen[d] is the number of the ranking that had d last
	count  int
}

// rankings reads in.Rankings.
func (in Input) rankings() (*rankingReader, error) {
	offsets, err := in.offsets()
	if err != nil {
		return nil, err
	}
	queries, r := len(offsets)-1, *in.Rankings
	if r.Samples < 0 || r.Cutoff < 0 || len(r.Rows) != queries*r.Samples*r.Cutoff {
		return nil, fmt.Errorf("metrics: %d entries of rankings, want %d queries × %d samples × cutoff %d", len(r.Rows), queries, r.Samples, r.Cutoff)
	}
	return &rankingReader{Rankings: r}, nil
}

// of gives the query's rankings that are present, down to the rank depth, one after
// another, as documents numbered from 0.
func (r *rankingReader) of(q query, depth int) ([]int, error) {
	documents := len(q.scores)
	if depth > r.Cutoff {
		return nil, fmt.Errorf("%d ranks of its %d documents count, but the rankings have only %d", depth, documents, r.Cutoff)
	}
	for len(r.seen) < documents {
		r.seen = append(r.seen, 0)
	}
	r.ranked = r.ranked[:0]
	for i := range r.Samples {
		at := (q.number*r.Samples + i) * r.Cutoff
		ranking := r.Rows[at : at+depth]
		if depth == 0 || ranking[0] == -1 {
			continue
		}
		r.count++
		for k, row := range ranking {
			d := row - q.first
			if d < 0 || d >= documents {
				return nil, fmt.Errorf("sample %d, rank %d: row %d is not one of the query's, %d to %d", i, k+1, row, q.first, q.first+documents-1)
			}
			if r.seen[d] == r.count {
				return nil, fmt.Errorf("sample %d, rank %d: row %d has a rank above already", i, k+1, row)
			}
			r.seen[d] = r.count
			r.ranked = append(r.ranked, d)
		}
	}
	if len(r.ranked) == 0 && depth > 0 {
		return nil, errors.New("none of its rankings is present")
	}
	return r.ranked, nil
}
