package text

import (
	"bytes"
	"errors"
	"fmt"
	"iter"
	"strconv"
	"strings"
	"unicode/utf16"
	"unicode/utf8"
)

// JSONMembers yields the names and the values of an object, in its order.
func JSONMembers(object []byte) iter.Seq2[string, []byte] {
	return func(yield func(string, []byte) bool) {
		for rest := InsideJSON(object); len(rest) > 0; {
			quoted, after := CutJSON(rest)
			value, after := CutJSON(next(after, ':'))
			if !yield(DecodeJSON(quoted), value) {
				return
			}
			rest = next(after, ',')
		}
	}
}

// JSONElements yields the positions and the values of an array.
func JSONElements(array []byte) iter.Seq2[int, []byte] {
	return func(yield func(int, []byte) bool) {
		rest := InsideJSON(array)
		for i := 0; len(rest) > 0; i++ {
			value, after := CutJSON(rest)
			if !yield(i, value) {
				return
			}
			rest = next(after, ',')
		}
	}
}

// InsideJSON returns the text between the brackets of a value.
func InsideJSON(value []byte) []byte {
	return SkipJSONBlanks(value[1 : len(value)-1])
}

// next skips a separator, if there is one.
func next(text []byte, separator byte) []byte {
	text = SkipJSONBlanks(text)
	if len(text) > 0 && text[0] == separator {
		text = SkipJSONBlanks(text[1:])
	}
	return text
}

// SkipJSONBlanks returns the text after its leading blanks.
func SkipJSONBlanks(text []byte) []byte {
	for len(text) > 0 && isJSONBlank(text[0]) {
		text = text[1:]
	}
	return text
}

func isJSONBlank(c byte) bool { return c == ' ' || c == '\n' || c == '\t' || c == '\r' }

// CutJSON cuts a text after its first value.
func CutJSON(text []byte) (value, rest []byte) {
	end := 0
	switch text[0] {
	case '"':
		end = closingQuote(text, 0) + 1
	case '[', '{':
		end = closingBracket(text) + 1
	default: // a number, or a word such as null
		for end < len(text) && text[end] != ',' && !isJSONBlank(text[end]) {
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

// DecodeJSON decodes a string, many times faster than package encoding/json if it has escapes. Half of a surrogate pair becomes
// U+FFFD, and bytes that are not UTF-8 stay: see [CheckTexts].
func DecodeJSON(quoted []byte) string {
	rest := quoted[1 : len(quoted)-1]
	i := bytes.IndexByte(rest, '\\')
	if i < 0 {
		return string(rest)
	}
	text := make([]byte, 0, len(rest))
	for ; i >= 0; i = bytes.IndexByte(rest, '\\') {
		text = append(text, rest[:i]...)
		escape := rest[i+1]
		rest = rest[i+2:]
		if escape != 'u' {
			if c := strings.IndexByte("bfnrt", escape); c >= 0 {
				escape = "\b\f\n\r\t"[c]
			}
			text = append(text, escape)
			continue
		}
		c := hex(rest)
		rest = rest[4:]
		if utf16.IsSurrogate(c) {
			c = utf16.DecodeRune(c, second(rest))
			if c != utf8.RuneError {
				rest = rest[6:]
			}
		}
		text = utf8.AppendRune(text, c)
	}
	return string(append(text, rest...))
}

// second returns the code unit that an escape at the beginning of a text stands for, 0 if there is none.
func second(text []byte) rune {
	if len(text) < 6 || text[0] != '\\' || text[1] != 'u' {
		return 0
	}
	return hex(text[2:])
}

// ErrText is the error of a text that is not Unicode: JSON's readers would replace a part of it, and take
// different texts for equal ones.
var ErrText = errors.New("the text is not in UTF-8, or has half of a surrogate pair")

// UnquoteJSON decodes a string. The error is [ErrText].
func UnquoteJSON(quoted []byte) (string, error) {
	if !isText(quoted) {
		return "", ErrText
	}
	return DecodeJSON(quoted), nil
}

// isText reports whether all of a string, or of other JSON, is Unicode.
func isText(quoted []byte) bool {
	if !utf8.Valid(quoted) {
		return false
	}
	for rest := quoted; ; {
		i := bytes.IndexByte(rest, '\\')
		if i < 0 {
			return true
		}
		if rest = rest[i:]; rest[1] != 'u' {
			rest = rest[2:]
			continue
		}
		c := hex(rest[2:])
		if rest = rest[6:]; utf16.IsSurrogate(c) {
			if utf16.DecodeRune(c, second(rest)) == utf8.RuneError {
				return false
			}
			rest = rest[6:]
		}
	}
}

// hex returns the code unit that four digits at the beginning of a text are.
func hex(text []byte) (unit rune) {
	for _, c := range text[:4] {
		if c > '9' {
			c = c | 0x20 - 'a' + '9' + 1
		}
		unit = unit<<4 | rune(c-'0')
	}
	return unit
}

// CheckJSONTexts returns an error that wraps [ErrText] and begins with the place of the first text that is not Unicode, such
// as "document_ids[3]". Names of members are texts, too.
func CheckJSONTexts(value []byte) error {
	if isText(value) {
		return nil
	}
	const levels = 8 // each is scanned again: a place deeper down is named by what is around it
	path := find(SkipJSONBlanks(value), levels)
	if path == "" {
		path = "the value"
	}
	return fmt.Errorf("%s: %w", path, ErrText)
}

// find returns the place of the first text of a value that is not Unicode, at most the given number of levels down.
func find(value []byte, levels int) string {
	if levels == 0 {
		return ""
	}
	switch value[0] {
	case '[':
		for i, v := range JSONElements(value) {
			if !isText(v) {
				return join("["+strconv.Itoa(i)+"]", find(v, levels-1))
			}
		}
	case '{':
		for rest := InsideJSON(value); len(rest) > 0; {
			quoted, after := CutJSON(rest)
			v, after := CutJSON(next(after, ':'))
			if !isText(quoted) {
				return "the name " + clip(quoted)
			}
			if !isText(v) {
				return join(clip(quoted[1:len(quoted)-1]), find(v, levels-1))
			}
			rest = next(after, ',')
		}
	}
	return ""
}

// join joins a place and one in it.
func join(outer, inner string) string {
	if inner == "" || inner[0] == '[' {
		return outer + inner
	}
	return outer + "." + inner
}

// clip returns a name as JSON spells it, shortened for a message.
func clip(name []byte) string {
	const most = 100
	if len(name) <= most {
		return string(bytes.ToValidUTF8(name, []byte("?")))
	}
	return string(bytes.ToValidUTF8(name[:most], nil)) + "…"
}
