package train

import (
	"bytes"
	"encoding"
	"encoding/json"
	"fmt"
	"math"
	"slices"
	"strconv"

	"github.com/plrank/plrank/datasets"
)

// A Config says how a model is trained: settings in groups, which [Config.Settings] explains at length. It is complete: every
// field means what it says, and zero means zero. [New] returns an error for a zero that is not a value of its setting. Start from
// [Default], from a plan of package recipe, which chooses by the data, or from [Config.Plain], and change fields.
type Config struct {
	Objective
	Inputs
	Model
	Optimization
	Evaluation

	// Seed of weights, dropout, the order of queries and sampled rankings.
	Seed uint64 `json:"seed"`
}

// Features are words that stand for features, by name, id or pattern: see datasets.Dataset.Choose.
type Features []string

// UnmarshalJSON reads words, and numbers of older versions.
func (f *Features) UnmarshalJSON(text []byte) error {
	var words []json.RawMessage
	if err := json.Unmarshal(text, &words); err != nil {
		return err
	}
	*f = nil
	for _, word := range words {
		name := string(word)
		if _, err := strconv.Atoi(name); err != nil {
			if err := json.Unmarshal(word, &name); err != nil {
				return err
			}
		}
		*f = append(*f, name)
	}
	return nil
}

// ids returns the ids of the features of d that the words stand for, and of the features of text, ascending.
func (f Features) ids(d *datasets.Dataset) ([]int, error) {
	var ids []int
	for _, word := range f {
		columns, err := d.Choose(word)
		if err != nil {
			return nil, err
		}
		for _, c := range columns {
			ids = append(ids, d.FeatureIDs[c])
		}
	}
	for c, levels := range d.Levels {
		if levels != nil {
			ids = append(ids, d.FeatureIDs[c])
		}
	}
	slices.Sort(ids)
	return slices.Compact(ids), nil
}

// A SampleCount is the number of rankings sampled for each query and step, or [Dynamic].
type SampleCount int

// Dynamic is a number of samples that grows from step to step, from 10 to 100 in the course of
// 40 epochs: N = 10 + 90·epoch/40 (Oosterhuis 2021, section 8.2), rounded, where epoch is the
// number of training queries seen so far over the number of all.
const Dynamic SampleCount = -1

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
func (n SampleCount) String() string { return string(countText(int(n), ofSamples)) }

// MarshalText writes what String gives.
func (n SampleCount) MarshalText() ([]byte, error) { return countText(int(n), ofSamples), nil }

// UnmarshalText reads a number from 1 to 10000000, or "dynamic".
func (n *SampleCount) UnmarshalText(text []byte) error {
	return parseCount((*int)(n), text, ofSamples, mostSamples)
}

// MarshalJSON writes a number, or the string "dynamic".
func (n SampleCount) MarshalJSON() ([]byte, error) { return countJSON(int(n), ofSamples) }

// UnmarshalJSON reads what MarshalJSON writes.
func (n *SampleCount) UnmarshalJSON(data []byte) error { return parseJSON(data, (*int)(n), n) }

// A RankCount is the number of ranks that count, or [AllRanks].
type RankCount int

// AllRanks means no cutoff: every rank counts, however many documents a query has.
const AllRanks RankCount = -1

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
func (n RankCount) String() string { return string(countText(int(n), ofRanks)) }

// MarshalText writes what String gives.
func (n RankCount) MarshalText() ([]byte, error) { return countText(int(n), ofRanks), nil }

// UnmarshalText reads a number from 1 to 1000000, or "all", for which 0 stands too.
func (n *RankCount) UnmarshalText(text []byte) error {
	if string(text) == "0" {
		*n = AllRanks
		return nil
	}
	return parseCount((*int)(n), text, ofRanks, mostRanks)
}

// MarshalJSON writes a number, or the string "all".
func (n RankCount) MarshalJSON() ([]byte, error) { return countJSON(int(n), ofRanks) }

// UnmarshalJSON reads what MarshalJSON writes. 0 means unset, as in a [Config].
func (n *RankCount) UnmarshalJSON(data []byte) error { return parseJSON(data, (*int)(n), n) }

// The words of counts, each for wordCount.
const (
	ofSamples = "dynamic"
	ofRanks   = "all"
	wordCount = -1
)

func countText(n int, word string) []byte {
	if n == wordCount {
		return []byte(word)
	}
	return strconv.AppendInt(nil, int64(n), 10)
}

func countJSON(n int, word string) ([]byte, error) {
	if n == wordCount {
		return json.Marshal(word)
	}
	return json.Marshal(n)
}

func wantCount(word string, most int) error { return fmt.Errorf("want 1 to %d, or %s", most, word) }

// parseCount sets n to what text says.
func parseCount(n *int, text []byte, word string, most int) error {
	v, err := wordCount, error(nil)
	if string(text) != word {
		v, err = strconv.Atoi(string(text))
	}
	if err != nil || string(text) != word && (v < 1 || v > most) {
		return wantCount(word, most)
	}
	*n = v
	return nil
}

// parseJSON sets n to a number or a word: 0 stays 0.
func parseJSON(data []byte, n *int, count encoding.TextUnmarshaler) error {
	if string(data) == "0" {
		*n = 0
		return nil
	}
	return count.UnmarshalText(bytes.Trim(data, `"`))
}
