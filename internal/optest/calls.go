package optest

import (
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

	"github.com/plrank/plrank/ops"
)

// A Call is an exported function with arguments that it takes.
type Call struct {
	Func     any
	Args     []any
	Optional []int  // arguments that may be nil
	Reads    string // those of "scores" and "gains" that must be finite
}

// CallNodes are leaves to call functions with: of two queries, an empty one between
// them, and padding at both ends.
type CallNodes struct {
	Lists                                     ops.Lists
	Gains, Groups, Rankings, PerQuery, Ranked *G.Node // Ranked are 2 samples of ranked rows
	Noise                                     *G.Node // 2 samples
	Discounts                                 []float64
}

// A name is that of a function, and perhaps of a variant after a blank.
type calls = func(n CallNodes) map[string]Call

// newCallNodes puts leaves of their own into a graph. The number of row 4 in a vector,
// scores or gains, may be replaced.
func newCallNodes(g *G.ExprGraph, prefix, replaced string, by float64) CallNodes {
	values := map[string][]float64{
		"scores": {9, .3, -.1, .6, -.4, .2, 9},
		"gains":  {9, 0, 1, 3, 1, 0, 9},
	}
	if replaced != "" {
		values[replaced][4] = by
	}
	vector := func(name string, x []float64) *G.Node { return Vector(g, prefix+name, tensor.Float64, x) }
	return CallNodes{
		Lists:     ops.Lists{Scores: vector("scores", values["scores"]), Offsets: Ints(g, prefix+"offsets", []int{1, 4, 4, 6}, 4)},
		Gains:     vector("gains", values["gains"]),
		Groups:    Ints(g, prefix+"groups", []int{0, 0, 1, -1, 1, 1, 0}, 7),
		Rankings:  Ints(g, prefix+"rankings", []int{1, 2, 3, 1, -1, -1, -1, -1, 4, 5, 5, 4}, 3, 2, 2),
		PerQuery:  vector("per query", []float64{1, 2, 3}),
		Ranked:    Ints(g, prefix+"ranked", []int{-1, 3, 1, 2, 5, 4, -1, -1, 1, 2, 3, 4, 5, -1}, 14),
		Noise:     vector("noise", []float64{0, .1, .2, .3, .4, .5, 0, 0, -.1, .7, .2, .1, 0, 0}),
		Discounts: []float64{1, .6},
	}
}

// call gives the nodes among a function's results.
func (c Call) call() (nodes G.Nodes, err error) {
	in := make([]reflect.Value, len(c.Args))
	f := reflect.ValueOf(c.Func)
	for i, arg := range c.Args {
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
		default: // a struct of nodes
			for i := range reflect.ValueOf(out).NumField() {
				if n, _ := reflect.ValueOf(out).Field(i).Interface().(*G.Node); n != nil {
					nodes = append(nodes, n)
				}
			}
		}
	}
	return nodes, err
}

// CheckCalls checks every exported function of the package in the folder at hand: that
// it is among the calls; that an argument that is nil is an error; that a number that is
// not finite is an error of the run that says where; and that gradients can be asked for
// as often as one likes, in a graph with all other functions.
func CheckCalls(t *testing.T, all calls) {
	names := slices.Sorted(maps.Keys(all(newCallNodes(G.NewGraph(), "", "", 0))))
	t.Run("complete", func(t *testing.T) {
		for _, name := range exported(t) {
			if !slices.ContainsFunc(names, func(have string) bool { return have == name || strings.HasPrefix(have, name+" ") }) {
				t.Errorf("%s is not checked", name)
			}
		}
	})
	t.Run("nil", func(t *testing.T) {
		for _, name := range names {
			for i := range all(newCallNodes(G.NewGraph(), "", "", 0))[name].Args {
				checkNil(t, name, all(newCallNodes(G.NewGraph(), "", "", 0))[name], i)
			}
		}
	})
	t.Run("finite", func(t *testing.T) {
		for _, name := range names {
			for _, read := range []string{"scores", "gains"} {
				for _, x := range []float64{math.NaN(), math.Inf(1), math.Inf(-1)} {
					call := all(newCallNodes(G.NewGraph(), "", read, x))[name]
					nodes, err := call.call()
					if err == nil && len(nodes) > 0 {
						vm := G.NewTapeMachine(nodes[0].Graph())
						err = vm.RunAll()
						vm.Close()
					}
					if !strings.Contains(call.Reads, read) {
						continue // that there is no panic is all
					}
					want := fmt.Sprintf("query 2, row 4: the %s is %v", strings.TrimSuffix(read, "s"), x)
					if err == nil || !strings.Contains(err.Error(), want) {
						t.Errorf("%s with %v in the %s: error %v, want one with %q", name, x, read, err, want)
					}
				}
			}
		}
	})
	t.Run("gradients", func(t *testing.T) { checkGradients(t, names, all) })
}

func checkNil(t *testing.T, name string, c Call, i int) {
	defer func() {
		if r := recover(); r != nil {
			t.Errorf("%s without argument %d: %v", name, i, r)
		}
	}()
	kind := reflect.TypeOf(c.Func).In(i).Kind()
	if kind != reflect.Pointer && kind != reflect.Slice && kind != reflect.Struct {
		return
	}
	c.Args[i] = nil
	_, err := c.call()
	if optional := slices.Contains(c.Optional, i); (err == nil) != optional {
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
	loss := func(name string, n CallNodes) *G.Node {
		nodes, err := all(n)[name].call()
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
		of := loss(name, own)
		if of == nil {
			continue
		}
		_, want, err := Tape(of, own.Lists.Scores)
		if err != nil {
			if !strings.Contains(err.Error(), "Non Differentiable WRTs") {
				t.Errorf("%s: %v", name, err)
			}
			continue
		}
		here := newCallNodes(g, name, "", 0)
		of = loss(name, here)
		first, err := G.Grad(of, here.Lists.Scores)
		if err != nil {
			t.Fatalf("%s after others: %v", name, err)
		}
		second, err := G.Grad(of, here.Lists.Scores)
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
		if got := Numbers(a.value); !slices.Equal(got, a.want) {
			t.Errorf("%s: gradient %v in a graph with others, %v by itself", a.name, got, a.want)
		}
	}
	if len(grads) == 0 {
		t.Error("nothing has a gradient")
	}
}

// exported are the functions of the package in the folder at hand that make nodes.
func exported(t *testing.T) (names []string) {
	paths, err := filepath.Glob("*.go")
	if err != nil {
		t.Fatal(err)
	}
	for _, path := range paths {
		if strings.HasSuffix(path, "_test.go") {
			continue
		}
		file, err := parser.ParseFile(token.NewFileSet(), path, nil, 0)
		if err != nil {
			t.Fatal(err)
		}
		for _, decl := range file.Decls {
			f, ok := decl.(*ast.FuncDecl)
			if ok && f.Recv == nil && f.Name.IsExported() && f.Type.Results != nil && takesNodes(f) {
				names = append(names, f.Name.Name)
			}
		}
	}
	return names
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
