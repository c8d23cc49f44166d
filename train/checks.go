package train

import (
	"encoding"
	"fmt"
	"math"
	"slices"

	"github.com/plrank/plrank/internal/names"
)

// The scorers, and what Config.OnNaN may be.
const (
	mlpScorer       = "mlp"
	attentionScorer = "attention"

	onNaNStop = "stop"
	onNaNSkip = "skip"
)

// Scorers lists the names that Config.Scorer may have.
func Scorers() []string { return []string{attentionScorer, mlpScorer} }

// A check is an error for a setting whose value makes no sense.
type check = func(s Setting) error

// within looks that a number lies in [least, most], and says what is wanted.
func within(least, most float64, want string) check {
	return func(s Setting) error {
		var v float64
		if i, ok := s.Value.(*int); ok {
			v = float64(*i)
		} else {
			v = *s.Value.(*float64)
		}
		if !(v >= least && v <= most) {
			return fmt.Errorf("train: %s is %v: want %s", s.words(), s.field(), want)
		}
		return nil
	}
}

func atLeast(n int) check { return within(float64(n), math.Inf(1), fmt.Sprintf("%d or more", n)) }

// rankCount looks that it is 1 or more, or all; beyond a million the discounts alone take long to compute.
func rankCount(s Setting) error {
	switch n := *s.Value.(*RankCount); {
	case n == AllRanks:
		return nil
	case n < 1:
		return fmt.Errorf("train: %s is %d: want 1 or more, or %v", s.words(), int(n), AllRanks)
	case n > 1_000_000:
		return fmt.Errorf("train: %s is %d: want 1000000 at most, or it takes too much memory; or %v", s.words(), int(n), AllRanks)
	}
	return nil
}

func notNegative(most float64) check { return within(0, most, "a number that is not below 0") }

// fraction looks that a number lies in [0, 1).
func fraction(want string) check { return within(0, math.Nextafter(1, 0), want) }

// oneOf looks that a name is one of those.
func oneOf(what string, valid ...string) check {
	return func(s Setting) error {
		if name := *s.Value.(*string); !slices.Contains(valid, name) {
			return fmt.Errorf("train: unknown %s %q: %s", what, name, names.Want(name, valid))
		}
		return nil
	}
}

// each looks that the numbers of a list are not too small.
func each(what string, least int) check {
	return func(s Setting) error {
		for _, n := range *s.Value.(*[]int) {
			if n < least {
				return fmt.Errorf("train: %s %d: want %s", what, n, s.Want)
			}
		}
		return nil
	}
}

// marshals looks that a value has a name.
func marshals(s Setting) error {
	_, err := s.Value.(encoding.TextMarshaler).MarshalText()
	return err
}

func sampleCount(s Setting) error {
	if n := *s.Value.(*SampleCount); n < 1 && n != Dynamic {
		return fmt.Errorf("train: %s is %d: want 1 or more, or %s", s.words(), int(n), dynamicName)
	}
	return nil
}
