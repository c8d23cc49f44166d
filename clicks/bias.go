package clicks

import (
	"errors"
	"fmt"
)

// A Bias is the affine model of clicks: the document d at rank k is clicked with probability
// α_k r_d + β_k.
type Bias struct {
	Alpha []float64 `json:"alpha"`          // by rank: α_k, 0 or more; the position-based model's θ_k
	Beta  []float64 `json:"beta,omitempty"` // by rank: β_k; nil: all are 0
}

// check checks a bias for impressions of so many ranks.
func (b Bias) check() error {
	if len(b.Alpha) == 0 {
		return errors.New("clicks: no bias given: EstimateBias estimates one")
	}
	if b.Beta != nil && len(b.Beta) != len(b.Alpha) {
		return fmt.Errorf("clicks: a bias with %d entries of beta and %d of alpha: want as many", len(b.Beta), len(b.Alpha))
	}
	for k, a := range b.Alpha {
		if !(a >= 0) || notFinite(a) || notFinite(b.beta(k)) {
			return fmt.Errorf("clicks: the bias of rank %d is %v and %v: want finite numbers, the first not negative", k+1, a, b.beta(k))
		}
	}
	return nil
}

// beta is β of rank k+1.
func (b Bias) beta(k int) float64 {
	if b.Beta == nil {
		return 0
	}
	return b.Beta[k]
}

// covers is an error if the bias has fewer ranks than an impression.
func (b Bias) covers(im *Impression) error {
	if len(im.Shown) > len(b.Alpha) {
		return fmt.Errorf("%d ranks shown, and the bias has only %d", len(im.Shown), len(b.Alpha))
	}
	return nil
}
