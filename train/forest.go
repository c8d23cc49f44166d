package train

import (
	"bytes"
	"cmp"
	"context"
	"encoding/gob"
	"fmt"
	"math"
	"slices"

	"gonum.org/v1/gonum/floats"

	"github.com/plrank/plrank/datasets"
	"github.com/plrank/plrank/forest"
	"github.com/plrank/plrank/internal/mpi"
	"github.com/plrank/plrank/internal/parallel"
	"github.com/plrank/plrank/losses"
	"github.com/plrank/plrank/nn"
	"github.com/plrank/plrank/ranker"
	"github.com/plrank/plrank/train/internal/graph"
	"github.com/plrank/plrank/train/internal/shards"
)

// A trainedForest is the learner of a forest. To the loop and its hooks, its numbers are the scores of the training
// documents: a step moves them along their gradient as far as a tree can.
type trainedForest struct {
	trainer *Trainer
	inputs  int
	initial int     // trees of the initial model
	bias    float64 // and its bias

	scores   []float32    // of the training documents, without base scores
	gradient []float32    // of the loss by these
	chunks   []shardBatch // the training queries, in parts that a graph runs on at once
	graphs   graph.Cache[*graph.Step]

	trees []forest.Tree
	texts [][]byte // the trees, for checkpoints
	best  int      // trees of the best model
	unit  float64  // of curvatures and gradients: 1 over the mean curvature at the first step

	monotone []int8 // see forest.Config
	binned   *forest.Binned
	grower   *forest.Grower
	sums     map[*datasets.Dataset]*treeSums
}

// newForest makes the learner of a forest.
func (t *Trainer) newForest() (*trainedForest, error) {
	p, train := t.parsed, t.data.splits.Train
	if c := t.Config; c.Leaves == 0 && c.Depth > forest.MaxDepth {
		return nil, fmt.Errorf("train: symmetric trees of depth %d: want at most %d, or trees of a number of leaves", c.Depth, forest.MaxDepth)
	}
	if c := t.Config; c.Bins != 0 && c.Bins < forest.LeastBins {
		return nil, fmt.Errorf("train: a forest with %d bins: want %d to %d, or 0 for 64", c.Bins, forest.LeastBins, forest.MaxBins)
	}
	f := &trainedForest{
		trainer: t, inputs: t.transform.Width(), sums: map[*datasets.Dataset]*treeSums{},
		scores: make([]float32, train.Rows()), gradient: make([]float32, train.Rows()),
	}
	var err error
	if f.monotone, err = t.monotone(); err != nil {
		return nil, fmt.Errorf("train: %w", err)
	}
	queries := 0
	for first, rows, i := 0, 0, 0; i < len(t.data.queries); i++ {
		if rows += t.data.documents(t.data.queries[i]); rows >= chunkRows || i == len(t.data.queries)-1 {
			f.chunks = append(f.chunks, shardBatch{shard: len(f.chunks), queries: t.data.queries[first : i+1]})
			queries, first, rows = max(queries, i+1-first), i+1, 0
		}
	}
	for i := range f.chunks {
		f.pack(&f.chunks[i], queries)
	}
	if initial := p.parts.Initial; initial != nil {
		of, err := initial.File().Forest()
		if initial.File().Kind != ranker.ForestKind || err != nil {
			return nil, fmt.Errorf("train: the initial model is of another architecture, %s, than the one to train, forest", initial.File().Kind)
		}
		f.trees, f.bias, f.initial = of.Trees, of.Bias, len(of.Trees)
		for _, tree := range f.trees {
			f.texts = append(f.texts, textOf(tree))
		}
		scores, err := f.sum(train)
		if err != nil {
			return nil, err
		}
		for row, s := range scores {
			f.scores[row] = float32(s)
		}
	}
	if loss, unknown := t.withoutCurvature(); unknown {
		t.warnings = append(t.warnings, fmt.Sprintf("the curvature of %s is not known: the size of its gradient stands for it", loss))
	}
	t.loop.passes, t.loop.batches.own = t.Config.treesOfEpoch(), nil // the chunks have all data
	return f, p.checkMemory(nn.MLPConfig{Features: 1}, queries)
}

// monotone returns the constraint of each input, see forest.Config, or nil if there are none.
func (t *Trainer) monotone() (inputs []int8, err error) {
	c, d := t.Config, t.data.splits.Train
	if len(c.Rising)+len(c.Falling) == 0 {
		return nil, nil
	}
	signs := make([]int8, d.Width())
	for i, words := range []Features{c.Rising, c.Falling} {
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
	for i, part := range t.transform.Parts {
		for _, column := range t.transform.PartColumns(i) {
			sign := signs[column]
			if part.Name == "missing" { // whether there is a value
				sign = 0
			}
			inputs = append(inputs, sign)
		}
	}
	for _, category := range t.transform.Categories {
		if signs[category.Column] != 0 {
			return nil, fmt.Errorf("scores cannot rise or fall with the feature %s, which is categorical", d.FeatureName(category.Column))
		}
		inputs = append(inputs, 0)
	}
	return inputs, nil
}

// treesOfEpoch is the number of trees that an epoch grows.
func (c Config) treesOfEpoch() int { return max(1, c.Trees) }

// withoutCurvature names the first loss whose curvature is not known, if there is one.
func (t *Trainer) withoutCurvature() (loss string, unknown bool) {
	terms := t.parsed.loss.terms
	i := slices.IndexFunc(terms, func(term losses.Term) bool { return !term.HasCurvature() })
	if i >= 0 {
		return terms[i].Loss, true
	}
	return t.Config.Loss, terms == nil
}

// pack fills a batch with all but the scores of its queries, for graphs of that many queries.
func (f *trainedForest) pack(b *shardBatch, queries int) {
	d, rows := f.trainer.data.splits.Train, 0
	for _, q := range b.queries {
		rows += f.trainer.data.documents(q)
	}
	b.Rows = datasets.Capacity(rows)
	b.Packed.Pack(d, noFeatures(d), b.queries, b.Rows, queries)
	packGains(&b.Batch, d, f.trainer.data.gains, b.queries...)
	b.Packed.X = make([]float32, b.Rows)
}

func (f *trainedForest) numbers() (weights, gradient []float32, arrays []nn.Array) {
	return f.scores, f.gradient, []nn.Array{{Name: "scores", Shape: []int{len(f.scores)}, Bias: true}}
}

func (f *trainedForest) compute(ctx context.Context, _ *stepBatch, steps uint64) (loss float64, err error) {
	group := f.trainer.parsed.group
	var first, rows []int // chunks and documents with which the part of each rank begins
	for rank := range group.Size() + 1 {
		i := rank * len(f.chunks) / group.Size()
		first, rows = append(first, i), append(rows, len(f.gradient))
		if i < len(f.chunks) {
			rows[rank] = f.trainer.data.splits.Train.Offsets[f.chunks[i].queries[0]]
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
	return sum(shares), err
}

// computeChunk computes what a chunk adds to the loss, and to the gradient.
func (f *trainedForest) computeChunk(ctx context.Context, c *shardBatch, steps uint64) (loss float64, err error) {
	gradient := make([]float32, c.Rows)
	loss, err = f.differentiate(ctx, &f.graphs, c, steps, gradient)
	share := float64(len(c.queries)) / float64(len(f.trainer.data.queries))
	f.eachRow(c.queries, func(at, row int) { f.gradient[row] = float32(share) * gradient[at] })
	return share * loss, err
}

// share completes the losses of chunks and the gradient: each rank has computed a part. If a rank fails, or is interrupted, all
// return an error.
func (f *trainedForest) share(ctx context.Context, err error, losses []float64, first, rows []int) error {
	group := f.trainer.parsed.group
	if cancelled(ctx, err) {
		err = nil
	}
	states, begin := make([]float64, 2*group.Size()), []int{0} // of each rank: its failure, and 1 if it was interrupted
	for rank := range group.Size() {
		begin = append(begin, 2*rank+2)
	}
	states[2*group.Rank()] = float64(failureOf(err))
	if ctx.Err() != nil {
		states[2*group.Rank()+1] = 1
	}
	mpi.Share(group, states, begin)
	failed, interrupted := 0., 0.
	for i := 0; i < len(states); i += 2 {
		failed, interrupted = max(failed, states[i]), max(interrupted, states[i+1])
	}
	if err := ofAll(err, shards.Failure(failed), interrupted > 0); err != nil {
		return err
	}
	mpi.Share(group, losses, first)
	mpi.Share(group, f.gradient, rows)
	return nil
}

// eachRow calls f with the rows of queries of the training split, and where they are in a batch.
func (f *trainedForest) eachRow(queries []int, do func(at, row int)) {
	at, offsets := 0, f.trainer.data.splits.Train.Offsets
	for _, q := range queries {
		for row := offsets[q]; row < offsets[q+1]; row++ {
			do(at, row)
			at++
		}
	}
}

// differentiate computes the loss of a batch, and its gradient by the scores.
func (f *trainedForest) differentiate(ctx context.Context, graphs *graph.Cache[*graph.Step], b *shardBatch, steps uint64, gradient []float32) (float64, error) {
	if err := ctx.Err(); err != nil {
		return 0, err
	}
	objective := f.trainer.loop.objective
	compiled, err := graphs.Get(b.Rows, func() (*graph.Step, error) {
		return graph.NewScoreGradient(ctx, objective, b.Rows, len(b.Packed.Offsets)-1)
	})
	if err != nil {
		return 0, err
	}
	f.eachRow(b.queries, func(at, row int) { b.Packed.X[at] = f.scores[row] })
	objective.SetStep(steps*uint64(len(f.chunks)) + uint64(b.shard))
	return finiteLoss(compiled, &b.Batch, gradient)
}

func (f *trainedForest) blame(ctx context.Context, b *stepBatch, _ func(*shardBatch, int), steps uint64) (queries []int, err error) {
	var single graph.Cache[*graph.Step] // of one query
	defer single.Close()
	return failing(ctx, f.chunks, func(alone *shardBatch) ([]float32, error) {
		f.pack(alone, 1)
		gradient := make([]float32, alone.Rows)
		_, err := f.differentiate(ctx, &single, alone, steps, gradient)
		return gradient, err
	})
}

// update grows a tree.
func (f *trainedForest) update(s *Step) error {
	if err := f.prepareGrower(s); err != nil {
		return err
	}
	up, curvature := make([]float32, len(f.scores)), make([]float32, len(f.scores))
	if err := f.curve(s.Gradient, up, curvature); err != nil {
		return graph.NewBatchError(err)
	}
	if group := f.trainer.parsed.group; group.Size() > 1 { // whose processors may round in other ways
		group.Broadcast(mpi.Bytes(up))
		group.Broadcast(mpi.Bytes(curvature))
	}
	values := make([]float64, len(f.scores))
	tree, err := f.grower.Grow(up, curvature, values)
	if err != nil {
		return fmt.Errorf("train: %w", err)
	}
	floats.Scale(s.Rate, tree.Leaves)
	for i := range tree.Nodes {
		tree.Nodes[i].Gain /= float32(f.unit)
	}
	for row, v := range values {
		s.Weights[row] += float32(s.Rate * v)
	}
	f.trees, f.texts = append(f.trees, tree), append(f.texts, textOf(tree))
	return nil
}

// prepareGrower makes the grower of an epoch, whose random numbers depend on its trees alone: runs that go on grow the same.
func (f *trainedForest) prepareGrower(s *Step) (err error) {
	t := f.trainer
	if f.binned == nil {
		categories := map[int]int{}
		for i := range t.transform.Categories {
			categories[f.inputs-len(t.transform.Categories)+i] = t.transform.Categories[i].Codes()
		}
		d := t.data.splits.Train
		queries := d.Blocks(chunkRows)
		offsets := make([]int, len(queries)) // of documents
		for i, q := range queries {
			offsets[i] = d.Offsets[q]
		}
		f.binned, err = forest.BinParts(offsets, f.inputs, categories, t.Config.Bins, func(i int) []float32 { return f.rows(d, queries[i], queries[i+1]) })
		if err != nil {
			return fmt.Errorf("train: %w", err)
		}
	}
	if s.Step > 1 && f.grower != nil {
		return nil
	}
	c := t.Config
	f.grower, err = forest.NewGrower(f.binned, forest.Config{
		Symmetric: c.Leaves == 0, Depth: c.Depth, Leaves: c.Leaves, Rate: 1, L2: max(c.L2, math.SmallestNonzeroFloat64), Rows: c.Sampling, Columns: c.FeatureSampling,
		Monotone: f.monotone, Seed: c.Seed + s.Number, Processes: t.parsed.group,
	})
	if err != nil {
		return fmt.Errorf("train: %w", err)
	}
	return nil
}

// curve writes what a tree grows by: how the scores are to go up, and the curvatures, both in units of the mean curvature of the
// first step, so that L2 counts documents, whatever the scale of the loss.
func (f *trainedForest) curve(gradient, up, curvature []float32) error {
	t := f.trainer
	d, loss := t.data.splits.Train, t.parsed.loss
	labels, scale := t.loop.objective.Settings, 1/float64(len(t.data.queries))
	workers := parallel.Workers(len(f.chunks))
	states := make([]losses.Query, workers)
	err := parallel.Each(len(f.chunks), workers, func(worker, i int) error {
		in := &states[worker]
		in.Discounts, in.HighestGrade = labels.Discounts, labels.HighestGrade
		for _, q := range f.chunks[i].queries {
			from, to := d.Offsets[q], d.Offsets[q+1]
			in.Scores, in.Gains, in.Labels = in.Scores[:0], in.Gains[:0], in.Labels[:0]
			for row := from; row < to; row++ {
				score := float64(f.scores[row])
				if d.BaseScores != nil {
					score += float64(d.BaseScores[row])
				}
				in.Scores, in.Gains, in.Labels = append(in.Scores, score), append(in.Gains, float64(t.data.gains[row])), append(in.Labels, float64(d.Labels[row]))
			}
			if d.Weights != nil {
				in.Weights = in.Weights[:0]
				for _, w := range d.Weights[from:to] {
					in.Weights = append(in.Weights, float64(w))
				}
			}
			if d.Intents != nil {
				in.Intents = d.Intents[from:to]
			}
			own, weight, all := make([]float64, to-from), scale, loss.terms != nil
			if d.QueryWeights != nil {
				weight *= float64(d.QueryWeights[q])
			}
			for _, term := range loss.terms {
				known, err := term.Curvature(in, own)
				if err != nil {
					return fmt.Errorf("query %s: %w", d.QueryIDs[q], err)
				}
				all = all && known
			}
			for at, c := range own {
				row := from + at
				if c *= weight; !all {
					c += math.Abs(float64(gradient[row]))
				}
				up[row], curvature[row] = -gradient[row], float32(c)
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
		if f.unit = float64(len(curvature)) / sum; !finite(f.unit) {
			f.unit = 1
		}
	}
	for row := range curvature {
		up[row] = float32(f.unit * float64(up[row]))
		curvature[row] = float32(f.unit * float64(curvature[row]))
	}
	return nil
}

// rows are the inputs of the documents of queries.
func (f *trainedForest) rows(d *datasets.Dataset, from, to int) []float32 {
	first, end, t := d.Offsets[from], d.Offsets[to], f.trainer
	if t.transform.Identity() {
		return d.Features[first*f.inputs : end*f.inputs]
	}
	x := make([]float32, (end-first)*f.inputs)
	for q := from; q < to; q++ {
		t.data.features[d].Query(x[(d.Offsets[q]-first)*f.inputs:(d.Offsets[q+1]-first)*f.inputs], q)
	}
	return x
}

// treeSums are the sums of the first trees for the documents of a dataset.
type treeSums struct {
	trees  int
	scores []float64
}

// sum returns the scores of d by all trees.
func (f *trainedForest) sum(d *datasets.Dataset) ([]float64, error) {
	if err := f.restored(); err != nil {
		return nil, err
	}
	s := f.sums[d]
	if s == nil || s.trees > len(f.trees) {
		s = &treeSums{scores: make([]float64, d.Rows())}
		for row := range s.scores {
			s.scores[row] = f.bias
		}
		f.sums[d] = s
	}
	if s.trees == len(f.trees) {
		return s.scores, nil
	}
	scorer, parts := (&forest.Forest{Inputs: f.inputs, Trees: f.trees[s.trees:]}).Compile(), d.Blocks(chunkRows)
	parallel.For(len(parts)-1, parallel.Workers(len(parts)-1), func(_, i int) {
		scorer.Add(s.scores[d.Offsets[parts[i]]:d.Offsets[parts[i+1]]], f.rows(d, parts[i], parts[i+1]))
	})
	s.trees = len(f.trees)
	return s.scores, nil
}

func (f *trainedForest) score(d *datasets.Dataset, _ []int) ([]float64, error) {
	sums, err := f.sum(d)
	if err != nil {
		return nil, err
	}
	scores := slices.Clone(sums)
	for row := range d.BaseScores {
		scores[row] += float64(d.BaseScores[row])
	}
	for row, s := range scores {
		if !finite(s) {
			return nil, fmt.Errorf("%s: the score is %v: a lower learning rate, or a higher -l2, may help", d.Where(row), s)
		}
	}
	return scores, nil
}

func (f *trainedForest) keepBest() { f.best = len(f.trees) }

func (f *trainedForest) file(best bool) (*ranker.File, ranker.Maker, error) {
	if err := f.restored(); err != nil {
		return nil, nil, err
	}
	t, trees := f.trainer, f.trees
	if best {
		trees = trees[:f.best]
	}
	file := fileFor(t.transform, t.data.splits.Train, t.Config.Gain)
	return file, nil, file.SetForest(&forest.Forest{Inputs: f.inputs, Trees: trees, Bias: f.bias})
}

func (f *trainedForest) kind() (name string, settings any) { return ranker.ForestKind, f.initial }

func (f *trainedForest) String() string {
	c := f.trainer.Config
	words := fmt.Sprintf("symmetric trees of depth %d", cmp.Or(c.Depth, 6))
	if c.Leaves > 0 {
		words = fmt.Sprintf("trees of %d leaves", c.Leaves)
	}
	if f.initial > 0 {
		words += fmt.Sprintf(", onto %d", f.initial)
	}
	return "forest of " + words
}

func (f *trainedForest) state() State {
	return State{
		Arrays: map[string][]float32{"weights": f.scores},
		Values: map[string]any{"trees": &f.texts, "best": &f.best, "unit": &f.unit},
	}
}

// restored reads trees of a checkpoint.
func (f *trainedForest) restored() error {
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

func (f *trainedForest) close() {
	f.graphs.Close()
	f.binned, f.grower = nil, nil
	clear(f.sums)
}
