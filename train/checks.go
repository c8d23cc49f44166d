package train

import (
	"encoding"
	"errors"
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

// maxCutoff is the highest cutoff: beyond it the discounts alone take long to compute.
const maxCutoff = 1_000_000

// Scorers lists the names that Config.Scorer may have.
func Scorers() []string { return []string{attentionScorer, mlpScorer} }

// A check is an error for a setting whose value makes no sense.
type check = func(s Setting) error

func unknown(what, name string, valid []string) error {
	return fmt.Errorf("train: unknown %s %q: %s", what, name, names.Want(name, valid))
}

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

func atMost(n int, why string) check {
	return within(math.Inf(-1), float64(n), fmt.Sprintf("%d at most, or %s", n, why))
}

func notNegative(most float64) check { return within(0, most, "a number that is not below 0") }

// fraction looks that a number lies in [0, 1).
func fraction(want string) check { return within(0, math.Nextafter(1, 0), want) }

func both(a, b check) check {
	return func(s Setting) error { return errors.Join(a(s), b(s)) }
}

// oneOf looks that a name is one of those.
func oneOf(what string, valid ...string) check {
	return func(s Setting) error {
		if name := *s.Value.(*string); !slices.Contains(valid, name) {
			return unknown(what, name, valid)
		}
		return nil
	}
}

// parsedBy looks that a text can be parsed.
func parsedBy[T any](parse func(string) (T, error)) check {
	return func(s Setting) error {
		_, err := parse(*s.Value.(*string))
		return err
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

// checkAttention is an error for widths that do not fit the scorer attention.
func (m Model) checkAttention() error {
	if len(m.Hidden) == 0 {
		return errors.New("train: the scorer attention needs a hidden layer: its width is that of the blocks")
	}
	if width := m.Hidden[len(m.Hidden)-1]; width%m.Heads != 0 {
		return fmt.Errorf("train: heads is %d: want a number that divides %d, the width of the last hidden layer", m.Heads, width)
	}
	return nil
}
