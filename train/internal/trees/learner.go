// Package trees grows a forest on the gradient of a loss by the scores of all training documents.
package trees

import (
	"bytes"
	"cmp"
	"context"
	"encoding/gob"
	"errors"
	"fmt"
	"math"
	"slices"
	"strings"

	"gonum.org/v1/gonum/floats"

	"github.com/plrank/plrank/datasets"
	"github.com/plrank/plrank/forest"
	"github.com/plrank/plrank/internal/mpi"
	"github.com/plrank/plrank/internal/parallel"
	"github.com/plrank/plrank/internal/sparse"
	"github.com/plrank/plrank/losses"
	"github.com/plrank/plrank/metrics"
	"github.com/plrank/plrank/nn"
	"github.com/plrank/plrank/ranker"
	"github.com/plrank/plrank/train/internal/batches"
	"github.com/plrank/plrank/train/internal/graph"
	"github.com/plrank/plrank/train/internal/shards"
	"github.com/plrank/plrank/transforms"
)

// ChunkRows is the number of documents that a graph runs on, or that are scored, at once, at least where there are as many.
const ChunkRows = 2048

// ErrDamaged is returned when trees of a checkpoint cannot be read.
var ErrDamaged = errors.New("the checkpoint is damaged")

// Settings are what a forest learns by.
type Settings struct {
	Tree            forest.Config // of every tree, without what the other fields say; its seed is of the first tree
	Bins            int
	Rising, Falling []string // features
	Interactions    []string // sets of features, joined by +
	Transform       *transforms.Transform
	Features        map[*datasets.Dataset]*datasets.Transformed
	Data            *batches.Data
	Objective       *graph.Objective
	Terms           []losses.Term                                 // of it; nil: they are not known
	Curvature       func(in metrics.Queries, out []float64) error // in place of the one of Terms; nil: none
	Initial         *ranker.Model                                 // nil: there is none
	Refit           float64                                       // part of new values in the leaves of Initial; 0: trees are added to it
	Group           mpi.Group
}

// A Forest is the learner of a forest. Its numbers are the scores of the training documents: a step moves them along their gradient
// as far as a tree can.
type Forest struct {
	Settings
	Queries int // of a chunk at most
	inputs  int
	initial int     // trees of the initial model
	bias    float64 // and its bias

	scores   []float32       // of the training documents, without base scores
	gradient []float32       // of the loss by these
	kept     []float32       // by these, the curvatures of Terms that a gradient gives, too; nil: there are none
	chunks   []batches.Shard // the training queries, in parts that a graph runs on at once
	graphs   graph.Cache[*graph.Step]

	trees []forest.Tree
	texts [][]byte // the trees, for checkpoints
	best  int      // trees of the best model
	unit  float64  // of curvatures and gradients: 1 over the mean curvature at the first step

	binned *forest.Binned
	grower *forest.Grower
	sums   map[*datasets.Dataset]*treeSums
}

// New makes the learner of a forest.
func New(s Settings) (*Forest, error) {
	train := s.Data.Train
	f := &Forest{
		Settings: s, inputs: s.Transform.Width(), sums: map[*datasets.Dataset]*treeSums{},
		scores: make([]float32, train.Rows()), gradient: make([]float32, train.Rows()),
	}
	var err error
	if f.Tree.Monotone, err = f.monotone(); err != nil {
		return nil, fmt.Errorf("train: %w", err)
	}
	if f.Tree.Interactions, err = f.together(); err != nil {
		return nil, fmt.Errorf("train: %w", err)
	}
	queries := s.Data.Queries
	for first, rows, i := 0, 0, 0; i < len(queries); i++ {
		if rows += s.Data.Documents(queries[i]); rows >= ChunkRows || i == len(queries)-1 {
			f.chunks = append(f.chunks, batches.Shard{Number: len(f.chunks), Queries: queries[first : i+1]})
			f.Queries, first, rows = max(f.Queries, i+1-first), i+1, 0
		}
	}
	for i := range f.chunks {
		s.Data.PackWithoutFeatures(&f.chunks[i], f.Queries)
	}
	if s.Curvature == nil && train.Weights == nil && slices.ContainsFunc(s.Terms, keeps) {
		rows := 0
		for _, c := range f.chunks {
			rows = max(rows, c.Rows)
		}
		f.kept, s.Objective.Settings.Curvature = make([]float32, train.Rows()), make([]float64, rows)
	}
	return f, f.begin()
}

func keeps(t losses.Term) bool { return t.KeepsCurvature() }

// begin takes the trees of the initial model.
func (f *Forest) begin() error {
	if f.Initial == nil {
		if f.Refit > 0 {
			return errors.New("train: a refit is of the leaves of an initial model: want one (-init-model)")
		}
		return nil
	}
	initial, err := f.Initial.File().Forest()
	if f.Initial.File().Kind != ranker.ForestKind || err != nil {
		return fmt.Errorf("train: the initial model is of another architecture, %s, than the one to train, forest", f.Initial.File().Kind)
	}
	f.trees, f.bias, f.initial = initial.Trees, initial.Bias, len(initial.Trees)
	if f.Refit > 0 && (len(f.trees) == 0 || f.Tree.Monotone != nil) {
		return errors.New("train: a refit needs an initial model with trees, and new values of leaves obey neither -rising nor -falling")
	}
	for i, tree := range f.trees {
		if column := tree.Breaks(f.Tree); column >= 0 {
			return fmt.Errorf("train: tree %d of the initial model breaks -rising, -falling or -interactions for the feature %s: "+
				"train that model with the same ones", i+1, f.Data.Train.FeatureName(f.Transform.Outputs()[column]))
		}
		f.texts = append(f.texts, textOf(tree))
	}
	if f.Refit > 0 {
		f.restart()
		return nil
	}
	scores, err := f.sum(f.Data.Train)
	for row, s := range scores {
		f.scores[row] = float32(s)
	}
	return err
}

// monotone returns the constraint of each input, see forest.Config, or nil if there are none.
func (f *Forest) monotone() (inputs []int8, err error) {
	d, t := f.Data.Train, f.Transform
	if len(f.Rising)+len(f.Falling) == 0 {
		return nil, nil
	}
	signs := make([]int8, d.Width())
	for i, words := range [][]string{f.Rising, f.Falling} {
		for _, word := range words {
			columns, err := d.Choose(word)
			if err != nil {
				return nil, err
			}
			for _, column := range columns {
				sign := int8(1 - 2*i)
				if signs[column] == -sign {
					return nil, fmt.Errorf("scores cannot both never fall and never rise with the feature %s", d.FeatureName(column))
				}
				signs[column] = sign
			}
		}
	}
	for i, part := range t.Parts {
		for _, column := range t.PartColumns(i) {
			sign := signs[column]
			if part.Name == "missing" { // whether there is a value
				sign = 0
			}
			inputs = append(inputs, sign)
		}
	}
	for _, category := range t.Categories {
		if signs[category.Column] != 0 {
			return nil, fmt.Errorf("scores cannot rise or fall with the feature %s, which is categorical", d.FeatureName(category.Column))
		}
		inputs = append(inputs, 0)
	}
	return inputs, nil
}

// together returns the sets of inputs that may be in a tree together, see forest.Config, or nil if any may.
func (f *Forest) together() (sets [][]int, err error) {
	inputs := f.Transform.Outputs()
	for _, text := range f.Interactions {
		set := []int{}
		for word := range strings.SplitSeq(text, "+") {
			columns, err := f.Data.Train.Choose(word)
			if err != nil {
				return nil, err
			}
			for input, column := range inputs {
				if slices.Contains(columns, column) {
					set = append(set, input)
				}
			}
		}
		sets = append(sets, set)
	}
	return sets, nil
}

// Unknown returns the name of the first loss whose curvature is not known, "" if there is none.
func (f *Forest) Unknown() string {
	for _, term := range f.Terms {
		if !term.HasCurvature() {
			return term.Loss
		}
	}
	return ""
}

// Numbers returns the scores of the training documents and the gradient by them; no average of scores is evaluated.
func (f *Forest) Numbers() (scores, gradient, averaged []float32, arrays []nn.Array) {
	return f.scores, f.gradient, nil, []nn.Array{{Name: "scores", Shape: []int{len(f.scores)}, Bias: true}}
}

// Compute computes the loss, and its gradient by the scores. If a rank fails, all do.
func (f *Forest) Compute(ctx context.Context, _ *batches.Step, steps uint64) (loss float64, err error) {
	group := f.Group
	var first, rows []int // chunks and documents with which the part of each rank begins
	for rank := range group.Size() + 1 {
		i := rank * len(f.chunks) / group.Size()
		first, rows = append(first, i), append(rows, len(f.gradient))
		if i < len(f.chunks) {
			rows[rank] = f.Data.Train.Offsets[f.chunks[i].Queries[0]]
		}
	}
	shares := make([]float64, len(f.chunks)) // of the loss
	for i := first[group.Rank()]; i < first[group.Rank()+1] && err == nil; i++ {
		shares[i], err = f.computeChunk(ctx, &f.chunks[i], steps)
	}
	if group.Size() > 1 {
		if err = f.share(ctx, err, shares, first, rows); err != nil {
			return 0, err
		}
	}
	return batches.Sum(shares), err
}

// computeChunk computes what a chunk adds to the loss, and to the gradient.
func (f *Forest) computeChunk(ctx context.Context, c *batches.Shard, steps uint64) (loss float64, err error) {
	gradient := make([]float32, c.Rows)
	clear(f.Objective.Settings.Curvature)
	loss, err = f.differentiate(ctx, &f.graphs, c, steps, gradient)
	if f.kept != nil {
		f.eachRow(c.Queries, func(at, row int) { f.kept[row] = float32(f.Objective.Settings.Curvature[at]) })
	}
	share := float64(len(c.Queries)) / float64(len(f.Data.Queries))
	f.eachRow(c.Queries, func(at, row int) { f.gradient[row] = float32(share) * gradient[at] })
	return share * loss, err
}

// share completes the losses of chunks and the gradient: each rank has computed a part. If a rank fails, or is interrupted, all
// return an error.
func (f *Forest) share(ctx context.Context, err error, losses []float64, first, rows []int) error {
	group := f.Group
	if batches.Cancelled(ctx, err) {
		err = nil
	}
	states, begin := make([]float64, 2*group.Size()), []int{0} // of each rank: its failure, and 1 if it was interrupted
	for rank := range group.Size() {
		begin = append(begin, 2*rank+2)
	}
	states[2*group.Rank()] = float64(batches.FailureOf(err))
	if ctx.Err() != nil {
		states[2*group.Rank()+1] = 1
	}
	mpi.Share(group, states, begin)
	failed, interrupted := 0., 0.
	for i := 0; i < len(states); i += 2 {
		failed, interrupted = max(failed, states[i]), max(interrupted, states[i+1])
	}
	if err := batches.OfAll(err, shards.Failure(failed), interrupted > 0); err != nil {
		return err
	}
	mpi.Share(group, losses, first)
	mpi.Share(group, f.gradient, rows)
	if f.kept != nil {
		mpi.Share(group, f.kept, rows)
	}
	return nil
}

// eachRow calls f with the rows of queries of the training split, and where they are in a batch.
func (f *Forest) eachRow(queries []int, do func(at, row int)) {
	at, offsets := 0, f.Data.Train.Offsets
	for _, q := range queries {
		for row := offsets[q]; row < offsets[q+1]; row++ {
			do(at, row)
			at++
		}
	}
}

// differentiate computes the loss of a batch, and its gradient by the scores.
func (f *Forest) differentiate(ctx context.Context, graphs *graph.Cache[*graph.Step], b *batches.Shard, steps uint64,
	gradient []float32) (float64, error) {
	if err := ctx.Err(); err != nil {
		return 0, err
	}
	compiled, err := graphs.Get(graph.Size{Rows: b.Rows}, func() (*graph.Step, error) {
		return graph.NewScoreGradient(ctx, f.Objective, b.Rows, len(b.Packed.Offsets)-1)
	})
	if err != nil {
		return 0, err
	}
	f.eachRow(b.Queries, func(at, row int) { b.Packed.X[at] = f.scores[row] })
	f.Objective.SetStep(steps*uint64(len(f.chunks)) + uint64(b.Number))
	return batches.FiniteLoss(compiled, &b.Batch, gradient)
}

// Blame returns those training queries whose loss or gradient fails by itself.
func (f *Forest) Blame(ctx context.Context, _ *batches.Step, steps uint64) (queries []int, err error) {
	var single graph.Cache[*graph.Step] // of one query
	defer single.Close()
	return batches.Failing(ctx, f.chunks, func(alone *batches.Shard) ([]float32, error) {
		f.Data.PackWithoutFeatures(alone, 1)
		gradient := make([]float32, alone.Rows)
		_, err := f.differentiate(ctx, &single, alone, steps, gradient)
		return gradient, err
	})
}

// restart sets the scores of training documents to what they are before the first tree.
func (f *Forest) restart() {
	for row := range f.scores {
		f.scores[row] = float32(f.bias)
	}
}

// refit adds the next tree of the last model again, with other values of leaves: a part of them is the value that a new tree would have.
// A leaf of too little weight keeps its value.
func (f *Forest) refit(up, curvature []float32, rate float64) {
	d, tree := f.Data.Train, f.trees[len(f.trees)-f.initial]
	leaves, parts := make([]int, d.Rows()), d.Blocks(ChunkRows)
	one, rows := f.on(d, []forest.Tree{tree})
	parallel.For(len(parts)-1, parallel.Workers(len(parts)-1), func(_, i int) {
		x := rows(parts[i], parts[i+1])
		for row := d.Offsets[parts[i]]; row < d.Offsets[parts[i+1]]; row, x = row+1, x[one.Inputs:] {
			leaves[row] = one.Trees[0].Leaf(x)
		}
	})
	sums, weights := make([]float64, len(tree.Leaves)), make([]float64, len(tree.Leaves))
	for row, leaf := range leaves {
		sums[leaf] += float64(up[row])
		weights[leaf] += float64(curvature[row])
	}
	tree.Leaves = slices.Clone(tree.Leaves)
	for i, weight := range weights {
		if weight > 0 && weight >= f.Tree.MinWeight {
			tree.Leaves[i] += f.Refit * (rate*sums[i]/(weight+f.Tree.L2) - tree.Leaves[i])
		}
	}
	for row, leaf := range leaves {
		f.scores[row] += float32(tree.Leaves[leaf])
	}
	f.trees, f.texts = append(f.trees, tree), append(f.texts, textOf(tree))
	if len(f.trees)%f.initial == 0 {
		f.restart()
	}
}

// model returns the trees of the model that is in the first n: all, or the last ones that are refitted.
func (f *Forest) model(n int) []forest.Tree {
	if f.Refit > 0 {
		n -= n % f.initial
		return f.trees[n-f.initial : n]
	}
	return f.trees[:n]
}

// InitialTrees returns the number of trees of the initial model.
func (f *Forest) InitialTrees() int { return f.initial }

// Update grows a tree, the one of that number in the epoch and in the run, and adds it at a rate; or it refits a tree.
func (f *Forest) Update(ofEpoch int, number uint64, rate float64) error {
	if f.Refit == 0 {
		if err := f.prepareGrower(ofEpoch, number); err != nil {
			return err
		}
	}
	up, curvature := make([]float32, len(f.scores)), make([]float32, len(f.scores))
	if err := f.curve(up, curvature); err != nil {
		return graph.NewBatchError(err)
	}
	if group := f.Group; group.Size() > 1 { // whose processors may round in other ways
		group.Broadcast(mpi.Bytes(up))
		group.Broadcast(mpi.Bytes(curvature))
	}
	if f.Refit > 0 {
		f.refit(up, curvature, rate)
		return nil
	}
	values := make([]float64, len(f.scores))
	tree, err := f.grower.Grow(up, curvature, values)
	if err != nil {
		return err
	}
	floats.Scale(rate, tree.Leaves)
	for i := range tree.Nodes {
		tree.Nodes[i].Gain /= float32(f.unit)
	}
	for row, v := range values {
		f.scores[row] += float32(rate * v)
	}
	f.trees, f.texts = append(f.trees, tree), append(f.texts, textOf(tree))
	return nil
}

// prepareGrower makes the grower of an epoch, whose random numbers depend on its trees alone: runs that go on grow the same.
func (f *Forest) prepareGrower(ofEpoch int, number uint64) (err error) {
	if f.binned == nil {
		categories := map[int]int{}
		for i := range f.Transform.Categories {
			categories[f.inputs-len(f.Transform.Categories)+i] = f.Transform.Categories[i].Codes()
		}
		d := f.Data.Train
		queries := d.Blocks(ChunkRows)
		offsets := make([]int, len(queries)) // of documents
		for i, q := range queries {
			offsets[i] = d.Offsets[q]
		}
		if d.IsSparse() {
			f.binned, err = forest.BinSparse(f.Transform.Sparse(&d.Sparse), f.inputs, f.Bins)
		} else {
			f.binned, err = forest.BinParts(offsets, f.inputs, categories, f.Bins, func(i int) []float32 {
				return f.rows(d, queries[i], queries[i+1])
			})
		}
		if err != nil {
			return fmt.Errorf("train: %w", err)
		}
	}
	if ofEpoch > 1 && f.grower != nil {
		return nil
	}
	c := f.Tree
	c.L2, c.Seed = max(c.L2, math.SmallestNonzeroFloat64), c.Seed+number
	c.Queries = f.Data.Train.Offsets
	c.Part, c.Parts, c.Sum = f.Group.Rank(), f.Group.Size(), func(histogram []uint64) { mpi.Sum(f.Group, histogram) }
	if f.grower, err = forest.NewGrower(f.binned, c); err != nil {
		return fmt.Errorf("train: %w", err)
	}
	return nil
}

// curve writes what a tree grows by: how the scores are to go up, and the curvatures, both in units of the mean curvature of the
// first step, so that L2 counts documents, whatever the scale of the loss.
func (f *Forest) curve(up, curvature []float32) error {
	d, objective, scale := f.Data.Train, f.Objective.Settings, 1/float64(len(f.Data.Queries))
	workers := parallel.Workers(len(f.chunks))
	states := make([]metrics.Queries, workers)
	err := parallel.Each(len(f.chunks), workers, func(worker, i int) error {
		in := &states[worker]
		in.Discounts, in.HighestGrade = objective.Discounts, objective.HighestGrade
		for _, q := range f.chunks[i].Queries {
			from, to := d.Offsets[q], d.Offsets[q+1]
			f.fill(in, from, to)
			own, weight := make([]float64, to-from), scale
			if d.QueryWeights != nil {
				weight *= float64(d.QueryWeights[q])
			}
			known, err := f.ownCurvature(*in, own)
			if err != nil {
				return fmt.Errorf("query %s: %w", d.QueryIDs[q], err)
			}
			for at, c := range own {
				row := from + at
				if f.kept != nil {
					c += float64(f.kept[row])
				}
				if c *= weight; !known {
					c += math.Abs(float64(f.gradient[row]))
				}
				up[row], curvature[row] = -f.gradient[row], float32(c)
			}
		}
		return nil
	})
	if err != nil {
		return err
	}
	if f.unit == 0 {
		sum := 0.0
		for _, c := range curvature {
			sum += float64(c)
		}
		if f.unit = float64(len(curvature)) / sum; !batches.Finite(f.unit) {
			f.unit = 1
		}
	}
	for row := range curvature {
		up[row] = float32(f.unit * float64(up[row]))
		curvature[row] = float32(f.unit * float64(curvature[row]))
	}
	return nil
}

// ownCurvature adds the curvature of the loss of a query to out, and reports whether all of it is known.
func (f *Forest) ownCurvature(in metrics.Queries, out []float64) (known bool, err error) {
	if f.Curvature != nil {
		err := f.Curvature(in, out)
		if i := slices.IndexFunc(out, func(c float64) bool { return !(c >= 0) || math.IsInf(c, 1) }); i >= 0 && err == nil {
			err = fmt.Errorf("Custom.Curvature of document %d is %v: want a finite number of 0 or more", i, out[i])
		}
		return true, err
	}
	known = f.Terms != nil
	for _, term := range f.Terms {
		if f.kept != nil && term.KeepsCurvature() {
			continue
		}
		ofTerm, err := term.Curvature(in, out)
		if err != nil {
			return false, err
		}
		known = known && ofTerm
	}
	return known, nil
}

// fill sets the documents of a query, training documents from to to-1.
func (f *Forest) fill(in *metrics.Queries, from, to int) {
	d := f.Data.Train
	in.Scores, in.Labels, in.Gains = in.Scores[:0], d.Labels[from:to], f.Data.Gains[from:to]
	for row := from; row < to; row++ {
		score := float64(f.scores[row])
		if d.BaseScores != nil {
			score += float64(d.BaseScores[row])
		}
		in.Scores = append(in.Scores, score)
	}
	if d.Weights != nil {
		in.Weights = d.Weights[from:to]
	}
	if d.Groups != nil {
		in.Groups = d.Groups[from:to]
	}
	if d.Intents != nil {
		ints := len(d.Intents) / d.Rows()
		in.Intents = d.Intents[from*ints : to*ints]
	}
}

// rows are the inputs of the documents of queries.
func (f *Forest) rows(d *datasets.Dataset, from, to int) []float32 {
	first, end := d.Offsets[from], d.Offsets[to]
	if f.Transform.Identity() {
		return d.Features[first*f.inputs : end*f.inputs]
	}
	x := make([]float32, (end-first)*f.inputs)
	for q := from; q < to; q++ {
		f.Features[d].Query(x[(d.Offsets[q]-first)*f.inputs:(d.Offsets[q+1]-first)*f.inputs], q)
	}
	return x
}

// on returns a forest of trees and the inputs that it takes for the documents of queries: of sparse ones, the columns alone that the
// trees ask for.
func (f *Forest) on(d *datasets.Dataset, trees []forest.Tree) (ensemble *forest.Forest, rows func(from, to int) []float32) {
	ensemble = &forest.Forest{Inputs: f.inputs, Trees: trees}
	if !d.IsSparse() {
		return ensemble, func(from, to int) []float32 { return f.rows(d, from, to) }
	}
	ensemble, columns := ensemble.Compact()
	for i, c := range columns {
		columns[i] = f.Transform.Columns[c]
	}
	places := sparse.Places(columns, d.Width())
	return ensemble, func(from, to int) []float32 {
		part := d.Sparse.Cut(d.Offsets[from], d.Offsets[to])
		x := make([]float32, part.Len()*len(columns))
		part.Dense(x, len(columns), places)
		return x
	}
}

// treeSums are the sums of the first trees for the documents of a dataset.
type treeSums struct {
	trees  int
	scores []float64
}

// sum returns the scores of d by all trees.
func (f *Forest) sum(d *datasets.Dataset) ([]float64, error) {
	if err := f.restored(); err != nil {
		return nil, err
	}
	s := f.sums[d]
	if s == nil || s.trees > len(f.trees) || f.Refit > 0 {
		s = &treeSums{scores: make([]float64, d.Rows())}
		for row := range s.scores {
			s.scores[row] = f.bias
		}
		f.sums[d] = s
	}
	if s.trees == len(f.trees) {
		return s.scores, nil
	}
	trees, rows := f.on(d, f.model(len(f.trees))[s.trees:])
	scorer, parts := trees.Compile(), d.Blocks(ChunkRows)
	parallel.For(len(parts)-1, parallel.Workers(len(parts)-1), func(_, i int) {
		scorer.Add(s.scores[d.Offsets[parts[i]]:d.Offsets[parts[i+1]]], rows(parts[i], parts[i+1]))
	})
	s.trees = len(f.trees)
	return s.scores, nil
}

// Score returns the scores of all documents of d.
func (f *Forest) Score(d *datasets.Dataset, _ []int) ([]float64, error) {
	sums, err := f.sum(d)
	if err != nil {
		return nil, err
	}
	scores := slices.Clone(sums)
	for row := range d.BaseScores {
		scores[row] += float64(d.BaseScores[row])
	}
	for row, s := range scores {
		if !batches.Finite(s) {
			return nil, fmt.Errorf("%s: the score is %v: a lower learning rate, or a higher -l2, may help", d.Where(row), s)
		}
	}
	return scores, nil
}

// Parts returns nil: a forest is kept as a whole.
func (f *Forest) Parts() []batches.Part { return nil }

// KeepBest keeps the trees as the best model.
func (f *Forest) KeepBest() { f.best = len(f.trees) }

// File writes the best model, or the current one, into a file.
func (f *Forest) File(to *ranker.File, best bool) (ranker.Maker, error) {
	if err := f.restored(); err != nil {
		return nil, err
	}
	n := len(f.trees)
	if best {
		n = f.best
	}
	return nil, to.SetForest(&forest.Forest{Inputs: f.inputs, Trees: f.model(n), Bias: f.bias})
}

// Kind returns the kind of the model, and the trees that it began with.
func (f *Forest) Kind() (name string, settings any) { return ranker.ForestKind, f.initial }

// String describes the model.
func (f *Forest) String() string {
	words := fmt.Sprintf("symmetric trees of depth %d", cmp.Or(f.Tree.Depth, 6))
	if f.Tree.Leaves > 0 {
		words = fmt.Sprintf("trees of %d leaves", f.Tree.Leaves)
	}
	if f.Refit > 0 {
		return fmt.Sprintf("forest of %d trees, refitted", f.initial)
	}
	if f.initial > 0 {
		words += fmt.Sprintf(", onto %d", f.initial)
	}
	return "forest of " + words
}

// State returns what a checkpoint keeps.
func (f *Forest) State() (arrays map[string][]float32, values map[string]any) {
	return map[string][]float32{"weights": f.scores}, map[string]any{"trees": &f.texts, "best": &f.best, "unit": &f.unit}
}

// restored reads trees of a checkpoint.
func (f *Forest) restored() error {
	if len(f.texts) == len(f.trees) && 0 <= f.best && f.best <= len(f.trees) {
		return nil
	}
	f.trees = nil
	for _, text := range f.texts {
		var tree forest.Tree
		if err := gob.NewDecoder(bytes.NewReader(text)).Decode(&tree); err != nil {
			return fmt.Errorf("train: %w: tree %d: %w", ErrDamaged, len(f.trees), err)
		}
		f.trees = append(f.trees, tree)
	}
	err := (&forest.Forest{Inputs: f.inputs, Trees: f.trees, Bias: f.bias}).Check()
	if f.best < 0 || f.best > len(f.trees) {
		err = fmt.Errorf("%d trees of %d are the best", f.best, len(f.trees))
	}
	if err != nil {
		return fmt.Errorf("train: %w: %w", ErrDamaged, err)
	}
	return nil
}

func textOf(tree forest.Tree) []byte {
	var text bytes.Buffer
	if err := gob.NewEncoder(&text).Encode(tree); err != nil { // never: it is of plain numbers
		panic(err)
	}
	return text.Bytes()
}

// Close gives memory back that is made again if it is needed.
func (f *Forest) Close() {
	f.graphs.Close()
	f.binned, f.grower = nil, nil
	clear(f.sums)
}
