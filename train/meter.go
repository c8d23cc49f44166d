package train

import (
	"fmt"

	"github.com/plrank/plrank/datasets"
	"github.com/plrank/plrank/internal/processes"
	"github.com/plrank/plrank/metrics"
)

// A meter measures models: each rank scores and measures some of the queries, and tells the
// others. All get the same numbers, whatever their number.
type meter struct {
	*evaluator
	group processes.Group
}

// shares are the chunks of d and, of these, with which one the part of each rank begins,
// and their number.
func (m *meter) shares(d *datasets.Dataset) (all, begin []int) {
	all = chunks(d)
	ranks := m.group.Size()
	for rank := range ranks + 1 {
		begin = append(begin, rank*(len(all)-1)/ranks)
	}
	return all, begin
}

// values are those of a model on d.
func (m *meter) values(model scoring, d *datasets.Dataset) (Values, error) {
	means, err := m.measure(model, d)
	if err != nil {
		return nil, err
	}
	return m.valuesOf(m.measures, means), nil
}

// measure gives the means of the measures of a model on d.
func (m *meter) measure(model scoring, d *datasets.Dataset) ([]metrics.Summary, error) {
	g := m.group
	all, begin := m.shares(d)
	scores, err := model.score(d, all[begin[g.Rank()]:begin[g.Rank()+1]+1])
	if err := processes.Agree(g, err); err != nil {
		return nil, err
	}
	if g.Size() == 1 {
		return m.means(d, scores, m.measures)
	}
	var queries, rows []int // with which the parts begin
	for _, chunk := range begin {
		queries, rows = append(queries, all[chunk]), append(rows, d.Offsets[all[chunk]])
	}
	processes.Share(g, scores, rows)

	// The queries of other ranks are empty to this one.
	in := m.input(d, scores)
	own := in
	own.Offsets = make([]int, len(d.Offsets))
	for q, offset := range d.Offsets {
		own.Offsets[q] = min(max(offset, rows[g.Rank()]), rows[g.Rank()+1])
	}
	estimates, err := metrics.Estimates(own, m.bound(d, m.measures))
	if err != nil {
		err = fmt.Errorf("train: %s: %w", d.Name, err)
	}
	if err := processes.Agree(g, err); err != nil {
		return nil, err
	}
	means := make([]metrics.Summary, len(estimates))
	for i, of := range m.measures {
		processes.Share(g, estimates[i].PerQuery, queries)
		processes.Share(g, estimates[i].StdErr, queries)
		if means[i], err = mean(of, in, estimates[i]); err != nil {
			return nil, fmt.Errorf("train: %s: %w", d.Name, err)
		}
	}
	return means, nil
}
