package train

import (
	"fmt"

	"github.com/plrank/plrank/metrics"
)

// parseObjective reads the discounts. Where gains are to be normalized by the ideal
// value, they must be such that the documents of the highest gains come first in it.
func (p *parsed) parseObjective() (err error) {
	if p.optimised, err = metrics.ParseObjective(p.Discounts, p.Cutoff); err != nil || !p.NormalizeGains {
		return err
	}
	if err := p.optimised.CheckNorm(); err != nil {
		return fmt.Errorf("train: discounts %s, %w", p.Discounts, err)
	}
	return nil
}
