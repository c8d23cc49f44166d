package foreign

import (
	"bytes"
	"cmp"
	"encoding/json"
	"errors"
	"fmt"
	"math"
	"math/bits"
	"slices"
	"strconv"
	"strings"

	"github.com/plrank/plrank/forest"
)

// zeroThreshold is LightGBM's kZeroThreshold: values within it are zero.
const zeroThreshold = float64(float32(1e-35))

// Bits of LightGBM's decision_type.
const (
	categoricalSplit = 1
	defaultLeft      = 2
	missingZero      = 1 << 2
	missingNaN       = 2 << 2
	missingBits      = 3 << 2
)

// oldEnd begins what follows the trees in files of LightGBM 2.1, which do not say "end of trees".
const oldEnd = "feature importances:"

// A section is a part of LightGBM's text: its lines KEY=VALUE.
type section map[string]string

// sectionOf reads lines up to one that begins with one of the ends, which stays. It returns an error if a key comes twice.
func sectionOf(lines *[]byte, ends ...string) (section, error) {
	s := section{}
	for len(*lines) > 0 && !begins(*lines, ends...) {
		line, rest, _ := bytes.Cut(*lines, []byte("\n"))
		*lines = rest
		key, value, _ := strings.Cut(strings.TrimRight(string(line), "\r"), "=")
		if _, twice := s[key]; twice && key != "" {
			return nil, fmt.Errorf("two lines %.40s", key)
		}
		s[key] = value
	}
	return s, nil
}

// split returns the words of a list, as LightGBM does: other white space than blanks may be part of a name.
func split(list string) []string {
	return strings.FieldsFunc(list, func(c rune) bool { return c == ' ' })
}

// numbers reads the n numbers of a key. It sets err if it is nil, and they are not there.
func numbers[T any](err *error, s section, key string, n int, parse func(string) (T, error)) (list []T) {
	words := split(s[key])
	if len(words) != n {
		*err = cmp.Or(*err, fmt.Errorf("%s has %d numbers, want %d", key, len(words), n))
	}
	for _, word := range words {
		v, failed := parse(word)
		if failed != nil {
			*err = cmp.Or(*err, fmt.Errorf("%s: %.40q is not one of its numbers", key, word))
		}
		list = append(list, v)
	}
	return list
}

func double(word string) (float64, error) { return strconv.ParseFloat(word, 64) }

func word32(word string) (uint32, error) {
	v, err := strconv.ParseUint(word, 10, 32)
	return uint32(v), err
}

// lightGBM reads the text of LightGBM's save_model.
func (m *Model) lightGBM(data []byte) error {
	m.Library = "LightGBM"
	head, err := sectionOf(&data, "Tree=", "end of trees", oldEnd)
	if err != nil {
		return err
	}
	infos, err := m.lightGBMColumns(head)
	if err != nil {
		return err
	}
	rest := bytes.LastIndex(data, []byte("end of trees"))
	if rest < 0 {
		rest = bytes.LastIndex(data, []byte(oldEnd))
	}
	if rest < 0 {
		return errors.New(`no line "end of trees": the file is not complete`)
	}
	values, err := m.lightGBMCategories(infos, string(data[rest:]))
	if err != nil {
		return err
	}
	data = data[:rest]
	if sizes, ok := head["tree_sizes"]; ok && len(split(sizes)) != bytes.Count(data, []byte("Tree=")) {
		return fmt.Errorf("%d trees, and tree_sizes of %d", bytes.Count(data, []byte("Tree=")), len(split(sizes)))
	}
	bounds := newSets(len(data))
	for len(data) > 0 {
		begin, more, _ := bytes.Cut(data, []byte("\n"))
		if want := fmt.Sprintf("Tree=%d", len(m.Forest.Trees)); string(bytes.TrimSpace(begin)) != want {
			return fmt.Errorf("%.40q, want %s", begin, want)
		}
		data = more
		s, err := sectionOf(&data, "Tree=")
		if err != nil {
			return m.inTree(err)
		}
		t, err := lightGBMTree(s, values, bounds)
		if err != nil {
			return m.inTree(err)
		}
		m.Forest.Trees = append(m.Forest.Trees, t)
	}
	if _, average := head["average_output"]; average {
		for _, t := range m.Forest.Trees {
			for i := range t.Leaves {
				t.Leaves[i] /= float64(len(m.Forest.Trees))
			}
		}
	}
	if isDefault(m.Names, "Column_") {
		m.Names = nil
		if len(infos) > 1 && infos[0] == "none" {
			m.first = 0 // read from text, where column k is feature k
		}
	}
	m.addEdits(values, -1)
	return nil
}

// lightGBMColumns finds the number of columns and their names, and returns their feature_infos.
func (m *Model) lightGBMColumns(head section) (infos []string, err error) {
	m.Objective = head["objective"]
	last, err := strconv.Atoi(head["max_feature_idx"])
	if err != nil {
		return nil, fmt.Errorf("max_feature_idx=%.40s, want a number", head["max_feature_idx"])
	}
	m.Names = split(head["feature_names"])
	infos = split(head["feature_infos"])
	if m.Forest.Inputs = last + 1; len(m.Names) != m.Forest.Inputs || len(infos) != m.Forest.Inputs || last < 0 {
		return nil, fmt.Errorf("%d feature_names and %d feature_infos for max_feature_idx=%d, want %d of each",
			len(m.Names), len(infos), last, last+1)
	}
	for _, key := range []string{"num_tree_per_iteration", "num_class"} {
		if n, ok := head[key]; n != "1" && (ok || key != "num_class") {
			return nil, fmt.Errorf("%s=%.40s: a document has several scores; want 1", key, n)
		}
	}
	return infos, nil
}

// isDefault reports whether names are a prefix and the numbers from 0.
func isDefault(names []string, prefix string) bool {
	for i, name := range names {
		if name != prefix+strconv.Itoa(i) {
			return false
		}
	}
	return true
}

// A category is a text in JSON, or a number or a truth value as it is written.
type category struct {
	text   string
	isText bool
}

func (c *category) UnmarshalJSON(text []byte) error {
	if c.isText = text[0] == '"'; c.isText {
		return json.Unmarshal(text, &c.text)
	}
	if c.text = string(text); bytes.IndexByte([]byte("[{n"), text[0]) >= 0 {
		return fmt.Errorf("category %.40s, want a text, a number, true or false", text)
	}
	return nil
}

// lightGBMCategories returns the values of categories by column: nil where they are themselves. The columns of
// pandas_categorical, at the end of the file, are the categorical ones in their order.
func (m *Model) lightGBMCategories(infos []string, end string) (values map[int][]int, err error) {
	_, list, found := strings.Cut(end, "\npandas_categorical:")
	if list = strings.TrimSpace(list); !found || list == "" || list == "null" || list == "[]" {
		for c, info := range infos {
			for _, seen := range strings.Split(info, ":") {
				if n, err := strconv.Atoi(seen); err == nil {
					m.know(c, n)
				}
			}
		}
		return nil, nil
	}
	var pandas [][]category
	if err := json.Unmarshal([]byte(list), &pandas); err != nil {
		return nil, fmt.Errorf("pandas_categorical: %w", err)
	}
	var columns []int
	for c, info := range infos {
		if info != "none" && !strings.HasPrefix(info, "[") {
			columns = append(columns, c)
		}
	}
	if len(columns) != len(pandas) { // some are constant
		columns = m.lightGBMCategorical(end)
	}
	if len(columns) != len(pandas) {
		return nil, fmt.Errorf("pandas_categorical has %d columns, and %d are categorical: it is not known which; "+
			"want data frames whose categorical columns are features, and not ordered", len(pandas), len(columns))
	}
	values = map[int][]int{}
	for i, c := range columns {
		for _, seen := range strings.Split(infos[c], ":") {
			if n, err := strconv.Atoi(seen); err == nil && n >= len(pandas[i]) {
				return nil, fmt.Errorf("feature_infos of %s has category %d, and pandas_categorical has %d", m.Names[c], n, len(pandas[i]))
			}
		}
		var texts []string
		numbers := true
		for _, v := range pandas[i] {
			texts, numbers = append(texts, v.text), numbers && !v.isText
		}
		if values[c], err = m.categories(c, texts, numbers); err != nil {
			return nil, fmt.Errorf("pandas_categorical: %w", err)
		}
	}
	return values, nil
}

// lightGBMCategorical are the categorical columns by the parameters of training.
func (m *Model) lightGBMCategorical(end string) (columns []int) {
	_, list, _ := strings.Cut(end, "\n[categorical_feature: ")
	list, _, _ = strings.Cut(list, "]")
	names, named := strings.CutPrefix(list, "name:")
	for _, word := range strings.Split(names, ",") {
		c, err := strconv.Atoi(word)
		if named {
			c, err = slices.Index(m.Names, word), nil
		}
		if err != nil || c < 0 || c >= m.Forest.Inputs {
			return nil
		}
		columns = append(columns, c)
	}
	slices.Sort(columns)
	return slices.Compact(columns)
}

// lightGBMTree reads a tree.
func lightGBMTree(s section, values map[int][]int, bounds *sets) (t forest.Tree, err error) {
	if linear := s["is_linear"]; linear != "" && linear != "0" {
		return t, errors.New("it has linear models in its leaves: want a model trained without linear_tree")
	}
	if _, ok := s["num_cat"]; !ok {
		return t, errors.New("no num_cat: files before LightGBM 2.1 have splits of another kind; want the model trained by a later one")
	}
	leaves, err := strconv.Atoi(s["num_leaves"])
	if err != nil || leaves < 1 {
		return t, fmt.Errorf("num_leaves=%.40s, want a number above 0", s["num_leaves"])
	}
	if t.Leaves = numbers(&err, s, "leaf_value", leaves, double); err != nil || leaves == 1 {
		return t, err
	}
	n := leaves - 1
	var gains []float64
	if s["split_gain"] != "" {
		gains = numbers(&err, s, "split_gain", n, double)
	}
	columns, thresholds := numbers(&err, s, "split_feature", n, strconv.Atoi), numbers(&err, s, "threshold", n, double)
	decisions := numbers(&err, s, "decision_type", n, strconv.Atoi)
	left, right := numbers(&err, s, "left_child", n, strconv.Atoi), numbers(&err, s, "right_child", n, strconv.Atoi)
	categories := lightGBMSets(&err, s)
	if err != nil {
		return t, err
	}
	t.Nodes = make([]forest.Node, n)
	for i := range t.Nodes {
		t.Nodes[i] = forest.Node{Column: columns[i], Left: left[i], Right: right[i], Gain: gainOf(gains, i)}
		if d := decisions[i]; d < 0 || d > categoricalSplit|defaultLeft|missingBits || d&missingBits == missingBits {
			return t, fmt.Errorf("node %d: decision_type %d, want categorical (1), default left (2), and missing none, zero (4) or NaN (8)", i, d)
		}
		if decisions[i]&categoricalSplit == 0 {
			numerical(&t.Nodes[i], thresholds[i], decisions[i])
			continue
		}
		at := int(max(-1, min(thresholds[i], math.MaxInt32)))
		if at < 0 || at >= len(categories) || float64(at) != thresholds[i] {
			return t, fmt.Errorf("node %d: the set of categories %v, of %d", i, thresholds[i], len(categories))
		}
		if t.Nodes[i].Set, err = bounds.set(categories[at], values[columns[i]]); err != nil {
			return t, fmt.Errorf("node %d: %w", i, err)
		}
	}
	return t, nil
}

// numerical sets what a numerical split does. NaN is 0 unless it is a missing value of its own. Values within
// zeroThreshold are 0 to LightGBM, which a threshold within it has to say.
func numerical(n *forest.Node, threshold float64, decision int) {
	switch {
	case threshold >= 0:
		threshold = max(threshold, zeroThreshold)
	case threshold >= -zeroThreshold:
		threshold = math.Nextafter(-zeroThreshold, math.Inf(-1))
	}
	n.Threshold = threshold
	n.MissingLeft = decision&defaultLeft != 0
	switch decision & missingBits {
	case missingZero:
		n.ZeroMissing = true
	case missingNaN:
	default:
		n.MissingLeft = threshold >= 0
	}
}

// lightGBMSets are the sets of categories of a tree, which the file has as words of 32 bits.
func lightGBMSets(err *error, s section) [][]int {
	n, failed := strconv.Atoi(s["num_cat"])
	if failed != nil || n < 0 {
		*err = cmp.Or(*err, fmt.Errorf("num_cat=%.40s, want the number of sets of categories", s["num_cat"]))
	}
	if n == 0 {
		return nil
	}
	bounds := numbers(err, s, "cat_boundaries", n+1, strconv.Atoi)
	words := numbers(err, s, "cat_threshold", len(split(s["cat_threshold"])), word32)
	if *err == nil && (bounds[0] != 0 || bounds[n] != len(words) || !slices.IsSorted(bounds)) {
		*err = fmt.Errorf("cat_boundaries %d to %d, want ascending ones from 0 to %d, the number of words in cat_threshold",
			bounds[0], bounds[n], len(words))
	}
	if *err != nil {
		return nil
	}
	sets := make([][]int, n)
	for i := range sets {
		for at, word := range words[bounds[i]:bounds[i+1]] {
			for ; word != 0; word &= word - 1 {
				sets[i] = append(sets[i], 32*at+bits.TrailingZeros32(word))
			}
		}
	}
	return sets
}
