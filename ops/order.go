package ops

import (
	"cmp"
	"fmt"
	"hash"
	"math"
	"slices"

	"github.com/chewxy/hm"
	G "gorgonia.org/gorgonia"
	"gorgonia.org/tensor"
)

// Order ranks the documents of every list by score plus noise, once for every
// sample: an int node [samples × rows], sample after sample. The rows of a query
// hold its row numbers in descending order of m + noise, ties by row; −1 stands
// in padding rows and in samples whose noise is NaN. noise is [samples × rows],
// from [Gumbel] or elsewhere. The node is not differentiable.
func Order(l Lists, noise *G.Node) (*G.Node, error) {
	err := l.check()
	if err == nil {
		err = l.checkSamples("noise", noise, l.Scores.Dtype())
	}
	if err != nil {
		return nil, fmt.Errorf("ops: Order: %w", err)
	}
	return G.ApplyOp(&orderOp{listOp: newListOp(l)}, l.with(noise)...)
}

// checkSamples reports a node that is not a number of samples of all rows.
func (l Lists) checkSamples(name string, n *G.Node, dt tensor.Dtype) error {
	if err := checkNode(name, n, 1, dt); err != nil {
		return err
	}
	if size := n.Shape()[0]; size == 0 || size%l.rows() != 0 {
		return fmt.Errorf("%s of shape %v: want a multiple of the %d rows", name, n.Shape(), l.rows())
	}
	return nil
}

// orderOp is scores, noise[, offsets] → order.
type orderOp struct {
	listOp
	notDifferentiable
}

var (
	_ G.SDOp = &orderOp{}
	_ G.ADOp = &orderOp{}

	_ G.SDOp = &pairsOp{}
	_ G.ADOp = &pairsOp{}
)

func (op *orderOp) Arity() int    { return op.arity(1) }
func (op *orderOp) Type() hm.Type { return op.fn(intVector, tensorOf(1)) }

func (op *orderOp) InferShape(in ...G.DimSizer) (tensor.Shape, error) {
	return in[1].(tensor.Shape).Clone(), nil
}

func (op *orderOp) Do(values ...G.Value) (G.Value, error) {
	noise, err := numbersOf(values[1])
	if err != nil {
		return nil, fmt.Errorf("ops: Order: noise: %w", err)
	}
	out := op.out.get(tensor.Int, tensor.Shape{noise.len()})
	order := out.Ints()
	for i := range order {
		order[i] = -1
	}
	rows := values[0].Shape()[0]
	err = op.eachList("Order", values, func(l list) error {
		for first := 0; first < noise.len(); first += rows {
			if math.IsNaN(noise.at(first + l.from)) {
				continue // an absent sample
			}
			l.gains = noise.read(l.gains, first+l.from, first+l.to)
			for d, m := range l.scores {
				l.gains[d] += m
				if math.IsNaN(l.gains[d]) || math.IsInf(m, 0) {
					return fmt.Errorf("row %d: score %v plus noise is %v: both must be numbers", l.from+d, m, l.gains[d])
				}
			}
			mine := order[first+l.from : first+l.to]
			for d := range mine {
				mine[d] = l.from + d
			}
			slices.SortFunc(mine, func(a, b int) int {
				if c := cmp.Compare(l.gains[b-l.from], l.gains[a-l.from]); c != 0 {
					return c
				}
				return cmp.Compare(a, b)
			})
		}
		return nil
	})
	return out, err
}

func (op *orderOp) WriteHash(h hash.Hash) { hashText(h, op) }
func (op *orderOp) Hashcode() uint32      { return hashOf(op) }
func (op *orderOp) String() string        { return fmt.Sprintf("Order{offsets: %t}", op.offsets) }

// Pairs are the pairs of documents that stand at most as many ranks apart in an
// [Order] as there are discounts, in all samples. All three nodes have the shape
// [samples × rows × discounts]: one place for every document and distance, of
// which those without a pair have numbers 0 and a drop of 0.
type Pairs struct {
	// Better and Worse are int: for the document of larger and of smaller gain
	// of the pair (of equal gains: of better and of worse rank), its number in
	// a vector [samples × rows].
	Better, Worse *G.Node
	// Rows is int, [samples × rows]: the row of every number in such a vector.
	Rows *G.Node
	// Drops have the dtype of the scores: with δ the distance in ranks,
	// θ_δ − θ_{δ+1}, where θ is 0 beyond the last discount, over the number of
	// samples present and of queries with documents.
	Drops *G.Node
}

// RankPairs gives the pairs of an [Order]. gains is [rows]. The nodes are not
// differentiable.
func RankPairs(l Lists, gains, order *G.Node, discounts []float64) (Pairs, error) {
	err := l.check()
	if err == nil {
		err = l.checkRows("gains", gains)
	}
	if err == nil {
		err = l.checkSamples("order", order, tensor.Int)
	}
	if err == nil {
		err = checkDiscounts(discounts)
	}
	var p Pairs
	for _, part := range []struct {
		name string
		node **G.Node
	}{{"better", &p.Better}, {"worse", &p.Worse}, {"rows", &p.Rows}, {"drops", &p.Drops}} {
		if err == nil {
			op := &pairsOp{listOp: newListOp(l), part: part.name, discounts: append([]float64(nil), discounts...)}
			*part.node, err = G.ApplyOp(op, l.with(gains, order)...)
		}
	}
	if err != nil {
		return Pairs{}, fmt.Errorf("ops: RankPairs: %w", err)
	}
	return p, nil
}

// pairsOp is scores, gains, order[, offsets] → one part of the pairs. Of the scores
// it uses the shape.
type pairsOp struct {
	listOp
	notDifferentiable
	part      string
	discounts []float64
}

func (op *pairsOp) Arity() int { return op.arity(2) }

func (op *pairsOp) Type() hm.Type {
	if op.part == "drops" {
		return op.fn(tensorOf(1), tensorOf(1), intVector)
	}
	return op.fn(intVector, tensorOf(1), intVector)
}

func (op *pairsOp) InferShape(in ...G.DimSizer) (tensor.Shape, error) {
	n, err := in[2].DimSize(0)
	if op.part != "rows" {
		n *= len(op.discounts)
	}
	return tensor.Shape{n}, err
}

func (op *pairsOp) Do(values ...G.Value) (G.Value, error) {
	gains, err := numbersOf(values[1])
	if err != nil {
		return nil, fmt.Errorf("ops: RankPairs: gains: %w", err)
	}
	order, err := intsOf(values[2])
	if err != nil {
		return nil, fmt.Errorf("ops: RankPairs: order: %w", err)
	}
	_, weight, err := op.queryWeight(values)
	if err != nil {
		return nil, err
	}
	if op.part == "rows" {
		out := op.out.get(tensor.Int, tensor.Shape{len(order)})
		for i, rows := 0, out.Ints(); i < len(rows); i++ {
			rows[i] = i % values[0].Shape()[0]
		}
		return out, nil
	}
	k := len(op.discounts)
	size := len(order) * k
	if op.part == "drops" {
		out, drops, err := op.output(values[0], size)
		if err != nil {
			return nil, err
		}
		return out, op.eachRanked(values, order, func(l rankedList, first int, ranked []int) {
			scale := weight / float64(l.samples)
			for rank := range ranked {
				at := (first + l.from + rank) * k
				for distance := 1; distance <= k && rank+distance < len(ranked); distance++ {
					drop := op.discounts[distance-1]
					if distance < k {
						drop -= op.discounts[distance]
					}
					drops.set(at+distance-1, drop*scale)
				}
			}
		})
	}
	out := op.out.get(tensor.Int, tensor.Shape{size})
	numbers := out.Ints()
	clear(numbers)
	return out, op.eachRanked(values, order, func(l rankedList, first int, ranked []int) {
		for rank, a := range ranked {
			at := (first + l.from + rank) * k
			for distance := 1; distance <= k && rank+distance < len(ranked); distance++ {
				b := ranked[rank+distance]
				number := a
				if swapped := gains.at(b) > gains.at(a); swapped == (op.part == "better") {
					number = b
				}
				numbers[at+distance-1] = first + number
			}
		}
	})
}

// rankedList is a list with the number of samples present.
type rankedList struct {
	list
	samples int
}

// eachRanked calls f with every ranking of every query that is present, and with the
// number of the first row of its sample.
func (op *pairsOp) eachRanked(values []G.Value, order []int, f func(l rankedList, first int, ranked []int)) error {
	rows := values[0].Shape()[0]
	return op.eachList("RankPairs", values, func(l list) error {
		samples := 0
		for first := 0; first < len(order); first += rows {
			present := order[first+l.from] != -1
			for _, row := range order[first+l.from : first+l.to] {
				if (row != -1) != present || present && (row < l.from || row >= l.to) {
					return fmt.Errorf("order has row %d where one of %d to %d is due", row, l.from, l.to-1)
				}
			}
			if present {
				samples++
			}
		}
		for first := 0; first < len(order); first += rows {
			if ranked := order[first+l.from : first+l.to]; ranked[0] != -1 {
				f(rankedList{l, samples}, first, ranked)
			}
		}
		return nil
	})
}

func (op *pairsOp) WriteHash(h hash.Hash) { hashText(h, op) }
func (op *pairsOp) Hashcode() uint32      { return hashOf(op) }
func (op *pairsOp) String() string {
	return fmt.Sprintf("RankPairs{%s, discounts: %v, offsets: %t}", op.part, op.discounts, op.offsets)
}
