package main

import (
	"fmt"
	"runtime"
	"slices"
	"strings"

	"github.com/plrank/plrank/internal/blas"
	"github.com/plrank/plrank/internal/names"
)

// A part is a table and the benchmarks that it comes from.
type part struct {
	name    string
	what    string // the table shows
	pkg     string // of the benchmarks, below the module's path
	pattern string // of go test -bench
	network bool   // it multiplies matrices, on as many cores as are given
	linked  bool   // speed.md links to its CSV file, and need not have the table
	table   func([]result) (string, error)
}

var parts = []*part{
	{
		name:    "kernel",
		pkg:     "plackett",
		pattern: "(Query|Algorithm1|PLRank3|PLRank3Given|Given)$/sd=1$/D=(24|125|1000)$/K=5$/N=10*$",
		what:    "The gradient of one query of D documents from N rankings of K places, all in Go: by Algorithm 1 of the paper (SIGIR 2021) with Gumbel noise and sorting; by PL-Rank-3 (SIGIR 2022) with the K best by Gumbel noise, drawn without logarithms; and by plrank's PL-Rank-RB. Ratios are of PL-Rank-3's times to plrank's: with sampling, and of the gradient alone from given rankings",
		table:   kernelTable,
	},
	{
		name: "ops", pkg: "ops", pattern: "Estimates", linked: true,
		what:  "One run of a graph that draws N rankings of 5 places for each query of 125 documents, makes the estimate and differentiates it",
		table: opsTable,
	},
	{
		name:    "losses",
		pkg:     "losses",
		pattern: "Losses/.*/^1x125$",
		linked:  true,
		what:    "One run of the graph of a loss and its gradient for one query of 125 documents, with K = 10, N = 100 where it samples, and 1000 rankings for the exposure of fairness losses",
		table:   lossesTable,
	},
	{
		name:    "step",
		pkg:     "train",
		pattern: "Step",
		network: true,
		what:    "A training step of the paper's network (136 inputs, two hidden layers of 32) by PL-Rank-RB on queries of about 125 documents, packing and optimizer included",
		table:   stepTable,
	},
	{
		name:    "epoch",
		pkg:     "train",
		pattern: "Epoch",
		network: true,
		what:    "Seconds of training an epoch over MSLR-WEB30K's training split (18,919 queries, 2.26 million documents): measured on 378 synthetic queries in its shape, about 2 % of its documents, and scaled by documents. The paper's recipe and the default one for a collection of this size, with the expected metric by PL-Rank-RB and exactly",
		table:   epochTable,
	},
	{
		name:    "exact",
		pkg:     "plackett",
		pattern: "AgainstSamples$/sd=1$/D=(24|125|1000|10000)$/K=(5|10|125|1000|10000)$",
		what:    "The exact gradient of one query of D documents for cutoff K, without sampling, and of PL-Rank-RB with N = 1000, sampling included: the shortest times",
		table:   exactTable,
	},
	{
		name:    "cascades",
		pkg:     "plackett",
		pattern: "CascadesAgainstSamples",
		what:    "Exact gradients of the metrics of one query of D documents for cutoff K, and how many of them are made in the time in which 1000 rankings of K places are drawn, without any gradient: the shortest times. DCG has the discounts 1/k, too",
		table:   cascadesTable,
	},
}

// cores returns the number of cores that the part runs on; given is the number for matrix products.
func (p *part) cores(given int) int {
	if p.network {
		return given
	}
	return 1
}

// measured says where and how the part was measured.
func (p *part) measured(processor string, cores, count int) string {
	on := fmt.Sprintf("%d cores", cores)
	if cores == 1 {
		on = "one core"
	}
	matrices := ""
	if p.network {
		matrices = ", matrix products by " + blas.Name()
	}
	best := fmt.Sprintf("best of %d runs", count)
	if count == 1 {
		best = "a single run"
	}
	return fmt.Sprintf("%s of a machine with %d (%s), %s%s, %s", on, runtime.NumCPU(), processor, runtime.Version(), matrices, best)
}

// marker is the name of a part in a document.
func (p *part) marker() string { return "bench-" + p.name }

// partsNamed are the parts of a list of names; all for an empty one.
func partsNamed(list string) ([]*part, error) {
	if list == "" {
		return parts, nil
	}
	var chosen []*part
	for name := range strings.SplitSeq(list, ",") {
		i := slices.IndexFunc(parts, func(p *part) bool { return p.name == strings.TrimSpace(name) })
		if i < 0 {
			return nil, fmt.Errorf("no part %q: %s", strings.TrimSpace(name), names.Want(strings.TrimSpace(name), strings.Split(partNames(), ", ")))
		}
		chosen = append(chosen, parts[i])
	}
	return chosen, nil
}

func partNames() string {
	var names []string
	for _, p := range parts {
		names = append(names, p.name)
	}
	return strings.Join(names, ", ")
}
