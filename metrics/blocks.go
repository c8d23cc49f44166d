package metrics

import "github.com/plrank/plrank/internal/parallel"

// byBlocks are the estimates of those measures that can be computed of some queries after
// others, on all cores. Those of other measures are nil, and all are where one has an
// error, which the whole input locates.
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
	scratch := make([]*shared, workers)
	for worker := range scratch {
		scratch[worker] = newShared()
	}
	err = parallel.Each(len(blocks), workers, func(worker, b int) error {
		part := in.queries(offsets[b*block : min((b+1)*block, queries)+1])
		part.shared = scratch[worker]
		part.shared.reset()
		blocks[b] = make([]Estimate, len(measures))
		for i, m := range measures {
			if m.Sampled() || m.own != nil { // these go by the numbers of queries, or may
				continue
			}
			var err error
			if blocks[b][i], err = m.Estimate(part); err != nil {
				return err
			}
		}
		return nil
	})
	if err != nil {
		return all
	}
	for i, m := range measures {
		if m.Sampled() || m.own != nil {
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

// queries is the part of in with the queries of those offsets.
func (in Input) queries(offsets []int) Input {
	first, end := offsets[0], offsets[len(offsets)-1]
	in.Scores, in.Labels = in.Scores[first:end], in.Labels[first:end]
	if in.Groups != nil {
		in.Groups = in.Groups[first:end]
	}
	in.Offsets = make([]int, len(offsets))
	for i, o := range offsets {
		in.Offsets[i] = o - first
	}
	return in
}
