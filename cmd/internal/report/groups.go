package report

import (
	"cmp"
	"context"
	"fmt"
	"maps"
	"slices"
	"strconv"

	"github.com/plrank/plrank/cmd/internal/cli"
	"github.com/plrank/plrank/datasets"
	"github.com/plrank/plrank/metrics"
	"github.com/plrank/plrank/viz"
)

// groups shows the exposure of each group of documents.
func (v *view) groups(ctx context.Context, r *rows) error {
	if v.data == nil || v.data.Groups == nil || v.data.Gains != nil {
		return nil
	}
	sample := sampleOf(v.data, exposedRows)
	gains, exposure, err := v.exposure(ctx, sample)
	if err != nil {
		return err
	}
	type sums struct{ documents, gain, exposure float64 }
	by, all := map[int]*sums{}, sums{}
	for row, g := range sample.Groups {
		if g < 0 {
			continue
		}
		if by[g] == nil {
			by[g] = &sums{}
		}
		for _, s := range []*sums{by[g], &all} {
			s.documents, s.gain, s.exposure = s.documents+1, s.gain+gains[row], s.exposure+exposure[row]
		}
	}
	order := slices.SortedFunc(maps.Keys(by), func(a, b int) int {
		return cmp.Or(cmp.Compare(by[b].documents, by[a].documents), cmp.Compare(a, b))
	})
	note := fmt.Sprintf("Each group's share of the documents, of the gain, and of the expected exposure under the policy. Exposure "+
		"follows merit if its share equals the share of the gain.%s", sampleNote(sample, v.data))
	if len(order) > ShownFeatures {
		note += fmt.Sprintf(" The %d largest of %d groups are shown.", ShownFeatures, len(order))
		order = order[:ShownFeatures]
	}
	t := viz.Table{Title: "Exposure by group", Columns: []string{"group", "documents", "gain", "exposure", "exposure / gain"}}
	p := viz.Plot{X: "%"}
	series := []viz.Series{{Name: "documents", Style: viz.Points}, {Name: "gain", Style: viz.Points}, {Name: "exposure", Style: viz.Points}}
	for i, g := range order {
		name := short(v.data.GroupName(g))
		shares := []float64{by[g].documents / all.documents, by[g].gain / all.gain, by[g].exposure / all.exposure}
		row := viz.Row{name}
		for k, share := range shares {
			row = append(row, strconv.FormatFloat(100*share, 'f', 1, 64)+" %")
			series[k].X, series[k].Y = append(series[k].X, 100*share), append(series[k].Y, float64(len(order)-1-i))
		}
		t.Rows = append(t.Rows, append(row, shares[2]/shares[1]))
		p.YNames = append([]string{name}, p.YNames...)
	}
	p.Series = series
	r.text("%s", note)
	r.table(t)
	r.plot("Shares of the groups", p)
	return nil
}

// exposure returns the gain and the expected exposure of every document under the policy.
func (v *view) exposure(ctx context.Context, sample *datasets.Dataset) (gains, exposure []float64, err error) {
	scores, err := datasets.Score(v.Model, sample)
	if err != nil {
		return nil, nil, err
	}
	objective, err := metrics.ParseDiscounts(v.Config.Discounts, v.Config.Cutoff.Cutoff())
	if err != nil {
		return nil, nil, err
	}
	longest := 0
	for q := range sample.Queries() {
		longest = max(longest, sample.Offsets[q+1]-sample.Offsets[q])
	}
	gain, err := metrics.ParseGain(v.Config.Gain)
	if err != nil {
		return nil, nil, err
	}
	if gains, err = gain.Gains(sample.Labels); err != nil {
		return nil, nil, err
	}
	in := metrics.Queries{Scores: scores, Labels: sample.Labels, Offsets: sample.Offsets, Gain: gain,
		Discounts: objective.Over(longest).Discounts}
	exposure, err = cli.Await(ctx, func() ([]float64, error) { return metrics.Exposure(in) })
	return gains, exposure, err
}
