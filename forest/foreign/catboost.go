package foreign

import (
	"cmp"
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"slices"
	"strconv"

	"github.com/plrank/plrank/forest"
)

// A catBoostFile is the JSON of CatBoost's save_model.
type catBoostFile struct {
	Features struct {
		Floats []struct {
			catBoostFeature
			NaN string `json:"nan_value_treatment"`
			// Borders number the splits, and splits by CTRs have the next numbers.
			Borders []float64
		} `json:"float_features"`
		Categories []struct {
			catBoostFeature
			Values []int32 // hashes
		} `json:"categorical_features"`
		Texts      []json.RawMessage `json:"text_features"`
		Embeddings []json.RawMessage `json:"embedding_features"`
		Hashes     []struct {
			Hash  uint32
			Value string
		} `json:"cat_features_hash"`
		CTRs []*ctr
	} `json:"features_info"`
	Tables    map[string]*ctrTable             `json:"ctr_data"`
	Info      struct{ Params json.RawMessage } `json:"model_info"`
	Symmetric []json.RawMessage                `json:"oblivious_trees"`
	Trees     []json.RawMessage
	Scale     []json.RawMessage `json:"scale_and_bias"`
}

type catBoostFeature struct {
	Name   string `json:"feature_name"`
	ID     string `json:"feature_id"`
	Column int    `json:"flat_feature_index"`
}

type catBoostSplit struct {
	Type     string  `json:"split_type"`
	Border   float32 // of a number or a CTR
	Float    int     `json:"float_feature_index"`
	Category int     `json:"cat_feature_index"`
	Value    int32   // hash of a category
	Number   int     `json:"split_index"`
}

// A catBoostNode is a node of a tree that is not symmetric.
type catBoostNode struct {
	Left, Right *catBoostNode
	Split       *catBoostSplit
	Value       json.RawMessage // of a leaf
}

// A catBoost is what is known while trees are read.
type catBoost struct {
	*Model
	file   catBoostFile
	hashes map[int32]string
	keys   map[string]string   // texts by their key in tables of CTRs
	values []map[string]int    // of texts, by categorical feature
	floats []int               // numbers of the first splits of numbers
	onehot []int               // and of categories
	first  int                 // and of CTRs
	ctrs   map[int]catBoostCut // by number of the split
	bounds *sets
}

// catBoost reads the JSON of CatBoost's save_model.
func (m *Model) catBoost(data []byte) error {
	m.Library = "CatBoost"
	c := catBoost{Model: m, hashes: map[int32]string{}, keys: map[string]string{}, ctrs: map[int]catBoostCut{}, bounds: newSets(len(data))}
	if err := json.Unmarshal(data, &c.file); err != nil {
		return err
	}
	var params struct {
		Loss struct{ Type string } `json:"loss_function"`
	}
	if len(c.file.Info.Params) > 0 && json.Unmarshal(c.file.Info.Params, &params) == nil {
		m.Objective = params.Loss.Type
	}
	if err := c.features(len(data)); err != nil {
		return err
	}
	scale, bias, err := scaleAndBias(c.file.Scale)
	if err != nil {
		return err
	}
	m.Forest.Bias = bias
	trees, add := c.file.Trees, c.tree
	if len(trees) == 0 {
		trees, add = c.file.Symmetric, c.symmetric
	}
	for _, raw := range trees {
		if err := add(raw, scale); err != nil {
			return err
		}
	}
	return nil
}

// features finds the columns, and the texts of categorical ones.
func (c *catBoost) features(size int) error {
	f := &c.file.Features
	if len(f.Texts)+len(f.Embeddings) > 0 {
		return errors.New("it has features of text or embeddings: want a model of numbers and categories")
	}
	if err := checkInputs(len(f.Floats)+len(f.Categories), size); err != nil {
		return err
	}
	c.Forest.Inputs = len(f.Floats) + len(f.Categories)
	c.Names = make([]string, c.Forest.Inputs)
	for i := range f.Floats {
		if err := c.name(&f.Floats[i].catBoostFeature); err != nil {
			return err
		}
		if nan := f.Floats[i].NaN; !slices.Contains([]string{"", "AsIs", "AsFalse", "AsTrue"}, nan) {
			return fmt.Errorf("feature %.80q has the nan_value_treatment %.40q, want AsIs, AsFalse or AsTrue", f.Floats[i].Name, nan)
		}
		c.floats = append(c.floats, c.first)
		c.first += len(f.Floats[i].Borders)
	}
	for i := range f.Categories {
		if err := c.name(&f.Categories[i].catBoostFeature); err != nil {
			return err
		}
		c.onehot = append(c.onehot, c.first)
		c.first += len(f.Categories[i].Values)
	}
	for _, h := range f.Hashes {
		c.hashes[int32(h.Hash)] = h.Value
		c.keys[ctrKey(int32(h.Hash))] = h.Value
	}
	return c.categoryTexts()
}

// name names the column of a feature.
func (c *catBoost) name(f *catBoostFeature) error {
	at := f.Column
	if at < 0 || at >= len(c.Names) || c.Names[at] != "" {
		return fmt.Errorf("feature %.80q is column %d: want each of %d columns once", f.Name, at, len(c.Names))
	}
	c.Names[at] = cmp.Or(f.Name, f.ID, strconv.Itoa(at))
	return nil
}

// categoryTexts finds the texts that one-hot splits and CTRs know, by categorical feature. The file has others of the
// training data as well, and does not say of which feature: they are known, too, after these, unless they are too many.
func (c *catBoost) categoryTexts() error {
	known := make([]map[string]bool, len(c.file.Features.Categories))
	for i, f := range c.file.Features.Categories {
		known[i] = map[string]bool{}
		for _, hash := range f.Values {
			text, err := c.text(hash)
			if err != nil {
				return err
			}
			known[i][text] = true
		}
	}
	for _, ctr := range c.file.Features.CTRs {
		if ctr == nil || !ctr.simple() {
			continue // an error if a split has it
		}
		at := ctr.Elements[0].Category
		if at < 0 || at >= len(known) {
			return fmt.Errorf("a CTR of categorical feature %d, of %d", at, len(known))
		}
		table := c.file.Tables[ctr.Identifier]
		if table == nil {
			return fmt.Errorf("no ctr_data of %.200q", ctr.Identifier)
		}
		if err := table.index(); err != nil {
			return err
		}
		for key := range table.rows {
			text, ok := c.keys[key]
			if !ok {
				return errNoTexts
			}
			known[at][text] = true
		}
	}
	all := slices.Compact(slices.Sorted(maps.Values(c.hashes)))
	for i, used := range known {
		texts := slices.Sorted(maps.Keys(used))
		for _, text := range all {
			if len(known)*len(all) <= 1<<20 && !used[text] {
				texts = append(texts, text)
			}
		}
		values := map[string]int{}
		numbered, err := c.Model.categories(c.file.Features.Categories[i].Column, texts, false)
		if err != nil {
			return err
		}
		for j, v := range numbered[:len(used)] {
			values[texts[j]] = v
		}
		c.values = append(c.values, values)
	}
	return nil
}

var errNoTexts = errors.New("the texts of its categories are not in the file: " +
	`want it saved by save_model(FILE, format="json", pool=TRAINING_POOL)`)

func (c *catBoost) text(hash int32) (string, error) {
	text, ok := c.hashes[hash]
	if !ok {
		return "", errNoTexts
	}
	return text, nil
}

// scaleAndBias reads [scale, [bias]] or, of older versions, [scale, bias].
func scaleAndBias(list []json.RawMessage) (scale, bias float64, err error) {
	if list == nil {
		return 1, 0, nil
	}
	if len(list) != 2 {
		return 0, 0, fmt.Errorf("scale_and_bias of %d values, want 2", len(list))
	}
	if err = json.Unmarshal(list[0], &scale); err == nil {
		bias, err = one(list[1])
	}
	return scale, bias, err
}

// one reads a number, or a list of one.
func one(raw json.RawMessage) (float64, error) {
	var list []float64
	if len(raw) > 0 && raw[0] != '[' {
		raw = slices.Concat([]byte{'['}, raw, []byte{']'})
	}
	if err := json.Unmarshal(raw, &list); err != nil {
		return 0, err
	}
	if len(list) != 1 {
		return 0, fmt.Errorf("%d values of a leaf or bias: a document has several scores; want one", len(list))
	}
	return list[0], nil
}

// A catBoostCut is the node of a split, without children.
type catBoostCut struct {
	forest.Node
	trueLeft bool // where documents go for which the split is true
}

// node returns the node of a split.
func (c *catBoost) node(s *catBoostSplit) (n catBoostCut, err error) {
	f := &c.file.Features
	switch s.Type {
	case "FloatFeature":
		if s.Float < 0 || s.Float >= len(f.Floats) {
			return n, fmt.Errorf("a split of number %d, of %d", s.Float, len(f.Floats))
		}
		number := &f.Floats[s.Float]
		if at := s.Number - c.floats[s.Float]; at < 0 || at >= len(number.Borders) || float32(number.Borders[at]) != s.Border {
			return n, fmt.Errorf("split %d is by no border of number %d", s.Number, s.Float)
		}
		n.Node = forest.Node{Column: number.Column, Threshold: float64(s.Border), MissingLeft: number.NaN != "AsTrue"}
		return n, nil
	case "OneHotFeature":
		if s.Category < 0 || s.Category >= len(f.Categories) {
			return n, fmt.Errorf("a split of category %d, of %d", s.Category, len(f.Categories))
		}
		values := f.Categories[s.Category].Values
		if at := s.Number - c.onehot[s.Category]; at < 0 || at >= len(values) || values[at] != s.Value {
			return n, fmt.Errorf("split %d is by no value of category %d", s.Number, s.Category)
		}
		text, err := c.text(s.Value)
		if err != nil {
			return n, err
		}
		value, ok := c.values[s.Category][text]
		if !ok {
			return n, fmt.Errorf("a split by %.80q, which is none of the values of its feature", text)
		}
		n.Column = f.Categories[s.Category].Column
		n.trueLeft = true
		n.Set, err = c.bounds.set([]int{value}, nil)
		return n, err
	case "OnlineCtr":
		return c.ctr(s)
	}
	return n, fmt.Errorf("a split of type %.80q: want FloatFeature, OneHotFeature or OnlineCtr", s.Type)
}

// symmetric reads a tree whose levels have one split each. The last split is the root: it has the highest bit of the
// number of a leaf.
func (c *catBoost) symmetric(raw json.RawMessage, scale float64) error {
	var tree struct {
		Splits []catBoostSplit
		Values []float64 `json:"leaf_values"`
	}
	err := json.Unmarshal(raw, &tree)
	depth := len(tree.Splits)
	if err == nil && (depth > 30 || len(tree.Values) != 1<<depth) {
		err = fmt.Errorf("%d values of leaves after %d splits: want one for each leaf, and one score of a document", len(tree.Values), depth)
	}
	nodes := make([]catBoostCut, depth) // whose sets the nodes of a level share
	for i := 0; i < depth && err == nil; i++ {
		nodes[i], err = c.node(&tree.Splits[i])
	}
	if err != nil {
		return c.inTree(err)
	}
	type place struct{ level, leaf int }
	return grow(c.Model, scale, place{depth, 0}, func(p place) (n forest.Node, children []place, err error) {
		if p.level == 0 {
			return forest.Node{Threshold: tree.Values[p.leaf]}, nil, nil
		}
		p.level--
		cut := nodes[p.level]
		return cut.Node, sides(cut, p, place{p.level, p.leaf | 1<<p.level}), nil
	})
}

// tree reads a tree that is not symmetric.
func (c *catBoost) tree(raw json.RawMessage, scale float64) error {
	var root catBoostNode
	if err := json.Unmarshal(raw, &root); err != nil {
		return c.inTree(err)
	}
	return grow(c.Model, scale, &root, func(from *catBoostNode) (n forest.Node, children []*catBoostNode, err error) {
		switch {
		case from == nil:
			return n, nil, errors.New("a node has one child")
		case from.Split == nil:
			n.Threshold, err = one(from.Value)
			return n, nil, err
		}
		cut, err := c.node(from.Split)
		return cut.Node, sides(cut, from.Left, from.Right), err
	})
}

// sides returns the children of a node, the left one first: yes gets the documents for which the split is true.
func sides[N any](cut catBoostCut, no, yes N) []N {
	if cut.trueLeft {
		return []N{yes, no}
	}
	return []N{no, yes}
}
