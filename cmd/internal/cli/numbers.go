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

// Int returns the value of a flag for an integer from least to most; the default is what p points to. Every flag for a number
// that is not a setting of a training has such a value, or one of the next two: each has a largest value, which the error names.
func Int[T int | int64](p *T, least, most T) flag.Value {
	return &number[T]{p, least, most, fmt.Sprintf("%d to %d", least, most), func(text string) (T, error) {
		v, err := strconv.ParseInt(text, 0, reflect.TypeFor[T]().Bits())
		return T(v), err
	}}
}

// Duration is [Int] for a duration.
func Duration(p *time.Duration, least, most time.Duration) flag.Value {
	return &number[time.Duration]{p, least, most, fmt.Sprintf("a time from %v to %v, such as 10s", least, most), time.ParseDuration}
}

// Float is [Int] for a finite number not below least. The error says what is wanted.
func Float(p *float64, least float64, want string) flag.Value {
	return &number[float64]{p, least, math.MaxFloat64, want, func(text string) (float64, error) { return strconv.ParseFloat(text, 64) }}
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
