package names

import (
	"fmt"
	"math"
	"regexp"
	"strconv"
	"strings"
)

var number = regexp.MustCompile(`^(\d+\.?\d*|\.\d+)([eE][-+]?\d+)?`)

// ParseSum reads a sum of losses or of measures, such as a + 0.5*b - 2*c: it calls term for every
// term, with its weight and the text that begins with its name, and takes the length of the name.
// Blanks between names, numbers and signs do not matter. noun says what is added, for messages. An
// error names the column.
func ParseSum(text, noun string, term func(weight float64, rest string) (length int, err error)) error {
	rest := text
	skip := func(n int) { rest = strings.TrimLeft(rest[n:], " \t") }
	fault := func(format string, args ...any) error {
		return fmt.Errorf("column %d: %w", len(text)-len(rest)+1, fmt.Errorf(format, args...))
	}
	skip(0)
	for first := true; first || rest != ""; first = false {
		weight, signed := 1.0, false
		for strings.HasPrefix(rest, "+") || strings.HasPrefix(rest, "-") {
			if rest[0] == '-' {
				weight = -weight
			}
			signed = true
			skip(1)
		}
		if !first && !signed {
			return fault("want + or - and another term, or the end")
		}
		digits := number.FindString(rest)
		weighted := strings.HasPrefix(strings.TrimLeft(rest[len(digits):], " \t"), "*")
		if digits != "" && weighted {
			v, err := strconv.ParseFloat(digits, 64)
			if err != nil || math.IsInf(v, 0) {
				return fault("the weight %s is out of range", digits)
			}
			weight *= v
			skip(len(digits))
			skip(1)
		}
		length, err := term(weight, rest)
		if err != nil && digits != "" && !weighted {
			skip(len(digits))
			return fault("want * and a %s after the weight %s", noun, digits)
		}
		if err != nil {
			return fault("%w", err)
		}
		skip(length)
	}
	return nil
}
