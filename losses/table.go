package losses

import (
	"math"
	"slices"
	"strings"

	G "gorgonia.org/gorgonia"
)

// An entry describes one named loss. What the package knows of a loss by its name follows from it.
type entry struct {
	name string

	build  builder
	number number // that it may have for its parameter; without a name: none

	// With another loss of these names as parameter, it is about sampled exposure, with the
	// gradient by PL-Rank-RB, or by that loss where through builds it. The name byCascade among them
	// is about the exposure of a reader who stops.
	by      []string
	through func(b *batch, loss builder) *G.Node

	target    target
	weights   weighting
	degree    int       // the loss is in proportion to the numbers of the target to this power
	noisy     bool      // noise of one size is added to the target, so that its size matters although the degree is 0
	logged    knowledge // of a log that it needs
	sampled   bool      // draws rankings or noise, as many as Batch.Sampler says
	objective string    // the loss whose value this one estimates, or only differentiates; "": it has its own
	most      int       // documents of a query; 0: any number
	unlogged  string    // the loss whose value says the same where nothing was logged; "": there is nothing to say
	measure   string    // of fairness that the loss is about; "": none
}

// A number is the parameter of a loss: above 0, and up to most.
type number struct {
	name, want           string
	usual, example, most float64
}

var (
	temperature = number{"temperature", "above 0", 1, .1, math.MaxFloat64}
	labelScale  = number{"scale", "above 0 and up to 1e6", 1, 2, 1e6}
	level       = number{"level", "between 0 and 1", .95, .95, math.Nextafter(1, 0)}
	redundancy  = number{"alpha", "above 0 and up to 1", .5, .5, 1}
	ratio       = number{"ratio", "above 0 and up to 1", .5, .5, 1}
)

// called returns the name with its article.
func (n number) called() string {
	if strings.HasPrefix(n.name, "a") {
		return "an " + n.name
	}
	return "a " + n.name
}

// A target is what the scores of a query are to agree with, and so tells what a loss needs,
// and whether a query without a document of gain says anything to it.
type target int

const (
	byGains     target = iota // Batch.Gains; a query without any has the loss 0
	byShares                  // exposure that gains divide: where there are none, in equal parts
	byLabels                  // Batch.Labels; a label of 0 is one like any other
	byGroups                  // Batch.Groups or Batch.Logged; all documents count alike
	byRelevance               // Batch.Labels of 1 or more; a query without any has the loss 0
	byIntents                 // Batch.Intents, whatever the labels
)

// labelFree reports whether queries without a document of gain count.
func (t target) labelFree() bool { return t != byGains && t != byRelevance }

// A weighting says what the weight of a document multiplies, over the mean of the weights of its
// query, which multiplies the loss. It is how much the document counts; its gain, which says how
// good it is, stays.
type weighting int

const (
	ofPolicy   weighting = iota // e^m, which the probability to be chosen next is in proportion to
	ofCopies                    // e^m and the document's term, as if it were there that many times
	ofPairs                     // the term of each pair that the document is in
	ofRanks                     // as ofPairs, but only the derivatives of ranks
	ofTerms                     // the document's term
	unweighted                  // nothing: the loss does not go by labels
)

// knowledge is what is known of a log.
type knowledge int

const (
	nothing    knowledge = iota
	byExposure           // Batch.Logged
	byScores             // Batch.LoggedScores
)

// find gives the entry of a name.
func find(name string) (entry, bool) {
	i := slices.IndexFunc(table, func(e entry) bool { return e.name == name })
	if i < 0 {
		return entry{}, false
	}
	return table[i], true
}

// Names returns the names of all losses, in alphabetical order, those with the name of
// another loss for parameter among them, such as disparity(plrank2).
func Names() []string {
	var all []string
	for _, e := range table {
		all = append(all, e.names()...)
	}
	slices.Sort(all)
	return all
}

// names returns the names of an entry in alphabetical order: without a parameter, and with the name of
// another loss for it.
func (e entry) names() []string {
	all := []string{e.name}
	for _, by := range e.by {
		all = append(all, e.name+"("+by+")")
	}
	slices.Sort(all)
	return all
}
