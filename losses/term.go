package losses

import (
	"fmt"
	"slices"
	"strconv"
	"strings"

	G "gorgonia.org/gorgonia"

	"github.com/plrank/plrank/internal/names"
	"github.com/plrank/plrank/losses/internal/lossops"
)

// A Term is one loss of a weighted sum.
type Term struct {
	Loss   string  // its name
	Weight float64 // the factor before it
	Doc    string  // one line: what it is, and its source
	// Measure is the name of the measure of fairness that the loss is about, as
	// metrics.ParseMeasure reads it: disparity for disparity(plrank2). "": of none.
	Measure string
	// Sampled tells whether the loss draws rankings or noise, as many as the Sampler of
	// the batch says. ListMLE, which draws one order of documents of equal gain, does not.
	Sampled bool
	// LabelFree tells whether the loss learns from queries without a document of gain, too:
	// those by labels alone take a label of 0 as they take any other, and ee-l and
	// group-exposure want exposure to be shared whatever the labels are. For all others such a
	// query has the loss 0 and no gradient.
	LabelFree bool

	// Logged tells whether the loss needs the exposure of a log, Batch.Logged.
	Logged bool

	entry entry
	build builder
}

// term is the loss of an entry, without a parameter.
func term(e entry) Term {
	t := Term{Loss: e.name, Weight: 1, Doc: e.doc, Measure: e.measure, Sampled: e.sampled, LabelFree: e.target.labelFree(), Logged: e.logged, entry: e, build: e.build}
	switch {
	case e.numbered != nil:
		t.build = func(b *batch) *G.Node { return e.numbered(b, e.number.usual) }
	case e.exposed != nil:
		t.build = func(b *batch) *G.Node { return e.exposed(b, b.exposure()) }
	}
	return t
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
		t.Sampled = true
		t.build = func(b *batch) *G.Node { return e.exposed(b, b.sampledExposure()) }
		if e.through != nil {
			by, _ := find(parameter)
			t.build = func(b *batch) *G.Node { return e.through(b, by.build) }
		}
		return t, nil
	case e.numbered == nil:
		return t, fmt.Errorf("%s has no parameter, but %q is given", base, parameter)
	}
	text := parameter
	if key, after, named := strings.Cut(parameter, "="); named && strings.TrimSpace(key) == e.number.name {
		text = strings.TrimSpace(after)
	}
	x, err := strconv.ParseFloat(text, 64)
	if err != nil || !(x > 0 && x <= e.number.most) {
		return t, fmt.Errorf("%s(%s): want a %s, such as %s(%v)", base, parameter, e.number, base, e.number.example())
	}
	t.build = func(b *batch) *G.Node { return e.numbered(b, x) }
	return t, nil
}

// String says what the number is: "temperature above 0".
func (n number) String() string {
	switch {
	case n.most > 1:
		return n.name + " above 0"
	case n.most == 1:
		return n.name + " above 0 and up to 1"
	}
	return n.name + " between 0 and 1"
}

// example is a number that is often of use.
func (n number) example() float64 {
	if n == temperature {
		return .1
	}
	return n.usual
}

// exactly is the term with what it minimises, by its value, for the loss.
func (t Term) exactly() Term {
	of := t.entry.name
	if t.entry.objective != "" {
		of = t.entry.objective
	} else if t.entry.by == nil {
		return t
	}
	e, _ := find(of)
	t.build = term(e).build
	return t
}

// on is the weighted loss of every query.
func (t Term) on(b *batch) (perQuery *G.Node, err error) {
	defer caught(&err)
	perQuery = t.build(b)
	if t.Weight != 1 {
		perQuery = scaled(perQuery, t.Weight)
	}
	return perQuery, nil
}

// scale is that of the loss, see [lossops.InRange].
func (t Term) scale(b *batch) lossops.Scale {
	s := lossops.Scale{What: "gain", Of: b.Gains, Degree: t.entry.degree, Factor: t.Weight}
	switch t.entry.target {
	case byLabels:
		s.What, s.Of = "document weight", b.DocumentWeights
	case byGroups:
		s.Of = nil
	}
	return s
}

// sum is the weighted sum of terms.
func sum(terms []Term) Func {
	terms = slices.DeleteFunc(slices.Clone(terms), func(t Term) bool { return t.Weight == 0 })
	return func(given Batch) (perQuery *G.Node, err error) {
		b, err := prepare(given)
		if err == nil {
			var scales []lossops.Scale
			for _, t := range terms {
				scales = append(scales, t.scale(b))
			}
			err = b.inRange(scales)
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
