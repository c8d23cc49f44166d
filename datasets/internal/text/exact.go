package text

import (
	"errors"
	"strconv"
	"strings"
)

var errExponent = errors.New("the exponent of a group is beyond ±99")

// Exact reads the number at the start of b, up to where a word may end, as text that
// is the same for equal numbers, and another one for others, however many digits they have:
// 16777217 for +16777217.0. The text is nil if the number is missing; see Value.
func Exact(b []byte) (text []byte, n int, err error) {
	word := string(Word(b, 0))
	n = len(word)
	if isMissing(b[:n]) {
		return nil, n, nil
	}
	sign := ""
	switch {
	case strings.HasPrefix(word, "-"):
		sign, word = "-", word[1:]
	case strings.HasPrefix(word, "+"):
		word = word[1:]
	}
	mantissa, exponent := word, 0
	if e := strings.IndexAny(word, "eE"); e >= 0 {
		mantissa = word[:e]
		if exponent, err = strconv.Atoi(word[e+1:]); errors.Is(err, strconv.ErrRange) || max(exponent, -exponent) > 99 {
			return nil, n, errExponent
		}
	}
	whole, fraction, _ := strings.Cut(mantissa, ".")
	digits := whole + fraction
	if err != nil || digits == "" || strings.Trim(digits, "0123456789") != "" {
		return nil, n, ErrNumber
	}
	point := len(whole) + exponent
	digits = strings.Repeat("0", max(0, -point)) + digits
	point = max(0, point)
	digits += strings.Repeat("0", max(0, point-len(digits)))
	whole, fraction = strings.TrimLeft(digits[:point], "0"), strings.TrimRight(digits[point:], "0")
	if whole == "" {
		whole = "0"
	}
	if fraction != "" {
		whole += "." + fraction
	}
	if whole == "0" {
		sign = ""
	}
	return []byte(sign + whole), n, nil
}
