// Package jsonread takes JSON apart, member by member: requests, and the lines of click logs. Unlike package
// encoding/json, it shows names that occur twice or in another case, and leaves numbers as they are written.
package jsonread

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"iter"
	"strings"
	"unicode/utf8"

	"github.com/go-json-experiment/json/jsontext"

	"github.com/plrank/plrank/internal/text"
)

// A Reader reads the values of a text one after another. Values are parts of the text. After a mistake in the text nothing is left
// to read, and [Reader.End] says what it was. A copy of a Reader reads on from the same place.
type Reader struct {
	text     []byte
	at       int // the next byte
	depth    int // of brackets
	anyBytes bool
	broken   bool
}

// mostDepth is the largest number of brackets inside each other, as in package jsontext.
const mostDepth = 10_000

// New returns a reader of a text. Its End returns an error if a string is not Unicode: JSON's readers would replace a part of it,
// and take different texts for equal ones.
func New(json []byte) *Reader { return &Reader{text: json} }

// NewLenient returns a reader for which any bytes may be in a string. [Unquote] says whether they are Unicode.
func NewLenient(json []byte) *Reader { return &Reader{text: json, anyBytes: true} }

// Kind returns the first byte of the next value, 0 if there is none; all digits, and a minus, are '0'.
func (r *Reader) Kind() byte {
	for ; r.at < len(r.text) && !r.broken; r.at++ {
		switch c := r.text[r.at]; c {
		case ' ', '\t', '\n', '\r':
		case '-', '1', '2', '3', '4', '5', '6', '7', '8', '9':
			return '0'
		default:
			return c
		}
	}
	return 0
}

// Value reads a value. It returns nothing if there is an error, see [Reader.End].
func (r *Reader) Value() []byte {
	kind, start := r.Kind(), r.at
	switch kind {
	case '0':
		_, _, _ = r.Float32() // whatever its size
	case '"':
		r.quoted()
	case 't':
		r.word("true")
	case 'f':
		r.word("false")
	case 'n':
		r.word("null")
	case '[':
		for range r.Items() {
			r.Value()
		}
	case '{':
		for range r.Names() {
			r.Value()
		}
	default:
		r.broken = true
	}
	if r.broken {
		return nil
	}
	return r.text[start:r.at]
}

// take goes beyond n bytes; 0 are a mistake.
func (r *Reader) take(n int) {
	r.at += n
	r.broken = n == 0
}

func (r *Reader) word(word string) {
	if bytes.HasPrefix(r.text[r.at:], []byte(word)) {
		r.take(len(word))
	} else {
		r.take(0)
	}
}

// Float32 reads a number, and returns the float32 nearest to it, as [text.Float32] does, and the number as it is written. It
// returns [text.ErrNumber] and the value if that is not a number.
func (r *Reader) Float32() (v float32, number []byte, err error) {
	if r.Kind() != '0' {
		return 0, r.Value(), text.ErrNumber
	}
	v, n, err := text.Float32(r.text[r.at:])
	number = r.text[r.at : r.at+n]
	if n > 0 && !strict(number) { // which ends earlier in JSON, before a mistake
		n = 0
	}
	r.take(n)
	return v, number, err
}

// strict reports whether a number that begins with a digit or a minus is one of JSON, which has no 01, -.5 or 5.
func strict(number []byte) bool {
	isDigit := func(i int) bool { return i < len(number) && number[i]-'0' <= 9 }
	first := 0
	if number[0] == '-' {
		first = 1
	}
	point := bytes.IndexByte(number, '.')
	return isDigit(first) && !(number[first] == '0' && isDigit(first+1)) && (point < 0 || isDigit(point+1))
}

// quoted reads a string, and reports whether its characters are those between the quotes.
func (r *Reader) quoted() (plain bool) {
	plain = true
	for i := r.at + 1; i < len(r.text); i++ {
		switch c := r.text[i]; {
		case c == '"':
			value := r.text[r.at : i+1]
			r.at = i + 1
			r.broken = !plain && !jsontext.Value(value).IsValid(jsontext.AllowInvalidUTF8(r.anyBytes))
			return plain
		case c == '\\':
			plain = false
			i++
		case c < ' ' || c >= utf8.RuneSelf:
			plain = false
		}
	}
	r.broken = true
	return false
}

// Names reads an object, and yields its names in their order. For each, the caller reads the value.
func (r *Reader) Names() iter.Seq[[]byte] {
	return func(yield func([]byte) bool) {
		for range r.between('{', '}') {
			if r.Kind() != '"' {
				r.broken = true
				return
			}
			start := r.at
			plain := r.quoted()
			name := r.text[start:r.at]
			if r.Kind() != ':' {
				r.broken = true
				return
			}
			r.at++
			if plain {
				name = name[1 : len(name)-1]
			} else {
				name, _ = jsontext.AppendUnquote(nil, name) // with bytes that are not Unicode replaced
			}
			if !yield(name) {
				return
			}
		}
	}
}

// Items reads an array, and yields the positions of its elements. For each, the caller reads the value.
func (r *Reader) Items() iter.Seq[int] { return r.between('[', ']') }

// between reads two brackets and the commas between them.
func (r *Reader) between(opens, closes byte) iter.Seq[int] {
	return func(yield func(int) bool) {
		if r.Kind() != opens || r.depth == mostDepth {
			r.broken = true
			return
		}
		r.at++
		r.depth++
		for i := 0; r.Kind() != closes || i > 0; i++ {
			if !yield(i) || r.broken {
				return
			}
			if r.Kind() != ',' {
				break
			}
			r.at++
		}
		r.broken = r.Kind() != closes
		r.at++
		r.depth--
	}
}

// Elements reads an array, and yields the positions and the values of its elements.
func (r *Reader) Elements() iter.Seq2[int, []byte] {
	return func(yield func(int, []byte) bool) {
		for i := range r.Items() {
			if value := r.Value(); r.broken || !yield(i, value) {
				return
			}
		}
	}
}

// Array reads a value, and returns it and the number of its elements, which is 0 if it is not an array. It calls read, which reads
// an element. If read returns false, it need not have read all of the element.
func (r *Reader) Array(read func() bool) (value []byte, elements int) {
	if r.Kind() != '[' {
		return r.Value(), 0
	}
	start := r.at
	for range r.Items() {
		if mark := *r; !read() {
			*r = mark
			r.Value()
		}
		elements++
	}
	if r.broken {
		return nil, 0
	}
	return r.text[start:r.at], elements
}

// End returns the first error, with its place, or an error if there was no value, or if anything follows it.
func (r *Reader) End() error {
	if r.Kind() == 0 && r.at == len(r.text) && !r.broken {
		return nil
	}
	d := jsontext.NewDecoder(bytes.NewBuffer(r.text), jsontext.AllowDuplicateNames(true), jsontext.AllowInvalidUTF8(r.anyBytes))
	_, err := d.ReadValue()
	if err == nil {
		_, err = d.ReadToken()
	}
	if err == nil || err == io.EOF {
		return fmt.Errorf("byte %d: want one value of JSON", d.InputOffset())
	}
	return errors.New(strings.TrimPrefix(err.Error(), "jsontext: "))
}

// ErrText is the error of a text that is not Unicode.
var ErrText = errors.New("the text is not in UTF-8, or has half of a surrogate pair")

// Unquote decodes a string. It returns [ErrText] if the string is not Unicode, or not a string.
func Unquote(quoted []byte) (string, error) {
	unquoted, err := jsontext.AppendUnquote(nil, quoted)
	if err != nil {
		return "", ErrText
	}
	return string(unquoted), nil
}
