package train

import (
	"fmt"
	"regexp"
	"strings"

	"gonum.org/v1/gonum/floats"

	"github.com/plrank/plrank/losses"
	"github.com/plrank/plrank/metrics"
)

// Discounts by name, see losses.ParseDiscounts.
const (
	dcgDiscounts = "dcg"
	arpDiscounts = "arp"
)

var rbpDiscounts = regexp.MustCompile(`^rbp(?:\((.*)\))?$`)

// parseDiscounts reads the discounts. Where gains are to be normalized by the ideal
// value, they must be such that the documents of the highest gains come first in it.
func (p *parsed) parseDiscounts() (err error) {
	if p.Cutoff < 1 {
		return fmt.Errorf("train: cutoff is %d: want 1 or more", p.Cutoff)
	}
	p.Discounts = strings.TrimSpace(p.Discounts)
	if p.discounts, err = losses.ParseDiscounts(p.Discounts, p.Cutoff); err != nil {
		return err
	}
	if !p.NormalizeGains {
		return nil
	}
	for k, v := range p.discounts {
		if v < 0 || k > 0 && v > p.discounts[k-1] {
			return fmt.Errorf("train: discounts %s, rank %d: gains are only normalized by discounts that are 0 or more and do not rise", p.Discounts, k+1)
		}
	}
	return nil
}

// norm is what the gains of a query are divided by where they are normalized.
func (p *parsed) norm(gains []float64) float64 {
	if p.Discounts == arpDiscounts {
		return floats.Sum(gains)
	}
	return metrics.IdealDCG(gains, p.discounts)
}

// ofDiscounts names the metric that the discounts are of, "" if they are of none
// that has a name.
func (p *parsed) ofDiscounts() string {
	switch part := rbpDiscounts.FindStringSubmatch(p.Discounts); {
	case part != nil && part[1] != "":
		return fmt.Sprintf("rbp(p=%s)@%d", strings.TrimSpace(part[1]), p.Cutoff)
	case part != nil, p.Discounts == dcgDiscounts, p.Discounts == arpDiscounts, p.Discounts == "precision":
		return fmt.Sprintf("%s@%d", p.Discounts, p.Cutoff)
	}
	return ""
}
