package text

import (
	"bytes"
	"math"
	"strconv"
)

// MostLevels bounds the different texts of a categorical feature, in all splits: one that has
// more is an amount, or tells documents apart.
const MostLevels = 100_000

// A Form says how a source has the values of a categorical feature, where they are not one of its levels.
type Form int

const (
	Cell    Form = iota // a text of a source without a null: an empty one, NA, NaN, NULL and ? are missing
	String              // a text of a source that has null for what is missing
	Numeral             // the text of a number, or of true or false: a level may spell it otherwise
)

// Levels numbers the texts of a categorical feature from 1 on, in the order in which they come. A text is itself, byte for
// byte: 7, 7.0 and 007 are three, and NA is one like others.
type Levels struct {
	Names   []string
	Numbers bool // the source has numbers rather than texts: they are the same in any spelling, 7 is 7.0 and 007, and true is 1

	number map[string]int // by name
	equal  map[string]int // by the exact text of names that are numbers; 0: there are several
	fixed  bool           // there are no others
}

// NewLevels returns levels to which texts are added as they come.
func NewLevels() *Levels { return &Levels{equal: map[string]int{}} }

// FixedLevels returns the levels of a model, which learns no others. It may serve several goroutines.
func FixedLevels(names []string, numbers bool) *Levels {
	l := NewLevels()
	for _, name := range names {
		l.add(name)
	}
	l.Numbers, l.fixed = numbers, true
	return l
}

// Fixed reports whether there are no others.
func (l *Levels) Fixed() bool { return l.fixed }

func (l *Levels) add(name string) float32 {
	if l.number == nil {
		l.number = map[string]int{}
	}
	l.Names = append(l.Names, name)
	n := len(l.Names)
	l.number[name] = n
	if exact := exactNumber([]byte(name)); exact != nil && l.equal != nil {
		if _, twice := l.equal[string(exact)]; twice {
			n = 0
		}
		l.equal[string(exact)] = n
	}
	return float32(len(l.Names))
}

// Value is how a text is kept as the value of a feature: by its number. Texts that are not among the levels become one, or
// are 0 if those are fixed, unless they stand for a missing value, or for a number that a level spells otherwise.
func (l *Levels) Value(word []byte, form Form) float32 {
	if form == Numeral && IsMissing(word) { // NaN is no text
		return Missing
	}
	if n, known := l.number[string(word)]; known {
		return float32(n)
	}
	if l.Numbers {
		word = bytes.TrimSpace(word)
		if n, known := l.number[string(word)]; known {
			return float32(n)
		}
	}
	switch {
	case len(word) == 0 && (form == Cell || l.Numbers), IsMissing(word) && (form == Cell && l.fixed || l.Numbers):
		return Missing
	case form == Numeral || l.Numbers:
		if n := l.equal[string(exactNumber(word))]; n > 0 {
			return float32(n)
		}
	}
	if l.fixed {
		return 0
	}
	if l.Names == nil {
		l.Numbers = form == Numeral
	}
	return l.add(string(word))
}

// NumberValue is the value for a number of a source that has numbers alone, as LETOR text: of the level that is this number, or,
// if no level is a number, of the one at this position.
func (l *Levels) NumberValue(v float32) float32 {
	const inexact = 1 << 24 // the next whole number is the same in float32
	switch {
	case v != v:
		return Missing
	case len(l.equal) > 0 && max(v, -v) < inexact:
		return float32(l.equal[string(exactNumber(strconv.AppendFloat(nil, float64(v), 'f', -1, 32)))])
	case len(l.equal) == 0 && v >= 0 && float64(v) <= float64(len(l.Names)) && float64(v) == math.Trunc(float64(v)):
		return v
	}
	return 0
}

// HasNumbers reports whether a level is a number.
func (l *Levels) HasNumbers() bool { return len(l.equal) > 0 }

// exactNumber is the text that equal numbers share, see Exact; nil for other words.
func exactNumber(word []byte) []byte {
	if exact, n, err := Exact(word); err == nil && n == len(word) {
		return exact
	}
	return nil
}
