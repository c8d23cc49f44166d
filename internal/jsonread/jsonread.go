// Package jsonread takes JSON apart, member by member: requests, and the lines of click logs. Unlike package
// encoding/json, it shows names that occur twice or in another case, and leaves numbers as they are written.
package jsonread

import (
	"bytes"
	"cmp"
	"errors"
	"fmt"
	"io"
	"iter"
	"strings"

	"github.com/go-json-experiment/json/jsontext"
)

// A Reader reads the values of a text one after another. Values are parts of the text.
type Reader struct {
	text    []byte
	decoder *jsontext.Decoder
	err     error // the first one
}

// New returns a reader of a text. Its End returns an error if a string is not Unicode: JSON's readers would replace a part of it,
// and take different texts for equal ones.
func New(text []byte) *Reader { return newReader(text, false) }

// NewLenient returns a reader for which any bytes may be in a string. [Unquote] says whether they are Unicode.
func NewLenient(text []byte) *Reader { return newReader(text, true) }

func newReader(text []byte, anyBytes bool) *Reader {
	d := jsontext.NewDecoder(bytes.NewBuffer(text), jsontext.AllowDuplicateNames(true), jsontext.AllowInvalidUTF8(anyBytes))
	return &Reader{text: text, decoder: d}
}

// Kind returns the first byte of the next value, 0 if there is none; all digits are '0'.
func (r *Reader) Kind() byte { return byte(r.decoder.PeekKind()) }

// Token reads a bracket, a name or a single value.
func (r *Reader) Token() jsontext.Token {
	t, err := r.decoder.ReadToken()
	r.err = cmp.Or(r.err, err)
	return t
}

// Value reads a value. It returns nothing if there is an error, see [Reader.End].
func (r *Reader) Value() []byte {
	v, err := r.decoder.ReadValue()
	r.err = cmp.Or(r.err, err)
	end := r.decoder.InputOffset()
	return r.text[end-int64(len(v)) : end]
}

// Names reads an object, and yields its names in their order. For each, the caller reads the value.
func (r *Reader) Names() iter.Seq[string] {
	return func(yield func(string) bool) {
		for r.Token(); r.Kind() == '"'; {
			if name := r.Token().String(); r.err != nil || !yield(name) {
				return
			}
		}
		r.Token()
	}
}

// Elements reads an array, and yields the positions and the values of its elements.
func (r *Reader) Elements() iter.Seq2[int, []byte] {
	return func(yield func(int, []byte) bool) {
		r.Token()
		for i := 0; r.Kind() != ']'; i++ {
			value := r.Value()
			if r.err != nil || !yield(i, value) {
				return
			}
		}
		r.Token()
	}
}

// Array reads a value, and returns it and the number of its elements, which is 0 if it is not an array.
func (r *Reader) Array() (value []byte, elements int) {
	if r.Kind() != '[' {
		return r.Value(), 0
	}
	r.Token()
	start := r.decoder.InputOffset() - 1
	for ; r.Kind() != ']' && r.err == nil; elements++ {
		r.Value()
	}
	r.Token()
	return r.text[start:r.decoder.InputOffset()], elements
}

// End returns the first error, with its place, or an error if there was no value, or if anything follows it.
func (r *Reader) End() error {
	err := r.err
	if err == nil {
		if _, err = r.decoder.ReadToken(); err == io.EOF {
			return nil
		}
	}
	if err == nil || err == io.EOF {
		return fmt.Errorf("byte %d: want one value of JSON", r.decoder.InputOffset())
	}
	return errors.New(strings.TrimPrefix(err.Error(), "jsontext: "))
}

// ErrText is the error of a text that is not Unicode.
var ErrText = errors.New("the text is not in UTF-8, or has half of a surrogate pair")

// Unquote decodes a string. It returns [ErrText] if the string is not Unicode, or not a string.
func Unquote(quoted []byte) (string, error) {
	text, err := jsontext.AppendUnquote(nil, quoted)
	if err != nil {
		return "", ErrText
	}
	return string(text), nil
}
