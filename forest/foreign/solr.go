package foreign

import (
	"encoding/json"
	"errors"
	"fmt"
	"strings"

	"github.com/plrank/plrank/forest"
)

// The classes of Solr's models that are read, of package org.apache.solr.ltr.model.
const (
	solrPackage = "org.apache.solr.ltr.model."
	solrTrees   = "MultipleAdditiveTreesModel"
	solrLinear  = "LinearModel"
)

// solrSlack is what Solr adds to thresholds.
const solrSlack float32 = 1e-6

// A solrModel is the JSON of a model store.
type solrModel struct {
	Class    string        `json:"class"`
	Name     string        `json:"name"`
	Features []solrFeature `json:"features"`
	Params   struct {
		NullIsZero any                  `json:"isNullSameAsZero,omitempty"` // false, also as a text: NaN is missing
		Trees      []*solrTree          `json:"trees,omitempty"`
		Weights    map[string]javaFloat `json:"weights,omitempty"`
	} `json:"params"`
}

type solrFeature struct {
	Name string `json:"name"`
	Norm *struct {
		Class string `json:"class"`
	} `json:"norm,omitempty"`
}

type solrTree struct {
	Weight javaFloat `json:"weight"`
	Root   *solrNode `json:"root"`
}

// A solrNode is a leaf if it has no feature.
type solrNode struct {
	Feature   *string   `json:"feature,omitempty"`
	Threshold javaFloat `json:"threshold,omitzero"`
	Missing   string    `json:"missing,omitempty"` // left or right
	Left      *solrNode `json:"left,omitempty"`
	Right     *solrNode `json:"right,omitempty"`
	Value     javaFloat `json:"value,omitzero"`
}

// solr reads a model of Solr.
func (m *Model) solr(data []byte) error {
	m.Library = "Solr"
	var file solrModel
	if err := json.Unmarshal(data, &file); err != nil {
		return err
	}
	c := &columns{}
	for _, f := range file.Features {
		if f.Norm != nil && !strings.HasSuffix(f.Norm.Class, ".IdentityNormalizer") {
			return fmt.Errorf("feature %.40q has a norm, which is not read: want one of raw features", f.Name)
		}
		c.column(f.Name)
	}
	m.Objective = strings.TrimPrefix(file.Class, solrPackage)
	switch m.Objective {
	case solrLinear:
		weights := map[string]float64{}
		for _, name := range c.names {
			w := file.Params.Weights[name]
			if !w.given {
				return fmt.Errorf("feature %.40q has no weight", name)
			}
			weights[name] = float64(w.v)
		}
		return m.weigh(weights)
	case solrTrees:
	default:
		return fmt.Errorf("models of class %.80s are not read: want %s or %s", file.Class, solrTrees, solrLinear)
	}
	listed := len(c.names)
	null := fmt.Sprint(file.Params.NullIsZero) == "false"
	for _, tree := range file.Params.Trees {
		if tree == nil || !tree.Weight.given || tree.Root == nil {
			return m.inTree(errors.New("no weight or no root"))
		}
		read := func(s *solrNode) (forest.Node, []*solrNode, error) { return s.read(c, tree.Weight.v, null) }
		if err := grow(m, 1, tree.Root, read); err != nil {
			return err
		}
	}
	if m.use(c); len(c.names) > listed {
		return fmt.Errorf("feature %.40q is not in the list of features", c.names[listed])
	}
	m.Forest.Single = true
	return nil
}

// read returns the node as [grow] wants it.
func (s *solrNode) read(c *columns, weight float32, null bool) (n forest.Node, children []*solrNode, err error) {
	switch {
	case s.Feature == nil && (s.Left != nil || s.Right != nil):
		return n, nil, errors.New("a node with children has no feature")
	case s.Feature == nil:
		return forest.Node{Threshold: float64(weight * s.Value.v)}, nil, nil
	case !s.Threshold.given || s.Left == nil || s.Right == nil:
		return n, nil, fmt.Errorf("a node of feature %.40q has no threshold, no left or no right", *s.Feature)
	}
	threshold := s.Threshold.v + solrSlack
	n = forest.Node{Column: c.column(*s.Feature), Threshold: float64(threshold), MissingLeft: threshold >= 0}
	if null {
		n.MissingLeft = s.Missing == "left"
	}
	return n, []*solrNode{s.Left, s.Right}, nil
}
