package text

import (
	"bytes"
	"cmp"
	"encoding/binary"
	"errors"
	"math"
	"strconv"
	"strings"
)

// ErrNumber is the error of a word that is not a number.
var ErrNumber = errors.New("not a number")

var errRange = errors.New("beyond the range of float32")

// LooksDecimalComma reports whether a word looks like a number with a comma for the point, such as 3,5 or 1.234,56.
func LooksDecimalComma(word []byte) bool {
	whole, fraction, comma := bytes.Cut(bytes.TrimSpace(word), []byte(","))
	if !comma || len(fraction) == 0 {
		return false
	}
	number := bytes.ReplaceAll(whole, []byte("."), nil)
	number = append(append(bytes.Clone(number), '.'), fraction...)
	_, n, err := Float32(number)
	return (err == nil || err == errRange) && n == len(number)
}

// Hint says what a word that is not a number looks like; "" where it looks like nothing known.
func Hint(word []byte) string {
	if LooksDecimalComma(word) {
		return ", but looks like one with a decimal comma: want a point"
	}
	return ""
}

// Missing is how a value that is not known is kept.
var Missing = float32(math.NaN())

// Field reads a field of separated values as a number; it is missing if it is empty.
func Field(b []byte) (float32, error) {
	b = bytes.TrimSpace(b)
	if len(b) == 0 {
		return Missing, nil
	}
	v, n, err := Value(b)
	if err == nil && n != len(b) {
		err = ErrNumber
	}
	return v, err
}

// Value reads a feature value at the start of b, a word of n bytes; it may be missing. True is 1, false 0.
func Value(b []byte) (v float32, n int, err error) {
	v, n, err = Float32(b)
	if err == nil && Ends(b, n) || err == errRange {
		return v, n, err
	}
	word := Word(b, 0)
	if IsMissing(word) {
		return Missing, len(word), nil
	}
	if number := boolean(word); number != "" {
		return float32(number[0] - '0'), len(word), nil
	}
	return 0, 0, ErrNumber
}

// boolean is the number that a word stands for, 1 for true and 0 for false; "" for other words.
func boolean(word []byte) string {
	switch string(word) {
	case "true", "True", "TRUE":
		return "1"
	case "false", "False", "FALSE":
		return "0"
	}
	return ""
}

// IsMissing reports whether a word says that a value is missing.
func IsMissing(word []byte) bool {
	switch string(bytes.ToLower(word[:min(len(word), 8)])) {
	case "null", "nan", "na", "?":
		return true
	}
	return false
}

// IsMarker reports whether pandas reads a word as a missing value, other than the words of [IsMissing].
func IsMarker(word []byte) bool {
	switch string(bytes.ToLower(word[:min(len(word), 9)])) {
	case "none", "n/a", "<na>", "#n/a", "#n/a n/a", "#na", "-nan", "1.#ind", "-1.#ind", "1.#qnan", "-1.#qnan":
		return true
	}
	return false
}

// Powers of ten that float64 holds exactly.
var pow10 = [...]float64{1e0, 1e1, 1e2, 1e3, 1e4, 1e5, 1e6, 1e7, 1e8, 1e9, 1e10, 1e11,
	1e12, 1e13, 1e14, 1e15, 1e16, 1e17, 1e18, 1e19, 1e20, 1e21, 1e22}

// Float32 reads a decimal number at the start of b: a sign, digits with
// an optional point, an optional exponent. It returns the float32 nearest to
// it, the very one that strconv.ParseFloat(…, 32) gives, and the number of
// bytes read, also of a number beyond the range.
//
// Up to 19 digits, digits·10^k is at most four roundings to float64, each within half of the last bit (Clinger 1990). Rounding
// that once more, to float32, is right unless the float64 lies within four of its last bits of the middle between two float32
// numbers: then, and outside the normal range, strconv decides.
func Float32(b []byte) (float32, int, error) {
	i := 0
	negative := false
	if i < len(b) && (b[i] == '-' || b[i] == '+') {
		negative = b[i] == '-'
		i++
	}
	var mantissa uint64
	start := i
	for i < len(b) && b[i]-'0' <= 9 {
		mantissa = mantissa*10 + uint64(b[i]-'0')
		i++
	}
	digits := i - start
	exponent := 0
	if i < len(b) && b[i] == '.' {
		i++
		point := i
		for i+8 <= len(b) {
			n, ok := eightDigits(b[i:])
			if !ok {
				break
			}
			mantissa = mantissa*1e8 + n
			i += 8
		}
		for i < len(b) && b[i]-'0' <= 9 {
			mantissa = mantissa*10 + uint64(b[i]-'0')
			i++
		}
		digits += i - point
		exponent = point - i
	}
	if digits == 0 {
		return 0, 0, ErrNumber
	}
	if i < len(b) && b[i]|0x20 == 'e' {
		e, n := parseExponent(b[i+1:])
		if n == 0 {
			return 0, 0, ErrNumber
		}
		i += 1 + n
		exponent += e
	}
	if digits > 19 {
		// At least the digits from the first that is not 0.
		digits += 1 - (i - start) + len(bytes.TrimLeft(b[start:i], "0."))
	}
	if digits <= 19 && exponent <= 22 && exponent >= -44 {
		if f, sure := scaled(mantissa, exponent); sure && negative {
			return -f, i, nil
		} else if sure {
			return f, i, nil
		}
	}
	f, err := strconv.ParseFloat(string(b[:i]), 32)
	if err != nil {
		return 0, i, errRange
	}
	return float32(f), i, nil
}

// eightDigits returns the number that the first 8 bytes are, if all are digits: of pairs, of pairs of these, and so on at once.
func eightDigits(b []byte) (number uint64, ok bool) {
	d := binary.LittleEndian.Uint64(b) ^ 0x3030303030303030 // '0' becomes 0
	if (d|(d+0x0606060606060606))&0xf0f0f0f0f0f0f0f0 != 0 {
		return 0, false
	}
	d = (d*10 + d>>8) & 0x00ff00ff00ff00ff
	d = (d*100 + d>>16) & 0x0000ffff0000ffff
	return (d*10000 + d>>32) & 0xffffffff, true
}

// scaled returns the float32 nearest to mantissa·10^exponent, and whether it is sure to be, see [Float32].
func scaled(mantissa uint64, exponent int) (float32, bool) {
	f := float64(mantissa)
	if exponent < -22 {
		f /= 1e22
		exponent += 22
	}
	if exponent < 0 {
		f /= pow10[-exponent]
	} else {
		f *= pow10[exponent]
	}
	middle := int(math.Float64bits(f)&(1<<29-1)) - 1<<28 // float32 lacks the low 29 bits of a float64
	return float32(f), (middle < -4 || middle > 4) && f >= 0x1p-126 && f <= math.MaxFloat32 || f == 0
}

// parseExponent reads a sign and digits. Beyond ±9999 the value saturates:
// strconv decides such numbers from the text.
func parseExponent(b []byte) (value, n int) {
	if len(b) > 0 && (b[0] == '-' || b[0] == '+') {
		n++
	}
	start := n
	for n < len(b) && b[n]-'0' <= 9 {
		n++
	}
	if n == start {
		return 0, 0
	}
	value, _ = strconv.Atoi(string(b[:n])) // the largest number if it is beyond the range
	return min(max(value, -9999), 9999), n
}

// Exact reads the number at the start of b, up to where a word may end, as text that
// is the same for equal numbers, and another one for others, however many digits they have:
// 16777217 for +16777217.0, 1 for true. The text is nil if the number is missing; see Value.
func Exact(b []byte) (text []byte, n int, err error) {
	word := string(Word(b, 0))
	n = len(word)
	if IsMissing(b[:n]) {
		return nil, n, nil
	}
	if number := boolean(b[:n]); number != "" {
		return []byte(number), n, nil
	}
	mantissa, negative := strings.CutPrefix(word, "-")
	if !negative {
		mantissa = strings.TrimPrefix(mantissa, "+")
	}
	exponent := 0
	if e := strings.IndexAny(mantissa, "eE"); e >= 0 {
		exponent, err = strconv.Atoi(mantissa[e+1:])
		mantissa = mantissa[:e]
	}
	whole, fraction, _ := strings.Cut(mantissa, ".")
	digits := whole + fraction
	if err != nil || max(exponent, -exponent) > 99 || digits == "" || strings.Trim(digits, "0123456789") != "" {
		return nil, n, ErrNumber
	}
	point := len(whole) + exponent
	digits = strings.Repeat("0", max(0, -point)) + digits
	point = max(0, point)
	digits += strings.Repeat("0", max(0, point-len(digits)))
	whole, fraction = strings.TrimLeft(digits[:point], "0"), strings.TrimRight(digits[point:], "0")
	exact := cmp.Or(whole, "0")
	if fraction != "" {
		exact += "." + fraction
	}
	if negative && exact != "0" {
		exact = "-" + exact
	}
	return []byte(exact), n, nil
}
