package train

import (
	"encoding/json"
	"fmt"
	"math"
	"strconv"
)

// A SampleCount is the number of rankings sampled for each query and step, or [Dynamic].
type SampleCount int

// Dynamic is a number of samples that grows from step to step, from 10 to 100 in the course of
// 40 epochs: N = 10 + 90·epoch/40 (Oosterhuis 2021, section 8.2), rounded, where epoch is the
// number of training queries seen so far over the number of all.
const Dynamic SampleCount = -1

const dynamicName = "dynamic"

// At returns the number of samples of the step after a number of epochs: 2.5 in the middle of the third.
func (n SampleCount) At(epochs float64) int {
	if n == Dynamic {
		return int(math.RoundToEven(10 + 90*min(1, epochs/40)))
	}
	return int(n)
}

// most is the highest that At gives.
func (n SampleCount) most() int { return n.At(40) }

// String returns a number, or "dynamic".
func (n SampleCount) String() string { return countText(int(n), dynamicName) }

// MarshalText writes what String gives.
func (n SampleCount) MarshalText() ([]byte, error) { return []byte(n.String()), nil }

// UnmarshalText reads a number from 1 to 10000000, or "dynamic".
func (n *SampleCount) UnmarshalText(text []byte) error {
	v, err := parseCount(string(text), mostSamples, dynamicName)
	*n = SampleCount(v)
	return err
}

// MarshalJSON writes a number, or the string "dynamic".
func (n SampleCount) MarshalJSON() ([]byte, error) { return countJSON(int(n), dynamicName) }

// UnmarshalJSON reads what MarshalJSON writes.
func (n *SampleCount) UnmarshalJSON(data []byte) error {
	v, err := parseCountJSON(data, mostSamples, dynamicName)
	*n = SampleCount(v)
	return err
}

// A RankCount is the number of ranks that count, or [AllRanks].
type RankCount int

// AllRanks means no cutoff: every rank counts, however many documents a query has.
const AllRanks RankCount = -1

const allName = "all"

// Cutoff returns the number as package metrics takes it: 0 for AllRanks.
func (n RankCount) Cutoff() int { return max(0, int(n)) }

// metric returns the name of a metric with that cutoff.
func (n RankCount) metric(name string) string {
	if n == AllRanks {
		return name
	}
	return fmt.Sprintf("%s@%d", name, int(n))
}

// String returns a number, or "all".
func (n RankCount) String() string { return countText(int(n), allName) }

// MarshalText writes what String gives.
func (n RankCount) MarshalText() ([]byte, error) { return []byte(n.String()), nil }

// UnmarshalText reads a number from 1 to 1000000, or "all", for which 0 stands too.
func (n *RankCount) UnmarshalText(text []byte) error {
	if string(text) == "0" {
		*n = AllRanks
		return nil
	}
	v, err := parseCount(string(text), mostRanks, allName)
	*n = RankCount(v)
	return err
}

// MarshalJSON writes a number, or the string "all".
func (n RankCount) MarshalJSON() ([]byte, error) { return countJSON(int(n), allName) }

// UnmarshalJSON reads what MarshalJSON writes. 0 means unset, as in a [Config].
func (n *RankCount) UnmarshalJSON(data []byte) error {
	v, err := parseCountJSON(data, mostRanks, allName)
	*n = RankCount(v)
	return err
}

// wordCount is a count that is written as a word.
const wordCount = -1

// countText is a count as text.
func countText(n int, name string) string {
	if n == wordCount {
		return name
	}
	return strconv.Itoa(n)
}

// parseCount reads a number from 1 to most, or the name.
func parseCount(text string, most int, name string) (int, error) {
	if text == name {
		return wordCount, nil
	}
	v, err := strconv.Atoi(text)
	if err != nil || v < 1 || v > most {
		return 0, fmt.Errorf("want 1 to %d, or %s", most, name)
	}
	return v, nil
}

func countJSON(n int, name string) ([]byte, error) {
	if n == wordCount {
		return json.Marshal(name)
	}
	return json.Marshal(n)
}

// parseCountJSON reads a number, or the string that is the name.
func parseCountJSON(data []byte, most int, name string) (n int, err error) {
	if json.Unmarshal(data, &n) == nil {
		if n == wordCount {
			return 0, fmt.Errorf("want a number, or %q", name)
		}
		return n, nil
	}
	var text string
	if err := json.Unmarshal(data, &text); err != nil {
		return 0, err
	}
	return parseCount(text, most, name)
}
