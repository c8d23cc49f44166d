package describe

import (
	"bytes"
	"encoding/xml"
	"fmt"
	"io"
	"math"
	"math/bits"
	"slices"
	"strconv"
	"strings"

	"github.com/plrank/plrank/forest"
	"github.com/plrank/plrank/internal/command"
	"github.com/plrank/plrank/internal/file"
	"github.com/plrank/plrank/ranker"
	"github.com/plrank/plrank/transforms"
)

// A treeView shows a tree of a model.
type treeView struct {
	*forest.Tree
	model  *ranker.Model
	forest ranker.WeightedForest
}

// describeTree prints a tree, numbered from 1 over all forests of the model, and draws it if a path is given.
func describeTree(m *ranker.Model, number int, svg string, stdout io.Writer) error {
	at := number
	for _, f := range m.Forests() {
		if at > len(f.Trees) {
			at -= len(f.Trees)
			continue
		}
		t := treeView{&f.Trees[at-1], m, f}
		fmt.Fprintf(stdout, "tree %d: %d leaves, depth %d", number, len(t.Leaves), t.Depth())
		if f.Weight != 1 {
			fmt.Fprintf(stdout, ", in a forest of weight %.4g", f.Weight)
		}
		fmt.Fprint(stdout, "\n\n")
		t.print(stdout, t.root(), "", "")
		if svg == "" {
			return nil
		}
		return file.Write(svg, func(w io.Writer) error { _, err := w.Write(t.svg()); return err })
	}
	if m.Forests() == nil {
		return fmt.Errorf("-tree %d: the model is no forest, and no mixture with one", number)
	}
	return fmt.Errorf("-tree %d: the model has %d trees", number, number-at)
}

// root returns the root: a node, or the only leaf.
func (t *treeView) root() int {
	if len(t.Nodes) == 0 {
		return ^0
	}
	return 0
}

// print prints a node and what is below it: first where the condition holds, then where it does not.
func (t *treeView) print(w io.Writer, at int, before, below string) {
	fmt.Fprintf(w, "%s%s\n", before, t.text(at))
	if at >= 0 {
		t.print(w, t.Nodes[at].Left, below+"├─ yes: ", below+"│  ")
		t.print(w, t.Nodes[at].Right, below+"└─ no: ", below+"   ")
	}
}

// text returns the value of a leaf, or the condition of a node under which documents go to the left.
func (t *treeView) text(at int) string {
	if at < 0 {
		return fmt.Sprintf("%.5g", t.Leaves[^at])
	}
	n := &t.Nodes[at]
	name := command.Printable(t.model.FeatureName(t.forest.Columns[n.Column]))
	var condition string
	missingLeft := n.MissingLeft
	switch {
	case n.Set != nil:
		var words string
		words, missingLeft = t.categories(n)
		condition = fmt.Sprintf("%s is %s", name, words)
	case n.Threshold >= math.MaxFloat64:
		condition = name + " is given"
	default:
		limit, sign := fmt.Sprintf("%.6g", n.Threshold), "≤"
		if rounded, _ := strconv.ParseFloat(limit, 64); rounded > n.Threshold { // XGBoost's lie just below its own
			sign = "<"
		}
		condition = fmt.Sprintf("%s %s %s", name, sign, limit)
	}
	switch {
	case missingLeft && n.ZeroMissing:
		condition += ", 0 or missing"
	case missingLeft:
		condition += " or missing"
	case n.ZeroMissing:
		condition += ", not 0"
	}
	if n.Gain > 0 {
		condition += fmt.Sprintf(" (gain %.4g)", n.Gain)
	}
	return condition
}

const mostCategories = 8 // of a node

// categories returns the categories that go to the left, and whether missing values do.
func (t *treeView) categories(n *forest.Node) (words string, missing bool) {
	var list []string
	more := 0
	if v, _ := t.forest.Category(n.Column, transforms.MissingValue); v == v { // else missing values have a code
		missing = n.MissingLeft
	}
	column := t.forest.Columns[n.Column]
	var levels []string
	if all := t.model.Levels(); all != nil {
		levels = all[column]
	}
	for i, word := range n.Set {
		for ; word != 0; word &= word - 1 {
			code := 64*i + bits.TrailingZeros64(word)
			v, known := t.forest.Category(n.Column, code)
			switch {
			case v != v:
				missing = true
			case len(list) == mostCategories:
				more++
			case !known || levels != nil && (v < 1 || int(v) > len(levels)):
				list = append(list, "(not in the training data)")
			case levels == nil:
				list = append(list, fmt.Sprint(v))
			default:
				list = append(list, command.Printable(levels[int(v)-1]))
			}
		}
	}
	if list == nil {
		return "(no category)", missing
	}
	if more > 0 {
		list = append(list, fmt.Sprintf("%d more", more))
	}
	return strings.Join(list, " | "), missing
}

// svg draws the tree from left to right, a line for each leaf, with the upper branch of a node where its condition holds.
func (t *treeView) svg() []byte {
	const step, line = 180., 20. // from node to node, and from leaf to leaf
	var paths, b bytes.Buffer
	leaves := 0.
	var draw func(at, depth int) (y float64)
	draw = func(at, depth int) (y float64) {
		x := 10 + step*float64(depth)
		if at < 0 {
			leaves++
			y = line * leaves
		} else {
			n := &t.Nodes[at]
			up, down := draw(n.Left, depth+1), draw(n.Right, depth+1)
			y = (up + down) / 2
			for _, end := range []float64{up, down} {
				fmt.Fprintf(&paths, "<path d=\"M%g %gC%g %g %g %g %g %g\" fill=\"none\" stroke=\"#999\" stroke-width=\"1\"/>\n",
					x, y, x+step/2, y, x+step/2, end, x+step, end)
			}
		}
		fmt.Fprintf(&b, "<text x=\"%g\" y=\"%g\"><title>", x, y+4)
		for i, text := range []string{t.text(at), t.text(at)} {
			if short := []rune(text); i == 1 && len(short) > 26 {
				text = string(short[:25]) + "…"
			}
			_ = xml.EscapeText(&b, []byte(text))
			fmt.Fprint(&b, []string{"</title>", "</text>\n"}[i])
		}
		return y
	}
	draw(t.root(), 0)
	head := fmt.Sprintf("<svg xmlns=\"http://www.w3.org/2000/svg\" width=\"%g\" height=\"%g\" font-family=\"sans-serif\" font-size=\"12\""+
		" stroke=\"white\" stroke-width=\"3\" paint-order=\"stroke\">\n", 20+step*float64(t.Depth()+1), line*(leaves+1))
	return slices.Concat([]byte(head), paths.Bytes(), b.Bytes(), []byte("</svg>\n"))
}
