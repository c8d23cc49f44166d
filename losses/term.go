package losses

import (
	"fmt"
	"slices"
	"strconv"
	"strings"

	G "gorgonia.org/gorgonia"

	"github.com/plrank/plrank/internal/names"
)

// A Term is one loss of a weighted sum.
type Term struct {
	Loss   string  // its name
	Weight float64 // the factor before it
	// Measure is the name of the measure of fairness that the loss is about, as
	// metrics.ParseMeasure reads it: disparity for disparity(plrank2). "": of none.
	Measure string
	// Sampled reports whether the loss draws rankings or noise, as many as the Sampler of
	// the batch says. ListMLE, which draws one order of documents of equal gain, does not.
	Sampled bool
	// LabelFree reports whether the loss learns from queries without a document of gain, too:
	// those by labels alone take a label of 0 as they take any other, and ee-l and
	// group-exposure want exposure to be shared whatever the labels are. For all others such a
	// query has the loss 0 and no gradient.
	LabelFree bool

	// MostDocuments is how many documents a query may have, because the loss has a matrix of all
	// pairs; 0: any number. A run with a larger query returns an error.
	MostDocuments int

	// RatioOnly reports whether a loss that is not LabelFree is the same for normalized gains: it goes by
	// the ratios of gains within a query, or only by which documents are relevant.
	RatioOnly bool

	// Intents reports whether the loss needs Batch.Intents.
	Intents bool

	// Logged and LoggedScores report whether the loss needs the fields of Batch of these names.
	Logged, LoggedScores bool

	entry   entry
	build   builder
	number  float64
	cascade bool
}

// term is the loss of an entry, without a parameter.
func term(e entry) Term {
	return Term{Loss: e.name, Weight: 1, Measure: e.measure, Sampled: e.sampled, LabelFree: e.target.labelFree(), RatioOnly: e.target == byRelevance || e.target == byGains && e.degree == 0 && !e.noisy, Intents: e.target == byIntents, Logged: e.logged == byExposure, LoggedScores: e.logged == byScores,
		MostDocuments: e.most,
		entry:         e, build: e.build, number: e.number.usual}
}

// lookup finds the loss of a name, perhaps with a parameter: approxndcg,
// approxndcg(0.1), approxndcg(temperature=0.1), disparity(plrank2).
func lookup(name string) (Term, error) {
	base, parameter, has := strings.Cut(name, "(")
	e, ok := find(base)
	if !ok {
		return Term{}, fmt.Errorf("no loss %q: %s", base, names.Want(base, Names()))
	}
	t := term(e)
	if !has {
		return t, nil
	}
	t.Loss = name
	parameter = strings.TrimSpace(strings.TrimSuffix(parameter, ")"))
	switch {
	case e.by != nil:
		if !slices.Contains(e.by, parameter) {
			return t, fmt.Errorf("no loss %q: %s", name, names.Want(name, e.names()))
		}
		if t.cascade = parameter == byCascade; t.cascade {
			return t, nil
		}
		t.Sampled = true
		if e.through != nil {
			by, _ := find(parameter)
			t.build = func(b *batch) *G.Node { return e.through(b, by.build) }
		}
		return t, nil
	case e.number.name == "":
		return t, fmt.Errorf("%s has no parameter, but %q is given", base, parameter)
	}
	text := parameter
	if key, after, named := strings.Cut(parameter, "="); named && strings.TrimSpace(key) == e.number.name {
		text = strings.TrimSpace(after)
	}
	var err error
	if t.number, err = strconv.ParseFloat(text, 64); err != nil || !(t.number > 0 && t.number <= e.number.most) {
		return t, fmt.Errorf("%s(%s): want %s %s, such as %s(%v)", base, parameter, e.number.called(), e.number.want, base, e.number.example)
	}
	return t, nil
}

// exactly is the term with what it minimises, by its value, for the loss.
func (t Term) exactly() Term {
	of := t.entry.name
	if t.entry.objective != "" {
		of = t.entry.objective
	} else if !t.Sampled || t.entry.by == nil {
		return t
	}
	e, _ := find(of)
	t.build, t.Sampled = e.build, false
	return t
}

// known are the terms for a batch which may lack what is known of a log, such as one with labels:
// nothing is estimated there that a policy would have to stay near the log for.
func known(terms []Term, b Batch) (kept []Term) {
	for _, t := range terms {
		if t.Logged && b.Logged == nil || t.LoggedScores && b.LoggedScores == nil {
			e, ok := find(t.entry.unlogged)
			if !ok {
				continue
			}
			t.build = e.build
		}
		kept = append(kept, t)
	}
	return kept
}

// on is the weighted loss of every query.
func (t Term) on(b *batch) (perQuery *G.Node, err error) {
	defer caught(&err)
	of := b
	if t.entry.weights == ofPolicy {
		of = b.weighted()
	}
	of.number, of.sampled, of.cascade = t.number, t.Sampled, t.cascade
	perQuery = t.build(of)
	if b.meanWeights != nil {
		perQuery = mul(perQuery, b.meanWeights)
	}
	if t.Weight != 1 {
		perQuery = scaled(perQuery, t.Weight)
	}
	return perQuery, nil
}

// scale describes the size of the loss, for inRange.
func (t Term) scale(b *batch) scale {
	s := scale{factor: t.Weight}
	if target := t.entry.target; (target == byGains || target == byShares) && b.Gains != nil {
		s.of = append(s.of, power{"gain", b.Gains, t.entry.degree})
	}
	if b.given != nil {
		s.of = append(s.of, power{"document weight", b.given, 1})
	}
	return s
}

// sum is the weighted sum of terms.
func sum(terms []Term) Func {
	return func(given Batch) (perQuery *G.Node, err error) {
		b, err := prepare(given)
		if err == nil {
			var scales []scale
			for _, t := range terms {
				scales = append(scales, t.scale(b))
			}
			b.Lists.Scores, err = inRange(b.Lists, b.QueryWeights, scales)
		}
		if err != nil {
			return nil, fmt.Errorf("losses: %s: %w", terms[0].Loss, err)
		}
		for _, t := range terms {
			of, err := t.on(b)
			if err == nil && perQuery != nil {
				of, err = G.Add(perQuery, of)
			}
			if err != nil {
				return nil, fmt.Errorf("losses: %s: %w", t.Loss, err)
			}
			perQuery = of
		}
		return perQuery, nil
	}
}
