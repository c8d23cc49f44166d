package cli

import (
	"cmp"
	"errors"
	"flag"
	"fmt"
	"math"
	"reflect"
	"strconv"
	"time"
)

// IntVar defines a flag for an integer from least to most; the default is what p points to. Every flag for a number
// that is not a setting of a training is defined here or by one of the next two: each has a largest value, which the
// error names.
func IntVar[T int | int64](f *flag.FlagSet, p *T, name string, least, most T, usage string) {
	f.Var(&number[T]{p, least, most, fmt.Sprintf("%d to %d", least, most), func(text string) (T, error) {
		v, err := strconv.ParseInt(text, 0, reflect.TypeFor[T]().Bits())
		return T(v), err
	}}, name, usage)
}

// DurationVar is [IntVar] for a duration.
func DurationVar(f *flag.FlagSet, p *time.Duration, name string, least, most time.Duration, usage string) {
	f.Var(&number[time.Duration]{p, least, most, fmt.Sprintf("a time from %v to %v, such as 10s", least, most), time.ParseDuration}, name,
		usage)
}

// FloatVar is [IntVar] for a finite number not below least. The error says what is wanted.
func FloatVar(f *flag.FlagSet, p *float64, name string, least float64, want, usage string) {
	f.Var(&number[float64]{p, least, math.MaxFloat64, want, func(text string) (float64, error) {
		return strconv.ParseFloat(text, 64)
	}}, name, usage)
}

// number is the value of a flag.
type number[T cmp.Ordered] struct {
	p           *T
	least, most T
	want        string
	parse       func(text string) (T, error)
}

func (n *number[T]) String() string {
	if n.p == nil { // a zero value, which package flag makes
		return ""
	}
	return fmt.Sprint(*n.p)
}

func (n *number[T]) Get() any { return *n.p }

func (n *number[T]) Set(text string) error {
	v, err := n.parse(text)
	if err != nil || !(n.least <= v && v <= n.most) {
		return errors.New("want " + n.want)
	}
	*n.p = v
	return nil
}
