package names

import (
	"errors"
	"fmt"
	"regexp"
	"strings"
	"testing"
)

var name = regexp.MustCompile(`^[a-z]+`)

// read writes the terms of a sum one after another.
func read(text string) (string, error) {
	var terms []string
	err := ParseSum(text, "letter", func(weight float64, rest string) (int, error) {
		n := name.FindString(rest)
		if n == "" {
			return 0, errors.New("want a name")
		}
		terms = append(terms, fmt.Sprintf("%g%s", weight, n))
		return len(n), nil
	})
	return strings.Join(terms, " "), err
}

func TestParseSumReadsWeightsAndSigns(t *testing.T) {
	for text, want := range map[string]string{
		"a": "1a", " a ": "1a", "-a": "-1a", "+a-b": "1a -1b", "2*a + .5 * b": "2a 0.5b", "a--b": "1a 1b", "a + -1.5e-1\t*b": "1a -0.15b", "0*a": "0a",
	} {
		if got, err := read(text); got != want || err != nil {
			t.Errorf("%q: %q, %v, want %q", text, got, err, want)
		}
	}
}

func TestErrorsOfSumsNameTheColumn(t *testing.T) {
	for text, want := range map[string]string{
		"":            "column 1: want a name",
		"a+":          "column 3: want a name",
		"a + 2b":      "column 6: want * and a letter after the weight 2",
		"a b":         "column 3: want + or - and another term",
		"2*3*a":       "column 3: want a name",
		"a + 1e999*b": "column 5: the weight 1e999 is out of range",
	} {
		if got, err := read(text); err == nil || !strings.HasPrefix(err.Error(), want) {
			t.Errorf("%q: %q, %v, want an error with %q", text, got, err, want)
		}
	}
}
