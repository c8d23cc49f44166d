package text

import (
	"errors"
	"fmt"
	"math"
	"strconv"
)

// MaxFeatureID is the largest id. It is an int on every platform.
const MaxFeatureID = math.MaxInt32

// ParseFeatureID reports whether a word is an id: digits, without a sign or zeros before it, up to Max.
func ParseFeatureID(word string) (id int, ok bool) {
	if word == "" || word[0]-'0' > 9 { // whose error takes longer than the rest
		return 0, false
	}
	n, err := strconv.ParseUint(word, 10, 31)
	return int(n), err == nil && strconv.FormatUint(n, 10) == word
}

// IsBeyondFeatureID reports whether a word would be an id if it were not above Max.
func IsBeyondFeatureID(word string) bool {
	_, err := strconv.ParseUint(word, 10, 31)
	return errors.Is(err, strconv.ErrRange) && word[0] != '0'
}

// CheckFeatureIDs returns an error if ids do not ascend, or one is out of range.
func CheckFeatureIDs(ids []int) error {
	for i, id := range ids {
		switch {
		case id < 0 || id > MaxFeatureID:
			return fmt.Errorf("feature id %d: want 0 to %d", id, MaxFeatureID)
		case i > 0 && id <= ids[i-1]:
			return fmt.Errorf("feature id %d after %d: want them ascending", id, ids[i-1])
		}
	}
	return nil
}
