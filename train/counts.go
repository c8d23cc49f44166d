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
func (n SampleCount) String() string { return ofSamples.text(int(n)) }

// MarshalText writes what String gives.
func (n SampleCount) MarshalText() ([]byte, error) { return []byte(n.String()), nil }

// UnmarshalText reads a number from 1 to 10000000, or "dynamic".
func (n *SampleCount) UnmarshalText(text []byte) error { return ofSamples.parse((*int)(n), text) }

// MarshalJSON writes a number, or the string "dynamic".
func (n SampleCount) MarshalJSON() ([]byte, error) { return ofSamples.json(int(n)) }

// UnmarshalJSON reads what MarshalJSON writes.
func (n *SampleCount) UnmarshalJSON(data []byte) error { return ofSamples.parseJSON((*int)(n), data) }

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
func (n RankCount) String() string { return ofRanks.text(int(n)) }

// MarshalText writes what String gives.
func (n RankCount) MarshalText() ([]byte, error) { return []byte(n.String()), nil }

// UnmarshalText reads a number from 1 to 1000000, or "all", for which 0 stands too.
func (n *RankCount) UnmarshalText(text []byte) error {
	if string(text) == "0" {
		*n = AllRanks
		return nil
	}
	return ofRanks.parse((*int)(n), text)
}

// MarshalJSON writes a number, or the string "all".
func (n RankCount) MarshalJSON() ([]byte, error) { return ofRanks.json(int(n)) }

// UnmarshalJSON reads what MarshalJSON writes. 0 means unset, as in a [Config].
func (n *RankCount) UnmarshalJSON(data []byte) error { return ofRanks.parseJSON((*int)(n), data) }

// The largest counts: far beyond any use.
const (
	mostRanks   = 1_000_000
	mostSamples = 10_000_000
)

// A countWriting is how counts are written: as numbers from 1 to most, or one as a word.
type countWriting struct {
	word string
	most int
}

var (
	ofSamples = countWriting{"dynamic", mostSamples}
	ofRanks   = countWriting{"all", mostRanks}
)

// wordCount is a count that is written as a word.
const wordCount = -1

// text is a count as text.
func (w countWriting) text(n int) string {
	if n == wordCount {
		return w.word
	}
	return strconv.Itoa(n)
}

// parse sets n to what text writes, or to 0 if it returns an error.
func (w countWriting) parse(n *int, text []byte) (err error) {
	if *n = wordCount; string(text) != w.word {
		if *n, err = strconv.Atoi(string(text)); err != nil || *n < 1 || *n > w.most {
			*n = 0
			return w.want()
		}
	}
	return nil
}

func (w countWriting) want() error { return fmt.Errorf("want 1 to %d, or %s", w.most, w.word) }

func (w countWriting) json(n int) ([]byte, error) {
	if n == wordCount {
		return json.Marshal(w.word)
	}
	return json.Marshal(n)
}

// parseJSON reads a number, or the string that is the word.
func (w countWriting) parseJSON(n *int, data []byte) error {
	if json.Unmarshal(data, n) == nil {
		if *n == wordCount {
			return fmt.Errorf("want a number, or %q", w.word)
		}
		return nil
	}
	var text string
	if err := json.Unmarshal(data, &text); err != nil {
		return err
	}
	return w.parse(n, []byte(text))
}
