package train

import (
	"slices"

	"github.com/plrank/plrank/datasets"
	"github.com/plrank/plrank/losses"
)

// learnsLabelFree tells whether the loss learns from queries without a relevant document.
func (p *parsed) learnsLabelFree() bool {
	return p.parts.LabelFree || slices.ContainsFunc(p.terms, func(t losses.Term) bool { return t.LabelFree })
}

// needsNoLabels tells whether the loss can learn where no query at all has a relevant
// document: one of fairness can, but not one by labels, which are then all the same.
func (p *parsed) needsNoLabels() bool {
	return p.parts.LabelFree || slices.ContainsFunc(p.terms, func(t losses.Term) bool { return t.LabelFree && t.Measure != "" })
}

// queriesWithDocuments are the queries of d that are not empty.
func queriesWithDocuments(d *datasets.Dataset) (queries []int) {
	for q := range d.Queries() {
		if d.Offsets[q+1] > d.Offsets[q] {
			queries = append(queries, q)
		}
	}
	return queries
}

// LeftOut is how many queries of the training split are left out of training, for the loss
// learns nothing from queries without a relevant document (see losses.Term), or from empty ones.
func (t *Trainer) LeftOut() int { return t.splits.Train.Queries() - len(t.queries) }
