package metrics

import "github.com/plrank/plrank/internal/parallel"

// Means are the means of measures over the queries, by Input.LabelFree and
// Input.QueryWeights; of a fairness measure, over the queries for which it is defined. What
// several of the measures need is computed once, and for different queries on all cores.
func Means(in Input, measures []Measure) ([]Summary, error) {
	estimates, err := Estimates(in, measures)
	if err != nil {
		return nil, err
	}
	means := make([]Summary, len(measures))
	for i, m := range measures {
		if means[i], err = m.Mean(in, estimates[i]); err != nil {
			return nil, err
		}
	}
	return means, nil
}

// Estimates are those of several measures, of which [Means] takes the means.
func Estimates(in Input, measures []Measure) ([]Estimate, error) {
	var s shared
	estimates := make([]Estimate, len(measures))
	known := in.byBlocks(measures)
	for i, m := range measures {
		if known[i] != nil {
			estimates[i] = *known[i]
			continue
		}
		var err error
		if estimates[i], err = m.estimate(in, &s); err != nil {
			return nil, err
		}
	}
	return estimates, nil
}

// byBlocks computes measures block by block of queries, on all cores. The estimates of
// measures that may depend on the number of a query are nil. So are all after an error,
// which is found again, with its query and row, in the whole input.
func (in Input) byBlocks(measures []Measure) []*Estimate {
	const block = 16 // queries
	all := make([]*Estimate, len(measures))
	offsets, err := in.offsets()
	rows := len(in.Labels)
	if err != nil || len(offsets) <= block+1 || len(in.Scores) != rows || in.Groups != nil && len(in.Groups) != rows ||
		in.Rankings != nil || in.Exposure != nil {
		return all
	}
	if in.HighestGrade == 0 {
		in.HighestGrade = in.highestLabel()
	}
	queries := len(offsets) - 1
	blocks := make([][]Estimate, (queries+block-1)/block)
	workers := parallel.Workers(len(blocks))
	scratch := make([]shared, workers)
	err = parallel.Each(len(blocks), workers, func(worker, b int) error {
		part := in.part(offsets[b*block : min((b+1)*block, queries)+1])
		scratch[worker].reset()
		blocks[b] = make([]Estimate, len(measures))
		for i, m := range measures {
			if m.byNumber() {
				continue
			}
			var err error
			if blocks[b][i], err = m.estimate(part, &scratch[worker]); err != nil {
				return err
			}
		}
		return nil
	})
	if err != nil {
		return all
	}
	for i, m := range measures {
		if m.byNumber() {
			continue
		}
		all[i] = &Estimate{}
		for _, of := range blocks {
			all[i].PerQuery = append(all[i].PerQuery, of[i].PerQuery...)
			all[i].StdErr = append(all[i].StdErr, of[i].StdErr...)
		}
	}
	return all
}
