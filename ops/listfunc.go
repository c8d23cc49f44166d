package ops

import (
	"fmt"
	"hash"

	"github.com/chewxy/hm"
	G "gorgonia.org/gorgonia"
	"gorgonia.org/tensor"

	"github.com/plrank/plrank/plackett"
)

// A listFunc is a function of vectors that works list by list and gives a vector:
// what the losses need besides Gorgonia's own ops. Padding gets 0, and so do empty
// queries.
type listFunc struct {
	name     string
	settings string // all of them: functions of one name and settings are the same
	perQuery bool   // gives a number for every query, not for every row

	do func(l list, in vectors, out numbers) error

	// back gives the derivative by input wrt, out of the inputs and, last, the
	// derivative by the result. Where it is nil there is none.
	wrt  int
	back *listFunc
}

// vectors are the inputs of a listFunc, but the offsets.
type vectors struct {
	floats []numbers // the first has a number for every row
	ints   []int     // the one that is int, if any
}

func (v vectors) last() numbers { return v.floats[len(v.floats)-1] }

// apply makes a node of a function of the scores and others. The caller has checked them.
func (f *listFunc) apply(l Lists, others ...*G.Node) (*G.Node, error) {
	return G.ApplyOp(f.op(l.Offsets != nil, others), l.with(others...)...)
}

func (f *listFunc) op(offsets bool, others G.Nodes) *listFuncOp {
	op := &listFuncOp{listOp: listOp{offsets: offsets}, f: f}
	for _, n := range others {
		t := tensorOf(1)
		if n.Dtype() == tensor.Int {
			t = intVector
		}
		op.others = append(op.others, t)
	}
	return op
}

// listFuncOp is scores, others[, offsets] → result.
type listFuncOp struct {
	listOp
	f      *listFunc
	others []hm.Type
}

var (
	_ G.SDOp = &listFuncOp{}
	_ G.ADOp = &listFuncOp{}
)

func (op *listFuncOp) Arity() int    { return op.arity(len(op.others)) }
func (op *listFuncOp) Type() hm.Type { return op.fn(tensorOf(1), op.others...) }

func (op *listFuncOp) InferShape(in ...G.DimSizer) (tensor.Shape, error) {
	n, err := in[0].DimSize(0)
	if op.f.perQuery && err == nil {
		n, err = op.queries(in)
	}
	return tensor.Shape{n}, err
}

func (op *listFuncOp) Do(values ...G.Value) (G.Value, error) {
	var in vectors
	vectors := values
	if op.offsets {
		vectors = values[:len(values)-1]
	}
	for i, v := range vectors {
		if v.Dtype() == tensor.Int {
			var err error
			if in.ints, err = intsOf(v); err != nil {
				return nil, fmt.Errorf("ops: %s: input %d: %w", op.f.name, i, err)
			}
			continue
		}
		x, err := numbersOf(v)
		if err != nil {
			return nil, fmt.Errorf("ops: %s: input %d: %w", op.f.name, i, err)
		}
		in.floats = append(in.floats, x)
	}
	n := in.floats[0].len()
	if op.f.perQuery {
		n = 1
		if op.offsets {
			n = values[len(values)-1].Shape()[0] - 1
		}
	}
	out, result, err := op.output(values[0], n)
	if err != nil {
		return nil, err
	}
	return out, op.eachList(op.f.name, values, func(l list) error { return op.f.do(l, in, result) })
}

func (op *listFuncOp) DiffWRT(inputs int) []bool {
	wrt := make([]bool, inputs)
	wrt[op.f.wrt] = op.f.back != nil
	return wrt
}

func (op *listFuncOp) SymDiff(inputs G.Nodes, _, grad *G.Node) (G.Nodes, error) {
	grads := make(G.Nodes, len(inputs))
	if op.f.back == nil {
		return grads, nil
	}
	end := 1 + len(op.others)
	in := append(append(G.Nodes{}, inputs[:end]...), grad)
	back := op.f.back.op(op.offsets, in[1:])
	var err error
	grads[op.f.wrt], err = G.ApplyOp(back, append(in, inputs[end:]...)...)
	return grads, err
}

func (op *listFuncOp) DoDiff(_ G.ExecutionContext, inputs G.Nodes, output *G.Node) error {
	if op.f.back == nil {
		return nil
	}
	grad, err := output.Grad()
	if err != nil {
		return err
	}
	var in []G.Value
	for i, n := range inputs {
		if i == 1+len(op.others) {
			in = append(in, grad)
		}
		in = append(in, n.Value())
	}
	if !op.offsets {
		in = append(in, grad)
	}
	return addGrad(inputs[op.f.wrt], &listFuncOp{listOp: op.fresh(), f: op.f.back}, in...)
}

func (op *listFuncOp) WriteHash(h hash.Hash) { hashText(h, op) }
func (op *listFuncOp) Hashcode() uint32      { return hashOf(op) }
func (op *listFuncOp) String() string {
	return fmt.Sprintf("%s{%s, offsets: %t}", op.f.name, op.f.settings, op.offsets)
}

// finite reports a score that is NaN or infinite.
func (l list) finite() error {
	for d, m := range l.scores {
		if m-m != 0 {
			return &plackett.NumberError{What: "score", Position: d, Value: m}
		}
	}
	return nil
}

// finiteGains reports a gain that is NaN or infinite.
func (l list) finiteGains(gains []float64) error {
	for d, g := range gains {
		if g-g != 0 {
			return fmt.Errorf("row %d: the gain is %v: gains must be finite", l.from+d, g)
		}
	}
	return nil
}

// checked is the check of the lists, with the name of the function in the error.
func (l Lists) checked(name string) error {
	if err := l.check(); err != nil {
		return fmt.Errorf("ops: %s: %w", name, err)
	}
	return nil
}

// checkedRows is checked, and that x has a number for every row.
func (l Lists) checkedRows(name, what string, x *G.Node) error {
	err := l.check()
	if err == nil {
		err = l.checkRows(what, x)
	}
	if err != nil {
		return fmt.Errorf("ops: %s: %w", name, err)
	}
	return nil
}
