package train

import (
	"encoding/json"
	"fmt"
	"reflect"
	"strings"
)

// A Setting is a field of a [Config], with what flags, checks and help need to know of it.
type Setting struct {
	Flag  string // its name on a command line, such as lr
	JSON  string // its name in JSON, such as learningRate
	Group string // the struct within Config that it belongs to, such as Optimization; "" for the seed
	Value any    // a pointer to the field
	Plain any    // what [Config.Plain] takes for zero; nil: zero is a value
	Help  string // what it sets; the word in backquotes stands for its value, as in package flag

	Want string // for a list of numbers, what would be right where it cannot be read

	Resumable bool // may differ when a run is resumed
	Measuring bool // matters for the metrics of a model that is trained already

	check func(Setting) error // of the value by itself; nil: all values, or New checks them
}

// Unset tells whether the setting is zero although zero is not a value of it.
func (s Setting) Unset() bool { return s.Plain != nil && s.field().IsZero() }

// Take gives the setting the value that it has in another Config.
func (s Setting) Take(from Setting) { s.field().Set(from.field()) }

func (s Setting) field() reflect.Value { return reflect.ValueOf(s.Value).Elem() }

// words is the name of the setting in errors.
func (s Setting) words() string {
	var b strings.Builder
	for _, r := range s.JSON {
		if 'A' <= r && r <= 'Z' {
			b.WriteByte(' ')
		}
		b.WriteRune(r)
	}
	return strings.ToLower(b.String())
}

// json is the value as JSON has it.
func (s Setting) json() string {
	if f := s.field(); f.Kind() == reflect.Slice && f.Len() == 0 {
		return "null"
	}
	text, err := json.Marshal(s.Value)
	if err != nil { // a number that is not finite
		return fmt.Sprint(s.field())
	}
	return string(text)
}
