package describe

import (
	"encoding/xml"
	"errors"
	"io"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/plrank/plrank/forest"
	"github.com/plrank/plrank/internal/testkit"
	"github.com/plrank/plrank/ranker"
	"github.com/plrank/plrank/transforms"
)

// twoTrees is a forest of a leaf, and of a tree with all kinds of conditions, on features 1, 2 and 9 of which the last is a category.
func twoTrees(t *testing.T) string {
	f := ranker.File{Transform: transforms.Raw(3), FeatureIDs: []int{1, 2, 9}, FeatureNames: []string{"a", "<b>", "brand"},
		Levels: [][]string{nil, nil, {"x", "y & z", "w"}}, Gain: "exp2"}
	node := func(column, left, right int) forest.Node {
		return forest.Node{Column: column, Left: left, Right: right}
	}
	nodes := []forest.Node{node(0, 1, 2), node(2, ^0, ^1), node(1, ^2, 3), node(1, ^3, ^4)}
	nodes[0].Threshold, nodes[0].MissingLeft, nodes[0].Gain = 1.5, true, 2.5
	nodes[1].Set = []uint64{0b0101}
	nodes[2].Threshold, nodes[2].ZeroMissing = -1, true
	nodes[3].Threshold, nodes[3].MissingLeft, nodes[3].ZeroMissing = 8, true, true
	if err := f.SetForest(&forest.Forest{Inputs: 3, Trees: []forest.Tree{
		{Leaves: []float64{.25}}, {Nodes: nodes, Leaves: []float64{1, -2, 3, 4, 5}},
	}}); err != nil {
		t.Fatal(err)
	}
	path := filepath.Join(t.TempDir(), "m.npz")
	if err := f.Save(path); err != nil {
		t.Fatal(err)
	}
	return path
}

// Sets of categories have codes, which the transform gives values: of a text, of numbers, of missing and of unseen values. A number that
// the threshold rounds up to does not go to the left, as for XGBoost's "< 5".
func TestTreeHasTheValuesOfCodes(t *testing.T) {
	f := ranker.File{FeatureIDs: []int{1, 2, 9}, Levels: [][]string{nil, nil, {"x", "y", "z"}}, Gain: "exp2",
		Transform: &transforms.Transform{Spec: "raw", Inputs: 3, Columns: []int{0}, Parts: []transforms.Part{{Name: "raw"}},
			Categories: []transforms.Category{{Column: 1, Values: []float32{-3, 40}}, {Column: 2, Values: []float32{1, 3}}}}}
	if err := f.SetForest(&forest.Forest{Inputs: 3, Trees: []forest.Tree{{Nodes: []forest.Node{
		{Column: 1, Set: []uint64{1<<0 | 1<<3}, MissingLeft: true, Left: 1, Right: 2},
		{Column: 2, Set: []uint64{1<<1 | 1<<3}, Left: ^0, Right: ^1}, {Column: 0, Threshold: 4.9999995, Left: ^2, Right: ^3}},
		Leaves: []float64{1, 2, 3, 4}}}}); err != nil {
		t.Fatal(err)
	}
	path := filepath.Join(t.TempDir(), "m.npz")
	if err := f.Save(path); err != nil {
		t.Fatal(err)
	}
	_, stdout, stderr := call("-model", path, "-tree", "1")
	for _, want := range []string{"\n2 is (not in the training data) | 40\n", "yes: 9 is z or missing\n", "no: 1 < 5\n"} {
		if !strings.Contains(stdout, want) {
			t.Errorf("no %q in %s%s", want, stdout, stderr)
		}
	}
}

func linear(t *testing.T) string {
	path := filepath.Join(t.TempDir(), "linear.npz")
	testkit.LinearModel(t, path, 1, 10, 100)
	return path
}

func TestTreeIsPrinted(t *testing.T) {
	model := twoTrees(t)
	want := `tree 2: 5 leaves, depth 3

a ≤ 1.5 or missing (gain 2.5)
├─ yes: brand is (not in the training data) | y & z
│  ├─ yes: 1
│  └─ no: -2
└─ no: <b> ≤ -1, not 0
   ├─ yes: 3
   └─ no: <b> ≤ 8, 0 or missing
      ├─ yes: 4
      └─ no: 5
`
	if status, stdout, stderr := call("-model", model, "-tree", "2"); status != 0 || stdout != want {
		t.Errorf("%d, %s\n%s\nwant\n%s", status, stderr, stdout, want)
	}
	if _, stdout, _ := call("-model", model, "-tree", "1"); stdout != "tree 1: 1 leaves, depth 0\n\n0.25\n" {
		t.Errorf("a leaf: %s", stdout)
	}
	for want, arguments := range map[string][]string{
		"-tree 3: the model has 2 trees":         {"-model", model, "-tree", "3"},
		"-svg needs -tree":                       {"-model", model, "-svg", "x.svg"},
		"-tree prints text, and -json is given":  {"-model", model, "-tree", "1", "-json"},
		"-tree and -svg need -model":             {"-data", "synthetic:yahoo", "-tree", "1"},
		"-tree -1: want 0 to":                    {"-model", model, "-tree", "-1"},
		"the model is no forest, and no mixture": {"-model", linear(t), "-tree", "1"},
	} {
		if status, _, stderr := call(arguments...); status == 0 || !strings.Contains(stderr, want) {
			t.Errorf("%v: %d, %s, want %s", arguments, status, stderr, want)
		}
	}
}

// The picture is well-formed, and has the text of each node and leaf.
func TestTreeIsDrawn(t *testing.T) {
	path := filepath.Join(t.TempDir(), "tree.svg")
	if status, _, stderr := call("-model", twoTrees(t), "-tree", "2", "-svg", path); status != 0 {
		t.Fatal(stderr)
	}
	data, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	var titles []string
	paths := 0
	for d := xml.NewDecoder(strings.NewReader(string(data))); ; {
		token, err := d.Token()
		if errors.Is(err, io.EOF) {
			break
		}
		if err != nil {
			t.Fatal(err)
		}
		if start, ok := token.(xml.StartElement); ok {
			switch start.Name.Local {
			case "title":
				var title string
				if err := d.DecodeElement(&title, &start); err != nil {
					t.Fatal(err)
				}
				titles = append(titles, title)
			case "path":
				paths++
			}
		}
	}
	if got := strings.Join(titles, ";"); paths != 8 || got != "1;-2;brand is (not in the training data) | y & z;3;4;5;"+
		"<b> ≤ 8, 0 or missing;<b> ≤ -1, not 0;a ≤ 1.5 or missing (gain 2.5)" {
		t.Errorf("%d paths, %s", paths, got)
	}
}
