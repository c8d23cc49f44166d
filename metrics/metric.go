package metrics

import (
	"errors"
	"fmt"
	"slices"
	"strings"

	"github.com/plrank/plrank/internal/names"
)

// metric is one metric with its cutoff.
type metric struct {
	kind   kind
	cutoff int     // ranks looked at; 0: the whole list
	param  float64 // of the metrics that have one
}

func parseMetric(name string) (metric, error) {
	c, ok, err := parseCall(name)
	switch {
	case err != nil:
		return metric{}, err
	case !ok:
		return metric{}, fmt.Errorf("metrics: %q is not a metric's name; write it like ndcg@5, map or rbp(p=0.95)@10", name)
	}
	k := kind(slices.IndexFunc(families, func(f family) bool { return f.name == c.name || f.alias == c.name }))
	if k < 0 {
		text := fmt.Sprintf("metrics: unknown metric %q: want one of %s, with @k for a cutoff and perhaps %s before it; or a measure of fairness: %s",
			name, strings.Join(Names(), ", "), expectedPrefix, strings.Join(FairnessNames(), ", "))
		if near := names.Nearest(c.name, append(Names(), FairnessNames()...)); near != "" {
			text += " (did you mean " + near + "?)"
		}
		return metric{}, errors.New(text)
	}
	m := metric{kind: k, cutoff: c.cutoff}
	if m.param, err = families[k].param.parse(c); err != nil {
		return metric{}, fmt.Errorf("metrics: %q: %w", name, err)
	}
	return m, nil
}

// Names lists the metrics that ParseMeasure knows.
func Names() []string {
	list := make([]string, len(families))
	for i, f := range families {
		list[i] = f.name
	}
	return list
}

// String gives the name that parseMetric reads.
func (m metric) String() string {
	f := families[m.kind]
	s := f.name
	if m.param != f.param.standard {
		s += fmt.Sprintf("(%s=%v)", f.param.name, m.param)
	}
	if m.cutoff > 0 {
		s += fmt.Sprintf("@%d", m.cutoff)
	}
	return s
}

// depth is the number of ranks that count in a list of the given length.
func (m metric) depth(documents int) int {
	if m.cutoff == 0 {
		return documents
	}
	return min(m.cutoff, documents)
}
