package foreign

import (
	"encoding/json"
	"errors"
	"fmt"
	"strconv"
)

// A ctr is a number that CatBoost has in place of a category, from counts of training documents.
type ctr struct {
	Borders    []float32
	Type       string `json:"ctr_type"`
	Elements   []ctrElement
	Identifier string
	Numerator  float32 `json:"prior_numerator"`
	Denom      float32 `json:"prior_denomerator"`
	Scale      float32
	Shift      float32
	Target     int `json:"target_border_idx"`
}

type ctrElement struct {
	Category int    `json:"cat_feature_index"`
	Kind     string `json:"combination_element"`
}

// simple reports whether it depends on one category alone, so that a split by it is a set of categories.
func (c *ctr) simple() bool { return len(c.Elements) == 1 && c.Elements[0].Kind == "cat_feature_value" }

// A ctrTable has the counts of training documents by category.
type ctrTable struct {
	Hashes      []json.Number `json:"hash_map"` // rows of a key and counts, some of them in strings
	Stride      int           `json:"hash_stride"`
	Denominator float32       `json:"counter_denominator"`
	rows        map[string][]float32
}

// index finds the rows.
func (t *ctrTable) index() error {
	if t.rows != nil {
		return nil
	}
	if t.Stride < 2 || len(t.Hashes)%t.Stride != 0 {
		return fmt.Errorf("ctr_data of %d numbers in rows of %d", len(t.Hashes), t.Stride)
	}
	t.rows = map[string][]float32{}
	for i := 0; i < len(t.Hashes); i += t.Stride {
		if t.Hashes[i] == noKey {
			continue
		}
		var counts []float32
		for _, n := range t.Hashes[i+1 : i+t.Stride] {
			v, err := strconv.ParseFloat(string(n), 32)
			if err != nil {
				return fmt.Errorf("ctr_data: %.40q is not a number", n)
			}
			counts = append(counts, float32(v))
		}
		t.rows[string(t.Hashes[i])] = counts
	}
	return nil
}

// noKey marks an empty row.
const noKey = "18446744073709551615"

// ctrKey is the key of a category, by its hash: CatBoost's CalcHash.
func ctrKey(hash int32) string {
	const mult = 0x4906ba494954cb65
	return strconv.FormatUint(uint64(mult)*(uint64(mult)*uint64(int64(hash))), 10)
}

// value returns the number of a category with these counts; nil: it was not seen.
func (c *ctr) value(counts []float32, denominator float32) (float32, error) {
	good, total := float32(0), float32(0)
	switch c.Type {
	case "Borders", "Buckets":
		if counts != nil && (c.Target < 0 || c.Target >= len(counts)) {
			return 0, fmt.Errorf("a CTR of class %d, of %d", c.Target, len(counts))
		}
		for class, n := range counts {
			total += n
			if class == c.Target && c.Type == "Buckets" || class > c.Target && c.Type == "Borders" {
				good += n
			}
		}
	case "BinarizedTargetMeanValue":
		if len(counts) > 1 {
			good, total = counts[0], counts[1]
		}
	case "Counter", "FeatureFreq":
		if total = denominator; len(counts) > 0 {
			good = counts[0]
		}
	default:
		return 0, fmt.Errorf("a CTR of type %.80q: "+
			"want Borders, Buckets, BinarizedTargetMeanValue, Counter or FeatureFreq; one_hot_max_size trains without", c.Type)
	}
	return ((good+c.Numerator)/(total+c.Denom) + c.Shift) * c.Scale, nil
}

var errCTR = errors.New("a split by a CTR of several features: " +
	"want a model trained with max_ctr_complexity=1, or with one_hot_max_size above the number of categories")

// ctr returns a split by a CTR. Its number counts the borders of all CTRs after the borders of other features. Categories that
// are not known go to the right.
func (c *catBoost) ctr(s *catBoostSplit) (n catBoostCut, err error) {
	if n, ok := c.ctrs[s.Number]; ok {
		return n, nil
	}
	at, by := s.Number-c.first, (*ctr)(nil)
	for _, by = range c.file.Features.CTRs {
		if by == nil || at < 0 || at < len(by.Borders) {
			break
		}
		at -= len(by.Borders)
	}
	if by == nil || at < 0 || at >= len(by.Borders) || by.Borders[at] != s.Border {
		return n, fmt.Errorf("split %d is by no border of a CTR", s.Number)
	}
	if !by.simple() {
		return n, errCTR
	}
	feature, table := by.Elements[0].Category, c.file.Tables[by.Identifier]
	unseen, err := by.value(nil, table.Denominator)
	if err != nil {
		return n, err
	}
	n.trueLeft = !(unseen > s.Border)
	if c.bounds.left -= len(table.rows) / 64; c.bounds.left < 0 {
		return n, errors.New("it has too many splits by CTRs of too many categories")
	}
	var left []int
	for key, counts := range table.rows {
		v, err := by.value(counts, table.Denominator)
		if err != nil {
			return n, err
		}
		if v > s.Border == n.trueLeft {
			left = append(left, c.values[feature][c.keys[key]])
		}
	}
	n.Column = c.file.Features.Categories[feature].Column
	if n.Set, err = c.bounds.set(left, nil); err == nil {
		c.ctrs[s.Number] = n
	}
	return n, err
}
