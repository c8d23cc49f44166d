// Package featureid has the one rule of what the id of a feature is, in files, flags, models and requests.
package featureid

import (
	"fmt"
	"math"
	"strconv"
)

// Max is the largest id. It is an int on every platform.
const Max = math.MaxInt32

// Parse reports whether a word is an id: digits, without a sign or zeros before it, up to Max.
func Parse(word string) (id int, ok bool) {
	n, err := strconv.ParseUint(word, 10, 31)
	return int(n), err == nil && strconv.FormatUint(n, 10) == word
}

// IsBeyond reports whether a word would be an id if it were not above Max.
func IsBeyond(word string) bool {
	if word == "" || word[0] == '0' {
		return false
	}
	for _, c := range []byte(word) {
		if c < '0' || c > '9' {
			return false
		}
	}
	_, ok := Parse(word)
	return !ok
}

// CheckAscending returns an error if ids do not ascend, or one is out of range.
func CheckAscending(ids []int) error {
	for i, id := range ids {
		switch {
		case id < 0 || id > Max:
			return fmt.Errorf("feature id %d: want 0 to %d", id, Max)
		case i > 0 && id <= ids[i-1]:
			return fmt.Errorf("feature id %d after %d: want them ascending", id, ids[i-1])
		}
	}
	return nil
}
