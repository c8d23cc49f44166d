package rundir

import "github.com/plrank/plrank/train"

// A Summary is what is in the result file of a run.
type Summary struct {
	BestEpoch   int                                `json:"bestEpoch"`         // 0: the initial model
	Epochs      int                                `json:"epochs"`            // trained
	Skipped     int                                `json:"skipped,omitempty"` // batches, see Config.OnNaN
	Interrupted bool                               `json:"interrupted"`
	Initial     train.Values                       `json:"initial,omitempty"` // of the initial model on the validation split
	Convention  string                             `json:"convention"`        // for label-free queries
	Metrics     map[string]train.Values            `json:"metrics"`           // of the model, by split: train, vali, test
	Baselines   map[string]map[string]train.Values `json:"baselines"`         // by ranker and split
	StdErr      map[string]train.Values            `json:"stdErr,omitempty"`  // of the metrics that are estimated from sampled rankings, by split
}

// summaryOf is the summary of a run.
func summaryOf(r *train.Result, report *train.Report) Summary {
	s := Summary{
		BestEpoch: r.BestEpoch, Epochs: len(r.History), Interrupted: r.Interrupted, Initial: r.Initial, Convention: report.Convention,
		Metrics: map[string]train.Values{}, Baselines: map[string]map[string]train.Values{},
	}
	for _, e := range r.History {
		s.Skipped += e.Skipped
	}
	for _, split := range report.Splits {
		model := len(split.Rankers) - 1
		s.Metrics[split.Name] = split.Rows[model]
		if split.StdErr != nil {
			if s.StdErr == nil {
				s.StdErr = map[string]train.Values{}
			}
			s.StdErr[split.Name] = split.StdErr
		}
		for i, name := range split.Rankers[:model] {
			if s.Baselines[name] == nil {
				s.Baselines[name] = map[string]train.Values{}
			}
			s.Baselines[name][split.Name] = split.Rows[i]
		}
	}
	return s
}
