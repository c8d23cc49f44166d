package foreign

import (
	"bytes"
	"encoding/xml"
	"errors"
	"fmt"
	"io"
	"strconv"
	"strings"

	"github.com/plrank/plrank/forest"
	"github.com/plrank/plrank/internal/text"
)

// rankLibKinds are the names in the first lines of RankLib's files, and how they are read; nil: they are not.
var rankLibKinds = map[string]func(*Model, []byte) error{
	"lambdamart": (*Model).rankLibTrees, "mart": (*Model).rankLibTrees, "random forests": (*Model).rankLibTrees,
	"linear regression": (*Model).rankLibWeights, "coordinate ascent": (*Model).rankLibWeights, "adarank": (*Model).rankLibWeights,
	"ranknet": nil, "rankboost": nil, "lambdarank": nil, "listnet": nil,
	"trees": (*Model).rankLibTrees, // without its first lines
}

// isRankLib reports whether a file has the first line of a model of RankLib.
func isRankLib(data []byte) bool {
	_, known := rankLibKinds[rankLibKind(data)]
	return known
}

func rankLibKind(data []byte) string {
	first := data[:min(len(data), 100)]
	if begins(bytes.TrimSpace(first), "<ensemble>") {
		return "trees"
	}
	line, _, _ := bytes.Cut(first, []byte("\n"))
	name, found := strings.CutPrefix(string(line), "## ")
	if !found {
		return ""
	}
	return strings.ToLower(strings.TrimSpace(name))
}

// rankLib reads the text of RankLib. Its features have ids, and one without a value is 0.
func (m *Model) rankLib(data []byte) error {
	m.Library = "RankLib"
	m.Objective = rankLibKind(data)
	read := rankLibKinds[m.Objective]
	if read == nil {
		const want = "want LambdaMART, MART, Random Forests, Linear Regression, Coordinate Ascent or AdaRank"
		return fmt.Errorf("a model of %s is not read: %s", m.Objective, want)
	}
	m.Warnings = []string{"RankLib's file does not say if it was trained with -norm: if so, normalize the features the same way first"}
	var body []byte
	bags := ""
	for line := range bytes.Lines(data) {
		if !begins(bytes.TrimLeft(line, " \t"), "#") {
			body = append(body, line...)
		} else if n, found := strings.CutPrefix(string(line), "## No. of bags = "); found {
			bags = strings.TrimSpace(n)
		}
	}
	if n := strconv.Itoa(bytes.Count(body, []byte("<ensemble>"))); bags != "" && bags != n {
		return fmt.Errorf("%s ensembles of trees, and No. of bags = %.40s", n, bags)
	}
	return read(m, body)
}

type rankLibEnsemble struct {
	Trees []*struct {
		Weight string          `xml:"weight,attr"`
		Roots  []*rankLibSplit `xml:"split"`
	} `xml:"tree"`
}

// A rankLibSplit is a leaf if it has an output, else a feature and its children, the left one first.
type rankLibSplit struct {
	Feature   string          `xml:"feature"`
	Threshold string          `xml:"threshold"`
	Output    string          `xml:"output"`
	Children  []*rankLibSplit `xml:"split"`
}

// rankLibTrees reads one ensemble of trees, or the ensembles of random forests, whose mean counts.
func (m *Model) rankLibTrees(data []byte) error {
	decoder := xml.NewDecoder(bytes.NewReader(data))
	c, bags := &columns{}, 0
	for ; ; bags++ {
		var e rankLibEnsemble
		if err := decoder.Decode(&e); err == io.EOF {
			break
		} else if err != nil {
			return err
		}
		for _, tree := range e.Trees {
			weight, err := float32Of(tree.Weight)
			if err != nil || len(tree.Roots) != 1 {
				return m.inTree(fmt.Errorf("weight %.40q and %d roots, want a number and one", tree.Weight, len(tree.Roots)))
			}
			read := func(s *rankLibSplit) (forest.Node, []*rankLibSplit, error) { return s.read(c) }
			if err := grow(m, float64(weight), tree.Roots[0], read); err != nil {
				return err
			}
		}
	}
	m.use(c)
	switch {
	case bags == 0:
		return errors.New("no ensemble of trees")
	case m.Objective != "random forests":
		if m.Forest.Single = true; bags > 1 {
			return fmt.Errorf("%d ensembles of trees, want one", bags)
		}
		return nil
	}
	for _, t := range m.Forest.Trees { // a bag is a float, usually of one tree
		for i, v := range t.Leaves {
			t.Leaves[i] = float64(float32(v)) / float64(bags)
		}
	}
	return nil
}

// read returns the node as [grow] wants it.
func (s *rankLibSplit) read(c *columns) (n forest.Node, children []*rankLibSplit, err error) {
	if s.Feature == "" {
		output, err := float32Of(s.Output)
		return forest.Node{Threshold: float64(output)}, nil, err
	}
	threshold, err := float32Of(s.Threshold)
	if err != nil {
		return n, nil, fmt.Errorf("threshold: %w", err)
	}
	if len(s.Children) != 2 {
		return n, nil, fmt.Errorf("a split with %d children, want 2", len(s.Children))
	}
	id, err := rankLibID(s.Feature)
	return forest.Node{Column: c.column(id), Threshold: float64(threshold), MissingLeft: threshold >= 0}, s.Children, err
}

// rankLibID checks the id of a feature.
func rankLibID(word string) (string, error) {
	word = strings.TrimSpace(word)
	if id, ok := text.ParseFeatureID(word); !ok || id == 0 {
		return "", fmt.Errorf("feature %.40q, want a whole number above 0", word)
	}
	return word, nil
}

// rankLibWeights reads FEATURE:WEIGHT. Weights of one feature add up. Feature 0 of a linear regression is the bias.
func (m *Model) rankLibWeights(data []byte) error {
	weights := map[string]float64{}
	line, _, _ := strings.Cut(strings.TrimSpace(string(data)), "\n")
	line, _, _ = strings.Cut(line, "#")
	for _, word := range strings.Fields(line) {
		feature, value, _ := strings.Cut(word, ":")
		weight, err := strconv.ParseFloat(value, 64)
		if err != nil {
			return fmt.Errorf("%.40q, want FEATURE:WEIGHT", word)
		}
		if feature == "0" && m.Objective == "linear regression" {
			m.Bias += weight
			continue
		}
		if _, err := rankLibID(feature); err != nil {
			return err
		}
		weights[feature] += weight
	}
	return m.weigh(weights)
}
