package service

import (
	"bytes"
	"encoding/json"
	"iter"
)

// These functions walk over JSON that json.Valid has accepted. They check nothing and allocate
// little.

// members yields the names and the values of an object, in its order.
func members(object []byte) iter.Seq2[string, []byte] {
	return func(yield func(string, []byte) bool) {
		for rest := inside(object); len(rest) > 0; {
			quoted, after := cutValue(rest)
			value, after := cutValue(next(after, ':'))
			if !yield(unquote(quoted), value) {
				return
			}
			rest = next(after, ',')
		}
	}
}

// elements yields the positions and the values of an array.
func elements(array []byte) iter.Seq2[int, []byte] {
	return func(yield func(int, []byte) bool) {
		rest := inside(array)
		for i := 0; len(rest) > 0; i++ {
			value, after := cutValue(rest)
			if !yield(i, value) {
				return
			}
			rest = next(after, ',')
		}
	}
}

// inside is the text between the brackets of a value.
func inside(value []byte) []byte {
	return skipBlanks(value[1 : len(value)-1])
}

// next skips a separator, if there is one.
func next(text []byte, separator byte) []byte {
	text = skipBlanks(text)
	if len(text) > 0 && text[0] == separator {
		text = skipBlanks(text[1:])
	}
	return text
}

func skipBlanks(text []byte) []byte {
	for len(text) > 0 && isBlank(text[0]) {
		text = text[1:]
	}
	return text
}

func isBlank(c byte) bool { return c == ' ' || c == '\n' || c == '\t' || c == '\r' }

// cutValue cuts a text after its first value.
func cutValue(text []byte) (value, rest []byte) {
	end := 0
	switch text[0] {
	case '"':
		end = closingQuote(text, 0) + 1
	case '[', '{':
		end = closingBracket(text) + 1
	default: // a number, or a word such as null
		for end < len(text) && text[end] != ',' && !isBlank(text[end]) {
			end++
		}
	}
	return text[:end], text[end:]
}

// closingBracket is the index of the bracket that closes the first one.
func closingBracket(text []byte) int {
	depth := 0
	for i := 0; ; i++ {
		switch text[i] {
		case '"':
			i = closingQuote(text, i)
		case '[', '{':
			depth++
		case ']', '}':
			if depth--; depth == 0 {
				return i
			}
		}
	}
}

// closingQuote is the index of the quote that closes the one at i.
func closingQuote(text []byte, i int) int {
	for i++; text[i] != '"'; i++ {
		if text[i] == '\\' {
			i++
		}
	}
	return i
}

// unquote decodes a string.
func unquote(quoted []byte) (text string) {
	if bytes.IndexByte(quoted, '\\') < 0 {
		return string(quoted[1 : len(quoted)-1])
	}
	json.Unmarshal(quoted, &text) // of valid JSON
	return text
}
