package foreign

import (
	"encoding/json"
	"errors"
	"fmt"
	"math"
	"slices"
	"strconv"

	"github.com/plrank/plrank/forest"
)

// An Export is a forest for a search engine, which computes in float32. Features are the names of its columns. The values of
// columns that are Whole are never missing in training: a missing one counts as 0.
type Export struct {
	Name     string // of the model
	Forest   *forest.Forest
	Features []string
	Whole    []bool
}

// Solr returns the JSON of a MultipleAdditiveTreesModel. Thresholds are equal to a millionth, as Solr adds 1e-6 to them: Solr
// returns an error for one that is too small for this, and for a forest with splits by categories or zeros that are missing. If
// missing values are not those that are 0, the model needs Solr 9.2 or later, and features whose defaultValue is NaN.
func (e Export) Solr() ([]byte, error) {
	file := solrModel{Class: solrPackage + solrTrees, Name: e.Name}
	used, null := make([]bool, len(e.Features)), false
	for _, t := range e.Forest.Trees {
		for _, n := range t.Nodes {
			used[n.Column] = true
			null = null || e.missingLeft(&n) != (n.Threshold >= 0)
		}
	}
	if null {
		file.Params.NullIsZero = false
	}
	for c, name := range e.Features {
		if used[c] {
			file.Features = append(file.Features, solrFeature{Name: name})
		}
	}
	trees, err := e.trees()
	if err != nil {
		return nil, err
	}
	for _, t := range trees {
		root, err := e.solrNode(t, t.root(), 0, null)
		if err != nil {
			return nil, err
		}
		file.Params.Trees = append(file.Params.Trees, &solrTree{javaFloat{1, true}, root})
	}
	return json.Marshal(file)
}

// Elasticsearch returns the body of a request to _createmodel of the plugins of Elasticsearch and OpenSearch, with the forest as
// a JSON dump of XGBoost. It returns an error for a forest with splits by categories or zeros that are missing.
func (e Export) Elasticsearch() ([]byte, error) {
	trees, err := e.trees()
	if err != nil {
		return nil, err
	}
	var roots []*dumpNode
	for _, t := range trees {
		numbers := 0
		root, err := e.dumpNode(t, t.root(), 0, &numbers)
		if err != nil {
			return nil, err
		}
		roots = append(roots, root)
	}
	definition, err := json.Marshal(roots)
	if err != nil {
		return nil, err
	}
	var file ltrModel
	file.Model.Name, file.Model.Model = e.Name, &ltrBody{Type: dumpType}
	if file.Model.Model.Definition, err = json.Marshal(string(definition)); err != nil {
		return nil, err
	}
	return json.Marshal(file)
}

// A numbered is a tree with its number, for errors; the bias has −1.
type numbered struct {
	*forest.Tree
	number int
}

func (t numbered) root() int {
	if len(t.Nodes) == 0 {
		return ^0
	}
	return 0
}

// trees returns the trees, after one of the bias if there is any: sums are rounded in this order.
func (e Export) trees() (list []numbered, err error) {
	if !slices.ContainsFunc(e.Forest.Trees, func(t forest.Tree) bool { return t.Nodes != nil }) {
		return nil, errors.New("no tree asks for a feature")
	}
	if b := e.Forest.Bias; b != 0 {
		list = append(list, numbered{&forest.Tree{Leaves: []float64{b}}, -1})
	}
	for i := range e.Forest.Trees {
		list = append(list, numbered{&e.Forest.Trees[i], i})
	}
	return list, nil
}

func (e Export) missingLeft(n *forest.Node) bool {
	if e.Whole[n.Column] {
		return n.Threshold >= 0
	}
	return n.MissingLeft
}

// mostDepth is how deep a tree may be: the engines read JSON with at most 1000 levels, and a level of a tree takes two.
const mostDepth = 400

// node returns the node of a number, and the largest float32 that goes to the left.
func (e Export) node(t numbered, i, depth int) (n *forest.Node, most float32, err error) {
	n = &t.Nodes[i]
	switch {
	case depth > mostDepth:
		err = fmt.Errorf("tree %d is more than %d nodes deep, which search engines do not read", t.number, mostDepth)
	case n.Set != nil:
		err = fmt.Errorf("tree %d splits by categories of %q: want a forest of numbers", t.number, e.Features[n.Column])
	case n.ZeroMissing:
		err = fmt.Errorf("tree %d takes 0 of %q for a missing value: want a forest that does not", t.number, e.Features[n.Column])
	}
	if most = float32(n.Threshold); float64(most) > n.Threshold {
		most = math.Nextafter32(most, float32(math.Inf(-1)))
	}
	return n, max(-math.MaxFloat32, min(math.MaxFloat32, most)), err
}

func (e Export) leaf(t numbered, i int) (float32, error) {
	v := float32(t.Leaves[^i])
	if math.IsInf(float64(v), 0) {
		return 0, fmt.Errorf("leaf %d of tree %d is %v, want a float32", ^i, t.number, t.Leaves[^i])
	}
	return v, nil
}

func (e Export) solrNode(t numbered, i, depth int, null bool) (s *solrNode, err error) {
	if i < 0 {
		v, err := e.leaf(t, i)
		return &solrNode{Value: javaFloat{v, true}}, err
	}
	n, most, err := e.node(t, i, depth)
	if err != nil {
		return nil, err
	}
	s = &solrNode{Feature: &e.Features[n.Column], Threshold: javaFloat{given: true}}
	if s.Threshold.v, err = solrThreshold(most); err != nil {
		return nil, fmt.Errorf("tree %d, feature %q: %w", t.number, e.Features[n.Column], err)
	}
	if null {
		s.Missing = map[bool]string{true: "left", false: "right"}[e.missingLeft(n)]
	}
	if s.Left, err = e.solrNode(t, n.Left, depth+1, null); err != nil {
		return nil, err
	}
	s.Right, err = e.solrNode(t, n.Right, depth+1, null)
	return s, err
}

// solrThreshold returns the threshold to which Solr adds [solrSlack] to get want. Of those for which no float32 does, it returns
// the nearest.
func solrThreshold(want float32) (float32, error) {
	const tiny = 1e-30 // what stands for 0, as in LightGBM
	down, up := float32(math.Inf(-1)), float32(math.Inf(1))
	switch {
	case want >= 0 && want <= tiny:
		return -solrSlack, nil
	case want < 0 && want >= -tiny:
		return math.Nextafter32(-solrSlack, down), nil
	}
	best, off := float32(0), up
	for t, i := math.Nextafter32(math.Nextafter32(want-solrSlack, down), down), 0; i < 5; t, i = math.Nextafter32(t, up), i+1 {
		if sum := t + solrSlack; max(sum-want, want-sum) < off {
			best, off = t, max(sum-want, want-sum)
		}
	}
	if off > 1e-6*max(want, -want) {
		return 0, fmt.Errorf("the threshold %v: Solr adds 1e-6 to thresholds, which needs larger values: want the feature in another unit", want)
	}
	return best, nil
}

// dumpNode returns a node of XGBoost, and numbers those below it.
func (e Export) dumpNode(t numbered, i, depth int, numbers *int) (d *dumpNode, err error) {
	id := *numbers
	d = &dumpNode{ID: &id}
	*numbers++
	if i < 0 {
		v, err := e.leaf(t, i)
		d.Leaf = floatText(v)
		return d, err
	}
	n, most, err := e.node(t, i, depth)
	if err != nil {
		return nil, err
	}
	name, below := featureName(e.Features[n.Column]), min(math.MaxFloat32, math.Nextafter32(most, float32(math.Inf(1))))
	d.Depth, d.Split, d.Condition = &depth, &name, floatText(below)
	for _, child := range []int{n.Left, n.Right} {
		c, err := e.dumpNode(t, child, depth+1, numbers)
		if err != nil {
			return nil, err
		}
		d.Children = append(d.Children, c)
	}
	d.Yes, d.No = d.Children[0].ID, d.Children[1].ID
	if d.Missing = d.No; e.missingLeft(n) {
		d.Missing = d.Yes
	}
	return d, nil
}

func floatText(v float32) []byte { return strconv.AppendFloat(nil, float64(v), 'g', -1, 32) }

// MarshalJSON writes a text, the only form that all versions of Solr read.
func (f javaFloat) MarshalJSON() ([]byte, error) {
	return strconv.AppendQuote(nil, string(floatText(f.v))), nil
}
