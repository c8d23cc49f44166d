package train

import (
	"math"

	"github.com/plrank/plrank/metrics"
)

// A Report compares a model with the baselines, on all splits.
type Report struct {
	Convention string        `json:"convention"` // for label-free queries
	Metrics    []string      `json:"metrics"`    // names of Values, in the order of a table
	Splits     []SplitReport `json:"splits"`

	// Model is the digest of the model's file, of a Report by Evaluate.
	Model string `json:"model,omitempty"`
	// HighestGrade is what ERR and graded RBP go by, 0 where neither is reported.
	HighestGrade float64 `json:"highestGrade,omitempty"`
	// LeftOut is how many training queries the loss learns nothing from, see Trainer.LeftOut.
	LeftOut int `json:"leftOut,omitempty"`
	// FeatureQueries is how many training queries the best single feature was chosen by;
	// 0: by all, or there is none.
	FeatureQueries int `json:"featureQueries,omitempty"`
}

// A SplitReport is the part of a Report on one split.
type SplitReport struct {
	Name      string   `json:"name"` // train, vali or test
	Queries   int      `json:"queries"`
	Relevant  int      `json:"relevant"` // queries with a relevant document
	Documents int      `json:"documents"`
	Rows      []Values `json:"rows"` // of the rankers, in the order of Rankers
	Rankers   []string `json:"rankers"`
	StdErr    Values   `json:"stdErr,omitempty"` // of the model's metrics that are estimated from sampled rankings

	// TrainedOn is how many of the queries the model was trained on, of a Report by Evaluate:
	// see ranker.Model.TrainedOn.
	TrainedOn int `json:"trainedOn,omitempty"`
}

// Value is a metric of a ranker in the report of a split, NaN if it has none.
func (s SplitReport) Value(ranker int, metric string) float64 {
	if v, ok := s.Rows[ranker][metric]; ok {
		return float64(v)
	}
	return math.NaN()
}

// LabelFree says in words what the convention makes of label-free queries.
func (r Report) LabelFree() string {
	switch c, _ := metrics.ParseLabelFree(r.Convention); c {
	case metrics.LabelFreeZero:
		return "queries without a relevant document count 0"
	case metrics.LabelFreeOne:
		return "queries without a relevant document count 1 in NDCG, 0 in DCG"
	case metrics.LabelFreeSkip:
		return "queries without a relevant document are left out of NDCG, and count 0 in DCG"
	case metrics.LETOR4:
		return "queries without a relevant document count 0; NDCG is that of LETOR 4.0"
	}
	return r.Convention
}
