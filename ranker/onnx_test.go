package ranker

import (
	"bytes"
	"encoding/binary"
	"math"
	"math/rand/v2"
	"strings"
	"testing"

	"google.golang.org/protobuf/encoding/protowire"

	"github.com/plrank/plrank/forest"
	"github.com/plrank/plrank/transforms"
)

func TestONNXOfCustomKindsIsRefused(t *testing.T) {
	f := example()
	f.Kind = "some other kind"
	if err := reopen(t, f).WriteONNX(&bytes.Buffer{}); err == nil || !strings.Contains(err.Error(), `models of kind "some other kind" cannot be written as ONNX`) {
		t.Errorf("got %v", err)
	}
}

// anyForest is a forest of trees of any shape on whole numbers below 300, some of which are categories.
func anyForest(inputs, trees int) *forest.Forest {
	rng := rand.New(rand.NewPCG(9, 1))
	f := &forest.Forest{Inputs: inputs, Bias: .1}
	for i := range trees {
		t := forest.Tree{Leaves: []float64{rng.NormFloat64()}}
		ends := []*int{new(int)} // of leaves: where their number is in nodes
		t.Nodes = make([]forest.Node, 0, 40)
		for range rng.IntN(40) * min(i, 1) { // the first tree is a leaf
			n := forest.Node{Column: rng.IntN(inputs), Threshold: float64(rng.IntN(600)) / 2, MissingLeft: rng.IntN(2) == 0, ZeroMissing: rng.IntN(5) == 0}
			if rng.IntN(3) == 0 {
				n.Threshold, n.Set = 0, make([]uint64, rng.IntN(5)) // also empty
				for word := range n.Set {
					n.Set[word] = rng.Uint64() & rng.Uint64()
				}
			}
			at := rng.IntN(len(ends))
			*ends[at] = len(t.Nodes)
			n.Left, n.Right = ^at, ^len(ends)
			t.Nodes = append(t.Nodes, n)
			last := &t.Nodes[len(t.Nodes)-1]
			ends[at] = &last.Left
			ends, t.Leaves = append(ends, &last.Right), append(t.Leaves, rng.NormFloat64())
		}
		f.Trees = append(f.Trees, t)
	}
	return f
}

// wholeRows are values of which many are categories of anyForest, and others are none.
func wholeRows(inputs, n int) []float32 {
	rng := rand.New(rand.NewPCG(9, 2))
	rows := make([]float32, inputs*n)
	for i := range rows {
		rows[i] = float32(rng.IntN(300))
		switch rng.IntN(12) {
		case 0:
			rows[i] = float32(math.NaN())
		case 1:
			rows[i] = 0
		case 2:
			rows[i] += .5
		case 3:
			rows[i] = -rows[i]
		case 4:
			rows[i] *= 1e30
		}
	}
	return rows
}

func ofForest(t *testing.T, ensemble *forest.Forest, as *transforms.Transform) *File {
	t.Helper()
	f := &File{Transform: as, Gain: "exp2"}
	for id := range as.Inputs {
		f.FeatureIDs = append(f.FeatureIDs, id+1)
	}
	if err := f.SetForest(ensemble); err != nil {
		t.Fatal(err)
	}
	return f
}

// fields are the fields of a protocol buffer: whole numbers, and the bytes of others, by number.
type fields struct {
	whole map[protowire.Number][]int
	bytes map[protowire.Number][][]byte
}

func fieldsOf(t *testing.T, m []byte) fields {
	t.Helper()
	f := fields{map[protowire.Number][]int{}, map[protowire.Number][][]byte{}}
	for len(m) > 0 {
		number, kind, n := protowire.ConsumeTag(m)
		if n < 0 {
			t.Fatal(protowire.ParseError(n))
		}
		m = m[n:]
		if kind == protowire.VarintType {
			var v uint64
			v, n = protowire.ConsumeVarint(m)
			f.whole[number] = append(f.whole[number], int(v))
		} else {
			var b []byte
			b, n = protowire.ConsumeBytes(m)
			f.bytes[number] = append(f.bytes[number], b)
		}
		if n < 0 {
			t.Fatal(protowire.ParseError(n))
		}
		m = m[n:]
	}
	return f
}

// A TreeEnsembleRegressor, read as its specification says, gives the scores of the forest.
func TestONNXTreesAreTheForest(t *testing.T) {
	const inputs = 3
	ensemble := anyForest(inputs, 30)
	for _, tree := range ensemble.Trees { // sets, and zeros that are missing, are decided in front of the trees
		for i := range tree.Nodes {
			tree.Nodes[i].ZeroMissing, tree.Nodes[i].Set = false, nil
		}
	}
	m := reopen(t, ofForest(t, ensemble, transforms.Raw(inputs)))
	var file bytes.Buffer
	if err := m.WriteONNX(&file); err != nil {
		t.Fatal(err)
	}
	ints, doubles, modes := map[string][]int{}, map[string][]float64{}, [][]byte(nil)
	for _, node := range fieldsOf(t, fieldsOf(t, file.Bytes()).bytes[7][0]).bytes[1] {
		n := fieldsOf(t, node)
		if string(n.bytes[4][0]) != "TreeEnsembleRegressor" {
			continue
		}
		for _, attribute := range n.bytes[5] {
			a := fieldsOf(t, attribute)
			name := string(a.bytes[1][0])
			ints[name], modes = a.whole[8], append(modes, a.bytes[9]...)
			for _, tensor := range a.bytes[5] {
				raw := fieldsOf(t, tensor).bytes[9][0]
				doubles[name] = make([]float64, len(raw)/8)
				if _, err := binary.Decode(raw, binary.LittleEndian, doubles[name]); err != nil {
					t.Fatal(err)
				}
			}
		}
	}
	type place struct{ tree, node int }
	nodes, weights := map[place]int{}, map[place][2]float64{}
	for i, tree := range ints["nodes_treeids"] {
		nodes[place{tree, ints["nodes_nodeids"][i]}] = i
	}
	for i, tree := range ints["target_treeids"] {
		at := place{tree, ints["target_nodeids"][i]}
		w := weights[at]
		w[ints["target_ids"][i]] = doubles["target_weights_as_tensor"][i]
		weights[at] = w
	}
	rows := wholeRows(inputs, 500)
	want, err := m.Score(nil, rows)
	if err != nil {
		t.Fatal(err)
	}
	for d, want := range want {
		var sums [2]float64
		for tree := range ints["nodes_treeids"][len(modes)-1] + 1 {
			at := place{tree, 0}
			for string(modes[nodes[at]]) == "BRANCH_LEQ" {
				i := nodes[at]
				x := float64(rows[d*inputs+ints["nodes_featureids"][i]])
				if at.node = ints["nodes_falsenodeids"][i]; x <= doubles["nodes_values_as_tensor"][i] || x != x && ints["nodes_missing_value_tracks_true"][i] == 1 {
					at.node = ints["nodes_truenodeids"][i]
				}
			}
			sums[0], sums[1] = sums[0]+weights[at][0], sums[1]+weights[at][1]
		}
		if got := float64(float32(sums[0])) + float64(float32(sums[1])); sums[0] != float64(float32(sums[0])) || math.Abs(got-want) > 1e-9 {
			t.Fatalf("document %d: sums %v, together %v, want %v", d, sums, got, want)
		}
	}
}
