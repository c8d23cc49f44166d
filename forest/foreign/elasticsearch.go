package foreign

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"math"
	"strconv"
	"strings"

	"github.com/plrank/plrank/forest"
	"github.com/plrank/plrank/internal/text"
)

// The types of models of the plugins of Elasticsearch and OpenSearch.
const (
	dumpType   = "model/xgboost+json"
	linearType = "model/linear"
)

// An ltrModel is what _createmodel takes, and within _source what is stored.
type ltrModel struct {
	Model struct {
		Name  string   `json:"name"`
		Model *ltrBody `json:"model"`
	} `json:"model"`
}

type ltrBody struct {
	Type        string                     `json:"type"`
	Definition  json.RawMessage            `json:"definition"` // also as a text
	Normalizers map[string]json.RawMessage `json:"feature_normalizers,omitempty"`
}

// elasticsearch reads a model of the plugins of Elasticsearch and OpenSearch.
func (m *Model) elasticsearch(data []byte) error {
	m.Library = "Elasticsearch"
	var file ltrModel
	if err := json.Unmarshal(data, &file); err != nil {
		return err
	}
	body := file.Model.Model
	if body == nil {
		return errors.New("no model in it")
	}
	for name := range body.Normalizers {
		return fmt.Errorf("feature %.40q has a normalizer, which is not read: want a model of raw features", name)
	}
	definition := []byte(body.Definition)
	var quoted string
	if json.Unmarshal(definition, &quoted) == nil {
		definition = []byte(quoted)
	}
	switch body.Type {
	case dumpType:
		return m.dump(definition)
	case "model/xgboost+json+raw":
		return m.xgboost(finiteJSON(definition))
	case linearType:
		return m.linear(definition)
	case "model/ranklib":
		if isRankLib(definition) {
			return m.rankLib(definition)
		}
	}
	return fmt.Errorf("models of type %.80q are not read: want %s, %s or model/ranklib", body.Type, dumpType, linearType)
}

// linear reads weights by feature.
func (m *Model) linear(data []byte) error {
	var weights map[string]float64
	if err := json.Unmarshal(data, &weights); err != nil {
		return err
	}
	for name, w := range weights {
		weights[name] = float64(float32(w))
	}
	return m.weigh(weights)
}

// A dumpNode is a node of a JSON dump of XGBoost.
type dumpNode struct {
	ID        *int            `json:"nodeid"`
	Depth     *int            `json:"depth,omitempty"`
	Split     *featureName    `json:"split,omitempty"`
	Condition json.RawMessage `json:"split_condition,omitempty"`
	Yes       *int            `json:"yes,omitempty"`
	No        *int            `json:"no,omitempty"`
	Missing   *int            `json:"missing,omitempty"` // no child: the right one
	Leaf      json.RawMessage `json:"leaf,omitempty"`
	Gain      single          `json:"gain,omitzero"`
	Children  []*dumpNode     `json:"children,omitempty"`
}

// A featureName is the name of a feature, or its position, by which old versions of XGBoost call those without a name.
type featureName string

// UnmarshalJSON reads a text or a number.
func (f *featureName) UnmarshalJSON(text []byte) error {
	if text[0] != '"' {
		*f = "f" + featureName(text)
		return nil
	}
	return json.Unmarshal(text, (*string)(f))
}

// A dump is a JSON dump of XGBoost, as the plugins wrap it to name an objective.
type dump struct {
	Objective string      `json:"objective"`
	Zero      bool        `json:"missing_as_zero"`
	Splits    []*dumpNode `json:"splits"`
}

// dump reads a JSON dump of XGBoost, a list of trees or wrapped.
func (m *Model) dump(data []byte) error {
	if m.Library == "" {
		m.Library = "XGBoost"
	}
	var file dump
	var into any = &file.Splits
	if begins(bytes.TrimSpace(data), "{") {
		into = &file
	}
	if err := json.Unmarshal(data, into); err != nil {
		return err
	}
	if len(file.Splits) == 0 {
		return errors.New("no trees")
	}
	c := &columns{}
	for _, root := range file.Splits {
		if err := grow(m, 1, root, func(d *dumpNode) (forest.Node, []*dumpNode, error) { return d.read(c, file.Zero) }); err != nil {
			return err
		}
	}
	m.Objective = file.Objective
	if m.Library == "XGBoost" { // else the plugins give the scores, and a store the names
		m.Warnings = []string{"a dump has no base score: scores are those of XGBoost before a link function, less a constant"}
		if numbers := positions(c.names); numbers != nil {
			c.names, m.Numbering = numbers, "f0, f1, … of the dump are taken for features 1, 2, …"
		}
	}
	m.use(c)
	m.Forest.Single = true
	return nil
}

// positions returns the ids of features whose names are all f0, f1, …, as those without names have, else nil.
func positions(names []string) (ids []string) {
	for _, name := range names {
		digits, found := strings.CutPrefix(name, "f")
		k, ok := text.ParseFeatureID(digits)
		if !found || !ok {
			return nil
		}
		ids = append(ids, strconv.Itoa(k+1))
	}
	return ids
}

// read returns the node as [grow] wants it.
func (d *dumpNode) read(c *columns, zero bool) (n forest.Node, children []*dumpNode, err error) {
	if d == nil || d.ID == nil {
		return n, nil, errors.New("a node without a nodeid: want a JSON dump of XGBoost")
	}
	if d.Split == nil {
		leaf, err := float32Of(string(d.Leaf))
		if err != nil || len(d.Children) > 0 {
			err = fmt.Errorf("node %d has neither a split nor a number as leaf", *d.ID)
		}
		return forest.Node{Threshold: float64(leaf)}, nil, err
	}
	condition, err := float32Of(string(d.Condition))
	switch {
	case err != nil: // categories, whose texts a dump does not have, and indicators
		return n, nil, fmt.Errorf("node %d: the condition is %.40s, want a number, or a model by save_model", *d.ID, d.Condition)
	case len(d.Children) != 2 || d.Children[0] == nil || d.Children[1] == nil || d.Yes == nil || d.No == nil:
		return n, nil, fmt.Errorf("node %d: no two children, no yes or no no", *d.ID)
	}
	left, right := d.Children[0], d.Children[1]
	if left.ID != nil && *left.ID != *d.Yes {
		left, right = right, left
	}
	missing := d.Missing
	if missing == nil {
		missing = d.No // as in the plugins
	}
	known := left.ID != nil && right.ID != nil && *left.ID == *d.Yes && *right.ID == *d.No && *d.Yes != *d.No
	if !known || *missing != *d.Yes && *missing != *d.No {
		return n, nil, fmt.Errorf("node %d: yes is %d, no %d and missing %d, which are not its children", *d.ID, *d.Yes, *d.No, *missing)
	}
	n = forest.Node{Column: c.column(string(*d.Split)), Gain: gainOf([]single{d.Gain}, 0), MissingLeft: *missing == *d.Yes}
	n.Threshold = float64(math.Nextafter32(condition, float32(math.Inf(-1))))
	if zero {
		n.MissingLeft = n.Threshold >= 0
	}
	return n, []*dumpNode{left, right}, nil
}
