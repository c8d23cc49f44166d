package metrics

import (
	"fmt"
	"regexp"
	"slices"
	"strconv"
	"strings"

	"github.com/plrank/plrank/internal/names"
)

// Metric is one metric with its cutoff, made by Parse; the package comment has the
// formulas. Metrics are comparable with ==.
type Metric struct {
	kind   kind
	cutoff int     // ranks looked at; 0: the whole list
	param  float64 // of the metrics that have one
}

// A metric's name: letters and digits, perhaps a parameter, perhaps a cutoff.
var metricSyntax = regexp.MustCompile(`^([a-z0-9-]+)(?:\(([a-z]+)=([^()]*)\))?(?:@([0-9]+))?$`)

// Parse reads a metric as LightGBM, RankLib and ir_measures write it: a name of
// Names, after it "@k" for a cutoff (else the whole list counts), between them
// the metric's parameter where it has one and the default is not meant:
//
//	ndcg@5  NDCG@10  p@5  map  rbp(p=0.95)@10  err(max=2)@10
//
// Case does not matter; p, rr and ap are other names of precision, mrr and map.
func Parse(name string) (Metric, error) {
	part := metricSyntax.FindStringSubmatch(strings.ToLower(name))
	if part == nil {
		return Metric{}, fmt.Errorf("metrics: %q is not a metric's name; write it like ndcg@5, map or rbp(p=0.95)@10", name)
	}
	k := kind(slices.IndexFunc(families, func(f family) bool { return f.name == part[1] || f.alias == part[1] }))
	if k < 0 {
		return Metric{}, fmt.Errorf("metrics: unknown metric %q: %s, with @k for a cutoff", name, names.Want(part[1], Names()))
	}
	f := families[k]
	m := Metric{kind: k, param: f.param.standard}
	if part[2] != "" {
		if part[2] != f.param.name {
			return Metric{}, fmt.Errorf("metrics: %q: %s has no parameter %q", name, f.name, part[2])
		}
		v, err := strconv.ParseFloat(part[3], 64)
		if err != nil || !f.param.valid(v) {
			return Metric{}, fmt.Errorf("metrics: %q: %s must be %s", name, f.param.name, f.param.want)
		}
		m.param = v
	}
	if part[4] != "" {
		v, err := strconv.Atoi(part[4])
		if err != nil || v < 1 {
			return Metric{}, fmt.Errorf("metrics: %q: the cutoff must be a rank, 1 or more; leave it off for the whole list", name)
		}
		m.cutoff = v
	}
	return m, nil
}

// Names lists the metrics that Parse knows.
func Names() []string {
	var names []string
	for _, f := range families {
		if f.name != "" {
			names = append(names, f.name)
		}
	}
	return names
}

// String gives the name that Parse reads, in lower case.
func (m Metric) String() string {
	f := families[m.kind]
	s := f.name
	if f.param.name != "" && m.param != f.param.standard {
		s += fmt.Sprintf("(%s=%v)", f.param.name, m.param)
	}
	if m.cutoff > 0 {
		s += fmt.Sprintf("@%d", m.cutoff)
	}
	return s
}

// Cutoff is the number of ranks that the metric looks at, 0 for all of them.
func (m Metric) Cutoff() int { return m.cutoff }

// LowerIsBetter tells whether a smaller value means a better ranking: true for
// ARP alone.
func (m Metric) LowerIsBetter() bool { return families[m.kind].lowerIsBetter }

// depth is the number of ranks that count in a list of the given length.
func (m Metric) depth(documents int) int {
	if m.cutoff == 0 {
		return documents
	}
	return min(m.cutoff, documents)
}
