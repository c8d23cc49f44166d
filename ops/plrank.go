package ops

import (
	"fmt"
	"hash"

	"github.com/chewxy/hm"
	G "gorgonia.org/gorgonia"
	"gorgonia.org/tensor"

	"github.com/plrank/plrank/plackett"
)

// PLRank1 estimates the metric of every query expected under the Plackett–Luce
// policy of the scores, from sampled rankings: with gains ρ and discounts θ,
//
//	R_q = E_y[Σ_k θ_k ρ_{y_k}] ≈ mean over rankings of Σ_k θ_k ρ_{y_k},
//
// a node [queries] of the dtype of the scores; queries without documents get 0.
// The backward pass injects PL-Rank-1's estimate of the gradient (Oosterhuis,
// SIGIR 2021, §5.2) into the scores: with W_k = Σ_{x≥k} θ_x ρ_{y_x} and P_k(d) the
// probability of placing d at rank k given the places before it,
//
//	λ_d = mean over rankings of Σ_k W_k (1[y_k = d] − P_k(d)).
//
// R is to be maximised: a loss is its negative.
//
// gains is [rows], of the dtype of the scores, any sign. rankings is
// [queries, samples, cutoff], from [Rankings] or elsewhere, see there for what
// −1 means. With fewer discounts than places the first places count. Gains,
// rankings and offsets are constants for differentiation. Nodes that do not fit
// are an error here; at run time, scores that are not finite, offsets that
// descend, rows of rankings that are no rankings of their query, and rankings
// that end before the discounts and the documents do, are errors that say where.
// It costs O(D + N·K) for a query of D documents with N rankings of K places.
func PLRank1(l Lists, gains, rankings *G.Node, discounts []float64) (*G.Node, error) {
	return plRank(plackett.PLRank1, "PLRank1", l, gains, rankings, discounts)
}

// PLRank2 is [PLRank1] with the gradient of PL-Rank-2 (Oosterhuis, SIGIR 2021,
// §5.3 and Algorithm 1; PL-Rank-3 of SIGIR 2022 computes the same numbers),
// which uses the gains of the documents that were not sampled too:
//
//	λ_d = mean over rankings of Σ_k 1[y_k = d]·W_{k+1} + P_k(d)·(θ_k ρ_d − W_k).
func PLRank2(l Lists, gains, rankings *G.Node, discounts []float64) (*G.Node, error) {
	return plRank(plackett.PLRank2, "PLRank2", l, gains, rankings, discounts)
}

// PLRankRB is [PLRank1] with the estimates of PL-Rank-RB, which have the same
// expectation and less variance than PL-Rank-2's, 10 to 1000 times less where scores
// are flat and about 10 times where they are peaked (more is possible on lists of
// a few documents, see docs/PL-RANK-RB.md): rewards are
// replaced by their expectation given the ranking so far (Rao–Blackwell), and the
// mean of the other rankings is subtracted. With ρ̄_k = Σ_d P_k(d) ρ_d,
// V_k = Σ_{x≥k} θ_x ρ̄_x, and a_k = V_{k+1} less the mean of V_{k+1} over the other
// rankings (with a single one: its value for the likeliest ranking),
//
//	R_q ≈ mean over rankings of Σ_k θ_k ρ̄_k,
//	λ_d = mean over rankings of Σ_k (1[y_k = d] − P_k(d))·a_k + P_k(d)·θ_k (ρ_d − ρ̄_k).
//
// The rankings of a query must be independent draws.
func PLRankRB(l Lists, gains, rankings *G.Node, discounts []float64) (*G.Node, error) {
	return plRank(plackett.PLRankRB, "PLRankRB", l, gains, rankings, discounts)
}

// PLRankBy is [PLRank1] with the gradient of any estimator of package plackett.
func PLRankBy(e plackett.Estimator, l Lists, gains, rankings *G.Node, discounts []float64) (*G.Node, error) {
	return plRank(e, e.String(), l, gains, rankings, discounts)
}

func plRank(e plackett.Estimator, name string, l Lists, gains, rankings *G.Node, discounts []float64) (*G.Node, error) {
	if err := l.checkEstimate(gains, rankings, discounts); err != nil {
		return nil, fmt.Errorf("ops: %s: %w", name, err)
	}
	op := &estimateOp{
		listOp: newListOp(l),
		estimate: estimate{
			estimator: e,
			name:      name,
			discounts: append([]float64(nil), discounts...),
		},
	}
	estimates, err := G.ApplyOp(op, l.with(gains, rankings)...)
	if err != nil {
		return nil, err
	}
	return G.ApplyOp(&plRankOp{listOp: op.fresh(), name: name}, l.with(estimates)...)
}

// checkEstimate reports what an estimate of a metric cannot be built on.
func (l Lists) checkEstimate(gains, rankings *G.Node, discounts []float64) error {
	if err := l.check(); err != nil {
		return err
	}
	if err := l.checkRows("gains", gains); err != nil {
		return err
	}
	if err := l.checkRankings(rankings); err != nil {
		return err
	}
	return checkDiscounts(discounts)
}

func checkDiscounts(discounts []float64) error {
	if len(discounts) == 0 {
		return fmt.Errorf("no discounts: want one for every rank that counts")
	}
	for k, d := range discounts {
		if d-d != 0 { // NaN or infinite
			return fmt.Errorf("discount %d is %v: discounts must be finite", k, d)
		}
	}
	return nil
}

// estimate is what is estimated from the rankings.
type estimate struct {
	estimator plackett.Estimator
	name      string
	discounts []float64
}

func (e *estimate) String() string { return fmt.Sprintf("%s{discounts: %v", e.name, e.discounts) }

// read gives the gains and the rankings of a query.
func (e *estimate) read(values []G.Value) (func(list) ([]float64, plackett.Rankings, error), error) {
	gains, err := numbersOf(values[1])
	if err != nil {
		return nil, fmt.Errorf("ops: %s: gains: %w", e.name, err)
	}
	rankings, err := rankingsOf(values[2])
	if err != nil {
		return nil, fmt.Errorf("ops: %s: %w", e.name, err)
	}
	return func(l list) ([]float64, plackett.Rankings, error) {
		l.gains = gains.read(l.gains, l.from, l.to)
		r := rankings(l)
		return l.gains, r, checkCutoff(e.discounts, r, len(l.scores))
	}, nil
}

var estimatesVector = G.TensorType{Dims: 1, Of: tensor.Float64}

// estimateOp is scores, gains, rankings[, offsets] → λ of every row, and then the
// metric of every query, both from one reading of the rankings. They are float64
// whatever the scores are: numbers are rounded once, when they are made use of.
type estimateOp struct {
	listOp
	estimate
	notDifferentiable
}

var (
	_ G.SDOp = &estimateOp{}
	_ G.ADOp = &estimateOp{}
	_ G.SDOp = &plRankOp{}
	_ G.ADOp = &plRankOp{}
)

func (op *estimateOp) Arity() int    { return op.arity(2) }
func (op *estimateOp) Type() hm.Type { return op.fn(estimatesVector, tensorOf(1), intRankings) }

func (op *estimateOp) InferShape(in ...G.DimSizer) (tensor.Shape, error) {
	rows, err := in[0].DimSize(0)
	if err != nil {
		return nil, err
	}
	q, err := op.queries(in)
	return tensor.Shape{rows + q}, err
}

func (op *estimateOp) Do(values ...G.Value) (G.Value, error) {
	read, err := op.read(values)
	if err != nil {
		return nil, err
	}
	rows := values[0].Shape().TotalSize()
	out := op.out.get(tensor.Float64, tensor.Shape{rows + values[2].Shape()[0]})
	estimates := out.Float64s()
	clear(estimates)
	err = op.eachList(op.name, values, func(l list) error {
		gains, rankings, err := read(l)
		if err != nil {
			return err
		}
		estimates[rows+l.query], err = l.kernel.Gradient(op.estimator, l.scores, gains, op.discounts, rankings, estimates[l.from:l.to])
		return err
	})
	return out, err
}

func (op *estimateOp) WriteHash(h hash.Hash) { hashText(h, op) }
func (op *estimateOp) Hashcode() uint32      { return hashOf(op) }
func (op *estimateOp) String() string {
	return fmt.Sprintf("%v, offsets: %t}", &op.estimate, op.offsets)
}

// plRankOp is scores, estimates[, offsets] → metric of every query, whose gradient
// with respect to the scores is the λ of the estimates.
type plRankOp struct {
	listOp
	name string
}

func (op *plRankOp) Arity() int    { return op.arity(1) }
func (op *plRankOp) Type() hm.Type { return op.fn(tensorOf(1), estimatesVector) }

func (op *plRankOp) InferShape(in ...G.DimSizer) (tensor.Shape, error) {
	q, err := op.queries(in)
	return tensor.Shape{q}, err
}

func (op *plRankOp) Do(values ...G.Value) (G.Value, error) {
	estimates, err := numbersOf(values[1])
	if err != nil {
		return nil, fmt.Errorf("ops: %s: %w", op.name, err)
	}
	rows := values[0].Shape().TotalSize()
	out, metric, err := op.output(values[0], estimates.len()-rows)
	if err != nil {
		return nil, err
	}
	for q := range metric.len() {
		metric.set(q, estimates.at(rows+q))
	}
	return out, nil
}

func (op *plRankOp) DiffWRT(inputs int) []bool { return firstOf(inputs) }

func (op *plRankOp) backward() *plRankDiffOp { return &plRankDiffOp{listOp: op.fresh(), name: op.name} }

// SymDiff gives the scores the λ of the estimates, times what comes in for their query.
func (op *plRankOp) SymDiff(inputs G.Nodes, _, grad *G.Node) (G.Nodes, error) {
	return scoresGradient(op.backward(), inputs, inputs[1:2], grad)
}

func (op *plRankOp) DoDiff(_ G.ExecutionContext, inputs G.Nodes, output *G.Node) error {
	return addScoresGradient(op.backward(), inputs, inputs[1:2], output)
}

func (op *plRankOp) WriteHash(h hash.Hash) { hashText(h, op) }
func (op *plRankOp) Hashcode() uint32      { return hashOf(op) }
func (op *plRankOp) String() string        { return fmt.Sprintf("%s{offsets: %t}", op.name, op.offsets) }

// plRankDiffOp is scores, estimates, gradient of every query[, offsets] → λ times it.
type plRankDiffOp struct {
	listOp
	name string
}

func (op *plRankDiffOp) Arity() int    { return op.arity(2) }
func (op *plRankDiffOp) Type() hm.Type { return op.fn(tensorOf(1), estimatesVector, tensorOf(1)) }

func (op *plRankDiffOp) InferShape(in ...G.DimSizer) (tensor.Shape, error) {
	return in[0].(tensor.Shape).Clone(), nil
}

func (op *plRankDiffOp) Do(values ...G.Value) (G.Value, error) {
	estimates, err := numbersOf(values[1])
	if err != nil {
		return nil, fmt.Errorf("ops: %s: %w", op.name, err)
	}
	gradient, err := numbersOf(values[2])
	if err != nil {
		return nil, fmt.Errorf("ops: %s: gradient: %w", op.name, err)
	}
	out, lambda, err := op.output(values[0], values[0].Shape()[0])
	if err != nil {
		return nil, err
	}
	offsets := []int{0, lambda.len()}
	if op.offsets {
		if offsets, err = intsOf(values[3]); err != nil {
			return nil, fmt.Errorf("ops: %s: offsets: %w", op.name, err)
		}
	}
	for q, to := range offsets[1:] {
		incoming := gradient.at(q)
		for row := offsets[q]; row < to; row++ {
			lambda.set(row, incoming*estimates.at(row))
		}
	}
	return out, nil
}

func (op *plRankDiffOp) WriteHash(h hash.Hash) { hashText(h, op) }
func (op *plRankDiffOp) Hashcode() uint32      { return hashOf(op) }
func (op *plRankDiffOp) String() string {
	return fmt.Sprintf("%s{offsets: %t}Diff", op.name, op.offsets)
}

// firstOf says that an op is differentiable in the first of its inputs only.
func firstOf(inputs int) []bool {
	wrt := make([]bool, inputs)
	wrt[0] = true
	return wrt
}

// scoresGradient applies a backward op to the scores, the other inputs it needs, the
// gradient that comes in, and the offsets, if the forward op has any.
func scoresGradient(op listDiffOp, inputs, others G.Nodes, grad *G.Node) (G.Nodes, error) {
	in := append(append(G.Nodes{inputs[0]}, others...), grad)
	if op.hasOffsets() {
		in = append(in, inputs[len(inputs)-1])
	}
	d, err := G.ApplyOp(op, in...)
	if err != nil {
		return nil, err
	}
	grads := make(G.Nodes, len(inputs))
	grads[0] = d
	return grads, nil
}

// addScoresGradient is the same for the Lisp machine.
func addScoresGradient(op listDiffOp, inputs, others G.Nodes, output *G.Node) error {
	grad, err := output.Grad()
	if err != nil {
		return err
	}
	in := []G.Value{inputs[0].Value()}
	for _, n := range others {
		in = append(in, n.Value())
	}
	in = append(in, grad)
	if op.hasOffsets() {
		in = append(in, inputs[len(inputs)-1].Value())
	}
	return addGrad(inputs[0], op, in...)
}

// listDiffOp is a backward op on lists.
type listDiffOp interface {
	G.Op
	hasOffsets() bool
}

func (op *listOp) hasOffsets() bool { return op.offsets }
