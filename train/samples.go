package train

import (
	"encoding/json"
	"fmt"
	"strconv"
)

// A SampleCount is the number of rankings sampled for each query and step, or [Dynamic].
type SampleCount int

// Dynamic is a number of samples that grows with the epoch, from 10 to 100 in the
// course of 40 epochs (Oosterhuis 2021, section 7).
const Dynamic SampleCount = -1

const dynamicName = "dynamic"

// At is the number of samples in an epoch, counted from 0.
func (n SampleCount) At(epoch int) int {
	if n == Dynamic {
		return min(100, 10+90*epoch/40)
	}
	return int(n)
}

// most is the highest that At gives.
func (n SampleCount) most() int { return n.At(40) }

// String is a number, or "dynamic".
func (n SampleCount) String() string {
	if n == Dynamic {
		return dynamicName
	}
	return strconv.Itoa(int(n))
}

// MarshalText writes what String gives.
func (n SampleCount) MarshalText() ([]byte, error) { return []byte(n.String()), nil }

// UnmarshalText reads a number of 1 or more, or "dynamic".
func (n *SampleCount) UnmarshalText(text []byte) error {
	if string(text) == dynamicName {
		*n = Dynamic
		return nil
	}
	v, err := strconv.Atoi(string(text))
	if err != nil || v < 1 {
		return fmt.Errorf("want a number of 1 or more, or %s", dynamicName)
	}
	*n = SampleCount(v)
	return nil
}

// MarshalJSON writes a number, or the string "dynamic".
func (n SampleCount) MarshalJSON() ([]byte, error) {
	if n == Dynamic {
		return json.Marshal(dynamicName)
	}
	return json.Marshal(int(n))
}

// UnmarshalJSON reads what MarshalJSON writes.
func (n *SampleCount) UnmarshalJSON(data []byte) error {
	var v int
	if json.Unmarshal(data, &v) == nil {
		*n = SampleCount(v)
		return nil
	}
	var text string
	if err := json.Unmarshal(data, &text); err != nil {
		return err
	}
	return n.UnmarshalText([]byte(text))
}
