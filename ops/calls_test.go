package ops_test

import (
	"errors"
	"fmt"
	"go/ast"
	"go/parser"
	"go/token"
	"maps"
	"math"
	"path/filepath"
	"reflect"
	"slices"
	"strings"
	"testing"

	G "gorgonia.org/gorgonia"
	"gorgonia.org/tensor"

	"github.com/plrank/plrank/internal/optest"
	"github.com/plrank/plrank/ops"
	"github.com/plrank/plrank/plackett"
)

// Every function of the package through what may happen to any.
func TestEveryOpIsRightOrReturnsAnError(t *testing.T) {
	checkCalls(t, func(n callNodes) map[string]call {
		l, theta, sampler := n.Lists, n.Discounts, ops.NewSampler(3, 2, 1)
		dropout, err := ops.NewDropout(.5, 1)
		if err != nil {
			t.Fatal(err)
		}
		dropout.SetStep(1)
		// A layer needs a matrix: the scores as a column.
		column := G.Must(G.Reshape(G.Must(G.Mul(l.Scores, G.NewConstant(2.))), tensor.Shape{7, 1}))
		w := optest.Vector(l.Scores.Graph(), l.Scores.Name()+"w", tensor.Float64, []float64{1.5})
		bias := optest.Vector(l.Scores.Graph(), l.Scores.Name()+"b", tensor.Float64, []float64{.5})
		// Codes are no function of the scores, which the table is.
		codes := G.NewMatrix(l.Scores.Graph(), tensor.Float64, G.WithName(l.Scores.Name()+"codes"), G.WithShape(3, 1), G.WithValue(optest.Dense(tensor.Float64, []float64{2, 0, 2}, 3, 1)))
		table := G.Must(G.Reshape(G.Must(G.Mul(l.Scores, G.NewConstant(3.))), tensor.Shape{7, 1}))
		triple := G.NewMatrix(l.Scores.Graph(), tensor.Float64, G.WithName(l.Scores.Name()+"t"), G.WithShape(1, 3), G.WithValue(optest.Dense(tensor.Float64, []float64{1, .5, 2}, 1, 3)))
		zeros := optest.Vector(l.Scores.Graph(), l.Scores.Name()+"z", tensor.Float64, []float64{.1, .2, .3})
		shares := optest.Vector(l.Scores.Graph(), l.Scores.Name()+"s", tensor.Float64, []float64{9, 0, 1, .5, 1, .2, 9})
		bonus := optest.Vector(l.Scores.Graph(), l.Scores.Name()+"r", tensor.Float64, []float64{9, 0, 1, 3, 1, -1, 9})
		vectors := G.NewMatrix(l.Scores.Graph(), tensor.Float64, G.WithName(l.Scores.Name()+"v"), G.WithShape(7, 2), G.WithValue(optest.Dense(tensor.Float64, []float64{9, 9, 1, 0, 1, 1, 3, -1, 0, 2, 1, 1, 9, 9}, 7, 2)))
		rows := ops.Sparse{
			Starts: optest.Ints(l.Scores.Graph(), l.Scores.Name()+"starts", []int{0, 2, 2, 3}, 4), Values: zeros,
			Columns: G.NewVector(l.Scores.Graph(), tensor.Int32, G.WithName(l.Scores.Name()+"columns"), G.WithShape(3), G.WithValue(tensor.New(tensor.WithBacking([]int32{0, 2, 1})))),
		}
		all := map[string]call{
			"PLRank1":                  {fn: ops.PLRank1, args: []any{l, n.Gains, n.Rankings, theta}, reads: "scores gains"},
			"PLRank2":                  {fn: ops.PLRank2, args: []any{l, n.Gains, n.Rankings, theta}, reads: "scores gains"},
			"PLRankRB":                 {fn: ops.PLRankRB, args: []any{l, n.Gains, n.Rankings, theta}, reads: "scores gains"},
			"PLRankBy":                 {fn: ops.PLRankBy, args: []any{plackett.PolicyGradient, l, n.Gains, n.Rankings, theta}, optional: []int{0}, reads: "scores gains"},
			"RewardFunc":               {fn: ops.RewardFunc, args: []any{l, n.Rankings, func(_ int, y []int) float64 { return float64(y[0]) }}, reads: "scores"},
			"ExpectedMetric":           {fn: ops.ExpectedMetric, args: []any{l, n.Gains, theta}, reads: "scores gains"},
			"ExpectedCascade":          {fn: ops.ExpectedCascade, args: []any{l, bonus, shares, theta}, reads: "scores"},
			"ExpectedAveragePrecision": {fn: ops.ExpectedAveragePrecision, args: []any{l, shares, 2}, reads: "scores"},
			"ExpectedCascadeExposure":  {fn: ops.ExpectedCascadeExposure, args: []any{l, shares, theta}, reads: "scores"},
			"ExpectedSimilarity":       {fn: ops.ExpectedSimilarity, args: []any{l, vectors, theta}, reads: "scores"},
			"Exposure":                 {fn: ops.Exposure, args: []any{l, n.Rankings, n.Rankings, theta}, optional: []int{2}, reads: "scores"},
			"ExpectedExposure":         {fn: ops.ExpectedExposure, args: []any{l, theta}, reads: "scores"},
			"LogProbs":                 {fn: ops.LogProbs, args: []any{l, n.Rankings}, reads: "scores"},
			"LogSoftmax":               {fn: ops.LogSoftmax, args: []any{l}, reads: "scores"},
			"Rankings":                 {fn: ops.Rankings, args: []any{l, sampler}, reads: "scores"},
			"IdealRankings":            {fn: ops.IdealRankings, args: []any{l, n.Gains, sampler}, optional: []int{2}, reads: "gains"},
			"Gumbel":                   {fn: ops.Gumbel, args: []any{l, sampler}},
			"Ranks":                    {fn: ops.Ranks, args: []any{l}, reads: "scores"},
			"SumOverDocuments":         {fn: ops.SumOverDocuments, args: []any{l, l.Scores}},
			"MeanOverQueries":          {fn: ops.MeanOverQueries, args: []any{l, n.PerQuery}},
			"Embed":                    {fn: ops.Embed, args: []any{codes, G.Nodes{table}}},
			"Attention":                {fn: ops.Attention, args: []any{G.Must(ops.Dense(column, triple, zeros, ops.Identity)), l.Offsets, 1}, optional: []int{1}},
			"LayerNorm":                {fn: ops.LayerNorm, args: []any{G.Must(ops.Dense(column, triple, zeros, ops.Identity)), zeros, zeros}},
			"PiecewiseLinear":          {fn: ops.PiecewiseLinear, args: []any{column, w, bias, []int{1}, ops.ReLU}, optional: []int{3}},
			"SparseDense":              {fn: ops.SparseDense, args: []any{rows, G.Must(ops.LayerNorm(G.Must(ops.Dense(column, triple, zeros, ops.Identity)), zeros, zeros)), zeros, ops.ReLU}},
			"Drop":                     {fn: ops.Drop, args: []any{l.Scores, dropout, 0}},
		}
		for act := range ops.SwiGLU {
			all["Dense "+act.String()] = call{fn: ops.Dense, args: []any{column, w, bias, act}}
		}
		six := G.NewMatrix(l.Scores.Graph(), tensor.Float64, G.WithName(l.Scores.Name()+"six"), G.WithShape(1, 6), G.WithValue(optest.Dense(tensor.Float64, []float64{1, .5, 2, -1, .3, .7}, 1, 6)))
		sixth := optest.Vector(l.Scores.Graph(), l.Scores.Name()+"sixth", tensor.Float64, []float64{.1, .2, .3, .4, .5, .6})
		all["Dense swiglu"] = call{fn: ops.Dense, args: []any{column, six, sixth, ops.SwiGLU}}
		return all
	})
}

// A call is an exported function with arguments that it takes.
type call struct {
	fn       any
	args     []any
	optional []int  // arguments that may be nil
	reads    string // which of "scores" and "gains" must be finite
}

// callNodes are leaves to call functions with: of two queries, an empty one between
// them, and padding at both ends.
type callNodes struct {
	Lists                     ops.Lists
	Gains, Rankings, PerQuery *G.Node
	Discounts                 []float64
}

// A name is a function's, perhaps with a variant after a blank.
type calls = func(n callNodes) map[string]call

// newCallNodes puts leaves of their own into a graph. The number of row 4 in a vector,
// scores or gains, may be replaced.
func newCallNodes(g *G.ExprGraph, prefix, replaced string, by float64) callNodes {
	values := map[string][]float64{
		"scores": {9, .3, -.1, .6, -.4, .2, 9},
		"gains":  {9, 0, 1, 3, 1, 0, 9},
	}
	if replaced != "" {
		values[replaced][4] = by
	}
	vector := func(name string, x []float64) *G.Node { return optest.Vector(g, prefix+name, tensor.Float64, x) }
	return callNodes{
		Lists:     ops.Lists{Scores: vector("scores", values["scores"]), Offsets: optest.Ints(g, prefix+"offsets", []int{1, 4, 4, 6}, 4)},
		Gains:     vector("gains", values["gains"]),
		Rankings:  optest.Ints(g, prefix+"rankings", []int{1, 2, 3, 1, -1, -1, -1, -1, 4, 5, 5, 4}, 3, 2, 2),
		PerQuery:  vector("per query", []float64{1, 2, 3}),
		Discounts: []float64{1, .6},
	}
}

// call gives the nodes among a function's results.
func (c call) nodes() (nodes G.Nodes, err error) {
	in := make([]reflect.Value, len(c.args))
	f := reflect.ValueOf(c.fn)
	for i, arg := range c.args {
		in[i] = reflect.Zero(f.Type().In(i))
		if arg != nil {
			in[i] = reflect.ValueOf(arg)
		}
	}
	for _, out := range f.Call(in) {
		switch out := out.Interface().(type) {
		case nil:
		case *G.Node:
			if out != nil {
				nodes = append(nodes, out)
			}
		case error:
			err = out
		}
	}
	return nodes, err
}

// checkCalls checks every exported function of the package in the folder at hand: that
// it is among the calls; that a nil argument returns an error; that a run with a number that is
// not finite returns an error that says where; that gradients can be asked for
// as often as one likes, in a graph with all other functions; and that shapes follow from the shapes of
// the inputs.
func checkCalls(t *testing.T, all calls) {
	names := slices.Sorted(maps.Keys(all(newCallNodes(G.NewGraph(), "", "", 0))))
	t.Run("complete", func(t *testing.T) {
		for name, doc := range exported(t) {
			if !strings.Contains(strings.Join(strings.Fields(doc), " "), "Its value lasts until the next run.") {
				t.Errorf("the comment of %s does not say how long its value lasts", name)
			}
			if !slices.ContainsFunc(names, func(have string) bool { return have == name || strings.HasPrefix(have, name+" ") }) {
				t.Errorf("%s is not checked", name)
			}
		}
	})
	t.Run("nil", func(t *testing.T) {
		for _, name := range names {
			for i := range all(newCallNodes(G.NewGraph(), "", "", 0))[name].args {
				checkNil(t, name, all(newCallNodes(G.NewGraph(), "", "", 0))[name], i)
			}
		}
	})
	t.Run("finite", func(t *testing.T) {
		for _, name := range names {
			for _, read := range []string{"scores", "gains"} {
				for _, x := range []float64{math.NaN(), math.Inf(1), math.Inf(-1)} {
					made := all(newCallNodes(G.NewGraph(), "", read, x))[name]
					nodes, err := made.nodes()
					if err == nil && len(nodes) > 0 {
						vm := G.NewTapeMachine(nodes[0].Graph())
						err = vm.RunAll()
						vm.Close()
					}
					if !strings.Contains(made.reads, read) {
						continue // only a panic would be wrong
					}
					want := fmt.Sprintf("query 2, row 4: the %s is %v", strings.TrimSuffix(read, "s"), x)
					if err == nil || !strings.Contains(err.Error(), want) {
						t.Errorf("%s with %v in the %s: error %v, want one with %q", name, x, read, err, want)
					}
				}
			}
		}
	})
	t.Run("orders", func(t *testing.T) { checkOrders(t, names, all) })
	t.Run("gradients", func(t *testing.T) { checkGradients(t, names, all) })
	t.Run("shapes", func(t *testing.T) {
		for _, name := range names {
			nodes, err := all(newCallNodes(G.NewGraph(), "", "", 0))[name].nodes()
			if err != nil || len(nodes) == 0 {
				t.Fatal(name, err)
			}
			for _, n := range nodes {
				checkShape(t, name, n)
			}
		}
	})
}

// checkShape checks what the op of a node infers from the shapes of its inputs.
func checkShape(t *testing.T, name string, n *G.Node) {
	var in []G.DimSizer
	for inputs := n.Graph().From(n.ID()); inputs.Next(); {
		in = append(in, inputs.Node().(*G.Node).Shape())
	}
	if got, err := n.Op().InferShape(in...); err != nil || !got.Eq(n.Shape()) {
		t.Errorf("%s: the op infers %v (%v), the node has %v", name, got, err, n.Shape())
	}
}

// An op of other inputs has another shape: of three rows in two queries, and of five in one.
func TestShapesFollowFromTheInputs(t *testing.T) {
	n := newCallNodes(G.NewGraph(), "", "", 0)
	l := n.Lists
	three, queries, rankings := tensor.Shape{3}, tensor.Shape{3}, tensor.Shape{2, 4, 1}
	for _, c := range []struct {
		node *G.Node
		in   []G.DimSizer
		want tensor.Shape
	}{
		{G.Must(ops.LogSoftmax(l)), []G.DimSizer{three, queries}, three},
		{G.Must(ops.LogSoftmax(ops.Lists{Scores: l.Scores})), []G.DimSizer{tensor.Shape{5}}, tensor.Shape{5}},
		{G.Must(ops.SumOverDocuments(l, l.Scores)), []G.DimSizer{three, queries}, tensor.Shape{2}},
		{G.Must(ops.LogProbs(l, n.Rankings)), []G.DimSizer{three, rankings, queries}, rankings},
		{G.Must(ops.Rankings(l, ops.NewSampler(4, 1, 1))), []G.DimSizer{three, queries}, rankings},
	} {
		if got, err := c.node.Op().InferShape(c.in...); err != nil || !got.Eq(c.want) {
			t.Errorf("%v of %v: %v (%v), want %v", c.node, c.in, got, err, c.want)
		}
		if _, err := c.node.Op().InferShape(); err == nil {
			t.Errorf("%v: no error without inputs", c.node)
		}
	}
}

// Every op has the value that it has of row-major tensors, whatever the order of its inputs in memory.
func checkOrders(t *testing.T, names []string, all calls) {
	reordered := map[string]func(*tensor.Dense) *tensor.Dense{
		"column-major": func(d *tensor.Dense) *tensor.Dense {
			return tensor.New(tensor.WithShape(d.Shape()...), tensor.AsFortran(d.Clone().(*tensor.Dense).Data()))
		},
		"transposed": func(d *tensor.Dense) *tensor.Dense {
			clone := d.Clone().(*tensor.Dense)
			axes := make([]int, clone.Dims())
			for i := range axes {
				axes[i] = len(axes) - 1 - i
			}
			if err := errors.Join(clone.T(axes...), clone.Transpose(), clone.T(axes...)); err != nil {
				t.Fatal(err)
			}
			return clone
		},
		"a slice": func(d *tensor.Dense) *tensor.Dense {
			wide := tensor.New(tensor.Of(d.Dtype()), tensor.WithShape(append(d.Shape().Clone(), 3)...))
			for i, n := 0, d.Shape().TotalSize(); i < n; i++ {
				wide.Set(3*i+1, d.Get(i))
			}
			part, err := wide.Slice(append(make([]tensor.Slice, d.Dims()), G.S(1))...)
			if err != nil {
				t.Fatal(err)
			}
			return part.(*tensor.Dense)
		},
	}
	numbers := func(v G.Value) []float64 {
		ints, ok := v.Data().([]int)
		if !ok {
			return optest.Numbers(v)
		}
		x := make([]float64, len(ints))
		for i, n := range ints {
			x[i] = float64(n)
		}
		return x
	}
	changed := map[string]int{}
	// value returns the value of a new op, which draws what others draw, of inputs in an order.
	value := func(name, order string) []float64 {
		nodes, err := all(newCallNodes(G.NewGraph(), "", "", 0))[name].nodes()
		if err != nil || len(nodes) == 0 {
			t.Fatal(name, err)
		}
		n := nodes[0]
		var in []*G.Value
		for inputs := n.Graph().From(n.ID()); inputs.Next(); {
			in = append(in, new(G.Value))
			G.Read(inputs.Node().(*G.Node), in[len(in)-1])
		}
		optest.Run(t, n)
		var values []G.Value
		for _, v := range in {
			if d, ok := (*v).(*tensor.Dense); ok && order != "" && d.Size() > 1 && (d.Dims() > 1 || order == "a slice") {
				*v = reordered[order](d)
				changed[order]++
			}
			values = append(values, *v)
		}
		v, err := n.Op().Do(values...)
		if err != nil {
			t.Fatal(name, err)
		}
		return numbers(v)
	}
	for order := range reordered {
		for _, name := range names {
			if want, got := value(name, ""), value(name, order); !slices.Equal(got, want) {
				t.Errorf("%s, inputs %s: %v, want %v", name, order, got, want)
			}
		}
		if changed[order] < 10 {
			t.Errorf("only %d inputs are %s", changed[order], order)
		}
	}
}

func checkNil(t *testing.T, name string, c call, i int) {
	defer func() {
		if r := recover(); r != nil {
			t.Errorf("%s without argument %d: %v", name, i, r)
		}
	}()
	kind := reflect.TypeOf(c.fn).In(i).Kind()
	if kind != reflect.Pointer && kind != reflect.Slice && kind != reflect.Struct {
		return
	}
	c.args[i] = nil
	_, err := c.nodes()
	if optional := slices.Contains(c.optional, i); (err == nil) != optional {
		t.Errorf("%s without argument %d: error %v", name, i, err)
	}
}

// checkGradients compares gradients of all functions in one graph, asked for twice, with
// those in graphs of their own.
func checkGradients(t *testing.T, names []string, all calls) {
	type asked struct {
		name  string
		again *G.Node
		value G.Value
		want  []float64
	}
	loss := func(name string, n callNodes) *G.Node {
		nodes, err := all(n)[name].nodes()
		if err != nil {
			t.Fatalf("%s: %v", name, err)
		}
		if len(nodes) == 0 || nodes[0].Dtype() == tensor.Int {
			return nil
		}
		if nodes[0].IsScalar() {
			return nodes[0]
		}
		return G.Must(G.Sum(G.Must(G.Square(nodes[0]))))
	}
	g := G.NewGraph()
	var grads []*asked
	for _, name := range names {
		own := newCallNodes(G.NewGraph(), name, "", 0)
		value := loss(name, own)
		if value == nil {
			continue
		}
		_, want, err := optest.Tape(value, own.Lists.Scores)
		if err != nil {
			if !strings.Contains(err.Error(), "Non Differentiable WRTs") {
				t.Errorf("%s: %v", name, err)
			}
			continue
		}
		here := newCallNodes(g, name, "", 0)
		value = loss(name, here)
		first, err := G.Grad(value, here.Lists.Scores)
		if err != nil {
			t.Fatalf("%s after others: %v", name, err)
		}
		second, err := G.Grad(value, here.Lists.Scores)
		if err != nil {
			t.Fatalf("%s again: %v", name, err)
		}
		a := &asked{name: name, again: second[0], want: want}
		if first[0] != second[0] {
			t.Errorf("%s: another gradient when asked again", name)
		}
		G.Read(a.again, &a.value)
		grads = append(grads, a)
	}
	vm := G.NewTapeMachine(g)
	defer vm.Close()
	if err := vm.RunAll(); err != nil {
		t.Fatal(err)
	}
	for _, a := range grads {
		if got := optest.Numbers(a.value); !slices.Equal(got, a.want) {
			t.Errorf("%s: gradient %v in a graph with others, %v by itself", a.name, got, a.want)
		}
	}
	if len(grads) == 0 {
		t.Error("nothing has a gradient")
	}
}

// exported are the functions of the package in the folder at hand that make nodes, with their
// comments.
func exported(t *testing.T) map[string]string {
	docs := map[string]string{}
	paths, err := filepath.Glob("*.go")
	if err != nil {
		t.Fatal(err)
	}
	for _, path := range paths {
		if strings.HasSuffix(path, "_test.go") {
			continue
		}
		file, err := parser.ParseFile(token.NewFileSet(), path, nil, parser.ParseComments)
		if err != nil {
			t.Fatal(err)
		}
		for _, decl := range file.Decls {
			f, ok := decl.(*ast.FuncDecl)
			if ok && f.Recv == nil && f.Name.IsExported() && f.Type.Results != nil && takesNodes(f) {
				docs[f.Name.Name] = f.Doc.Text()
			}
		}
	}
	return docs
}

// takesNodes says whether a function has a *G.Node or Lists among its parameters.
func takesNodes(f *ast.FuncDecl) bool {
	for _, p := range f.Type.Params.List {
		kind := p.Type
		if star, ok := kind.(*ast.StarExpr); ok {
			kind = star.X
		}
		if sel, ok := kind.(*ast.SelectorExpr); ok {
			kind = sel.Sel
		}
		if id, ok := kind.(*ast.Ident); ok && (id.Name == "Node" || id.Name == "Lists") {
			return true
		}
	}
	return false
}
