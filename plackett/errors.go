package plackett

import (
	"fmt"
	"math"
)

// A NumberError says that a number is NaN or infinite.
type NumberError struct {
	What     string  // score, gain, discount or weight
	Position int     // from 0: of the document in its list, of the rank, or of the weight
	Value    float64 // the number
}

func (e *NumberError) Error() string {
	of := map[string]string{"discount": "rank", "weight": "entry"}[e.What]
	if of == "" {
		of = "document"
	}
	return fmt.Sprintf("the %s of %s %d is %v: %ss must be finite", e.What, of, e.Position, e.Value, e.What)
}

// Document returns the position of the document that the number is of, and what is wrong with it there. It is not ok
// where the number is a discount or a weight.
func (e *NumberError) Document() (position int, text string, ok bool) {
	if e.What == "discount" || e.What == "weight" {
		return 0, "", false
	}
	return e.Position, fmt.Sprintf("the %s is %v: %ss must be finite", e.What, e.Value, e.What), true
}

// A LengthError says that a slice has not the length that the other arguments ask for.
type LengthError struct {
	What         string // the argument, such as gains
	Length, Want int    // the length that it has, and the right one
}

func (e *LengthError) Error() string {
	return fmt.Sprintf("%s: %d numbers, want %d", e.What, e.Length, e.Want)
}

// A RankingError says which entry of [Rankings] makes a row no ranking of the list.
type RankingError struct {
	Sample, Place int    // the row and the position in it, from 0
	Entry         int    // what stands there
	Reason        string // what is wrong with it
}

func (e *RankingError) Error() string {
	return fmt.Sprintf("ranking %d, place %d: entry %d %s", e.Sample, e.Place, e.Entry, e.Reason)
}

// checkFinite reports the first number that is NaN or infinite.
func checkFinite(what string, numbers []float64) error {
	for i, x := range numbers {
		if x-x != 0 {
			return &NumberError{what, i, x}
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

// checkLambda reports a λ of another length than the scores, but for nil: none is asked for.
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

// scaleOf returns the scale of a result, max |ρ|·Σ|θ|, or Σ|θ| without gains. If it or one
// of its factors leaves no room for sums, which would be infinite or NaN, that is an error.
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

// negligible is the part of the scale of a result, of max |ρ|·Σ|θ| for gradients and Σ|θ|
// for exposures, below which an entry of it is 0. A sum in float32 that has an entry of
// 1e-13 of the scale does not see it. Without this bound a policy that is sure gives most
// documents numbers like e^−gap, down to those below the smallest normal one, for which some
// processors take a hundred times as long as for others.
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
