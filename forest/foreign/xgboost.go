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

	"github.com/plrank/plrank/forest"
)

// An xgboost is the JSON of XGBoost's save_model.
type xgboost struct {
	Learner *struct {
		Attributes        map[string]string
		Names             []string       `json:"feature_names"`
		Booster           xgboostBooster `json:"gradient_booster"`
		LearnerModelParam struct {
			BaseScore string `json:"base_score"`
			Classes   string `json:"num_class"`
			Features  string `json:"num_feature"`
			Targets   string `json:"num_target"`
		} `json:"learner_model_param"`
		Objective struct{ Name string }
	}
}

type xgboostBooster struct {
	Name   string
	Model  *xgboostTrees
	Trees  struct{ Model *xgboostTrees } `json:"gbtree"` // of dart
	Weight []float32                     `json:"weight_drop"`
}

type xgboostTrees struct {
	Trees      []json.RawMessage
	Iterations []int `json:"iteration_indptr"` // missing in version 1
	Param      struct {
		Parallel string `json:"num_parallel_tree"`
	} `json:"gbtree_model_param"`
	Categories struct {
		Features []struct {
			Offsets []int
			Values  json.RawMessage
		} `json:"enc"`
	} `json:"cats"`
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
	Segments   []int    `json:"categories_segments"` // where those of a node begin
	Sizes      []int    `json:"categories_sizes"`
	Param      struct {
		Leaf string `json:"size_leaf_vector"`
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
	p := l.LearnerModelParam
	for name, n := range map[string]string{"num_class": p.Classes, "num_target": p.Targets} {
		if n != "" && n != "0" && n != "1" {
			return fmt.Errorf("%s is %.40s: a document has several scores; want one", name, n)
		}
	}
	features, err := strconv.Atoi(p.Features)
	if err == nil {
		err = checkInputs(features, len(data))
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
	if m.Forest.Bias, err = margin(p.BaseScore, m.Objective); err != nil {
		return err
	}
	trees := l.Booster.Model
	if trees == nil {
		trees = l.Booster.Trees.Model
	}
	if trees == nil {
		return fmt.Errorf("a booster %.40q has no trees: want gbtree or dart", l.Booster.Name)
	}
	weights := l.Booster.Weight
	if weights != nil && len(weights) != len(trees.Trees) {
		return fmt.Errorf("%d weights of %d trees", len(weights), len(trees.Trees))
	}
	values, err := m.xgboostCategories(trees)
	if err != nil {
		return err
	}
	n, err := m.xgboostBest(l.Attributes, trees)
	if err != nil {
		return err
	}
	bounds := newSets(len(data))
	cut := map[int]bool{}
	for i, raw := range trees.Trees[:n] {
		t, err := xgboostRead(raw, values, bounds)
		if err != nil {
			return fmt.Errorf("tree %d: %w", i, err)
		}
		for _, node := range t.Nodes {
			if node.Set != nil && values[node.Column] == nil && node.Column < features && !cut[node.Column] {
				cut[node.Column] = true
				m.edits = append(m.edits, edit{column: node.Column, cut: true})
			}
		}
		if weights != nil {
			for j := range t.Leaves {
				t.Leaves[j] = float64(float32(t.Leaves[j]) * weights[i])
			}
		}
		m.Forest.Trees = append(m.Forest.Trees, t)
	}
	return nil
}

// margin returns the score that a base score stands for.
func margin(base, objective string) (float64, error) {
	b, err := strconv.ParseFloat(strings.Trim(base, "[]"), 32)
	switch kind, _, _ := strings.Cut(objective, ":"); {
	case err != nil:
		return 0, fmt.Errorf("base_score %.40q, want one number", base)
	case objective == "reg:logistic" || kind == "binary" && objective != "binary:hinge":
		odds := 1/float32(b) - 1
		return float64(float32(-math.Log(float64(odds)))), nil
	case slices.Contains([]string{"count:poisson", "reg:gamma", "reg:tweedie", "survival:cox", "survival:aft"}, objective):
		return float64(float32(math.Log(b))), nil
	}
	return b, nil
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
	if parallel, err := strconv.Atoi(trees.Param.Parallel); err == nil {
		n *= parallel
	}
	if i+1 < len(trees.Iterations) {
		n = trees.Iterations[i+1]
	}
	if n < 0 || n > all {
		return 0, fmt.Errorf("iteration %d ends with tree %d, of %d", i, n, all)
	}
	if attributes["scikit_learn"] != "" {
		return n, nil
	}
	if n < all {
		m.Warnings = append(m.Warnings, fmt.Sprintf("all %d trees count, as in Booster.predict, though its best iteration has %d: save booster[:%d] to have only these", all, n, i+1))
	}
	return all, nil
}

// xgboostCategories returns the values of categories by column: nil where they are themselves.
func (m *Model) xgboostCategories(trees *xgboostTrees) (map[int][]int, error) {
	values := map[int][]int{}
	for c, f := range trees.Categories.Features {
		if len(f.Values) == 0 || string(f.Values) == "[]" {
			continue
		}
		if c >= m.Forest.Inputs {
			return nil, fmt.Errorf("categories of feature %d, of %d", c, m.Forest.Inputs)
		}
		var numbers []json.Number
		if err := json.Unmarshal(f.Values, &numbers); err != nil {
			return nil, fmt.Errorf("categories of feature %d: %w", c, err)
		}
		var texts []string
		for _, n := range numbers {
			texts = append(texts, n.String())
		}
		if f.Offsets != nil {
			joined := make([]byte, len(texts))
			for i, t := range texts {
				b, err := strconv.ParseInt(t, 10, 16) // signed in some files
				if err != nil {
					return nil, fmt.Errorf("categories of feature %d: %.40s is not a byte", c, t)
				}
				joined[i] = byte(b)
			}
			texts = nil
			for i := 1; i < len(f.Offsets); i++ {
				from, to := f.Offsets[i-1], f.Offsets[i]
				if from < 0 || to < from || to > len(joined) {
					return nil, fmt.Errorf("categories of feature %d: a text from byte %d to %d, of %d", c, from, to, len(joined))
				}
				texts = append(texts, string(joined[from:to]))
			}
		}
		values[c] = m.categories(c, texts)
	}
	return values, nil
}

// xgboostRead reads a tree.
func xgboostRead(raw json.RawMessage, values map[int][]int, bounds *sets) (t forest.Tree, err error) {
	var x xgboostTree
	if err := json.Unmarshal(raw, &x); err != nil {
		return t, err
	}
	n := len(x.Left)
	if x.Types == nil {
		x.Types = make([]int, n) // of older versions
	}
	if len(x.Right) != n || len(x.Columns) != n || len(x.Conditions) != n || len(x.Default) != n || len(x.Types) != n || n == 0 {
		return t, errors.New("its lists of nodes are empty, or have different lengths")
	}
	if x.Param.Leaf != "" && x.Param.Leaf != "0" && x.Param.Leaf != "1" {
		return t, errors.New("its leaves have several values: a document has several scores; want one")
	}
	if len(x.Segments) != len(x.Nodes) || len(x.Sizes) != len(x.Nodes) {
		return t, errors.New("its lists of categories have different lengths")
	}
	sets := map[int][]int{}
	for i, node := range x.Nodes {
		from, size := x.Segments[i], x.Sizes[i]
		if from < 0 || size < 0 || from > len(x.Categories) || size > len(x.Categories)-from {
			return t, fmt.Errorf("node %d: categories %d and %d more, of %d", node, from, size, len(x.Categories))
		}
		sets[node] = x.Categories[from : from+size]
	}
	return grow(n, func(i int) (node forest.Node, leaf bool, err error) {
		if x.Left[i] == -1 {
			return forest.Node{Threshold: float64(x.Conditions[i])}, true, nil
		}
		node = forest.Node{Column: x.Columns[i], Left: x.Left[i], Right: x.Right[i], MissingLeft: bool(x.Default[i]), Gain: gainOf(x.Gains, i)}
		if x.Types[i] == 0 {
			if c := x.Conditions[i]; c != c {
				return node, false, fmt.Errorf("node %d: the threshold is not finite", i)
			}
			node.Threshold = float64(math.Nextafter32(float32(x.Conditions[i]), float32(math.Inf(-1))))
			return node, false, nil
		}
		list := sets[i] // which go to the right
		if of := values[node.Column]; of != nil {
			list = nil
			for _, c := range sets[i] {
				if c >= 0 && c < len(of) {
					list = append(list, of[c])
				}
			}
		}
		node.Left, node.Right, node.MissingLeft = node.Right, node.Left, !node.MissingLeft
		node.Set, err = bounds.of(slices.Values(list))
		return node, false, err
	})
}

// grow puts a tree together whose nodes have numbers below n, from the root 0 on. The children of a node are numbers; a
// leaf has its value as threshold.
func grow(n int, at func(int) (node forest.Node, leaf bool, err error)) (t forest.Tree, err error) {
	seen := make([]bool, n)
	type place struct{ number, parent int } // a parent's right child is negative
	open := []place{{}}
	for len(open) > 0 {
		p := open[len(open)-1]
		open = open[:len(open)-1]
		if p.number < 0 || p.number >= n || seen[p.number] {
			return t, fmt.Errorf("node %d is not one of %d, or has two ways to it", p.number, n)
		}
		seen[p.number] = true
		node, leaf, err := at(p.number)
		if err != nil {
			return t, err
		}
		id := len(t.Nodes)
		if leaf {
			id = ^len(t.Leaves)
			t.Leaves = append(t.Leaves, node.Threshold)
		} else {
			t.Nodes = append(t.Nodes, node)
			open = append(open, place{node.Right, ^id}, place{node.Left, id + 1})
		}
		switch {
		case p.parent > 0:
			t.Nodes[p.parent-1].Left = id
		case p.parent < 0:
			t.Nodes[^p.parent].Right = id
		}
	}
	return t, nil
}
