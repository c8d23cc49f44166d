package foreign

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"math"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"unicode/utf8"

	"github.com/plrank/plrank/forest"
)

// An xgboost is the JSON of XGBoost's save_model.
type xgboost struct {
	Version []int
	Learner *xgboostLearner
}

type xgboostLearner struct {
	Attributes map[string]string
	Names      []string       `json:"feature_names"`
	Booster    xgboostBooster `json:"gradient_booster"`
	Param      struct {
		BaseScore string `json:"base_score"`
		Classes   string `json:"num_class"`
		Features  string `json:"num_feature"`
		Targets   string `json:"num_target"`
	} `json:"learner_model_param"`
	Objective struct{ Name string }
}

type xgboostBooster struct {
	Name   string
	Model  *xgboostTrees
	Trees  struct{ Model *xgboostTrees } `json:"gbtree"` // of dart
	Weight []float32                     `json:"weight_drop"`
}

type xgboostTrees struct {
	Trees      []json.RawMessage
	Iterations []int     `json:"iteration_indptr"` // missing in version 1
	Weight     []float32 `json:"weight_drop"`      // of dart since version 3.4
	Groups     []int     `json:"tree_info"`
	Param      struct {
		Number   string `json:"num_trees"`
		Parallel string `json:"num_parallel_tree"`
	} `json:"gbtree_model_param"`
	Categories struct {
		Features []xgboostCategories `json:"enc"`
		Segments []int               `json:"feature_segments"` // where the categories of a feature begin
	} `json:"cats"`
}

// An xgboostCategories has the categories of a feature: numbers, or the bytes of texts with offsets.
type xgboostCategories struct {
	Type    int
	Offsets []int
	Values  []json.Number
}

type xgboostTree struct {
	Left       []int    `json:"left_children"`
	Right      []int    `json:"right_children"`
	Columns    []int    `json:"split_indices"`
	Conditions []single `json:"split_conditions"`
	Default    []flag   `json:"default_left"`
	Gains      []single `json:"loss_changes"`
	Types      []int    `json:"split_type"`
	Categories []int    // of all nodes of categories
	Nodes      []int    `json:"categories_nodes"`
	Segments   []int    `json:"categories_segments"` // where the categories of a node begin
	Sizes      []int    `json:"categories_sizes"`
	Param      struct {
		Leaf  string `json:"size_leaf_vector"`
		Nodes string `json:"num_nodes"`
	} `json:"tree_param"`
}

// A flag is true, false, 1 or 0.
type flag bool

func (f *flag) UnmarshalJSON(text []byte) error {
	*f = string(text) == "true" || string(text) == "1"
	return nil
}

// A single is a number, or null for NaN.
type single float32

func (s *single) UnmarshalJSON(text []byte) error {
	if string(text) == "null" {
		*s = single(math.NaN())
		return nil
	}
	v, err := strconv.ParseFloat(string(text), 32)
	*s = single(v)
	return err
}

var notFinite = regexp.MustCompile(`"(?:[^"\\]|\\.)*"|-?(?:NaN|Infinity)`)

// finiteJSON replaces numbers that are not finite, which XGBoost writes, by null.
func finiteJSON(data []byte) []byte {
	if !bytes.Contains(data, []byte("NaN")) && !bytes.Contains(data, []byte("Infinity")) {
		return data
	}
	return notFinite.ReplaceAllFunc(data, func(word []byte) []byte {
		if word[0] == '"' {
			return word
		}
		return []byte("null")
	})
}

// json reads all models that are JSON.
func (m *Model) json(data []byte) error {
	data = finiteJSON(data)
	if begins(bytes.TrimSpace(data), "[") {
		return m.dump(data)
	}
	var is map[string]json.RawMessage
	if err := json.Unmarshal(data, &is); err != nil {
		return fmt.Errorf("JSON: %w", err)
	}
	switch {
	case is["learner"] != nil:
		return m.xgboost(data)
	case is["features_info"] != nil:
		return m.catBoost(data)
	case is["class"] != nil:
		return m.solr(data)
	case is["splits"] != nil:
		return m.dump(data)
	case is["model"] != nil:
		return m.elasticsearch(data)
	case is["_source"] != nil:
		return m.elasticsearch(is["_source"])
	case is["tree_info"] != nil:
		return errors.New(`a dump of LightGBM: want the text of save_model("model.txt")`)
	}
	if m.linear(data) == nil {
		m.Library = "Elasticsearch"
		return nil
	}
	return errors.New("JSON that is no model of XGBoost, CatBoost, Solr or Elasticsearch")
}

func (m *Model) xgboostUBJ(data []byte) error {
	m.Library = "XGBoost"
	text, err := fromUBJ(data)
	if err != nil {
		return err
	}
	return m.xgboost(text)
}

func (m *Model) xgboost(data []byte) error {
	m.Library = "XGBoost"
	var file xgboost
	if err := json.Unmarshal(data, &file); err != nil {
		return err
	}
	if file.Learner == nil {
		return errors.New("no learner")
	}
	l := file.Learner
	m.Objective = l.Objective.Name
	if err := m.xgboostColumns(l, len(data)); err != nil {
		return err
	}
	var err error
	if m.Forest.Bias, err = m.margin(l.Param.BaseScore); err != nil {
		return err
	}
	trees, err := l.Booster.trees()
	if err != nil {
		return err
	}
	values, err := m.xgboostCategories(file.Version, trees)
	if err != nil {
		return err
	}
	n, err := m.xgboostBest(l.Attributes, trees)
	if err != nil {
		return err
	}
	bounds := newSets(len(data))
	for i, raw := range trees.Trees[:n] {
		weight := float32(1)
		if trees.Weight != nil {
			weight = trees.Weight[i]
		}
		if err := m.xgboostTree(raw, weight, values, bounds); err != nil {
			return err
		}
	}
	m.addEdits(values, 0)
	return nil
}

// xgboostColumns finds the number of columns, and their names.
func (m *Model) xgboostColumns(l *xgboostLearner, size int) error {
	p := l.Param
	for name, n := range map[string]string{"num_class": p.Classes, "num_target": p.Targets} {
		if n != "" && n != "0" && n != "1" {
			return fmt.Errorf("%s is %.40s: a document has several scores; want one", name, n)
		}
	}
	features, err := strconv.Atoi(p.Features)
	if err == nil {
		err = checkInputs(features, size)
	}
	if err != nil {
		return fmt.Errorf("num_feature: %w", err)
	}
	m.Forest.Inputs, m.Forest.Single = features, true
	if len(l.Names) > 0 {
		if m.Names = l.Names; len(m.Names) != features {
			return fmt.Errorf("%d feature names for %d features", len(m.Names), features)
		}
		if isDefault(m.Names, "f") {
			m.Names = nil
		}
	}
	return nil
}

// trees returns the trees, or an error if there are not as many as the file declares.
func (b *xgboostBooster) trees() (*xgboostTrees, error) {
	t := b.Model
	if t == nil {
		t = b.Trees.Model
	}
	if t == nil || t.Trees == nil {
		return nil, fmt.Errorf("a booster %.40q has no trees: want gbtree or dart", b.Name)
	}
	if b.Weight != nil {
		t.Weight = b.Weight
	}
	n := len(t.Trees)
	if declared := t.Param.Number; declared != "" && declared != strconv.Itoa(n) {
		return nil, fmt.Errorf("%d trees, and num_trees is %.40s: the file is not complete", n, declared)
	}
	if t.Weight != nil && len(t.Weight) != n || t.Groups != nil && len(t.Groups) != n {
		return nil, fmt.Errorf("%d entries of weight_drop and %d of tree_info for %d trees", len(t.Weight), len(t.Groups), n)
	}
	if slices.ContainsFunc(t.Groups, func(class int) bool { return class != 0 }) {
		return nil, errors.New("tree_info has several classes: a document has several scores; want one")
	}
	at := slices.Compact(slices.Sorted(slices.Values(t.Iterations)))
	if len(at) > 0 && (at[0] != 0 || at[len(at)-1] != n || !slices.Equal(at, t.Iterations)) {
		return nil, fmt.Errorf("iteration_indptr does not ascend from 0 to %d, the number of trees", n)
	}
	return t, nil
}

// margin returns the score that a base score stands for.
func (m *Model) margin(base string) (float64, error) {
	b, err := strconv.ParseFloat(strings.Trim(base, "[]"), 32)
	if err != nil {
		return 0, fmt.Errorf("base_score %.40q, want one number", base)
	}
	switch kind, _, _ := strings.Cut(m.Objective, ":"); m.Objective {
	case "reg:logistic", "binary:logistic":
		if b < 0 || b > 1 {
			return 0, fmt.Errorf("base_score %v, want 0 to 1 for %s", b, m.Objective)
		}
		odds := 1/min(max(float32(b), 1e-6), 1-float32(1e-6)) - 1 // as XGBoost bounds it
		return float64(float32(-math.Log(float64(odds)))), nil
	case "count:poisson", "reg:gamma", "reg:tweedie", "survival:cox", "survival:aft":
		return float64(float32(math.Log(b))), nil
	default:
		if kind != "rank" && !slices.Contains(identities, m.Objective) {
			m.Warnings = append(m.Warnings, fmt.Sprintf("the objective %.40q is not known: its base score %v is added as it is", m.Objective, b))
		}
		return b, nil
	}
}

// identities are the objectives whose base score is a score.
var identities = []string{
	"", "reg:squarederror", "reg:linear", "reg:squaredlogerror", "reg:pseudohubererror", "reg:absoluteerror", "reg:quantileerror",
	"reg:expectileerror", "binary:logitraw", "binary:hinge",
}

// xgboostBest returns how many trees count: all, as for Booster.predict, or those up to the best iteration in the file of a
// scikit-learn estimator, as for its predict.
func (m *Model) xgboostBest(attributes map[string]string, trees *xgboostTrees) (int, error) {
	all, best := len(trees.Trees), attributes["best_iteration"]
	if best == "" {
		return all, nil
	}
	i, err := strconv.Atoi(best)
	if err != nil || i < 0 || i >= all {
		return 0, fmt.Errorf("best_iteration %.40q of %d trees", best, all)
	}
	n := i + 1
	if limit, err := strconv.Atoi(attributes["best_ntree_limit"]); err == nil { // of versions that do not say num_parallel_tree
		n = limit
	} else if parallel, err := strconv.Atoi(trees.Param.Parallel); err == nil {
		n *= parallel
	}
	if i+1 < len(trees.Iterations) {
		n = trees.Iterations[i+1]
	}
	if n < 1 || n > all {
		return 0, fmt.Errorf("iteration %d ends with tree %d, of %d", i, n, all)
	}
	if attributes["scikit_learn"] != "" {
		return n, nil
	}
	if n < all {
		m.Warnings = append(m.Warnings, fmt.Sprintf("all %d trees count, as in Booster.predict, though iteration %d was best: "+
			"save booster[:%d] to have only the trees up to it", all, i, i+1))
	}
	return all, nil
}

// xgboostCategories returns the values of categories by column: nil where they are themselves.
func (m *Model) xgboostCategories(version []int, trees *xgboostTrees) (map[int][]int, error) {
	values := map[int][]int{}
	features, segments := trees.Categories.Features, trees.Categories.Segments
	if n := len(features); n > 0 && n != m.Forest.Inputs || len(segments) > 0 && len(segments) != n+1 {
		return nil, fmt.Errorf("categories of %d features and %d feature_segments, for %d features", n, len(segments), m.Forest.Inputs)
	}
	for c, f := range features {
		texts, err := f.texts(version)
		if err == nil && len(segments) > 0 && len(texts) != segments[c+1]-segments[c] {
			err = fmt.Errorf("%d categories, and %d by feature_segments", len(texts), segments[c+1]-segments[c])
		}
		if err != nil {
			return nil, fmt.Errorf("categories of feature %d: %w", c, err)
		}
		if len(texts) == 0 {
			continue
		}
		if values[c], err = m.categories(c, texts, f.Offsets == nil); err != nil {
			return nil, err
		}
	}
	return values, nil
}

var errDamaged = errors.New("some are not ASCII, and XGBoost before 3.4 cuts such texts in the wrong places, and loses the last ones: " +
	"want the model trained by XGBoost 3.4 or later, or on texts in ASCII or numbers")

// texts returns the texts of the categories, of a file by that version.
func (c *xgboostCategories) texts(version []int) (texts []string, err error) {
	if c.Offsets == nil {
		for _, n := range c.Values {
			bits := map[int]int{12: 16, 14: 32}[c.Type] // of types without a sign, which UBJ has as those with one
			if v, err := n.Int64(); err == nil && v < 0 && bits > 0 {
				n = json.Number(strconv.FormatInt(v+1<<bits, 10))
			}
			texts = append(texts, n.String())
		}
		return texts, nil
	}
	joined := make([]byte, len(c.Values))
	for i, n := range c.Values {
		b, err := strconv.ParseInt(n.String(), 10, 16) // signed in some files
		if err != nil {
			return nil, fmt.Errorf("%.40s is not a byte", n)
		}
		joined[i] = byte(b)
	}
	for i, to := range c.Offsets {
		from := c.Offsets[max(0, i-1)]
		if to < from || to > len(joined) || i == 0 && to != 0 || i == len(c.Offsets)-1 && to < len(joined) {
			return nil, fmt.Errorf("a text from byte %d to %d, of %d", from, to, len(joined))
		}
		if i > 0 {
			texts = append(texts, string(joined[from:to]))
		}
	}
	damaged := len(version) > 0 && slices.Compare(version, []int{3, 4}) < 0 && bytes.ContainsFunc(joined, func(c rune) bool { return c > 127 })
	if damaged || slices.ContainsFunc(texts, func(text string) bool { return !utf8.ValidString(text) }) {
		return nil, errDamaged
	}
	return texts, nil
}

// sets returns the categories of each node that has some.
func (x *xgboostTree) sets() (map[int][]int, error) {
	if len(x.Segments) != len(x.Nodes) || len(x.Sizes) != len(x.Nodes) {
		return nil, errors.New("its lists of categories have different lengths")
	}
	sets, used := map[int][]int{}, 0
	for i, node := range x.Nodes {
		from, size := x.Segments[i], x.Sizes[i]
		if from != used || size < 1 || size > len(x.Categories)-from {
			return nil, fmt.Errorf("node %d: categories %d and %d more, of %d", node, from, size, len(x.Categories))
		}
		used += size
		sets[node] = x.Categories[from:used]
	}
	if used != len(x.Categories) {
		return nil, fmt.Errorf("%d categories, and its nodes have %d", len(x.Categories), used)
	}
	return sets, nil
}

// check returns an error if the lists do not fit.
func (x *xgboostTree) check() error {
	n := len(x.Left)
	if x.Types == nil {
		x.Types = make([]int, n) // of older versions
	}
	if len(x.Right) != n || len(x.Columns) != n || len(x.Conditions) != n || len(x.Default) != n || len(x.Types) != n || n == 0 {
		return errors.New("its lists of nodes are empty, or have different lengths")
	}
	if x.Param.Nodes != "" && x.Param.Nodes != strconv.Itoa(n) || x.Gains != nil && len(x.Gains) != n {
		return fmt.Errorf("%d nodes, %d loss_changes, and num_nodes is %.40s", n, len(x.Gains), x.Param.Nodes)
	}
	if x.Param.Leaf != "" && x.Param.Leaf != "0" && x.Param.Leaf != "1" {
		return errors.New("its leaves have several values: a document has several scores; want one")
	}
	return nil
}

// xgboostTree reads a tree, whose leaves have a weight.
func (m *Model) xgboostTree(raw json.RawMessage, weight float32, values map[int][]int, bounds *sets) error {
	var x xgboostTree
	var sets map[int][]int
	err := json.Unmarshal(raw, &x)
	if err == nil {
		err = x.check()
	}
	if err == nil {
		sets, err = x.sets()
	}
	if err != nil {
		return m.inTree(err)
	}
	seen := make([]bool, len(x.Left))
	return grow(m, 1, 0, func(i int) (n forest.Node, children []int, err error) {
		if i < 0 || i >= len(seen) || seen[i] {
			return n, nil, fmt.Errorf("node %d is not one of %d, or has two ways to it", i, len(seen))
		}
		seen[i] = true
		if x.Left[i] == -1 {
			return forest.Node{Threshold: float64(float32(x.Conditions[i]) * weight)}, nil, nil
		}
		n, children = forest.Node{Column: x.Columns[i], MissingLeft: bool(x.Default[i]), Gain: gainOf(x.Gains, i)}, []int{x.Left[i], x.Right[i]}
		if x.Types[i] == 0 {
			if c := x.Conditions[i]; c != c {
				err = fmt.Errorf("node %d: the threshold is not finite", i)
			}
			n.Threshold = float64(math.Nextafter32(float32(x.Conditions[i]), float32(math.Inf(-1))))
			return n, children, err
		}
		list := sets[i] // which go to the right
		if list == nil || x.Types[i] != 1 {
			return n, nil, fmt.Errorf("node %d: it has no categories, or split_type is %d, want 0 or 1", i, x.Types[i])
		}
		n.MissingLeft = !n.MissingLeft
		slices.Reverse(children)
		if n.Set, err = bounds.set(list, values[n.Column]); err != nil {
			err = fmt.Errorf("node %d: %w", i, err)
		}
		return n, children, err
	})
}
