package train

import (
	"fmt"
	"slices"

	"github.com/plrank/plrank/metrics"
)

// reported lists what every evaluation reports: DCG and NDCG at the cutoff, NDCG
// at 10, the metrics of the objective and of the validation, each of the ranking
// and expected; then fairness, where it is part of the loss; then the measure of the
// validation, what is asked for, and custom measures.
func reported(c *Config, metric criterion, loss *trainingLoss, custom customMeasures) (list []metrics.Measure, err error) {
	names := []string{fmt.Sprintf("dcg@%d", c.Cutoff), "ndcg@5", "ndcg@10"}
	if of := loss.discounts.Metric; of != "" {
		names = append(names, of)
	}
	usual, err := custom.named(names...)
	if err != nil {
		return nil, err
	}
	for _, m := range metric.measures() {
		if m.Ranking().String() != m.Expected().String() {
			usual = append(usual, m)
		}
	}
	for _, m := range usual {
		list = append(list, m.Ranking())
	}
	for _, m := range usual {
		list = append(list, m.Expected())
	}
	asked, err := custom.named(c.Report...)
	if err != nil {
		return nil, fmt.Errorf("train: report: %w", err)
	}
	c.Report = nil // none is nil, and the caller's stay as they are
	for _, m := range asked {
		c.Report = append(c.Report, m.String())
	}
	for _, t := range loss.terms {
		if t.Measure != "" {
			m, err := metrics.ParseMeasure(t.Measure)
			if err != nil {
				return nil, err
			}
			list = append(list, m)
		}
	}
	list = slices.Concat(list, metric.measures(), asked, custom)
	seen := map[string]bool{}
	return slices.DeleteFunc(list, func(m metrics.Measure) bool {
		again := seen[m.String()]
		seen[m.String()] = true
		return again
	}), nil
}
