package losses_test

import (
	"testing"

	G "gorgonia.org/gorgonia"
	"gorgonia.org/tensor"

	"github.com/plrank/plrank/losses"
	"github.com/plrank/plrank/metrics"
	"github.com/plrank/plrank/ops"
)

// The number of nodes of a loss and its gradient does not depend on the data or on numbers
// that are given: the time to compile them would grow faster than these.
func TestGraphsDoNotGrow(t *testing.T) {
	type size struct{ documents, queries, groups, label, cutoff, samples int }
	nodes := func(name string, s size) int {
		f := fixture{offsets: []int{0}, discounts: metrics.Discounts(s.cutoff)}
		for range s.queries {
			for d := range s.documents {
				f.scores, f.gains = append(f.scores, float64(d%7)), append(f.gains, float64(d%3))
				f.labels, f.groups = append(f.labels, float64(d%(s.label+1))), append(f.groups, d%s.groups)
			}
			f.offsets = append(f.offsets, len(f.scores))
		}
		b := f.batch(tensor.Float32)
		b.HighestGrade = float64(s.label)
		b.Sampler, b.Exposure = ops.NewSampler(s.samples, s.cutoff, 1), ops.NewSampler(s.samples, s.cutoff, 2)
		if _, err := G.Grad(build(t, name, b), b.Lists.Scores); err != nil {
			t.Fatal(err)
		}
		return len(b.Lists.Scores.Graph().AllNodes())
	}
	small := size{documents: 6, queries: 2, groups: 2, label: 4, cutoff: 5, samples: 3}
	for _, name := range losses.Names() {
		want := nodes(name, small)
		for what, change := range map[string]func(*size){
			"documents": func(s *size) { s.documents = 60 },
			"queries":   func(s *size) { s.queries = 20 },
			"groups":    func(s *size) { s.groups = 6 },
			"labels":    func(s *size) { s.label = 40 },
			"cutoff":    func(s *size) { s.cutoff = 50 },
			"samples":   func(s *size) { s.samples = 30 },
		} {
			large := small
			change(&large)
			if got := nodes(name, large); got != want {
				t.Errorf("%s: %d nodes with more %s, %d before", name, got, what, want)
			}
		}
	}
}
