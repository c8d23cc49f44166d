package command

import (
	"cmp"
	"errors"
	"flag"
	"fmt"
	"math"
	"strconv"
	"time"
)

// IntVar is flag.IntVar for a number from least to most. Every flag of a number that is not a setting of a
// training is defined here: each has a largest value, which the error names. The default is what at holds.
func IntVar(f *flag.FlagSet, at *int, name string, least, most int, usage string) {
	f.Var(&number[int]{at, least, most, fmt.Sprintf("%d to %d", least, most), func(text string) (int, error) {
		v, err := strconv.ParseInt(text, 0, strconv.IntSize)
		return int(v), err
	}}, name, usage)
}

// Int64Var is [IntVar] for an int64.
func Int64Var(f *flag.FlagSet, at *int64, name string, least, most int64, usage string) {
	f.Var(&number[int64]{at, least, most, fmt.Sprintf("%d to %d", least, most), func(text string) (int64, error) {
		return strconv.ParseInt(text, 0, 64)
	}}, name, usage)
}

// DurationVar is [IntVar] for a time.
func DurationVar(f *flag.FlagSet, at *time.Duration, name string, least, most time.Duration, usage string) {
	f.Var(&number[time.Duration]{at, least, most, fmt.Sprintf("a time from %v to %v, such as 10s", least, most), time.ParseDuration}, name, usage)
}

// FloatVar is [IntVar] for a finite number that is not below least. Want says in words what it may be.
func FloatVar(f *flag.FlagSet, at *float64, name string, least float64, want, usage string) {
	f.Var(&number[float64]{at, least, math.MaxFloat64, want, func(text string) (float64, error) {
		return strconv.ParseFloat(text, 64)
	}}, name, usage)
}

// number is the value of a flag.
type number[T cmp.Ordered] struct {
	at          *T
	least, most T
	want        string
	parse       func(text string) (T, error)
}

func (n *number[T]) String() string {
	if n.at == nil { // of a zero value that package flag makes
		return ""
	}
	return fmt.Sprint(*n.at)
}

func (n *number[T]) Get() any { return *n.at }

func (n *number[T]) Set(text string) error {
	v, err := n.parse(text)
	if err != nil || !(n.least <= v && v <= n.most) {
		return errors.New("want " + n.want)
	}
	*n.at = v
	return nil
}
