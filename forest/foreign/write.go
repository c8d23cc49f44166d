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
	leaf := func(_ int, v float32) *solrNode { return &solrNode{Value: javaFloat{v, true}} }
	roots, err := trees(e, leaf, func(_, _ int, n *forest.Node, most float32, left, right *solrNode) (*solrNode, error) {
		threshold, err := solrThreshold(most)
		if err != nil {
			return nil, fmt.Errorf("feature %q: %w", e.Features[n.Column], err)
		}
		s := &solrNode{Feature: &e.Features[n.Column], Threshold: javaFloat{threshold, true}, Left: left, Right: right}
		if null {
			s.Missing = map[bool]string{true: "left", false: "right"}[e.missingLeft(n)]
		}
		return s, nil
	})
	if err != nil {
		return nil, err
	}
	for _, root := range roots {
		file.Params.Trees = append(file.Params.Trees, &solrTree{javaFloat{1, true}, root})
	}
	return json.Marshal(file)
}

// Elasticsearch returns the body of a request to _createmodel of the plugins of Elasticsearch and OpenSearch, with the forest as
// a JSON dump of XGBoost. It returns an error for a forest with splits by categories or zeros that are missing.
func (e Export) Elasticsearch() ([]byte, error) {
	leaf := func(id int, v float32) *dumpNode { return &dumpNode{ID: &id, Leaf: floatText(v)} }
	roots, err := trees(e, leaf, func(id, depth int, n *forest.Node, most float32, left, right *dumpNode) (*dumpNode, error) {
		name, below := featureName(e.Features[n.Column]), min(math.MaxFloat32, math.Nextafter32(most, float32(math.Inf(1))))
		d := &dumpNode{ID: &id, Depth: &depth, Split: &name, Condition: floatText(below), Yes: left.ID, No: right.ID, Missing: right.ID,
			Children: []*dumpNode{left, right}}
		if e.missingLeft(n) {
			d.Missing = d.Yes
		}
		return d, nil
	})
	if err != nil {
		return nil, err
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

func (e Export) missingLeft(n *forest.Node) bool {
	if e.Whole[n.Column] {
		return n.Threshold >= 0
	}
	return n.MissingLeft
}

// mostDepth is how deep a tree may be: the engines read JSON with at most 1000 levels, and a level of a tree takes two.
const mostDepth = 400

// trees returns the trees of a forest, after one of the bias if there is any: sums are rounded in this order. leaf and node make the
// nodes of an engine, which have ids of their own in a tree. The float32 up to most go to the left.
func trees[N any](e Export, leaf func(id int, v float32) N,
	node func(id, depth int, n *forest.Node, most float32, left, right N) (N, error)) (roots []N, err error) {
	if !slices.ContainsFunc(e.Forest.Trees, func(t forest.Tree) bool { return t.Nodes != nil }) {
		return nil, errors.New("no tree asks for a feature")
	}
	var t *forest.Tree
	var add func(at, depth int) (N, error)
	add = func(at, depth int) (made N, err error) {
		if at < 0 || len(t.Nodes) == 0 {
			at = max(at, ^at)
			v := float32(t.Leaves[at])
			if math.IsInf(float64(v), 0) {
				err = fmt.Errorf("leaf %d is %v, want a float32", at, t.Leaves[at])
			}
			return leaf(len(t.Nodes)+at, v), err
		}
		n := &t.Nodes[at]
		switch {
		case depth > mostDepth:
			return made, fmt.Errorf("it is more than %d nodes deep, which search engines do not read", mostDepth)
		case n.Set != nil:
			return made, fmt.Errorf("it splits by categories of %q: want a forest of numbers", e.Features[n.Column])
		case n.ZeroMissing:
			return made, fmt.Errorf("it takes 0 of %q for a missing value: want a forest that does not", e.Features[n.Column])
		}
		left, err := add(n.Left, depth+1)
		if err != nil {
			return made, err
		}
		right, err := add(n.Right, depth+1)
		if err != nil {
			return made, err
		}
		most := float32(n.Threshold)
		if float64(most) > n.Threshold {
			most = math.Nextafter32(most, float32(math.Inf(-1)))
		}
		return node(at, depth, n, max(-math.MaxFloat32, min(math.MaxFloat32, most)), left, right)
	}
	list := e.Forest.Trees
	if b := e.Forest.Bias; b != 0 {
		list = slices.Insert(slices.Clone(list), 0, forest.Tree{Leaves: []float64{b}})
	}
	for i := range list {
		t = &list[i]
		root, err := add(0, 0)
		if err != nil {
			return nil, fmt.Errorf("tree %d: %w", i-(len(list)-len(e.Forest.Trees)), err)
		}
		roots = append(roots, root)
	}
	return roots, nil
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

func floatText(v float32) []byte { return strconv.AppendFloat(nil, float64(v), 'g', -1, 32) }

// MarshalJSON writes a text, the only form that all versions of Solr read.
func (f javaFloat) MarshalJSON() ([]byte, error) {
	return strconv.AppendQuote(nil, string(floatText(f.v))), nil
}
