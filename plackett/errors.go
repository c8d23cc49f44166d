package plackett

import (
	"cmp"
	"fmt"
	"math"
)

// NumberError reports a number that is NaN or infinite, or that is out of its range.
type NumberError struct {
	What     string  // score, gain, reward, continuation, relevance, discount or weight
	Position int     // from 0: of the document in its list, of the rank, or of the weight
	Value    float64 // the number
	Range    string  // such as "from 0 to 1"; "": any finite number will do
}

func (e *NumberError) Error() string {
	place := cmp.Or(map[string]string{"discount": "rank", "weight": "entry"}[e.What], "document")
	return fmt.Sprintf("the %s of %s %d is %v: %s", e.What, place, e.Position, e.Value, e.rule())
}

func (e *NumberError) rule() string {
	if e.Range != "" {
		return "it must be " + e.Range
	}
	return e.What + "s must be finite"
}

// Document returns the position of the document that has the number, and what is wrong with the number. ok is false
// for discounts and weights, which do not belong to a document.
func (e *NumberError) Document() (position int, text string, ok bool) {
	return e.Position, fmt.Sprintf("the %s is %v: %s", e.What, e.Value, e.rule()), e.What != "discount" && e.What != "weight"
}

// LengthError reports a slice whose length does not match the other arguments.
type LengthError struct {
	What         string // the argument, such as gains
	Length, Want int    // the actual length and the right one
}

func (e *LengthError) Error() string {
	return fmt.Sprintf("%s: %d numbers, want %d", e.What, e.Length, e.Want)
}

// RankingError reports the entry of [Rankings] that keeps a row from being a ranking of the list.
type RankingError struct {
	Sample, Place int    // the row and the position in it, from 0
	Entry         int    // the entry there
	Reason        string // what is wrong with it
}

func (e *RankingError) Error() string {
	return fmt.Sprintf("ranking %d, place %d: entry %d %s", e.Sample, e.Place, e.Entry, e.Reason)
}

// checkFinite returns a [*NumberError] for the first number that is NaN or infinite.
func checkFinite(what string, numbers []float64) error {
	for i, x := range numbers {
		if x-x != 0 {
			return &NumberError{What: what, Position: i, Value: x}
		}
	}
	return nil
}

func checkLength(what string, length, want int) error {
	if length != want {
		return &LengthError{what, length, want}
	}
	return nil
}

// checkLambda returns an error if λ has another length than the scores. A nil λ is not computed.
func checkLambda(lambda, scores []float64) error {
	if lambda == nil {
		return nil
	}
	return checkLength("lambda", len(lambda), len(scores))
}

func checkGains(gains, scores []float64) error {
	if err := checkLength("gains", len(gains), len(scores)); err != nil {
		return err
	}
	return checkFinite("gain", gains)
}

func checkDiscounts(discounts []float64) error { return checkFinite("discount", discounts) }

// largestScale leaves room below the largest float64 for sums over a billion entries.
const largestScale = 1e300

// scaleOf returns the scale of a result, max |ρ|·Σ|θ|, or Σ|θ| without gains. It returns an error
// if the scale or a factor is so large that sums could become infinite or NaN.
func scaleOf(gains, discounts []float64) (float64, error) {
	_, sum := magnitudes(discounts)
	scale, err := checkScale("Σ |discount|", sum)
	if err != nil || gains == nil {
		return scale, err
	}
	largest, _ := magnitudes(gains)
	if _, err := checkScale("max |gain|", largest); err != nil {
		return 0, err
	}
	return checkScale("max |gain| · Σ |discount|", largest*sum)
}

func checkScale(what string, scale float64) (float64, error) {
	if !(scale <= largestScale) {
		return 0, fmt.Errorf("%s is %v: it must be at most %v", what, scale, largestScale)
	}
	return scale, nil
}

// negligible times the scale of a result, max |ρ|·Σ|θ| for gradients and Σ|θ| for exposures, is
// the bound below which an entry becomes 0. Even an entry of 1e-13 of the scale is lost in a
// float32 sum. Without the bound a policy that is nearly certain gives most documents numbers
// like e^−gap, down to subnormal ones, which take some processors a hundred times as long.
const negligible = 1e-20

// flushNegligible sets negligible entries to 0.
func flushNegligible(x []float64, scale float64) {
	for i, v := range x {
		if math.Abs(v) < negligible*scale {
			x[i] = 0
		}
	}
}

// magnitudes returns max |x| and Σ|x|.
func magnitudes(x []float64) (largest, sum float64) {
	for _, v := range x {
		v = math.Abs(v)
		largest = max(largest, v)
		sum += v
	}
	return largest, sum
}
