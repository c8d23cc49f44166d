package train

import (
	"fmt"
	"slices"

	"github.com/plrank/plrank/datasets"
)

// takeGrade makes the highest grade that measures go by that of d, if it is higher, or that
// of Config.HighestGrade, which no label may be above.
func (p *parsed) takeGrade(d *datasets.Dataset) error {
	highest := slices.Max(d.Labels)
	if p.HighestGrade == 0 {
		p.topGrade = max(p.topGrade, float64(highest))
		return nil
	}
	p.topGrade = p.HighestGrade
	if float64(highest) > p.HighestGrade {
		return fmt.Errorf("train: %s: label %v is above %v, the highest grade that is set", d.Where(slices.Index(d.Labels, highest)), highest, p.HighestGrade)
	}
	return nil
}

// gradeOfLoss is the highest grade that losses go by. Where none is set it is that of the
// training split alone: nothing else may change what is learnt. Where no label is above 0 it
// is 1, for to losses 0 stands for the usual one.
func (t *Trainer) gradeOfLoss() float64 {
	if t.HighestGrade != 0 {
		return t.HighestGrade
	}
	if highest := slices.Max(t.splits.Train.Labels); highest > 0 {
		return float64(highest)
	}
	return 1
}

// reportedGrade is the highest grade that the reported measures go by, 0 where none does.
func (p *parsed) reportedGrade() float64 {
	for _, m := range p.measures {
		if m.NeedsGrade() {
			return p.topGrade
		}
	}
	return 0
}
