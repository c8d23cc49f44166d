package clicks

import (
	"errors"
	"fmt"
	"math"
	"slices"
	"strconv"
	"time"

	"github.com/plrank/plrank/datasets"
	"github.com/plrank/plrank/internal/text"
	"github.com/plrank/plrank/plackett"
)

// An Impression is a ranking that was shown once, with its clicks. Impressions may share slices,
// and what depends on shared slices alone is computed once. In logs by [Read] and
// [Simulate], impressions of one query by one version of a model share them.
type Impression struct {
	ID     string    // of the request, unique in a log: UBI's query_id
	Client string    // who asked; "": unknown
	Time   time.Time // of the request
	Query  string    // what was asked; the same text is the same query

	Model, Version string   // of the policy that drew the ranking
	Documents      []string // the candidates, each once
	// [documents × width] raw values, row-major, as in datasets.Dataset; NaN is a missing value; nil or empty: not logged
	Features []float32
	// Sparse has the features in place of Features if they are mostly 0, such as words. Its columns are the log's. It is nil if they are not
	Sparse      *datasets.Sparse
	Scores      []float64 // [documents] of the model; nil: the policy that drew the ranking is not known, or Interleaving has it
	Temperature float64   // of the Plackett–Luce policy, which divides the scores; 0: 1
	Seed        uint64    // which redraws the ranking
	Cutoff      int       // how many documents were to be drawn

	Interleaving *Interleaving // how several models made the ranking; nil: they did not
	Segment      string        // of users or queries, within which models are compared; "": not known

	// Rules are what the service asked of the ranking, by the indices of the documents; nil: nothing. They hold for every policy:
	// rankings are drawn from, and policies evaluated as, [plackett.Ruled]. Offsets are added to scores divided by the temperature.
	Rules *plackett.Rules
	// LogProbability is the logarithm of the probability of the ranking drawn, for those who read the log; 0: not logged. Nothing
	// here needs it, as it follows from Scores, Temperature and Rules.
	LogProbability float64
	Arm            float64 // probability with which the user got this model in an A/B test; 0: there was none

	Shown  []int     // indices into Documents, top first
	Clicks []float64 // [shown] 1 where there was a click, or its value
}

// A Log holds impressions in the order of their requests.
type Log struct {
	Impressions []Impression
	Warnings    []string // what was odd about the source, one line each

	// The columns of Features, as in datasets.Dataset.
	FeatureIDs   []int      // ascending; sparse features in the order in which they came; nil: 1, 2, …
	FeatureNames []string   // nil: they have none
	Levels       [][]string // the texts that values stand for, nil for columns of numbers; nil: all are numbers
}

// Validate returns an error if lengths disagree, if a number is not finite, if a document is a
// candidate twice or is shown twice, or if a document shown is not a candidate. The functions of
// this package validate their logs.
func (l *Log) Validate() error {
	width := 0
	var seen []bool
	distinct := map[*string]int{} // by the first of some candidates: how many are known to differ
	for i := range l.Impressions {
		im := &l.Impressions[i]
		seen = append(seen[:0], make([]bool, len(im.Documents))...)
		err := im.check(seen)
		n, key := len(im.Documents), first(im.Documents)
		if err == nil && n > distinct[key] {
			err = checkDistinct(im.Documents)
			distinct[key] = n
		}
		if err == nil {
			err = im.checkWidth(&width)
		}
		if err == nil && im.Sparse != nil {
			err = im.Sparse.Check(max(len(l.FeatureIDs), len(l.FeatureNames)))
		}
		if err != nil {
			return l.impressionError(i, err)
		}
	}
	if err := l.checkColumns(width); err != nil {
		return fmt.Errorf("clicks: %w", err)
	}
	return nil
}

// checkColumns returns an error if l describes another number of columns than width; 0: there are no features.
func (l *Log) checkColumns(width int) error {
	if err := text.CheckFeatureIDs(l.FeatureIDs); err != nil && width != sparse {
		return err
	}
	for what, n := range map[string]int{"feature ids": len(l.FeatureIDs), "feature names": len(l.FeatureNames), "levels": len(l.Levels)} {
		if n > 0 && width > 0 && width != n {
			return fmt.Errorf("%d %s for %d features a document", n, what, width)
		}
	}
	return nil
}

// featuresOf sets the columns of l to the columns of d.
func (l *Log) featuresOf(d *datasets.Dataset) {
	l.FeatureIDs, l.FeatureNames, l.Levels = d.FeatureIDs, d.FeatureNames, d.Levels
}

// featureName returns the name of the feature in a column: its id if features have no names.
func (l *Log) featureName(column int) string {
	if l.FeatureNames == nil || l.FeatureNames[column] == "" {
		return strconv.Itoa(l.FeatureIDs[column])
	}
	return l.FeatureNames[column]
}

// impressionError wraps an error with the name of an impression. It returns nil for nil.
func (l *Log) impressionError(i int, err error) error {
	switch im := &l.Impressions[i]; {
	case err == nil:
		return nil
	case im.ID == "":
		return fmt.Errorf("clicks: impression %d (query %q): %w", i, im.Query, err)
	default:
		return fmt.Errorf("clicks: impression %q (query %q): %w", im.ID, im.Query, err)
	}
}

func notFinite(x float64) bool { return math.IsNaN(x) || math.IsInf(x, 0) }

// check checks one impression. seen is false for every document.
func (im *Impression) check(seen []bool) error {
	docs := len(im.Documents)
	switch {
	case im.Scores != nil && len(im.Scores) != docs:
		return fmt.Errorf("%d scores for %d documents", len(im.Scores), docs)
	case len(im.Clicks) != len(im.Shown):
		return fmt.Errorf("%d clicks for %d ranks shown: want one for each", len(im.Clicks), len(im.Shown))
	case im.Sparse != nil && (im.Features != nil || im.Sparse.Len() != docs):
		return fmt.Errorf("%d features, and %d sparse rows for %d documents: want the one or the other", len(im.Features), im.Sparse.Len(), docs)
	case docs == 0 && len(im.Features) > 0 || docs > 0 && len(im.Features)%docs != 0:
		return fmt.Errorf("%d features for %d documents: want as many for each", len(im.Features), docs)
	case !(im.Temperature >= 0) || math.IsInf(im.Temperature, 1):
		return fmt.Errorf("temperature %v, want a positive, finite number", im.Temperature)
	}
	if d := slices.IndexFunc(im.Scores, notFinite); d >= 0 {
		return fmt.Errorf("the score of document %q is %v: it must be finite", im.Documents[d], im.Scores[d])
	}
	if im.Interleaving != nil {
		if !im.Rules.Empty() {
			return errors.New("an interleaved ranking under rules: its probability is not known")
		}
		if err := im.Interleaving.check(im); err != nil {
			return err
		}
	}
	for k, d := range im.Shown {
		switch {
		case d < 0 || d >= docs:
			return fmt.Errorf("document %d of %d at rank %d: want an index from 0", d, docs, k+1)
		case seen[d]:
			return fmt.Errorf("document %q is shown twice", im.Documents[d])
		case notFinite(im.Clicks[k]):
			return fmt.Errorf("the click at rank %d is %v: it must be finite", k+1, im.Clicks[k])
		}
		seen[d] = true
	}
	return nil
}

// checkDistinct returns an error if a document is among the candidates twice.
func checkDistinct(documents []string) error {
	seen := make(map[string]bool, len(documents))
	for _, id := range documents {
		if seen[id] {
			return fmt.Errorf("document %q is among the candidates twice: want an id for each", id)
		}
		seen[id] = true
	}
	return nil
}

// sparse is the width of documents that are sparse.
const sparse = -1

// width returns the number of features of a document.
func (im *Impression) width() int {
	if im.Sparse != nil {
		return sparse
	}
	if len(im.Documents) == 0 {
		return 0
	}
	return len(im.Features) / len(im.Documents)
}

// LeavesOutFeatures reports whether the regressions of RegressionEM and DR leave out the features of l: sparse ones, or more than 1,000.
func (l *Log) LeavesOutFeatures() bool {
	return slices.ContainsFunc(l.Impressions, func(im Impression) bool { return im.width() == sparse || im.width() > mostRegressed })
}

var errScores = errors.New("no scores: cannot compute the probability of the ranking shown")

// A PolicyFunc returns the log-scores of a Plackett–Luce policy for the documents of an
// impression: the scores of a model divided by the temperature. They may depend only on the
// query, the documents, their features and the logged scores. Several goroutines call the
// function at once, and once for all impressions that share these.
type PolicyFunc func(im *Impression) ([]float64, error)

// Logged is the logging policy: it drew the rankings of the log. It returns the scores of the impression divided by
// its temperature.
func Logged(im *Impression) ([]float64, error) {
	if im.Scores == nil && im.Interleaving != nil {
		return nil, errInterleaved
	}
	if im.Scores == nil {
		return nil, errScores
	}
	if im.Temperature == 0 || im.Temperature == 1 {
		return im.Scores, nil
	}
	scores := make([]float64, len(im.Scores))
	for d, s := range im.Scores {
		if scores[d] = s / im.Temperature; notFinite(scores[d]) {
			return nil, fmt.Errorf("the score %v of document %q, divided by the temperature %v, is not finite", s, im.Documents[d], im.Temperature)
		}
	}
	return scores, nil
}

// An Interleaving describes how several models made a ranking together. By team draft, the models take turns: in each
// round, every model once, in random order, adds the best of its documents that are left (Radlinski, Kurup & Joachims,
// CIKM 2008). Where all models would add the same document, it takes nobody's turn and counts for nobody. A drawn
// ranking comes from a mixture of policies.
type Interleaving struct {
	Models []Contributor
	// Teams has the model that contributed each document, by rank; Shared: all did. nil: the ranking was drawn from the
	// mixture of the models' Plackett–Luce policies.
	Teams []int
	// Probabilities has, by rank, the probability with which the model contributed there, given the ranks above. nil if
	// the ranking was drawn.
	Probabilities []float64
	// By is the model from whose policy the ranking was drawn.
	By int
}

// Shared is the team of documents that all models would have put at their rank.
const Shared = -1

// A Contributor is a model of an [Interleaving].
type Contributor struct {
	Name    string    `json:"name"` // "": the policy of the models' differences, see [Interleaving.Weigh]
	Version string    `json:"version"`
	Weight  float64   `json:"weight,omitempty"` // of its policy in the mixture; 0 for team draft
	Scores  []float64 `json:"-"`                // of the candidates; the impression has the temperature
}

var errInterleaved = errors.New("an interleaved ranking is not drawn by the policy of one model: " +
	"only placements are known, as for iips, policy-aware and dr")

// check returns an error if the parts do not fit an impression.
func (v *Interleaving) check(im *Impression) error {
	drawn, weights := v.Teams == nil, 0.
	for _, m := range v.Models {
		if len(m.Scores) != len(im.Documents) || slices.ContainsFunc(m.Scores, notFinite) {
			return fmt.Errorf("%d scores of model %q for %d documents: want a finite number for each", len(m.Scores), m.Name, len(im.Documents))
		}
		if !(m.Weight >= 0) {
			return fmt.Errorf("the weight of model %q is %v: want 0 or more", m.Name, m.Weight)
		}
		weights += m.Weight
	}
	switch {
	case len(v.Models) < 2 || len(v.Models) > 64:
		return fmt.Errorf("%d interleaved models: want 2 to 64", len(v.Models))
	case drawn && !(math.Abs(weights-1) < 1e-6):
		return fmt.Errorf("the weights of the interleaved models add up to %v: want 1", weights)
	case !drawn && len(v.Teams) < len(im.Shown):
		return fmt.Errorf("%d teams for %d ranks", len(v.Teams), len(im.Shown))
	case slices.ContainsFunc(v.Teams, func(t int) bool { return t < Shared || t >= len(v.Models) }):
		return fmt.Errorf("teams %v of %d models", v.Teams, len(v.Models))
	}
	return nil
}

// A situation holds what impressions that share their slices have in common: the query, its
// candidates, their scores, and how many were shown.
type situation struct {
	*Impression       // the first
	impressions []int // of the log, ascending
}

// situations returns the situations of a log, in the order of their first impressions.
func (l *Log) situations() []situation {
	type key struct {
		query, model, version string
		documents             *string
		features              *float32
		sparse                *datasets.Sparse
		scores                *float64
		models                *Contributor
		drafted               bool
		candidates, shown     int
		temperature           float64
		rules                 *plackett.Rules
	}
	at := make(map[key]int)
	var all []situation
	for i := range l.Impressions {
		im := &l.Impressions[i]
		k := key{query: im.Query, model: im.Model, version: im.Version, documents: first(im.Documents), features: first(im.Features),
			sparse: im.Sparse, scores: first(im.Scores), candidates: len(im.Documents), shown: len(im.Shown), temperature: im.Temperature,
			rules: im.Rules}
		if v := im.Interleaving; v != nil {
			k.models, k.drafted = first(v.Models), v.Teams != nil
		}
		j, ok := at[k]
		if !ok {
			j = len(all)
			at[k] = j
			all = append(all, situation{Impression: im})
		}
		all[j].impressions = append(all[j].impressions, i)
	}
	return all
}

// first returns the address of the first entry, nil if there is none.
func first[T any](x []T) *T {
	if len(x) == 0 {
		return nil
	}
	return &x[0]
}

// checkWidth returns an error if a document has another number of features than known, the number in the log. It sets
// known if that is 0.
func (im *Impression) checkWidth(known *int) error {
	w := im.width()
	if *known == 0 {
		*known = w
	}
	if w != 0 && w != *known {
		if w == sparse || *known == sparse {
			return errors.New("sparse features, and all features of other documents of the log: want the one or the other")
		}
		return fmt.Errorf("%d features a document, where others of the log have %d", w, *known)
	}
	return nil
}
