package clicks

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
)

// A Bias is the position bias of the affine model, in which document d at rank k is clicked
// with probability α_k r_d + β_k.
type Bias struct {
	Alpha []float64 `json:"alpha"`          // by rank: α_k, 0 or more; the position-based model's θ_k
	Beta  []float64 `json:"beta,omitempty"` // by rank: β_k; nil: all are 0
}

// check returns an error if a bias is empty, or not finite.
func (b Bias) check() error {
	if len(b.Alpha) == 0 {
		return errors.New("no position bias given: EstimateBias, or plrank clicks bias, estimates one")
	}
	if b.Beta != nil && len(b.Beta) != len(b.Alpha) {
		return fmt.Errorf("the position bias has %d entries of beta and %d of alpha: want as many", len(b.Beta), len(b.Alpha))
	}
	for k, a := range b.Alpha {
		if !(a >= 0) || notFinite(a) || notFinite(b.beta(k)) {
			return fmt.Errorf("the position bias of rank %d is %v and %v: want finite numbers, the first not negative", k+1, a, b.beta(k))
		}
	}
	return nil
}

// beta returns β of rank k+1.
func (b Bias) beta(k int) float64 {
	if b.Beta == nil {
		return 0
	}
	return b.Beta[k]
}

// covers returns an error if the bias has fewer ranks than an impression.
func (b Bias) covers(im *Impression) error {
	if len(im.Shown) > len(b.Alpha) {
		return fmt.Errorf("%d ranks shown, but the position bias has only %d", len(im.Shown), len(b.Alpha))
	}
	return nil
}

// Write writes a bias in JSON, for [ReadBias].
func (b Bias) Write(w io.Writer) error {
	if err := b.check(); err != nil {
		return fmt.Errorf("clicks: %w", err)
	}
	return json.NewEncoder(w).Encode(b)
}

// ReadBias reads a bias in JSON, such as {"alpha": [1, 0.6], "beta": [0, 0]}, where beta may be absent. It returns an error
// if there is any other member, or more after the object.
func ReadBias(path string) (Bias, error) {
	text, err := os.ReadFile(path)
	if err != nil {
		return Bias{}, fmt.Errorf("clicks: %w", err)
	}
	var b Bias
	decoder := json.NewDecoder(bytes.NewReader(bytes.TrimPrefix(text, []byte("\ufeff"))))
	decoder.DisallowUnknownFields()
	if err = decoder.Decode(&b); err != nil {
		err = fmt.Errorf(`want JSON such as {"alpha": [1, 0.6]}: %w`, err)
	} else if _, more := decoder.Token(); more != io.EOF {
		err = errors.New("there is more after the first JSON object: want one")
	} else {
		err = b.check()
	}
	if err != nil {
		return Bias{}, fmt.Errorf("clicks: bias file %s: %w", path, err)
	}
	return b, nil
}
