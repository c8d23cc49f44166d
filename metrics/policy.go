package metrics

import (
	"errors"
	"fmt"

	"github.com/plrank/plrank/plackett"
)

// Rankings are given rankings of the queries of an Input, laid out as the
// values of ops.Rankings: [queries, Samples, Cutoff] row numbers, −1 where the
// list has ended. A sample whose first entry is −1 is absent; all samples of a
// query without documents are.
type Rankings struct {
	Rows    []int
	Samples int
	Cutoff  int
}

// Policy says how the Plackett–Luce policy that the scores define is sampled.
type Policy struct {
	Samples int    // rankings drawn for every query; 0: 100
	Seed    uint64 // of the random numbers: the same seed and step, the same rankings
	Step    uint64 // tells apart draws of one seed, such as those of the epochs
}

// draws makes the policy's rankings, query by query.
type draws struct {
	policy  Policy
	sampler plackett.Sampler
	places  []int
}

func (p Policy) draws() (*draws, error) {
	if p.Samples < 0 {
		return nil, fmt.Errorf("metrics: %d samples: there must be one or more", p.Samples)
	}
	if p.Samples == 0 {
		p.Samples = 100
	}
	return &draws{policy: p}, nil
}

// of gives rankings of depth places of the query's documents, numbered from 0,
// one after another.
func (d *draws) of(q query, depth int) ([]int, error) {
	p := d.policy
	d.places = grow(d.places, p.Samples*depth)
	err := d.sampler.Draw(q.scores, plackett.Stream{Seed: p.Seed, Step: p.Step, Query: uint64(q.number)}, plackett.Rankings{Documents: d.places, Cutoff: depth})
	return d.places, err
}

// rankingReader checks given rankings and reads them query by query.
type rankingReader struct {
	Rankings
	places []int
	seen   []int // seen[d] is the number of the ranking that placed d last
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

// read gives the first depth places of the query's rankings that are present,
// one ranking after another, as documents numbered from 0.
func (r *rankingReader) read(q query, depth int) ([]int, error) {
	documents := len(q.scores)
	if depth > r.Cutoff {
		return nil, fmt.Errorf("%d ranks of its %d documents count, but the rankings have only %d", depth, documents, r.Cutoff)
	}
	for len(r.seen) < documents {
		r.seen = append(r.seen, 0)
	}
	r.places = r.places[:0]
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
				return nil, fmt.Errorf("sample %d, rank %d: row %d is placed twice", i, k+1, row)
			}
			r.seen[d] = r.count
			r.places = append(r.places, d)
		}
	}
	if len(r.places) == 0 && depth > 0 {
		return nil, errors.New("none of its rankings is present")
	}
	return r.places, nil
}
