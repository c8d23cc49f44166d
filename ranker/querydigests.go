package ranker

import (
	"encoding/binary"
	"encoding/json"
	"errors"
	"fmt"
	"slices"
)

// QueryDigests identify the training queries of a model: numbers of datasets.Dataset.QueryDigests,
// ascending, without duplicates and without 0. In a model file they are 8 bytes each, in base64.
type QueryDigests []uint64

// NewQueryDigests sorts such numbers, and leaves out duplicates and zeros.
func NewQueryDigests(queries ...uint64) QueryDigests {
	list := slices.DeleteFunc(slices.Clone(queries), func(d uint64) bool { return d == 0 })
	slices.Sort(list)
	return slices.Compact(list)
}

// Count is the number of these queries that are among the digests.
func (l QueryDigests) Count(queries []uint64) (n int) {
	for _, d := range queries {
		if _, found := slices.BinarySearch(l, d); found {
			n++
		}
	}
	return n
}

func (l QueryDigests) check() error {
	for i, d := range l {
		if d == 0 || i > 0 && d <= l[i-1] {
			return errors.New("the digests of the training queries do not ascend from 1")
		}
	}
	return nil
}

// MarshalJSON writes them as in a model file.
func (l QueryDigests) MarshalJSON() ([]byte, error) {
	b, err := binary.Append(nil, binary.LittleEndian, []uint64(l))
	if err != nil {
		return nil, err
	}
	return json.Marshal(b)
}

// UnmarshalJSON reads what MarshalJSON writes.
func (l *QueryDigests) UnmarshalJSON(text []byte) error {
	var b []byte
	if err := json.Unmarshal(text, &b); err != nil {
		return err
	}
	if len(b)%8 != 0 {
		return fmt.Errorf("the digests of the training queries take %d bytes: want 8 each", len(b))
	}
	*l = make(QueryDigests, len(b)/8)
	_, err := binary.Decode(b, binary.LittleEndian, *l)
	return err
}
