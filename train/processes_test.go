package train

import (
	"context"
	"errors"
	"fmt"
	"math"
	"math/rand/v2"
	"path/filepath"
	"reflect"
	"slices"
	"strings"
	"sync"
	"testing"

	G "gorgonia.org/gorgonia"
	"pgregory.net/rapid"

	"github.com/plrank/plrank/datasets"
	"github.com/plrank/plrank/losses"
)

// inProcess are processes whose ranks are goroutines.
type inProcess struct {
	size  int
	mu    sync.Mutex
	all   *sync.Cond
	here  int    // ranks that have come to the call at hand
	round int    // calls that are over
	calls []call // of the ranks
}

type call struct {
	what     string
	dst, src []byte
}

type rankOf struct {
	*inProcess
	rank int
}

func newInProcess(size int) *inProcess {
	g := &inProcess{size: size, calls: make([]call, size)}
	g.all = sync.NewCond(&g.mu)
	return g
}

func (r rankOf) Rank() int { return r.rank }
func (r rankOf) Size() int { return r.size }

func (r rankOf) Broadcast(b []byte)        { r.call(call{"broadcast", b, b}) }
func (r rankOf) Allgather(dst, src []byte) { r.call(call{"all-gather", dst, src}) }
func (r rankOf) Alltoall(dst, src []byte)  { r.call(call{"all-to-all", dst, src}) }

// call waits for all ranks; the last one does what they came for.
func (r rankOf) call(c call) {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.calls[r.rank] = c
	round := r.round
	if r.here++; r.here < r.size {
		for round == r.round {
			r.all.Wait()
		}
		return
	}
	r.here = 0
	r.round++
	defer r.all.Broadcast()
	for i, of := range r.calls {
		if of.what != c.what || len(of.src) != len(c.src) || len(of.dst) != len(c.dst) {
			panic(fmt.Sprintf("rank %d calls %s of %d bytes, rank %d %s of %d", i, of.what, len(of.src), r.rank, c.what, len(c.src)))
		}
		part := len(c.src) / r.size
		switch c.what {
		case "broadcast":
			copy(of.dst, r.calls[0].src)
		case "all-gather":
			for j, from := range r.calls {
				copy(of.dst[j*len(from.src):], from.src)
			}
		case "all-to-all":
			for j, from := range r.calls {
				copy(of.dst[j*part:(j+1)*part], from.src[i*part:])
			}
		}
	}
}

// onRanks calls f as every rank, at the same time, and gives the errors.
func onRanks(size int, f func(g Processes) error) []error {
	g := newInProcess(size)
	errs := make([]error, size)
	var wait sync.WaitGroup
	for rank := range size {
		wait.Go(func() { errs[rank] = f(rankOf{g, rank}) })
	}
	wait.Wait()
	return errs
}

// onEach trains c on so many ranks, and gives the history and the weights of each.
func onEach(t *testing.T, size int, c Config, parts Parts) (histories [][]Epoch, weights [][]float32) {
	t.Helper()
	histories, weights = make([][]Epoch, size), make([][]float32, size)
	for _, err := range onRanks(size, func(g Processes) error {
		parts := parts
		parts.Processes = g
		tr, err := New(c.Plain(), parts, small())
		if err != nil {
			return err
		}
		r, err := tr.Run(ctx, Hooks{})
		if err != nil {
			return err
		}
		histories[g.Rank()], weights[g.Rank()] = timeless(r.History), trainedWeights(r.Ranker)
		return nil
	}) {
		if err != nil {
			t.Fatal(err)
		}
	}
	return histories, weights
}

// However many ranks there are, each ends with the model, and the history, of a single
// process: powers of two and others, numbers of shards that they divide or do not, steps with
// fewer queries than shards, and all that is random.
func TestSameForAnyNumberOfRanks(t *testing.T) {
	for _, of := range []struct {
		loss   string
		shards int
		ranks  []int
	}{
		{"plrank-exact", 1, []int{1}},
		{"plrank-exact", 4, []int{1, 2, 3, 4}},
		{"plrank-rb", 7, []int{2, 3, 4, 7}},
		{"policy-gradient", 8, []int{2, 8}},
	} {
		c := busy("adam")
		c.Shards, c.Epochs, c.Loss = of.shards, 2, of.loss
		one := mustRun(t, mustNew(t, c, small()), Hooks{})
		for _, ranks := range of.ranks {
			histories, weights := onEach(t, ranks, c, Parts{})
			for rank := range ranks {
				if !reflect.DeepEqual(histories[rank], timeless(one.History)) {
					t.Errorf("%d shards, rank %d of %d: history %+v, want %+v", of.shards, rank, ranks, histories[rank], timeless(one.History))
				}
				if !slices.Equal(weights[rank], trainedWeights(one.Ranker)) {
					t.Errorf("%d shards, rank %d of %d: another model", of.shards, rank, ranks)
				}
			}
		}
	}
}

// The gradient of a step is that of all its queries, however they are divided: to
// rounding, where nothing is random.
func TestShardsHaveTheGradientOfTheStep(t *testing.T) {
	c := busy("sgd")
	c.Loss, c.Dropout, c.Batch = "plrank-exact", 0, 11
	one := mustNew(t, c, small())
	order := one.order(0)
	var whole stepBatch
	one.packStep(&whole, order, 0)
	want, err := one.lossAndGradient(ctx, &whole)
	if err != nil {
		t.Fatal(err)
	}
	for _, shards := range []int{2, 3, 8, 13} {
		c.Shards = shards
		other := mustNew(t, c, small())
		var divided stepBatch
		other.packStep(&divided, order, 0)
		loss, err := other.lossAndGradient(ctx, &divided)
		if err != nil {
			t.Fatal(err)
		}
		if math.Abs(loss-want) > 1e-6*math.Abs(want) {
			t.Errorf("%d shards: loss %v, want %v", shards, loss, want)
		}
		for i, g := range other.gradient {
			if math.Abs(float64(g-one.gradient[i])) > 1e-5 {
				t.Errorf("%d shards: gradient %d is %v, want %v", shards, i, g, one.gradient[i])
			}
		}
	}
}

// An epoch has every query once; position i is of shard i mod S, whose queries stand
// together in the data; and an epoch differs from the next one in the order alone.
func TestOrder(t *testing.T) {
	rapid.Check(t, func(rt *rapid.T) {
		n, shards := rapid.IntRange(0, 40).Draw(rt, "queries"), rapid.IntRange(1, 12).Draw(rt, "shards")
		tr := &Trainer{parsed: &parsed{Config: Config{Optimization: Optimization{Shards: shards}, Seed: rapid.Uint64().Draw(rt, "seed")}}}
		d := &datasets.Dataset{Offsets: []int{0}}
		for q := range 3 * n {
			d.Offsets = append(d.Offsets, d.Offsets[q]+rapid.IntRange(0, 9).Draw(rt, "documents"))
			if q%3 == 0 {
				tr.queries = append(tr.queries, q)
			}
		}
		tr.splits = &datasets.Splits{Train: d}
		order := tr.order(rapid.IntRange(0, 5).Draw(rt, "epoch"))
		if sorted := slices.Sorted(slices.Values(order)); !slices.Equal(sorted, tr.queries) {
			rt.Fatalf("%v is no order of %v", order, tr.queries)
		}
		next := 0
		for shard := range shards {
			var own []int
			for i := shard; i < n; i += shards {
				own = append(own, order[i])
			}
			slices.Sort(own)
			if !slices.Equal(own, tr.queries[next:next+len(own)]) {
				rt.Fatalf("shard %d of %d has %v, want those from %d on", shard, shards, own, next)
			}
			next += len(own)
		}
	})
}

// The shards have about as many documents in a step as each other, much closer than queries
// that are drawn at random; steps and epochs differ.
func TestShardsAreBalanced(t *testing.T) {
	const shards, each, batch = 8, 500, 32
	rng := rand.New(rand.NewPCG(1, 1))
	d := &datasets.Dataset{Offsets: []int{0}}
	tr := &Trainer{parsed: &parsed{Config: Config{Optimization: Optimization{Shards: shards, Batch: batch}}}, splits: &datasets.Splits{Train: d}}
	var sum, squares float64
	for q := range shards * each {
		n := 1 + rng.ExpFloat64()*100
		sum, squares = sum+n, squares+n*n
		tr.queries = append(tr.queries, q)
		d.Offsets = append(d.Offsets, d.Offsets[q]+int(n))
	}
	mean := sum / (shards * each)
	variance := squares/(shards*each) - mean*mean // of a query
	within, between := 0.0, 0.0                   // of the queries that a shard has in a step
	order := tr.order(0)
	const steps = shards * each / batch
	for step := range steps {
		var of [shards]float64
		all := 0.0
		for at, q := range order[step*batch : (step+1)*batch] {
			of[at%shards] += float64(d.Offsets[q+1] - d.Offsets[q])
			all += float64(d.Offsets[q+1]-d.Offsets[q]) / shards
		}
		for _, n := range of {
			within += (n - all) * (n - all) / (shards * steps)
		}
		between += (all - batch/shards*mean) * (all - batch/shards*mean) / steps
	}
	if random := variance * batch / shards; within > random/8 || between < random/2 {
		t.Errorf("the variance of the documents of a shard is %.0f within a step, %.0f between steps; at random both are about %.0f", within, between, random)
	}
	if slices.Equal(order, tr.order(1)) {
		t.Error("two epochs have one order")
	}
	together := 0 // of the queries of the first shard, whose neighbour in the next epoch is the same
	neighbour := map[int]int{}
	for i := 0; i < len(order); i += shards {
		neighbour[order[i]] = order[i+1]
	}
	again := tr.order(1)
	for i := 0; i < len(again); i += shards {
		if neighbour[again[i]] == again[i+1] {
			together++
		}
	}
	if together > each/5 {
		t.Errorf("%d of %d queries have the same neighbour in the next epoch", together, each)
	}
}

// fold adds by the tree that its comment describes, whether every P-th vector is folded
// before or not.
func TestFold(t *testing.T) {
	var tree func(v []float32, at, step int) float32
	tree = func(v []float32, at, step int) float32 {
		if at+step >= len(v) {
			return v[at]
		}
		return tree(v, at, 2*step) + tree(v, at+step, 2*step)
	}
	rapid.Check(t, func(rt *rapid.T) {
		v := rapid.SliceOfN(rapid.Float32Range(-1e3, 1e3), 1, 40).Draw(rt, "numbers")
		vectors := func() (list [][]float32) {
			for _, x := range v {
				list = append(list, []float32{x})
			}
			return list
		}
		all := vectors()
		fold(all)
		if want := tree(v, 0, 1); all[0][0] != want {
			rt.Fatalf("%v, want %v", all[0][0], want)
		}
		for ranks := 1; ranks <= len(v); ranks *= 2 {
			again := vectors()
			var sums [][]float32
			for rank := range ranks {
				var own [][]float32
				for i := rank; i < len(v); i += ranks {
					own = append(own, again[i])
				}
				fold(own)
				sums = append(sums, own[0])
			}
			fold(sums)
			if sums[0][0] != all[0][0] {
				rt.Fatalf("%d ranks: %v, want %v", ranks, sums[0][0], all[0][0])
			}
		}
	})
}

// A checkpoint of rank 0 is where all ranks go on, with any number of them.
func TestRanksResume(t *testing.T) {
	c := busy("adam")
	c.Shards = 4
	whole := mustRun(t, mustNew(t, c, small()), Hooks{})
	half := c
	half.Epochs = 2
	path := filepath.Join(t.TempDir(), "c.npz")
	for _, size := range [][2]int{{1, 2}, {2, 1}, {4, 3}, {3, 4}} {
		for _, err := range onRanks(size[0], func(g Processes) error {
			tr, err := New(half.Plain(), Parts{Processes: g}, small())
			if err != nil {
				return err
			}
			return second(tr.Run(ctx, Hooks{Epoch: func(t *Trainer, _ Epoch) error {
				if g.Rank() > 0 {
					return nil
				}
				return t.SaveCheckpoint(path)
			}}))
		}) {
			if err != nil {
				t.Fatal(err)
			}
		}
		for rank, err := range onRanks(size[1], func(g Processes) error {
			tr, err := New(c.Plain(), Parts{Processes: g}, small())
			if err != nil {
				return err
			}
			if g.Rank() == 0 {
				if err := tr.Restore(path); err != nil {
					return err
				}
			}
			r, err := tr.Run(ctx, Hooks{})
			if err != nil {
				return err
			}
			if !reflect.DeepEqual(timeless(r.History), timeless(whole.History)) || !slices.Equal(trainedWeights(r.Ranker), trainedWeights(whole.Ranker)) {
				return errors.New("another result")
			}
			return nil
		}) {
			if err != nil {
				t.Errorf("%d ranks, then rank %d of %d: %v", size[0], rank, size[1], err)
			}
		}
	}
}

func second[T any](_ T, err error) error { return err }

// What one rank alone finds out ends all, with one message that names it.
func TestRanksFailTogether(t *testing.T) {
	c := busy("sgd")
	c.Shards = 4
	c.Transform = "none"
	bad := func(s *datasets.Splits) { // a query of the second shard
		for i := range s.Train.Row(s.Train.Offsets[17]) {
			s.Train.Row(s.Train.Offsets[17])[i] = math.MaxFloat32
		}
	}
	ofRank1 := func(g Processes) error {
		if g.Rank() == 1 {
			return errors.New("no space left")
		}
		return nil
	}
	for _, of := range []struct {
		name  string
		data  func(*datasets.Splits)
		hooks func(Processes) Hooks
		want  string
	}{
		{"a number that is not finite", bad, nil, "rank 1 of 4: train: epoch 1, step "},
		{"its query", bad, nil, ", query 17 of train: "},
		{"a hook", nil, func(g Processes) Hooks {
			return Hooks{Epoch: func(*Trainer, Epoch) error { return ofRank1(g) }}
		}, "rank 1 of 4: no space left"},
		{"a hook of all", nil, func(Processes) Hooks {
			return Hooks{Epoch: func(*Trainer, Epoch) error { return errors.New("enough") }}
		}, "enough"},
	} {
		var texts []string
		for rank, err := range onRanks(4, func(g Processes) error {
			s := small()
			if of.data != nil {
				of.data(s)
			}
			tr, err := New(c.Plain(), Parts{Processes: g}, s)
			if err != nil {
				return err
			}
			var h Hooks
			if of.hooks != nil {
				h = of.hooks(g)
			}
			return second(tr.Run(ctx, h))
		}) {
			var agreed Agreed
			if !errors.As(err, &agreed) || !strings.Contains(err.Error(), of.want) {
				t.Errorf("%s: rank %d: %v, want %q", of.name, rank, err, of.want)
				continue
			}
			texts = append(texts, err.Error())
		}
		if len(slices.Compact(texts)) > 1 {
			t.Errorf("%s: messages differ: %q", of.name, texts)
		}
	}
}

// A split that one rank cannot use is known to all before training begins; and there
// must be enough shards.
func TestNewFailsTogether(t *testing.T) {
	c := busy("sgd")
	c.Shards = 2
	for rank, err := range onRanks(2, func(g Processes) error {
		s := small()
		if g.Rank() == 1 {
			s.Vali = nil
		}
		return second(New(c.Plain(), Parts{Processes: g}, s))
	}) {
		if err == nil || err.Error() != "rank 1 of 2: train: the validation split is empty" {
			t.Errorf("rank %d: %v", rank, err)
		}
	}
	for _, err := range onRanks(3, func(g Processes) error { return second(New(c.Plain(), Parts{Processes: g}, small())) }) {
		if err == nil || !strings.Contains(err.Error(), "3 ranks for 2 shards") {
			t.Errorf("%v", err)
		}
	}
}

// Whichever rank is interrupted, all end after the same step.
func TestRanksAreInterruptedTogether(t *testing.T) {
	c := busy("sgd")
	c.Shards = 2
	var steps [2]int
	for rank, err := range onRanks(2, func(g Processes) error {
		tr, err := New(c.Plain(), Parts{Processes: g}, small())
		if err != nil {
			return err
		}
		own, cancel := context.WithCancel(ctx)
		defer cancel()
		r, err := tr.Run(own, Hooks{Step: func(s Step) {
			if steps[g.Rank()]++; g.Rank() == 1 && s.Epoch == 2 && s.Step == 2 {
				cancel()
			}
		}})
		if err == nil && (!r.Interrupted || len(r.History) != 1) {
			err = fmt.Errorf("%+v", r)
		}
		return err
	}) {
		if err != nil {
			t.Errorf("rank %d: %v", rank, err)
		}
	}
	if steps[0] != steps[1] {
		t.Errorf("%d steps, and %d", steps[0], steps[1])
	}
}

// A graph that only one rank cannot build ends all.
func TestErrorOfOneRanksGraph(t *testing.T) {
	c := busy("sgd")
	c.Shards = 2
	builtIn, err := losses.Parse("plrank-exact")
	if err != nil {
		t.Fatal(err)
	}
	for rank, err := range onRanks(2, func(g Processes) error {
		loss := func(b losses.Batch) (*G.Node, error) {
			if g.Rank() == 1 {
				return nil, errors.New("no such loss")
			}
			return builtIn(b)
		}
		tr, err := New(c.Plain(), Parts{Processes: g, Loss: loss}, small())
		if err != nil {
			return err
		}
		return second(tr.Run(ctx, Hooks{}))
	}) {
		if err == nil || !strings.HasPrefix(err.Error(), "rank 1 of 2: ") || !strings.Contains(err.Error(), "no such loss") {
			t.Errorf("rank %d: %v", rank, err)
		}
	}
}

// A batch that one rank cannot use is skipped by all, and the model is that of one process.
func TestRanksSkipTogether(t *testing.T) {
	c := busy("adam")
	c.Shards, c.Transform, c.OnNaN, c.EvaluateTrain = 4, "none", "skip", false
	damaged := func() *datasets.Splits {
		s := small()
		row := s.Train.Row(s.Train.Offsets[17])
		for i := range row {
			row[i] = math.MaxFloat32
		}
		return s
	}
	one := mustRun(t, mustNew(t, c, damaged()), Hooks{})
	if one.History[0].Skipped != 1 {
		t.Fatalf("%d batches were skipped, want 1", one.History[0].Skipped)
	}
	for rank, err := range onRanks(3, func(g Processes) error {
		tr, err := New(c.Plain(), Parts{Processes: g}, damaged())
		if err != nil {
			return err
		}
		var skipped []error
		r, err := tr.Run(ctx, Hooks{Step: func(s Step) {
			if s.Skipped != nil {
				skipped = append(skipped, s.Skipped)
			}
		}})
		if err != nil {
			return err
		}
		if len(skipped) != c.Epochs || !strings.Contains(skipped[0].Error(), ", query 17 of train: ") || !Skippable(skipped[0]) {
			return fmt.Errorf("skipped %v", skipped)
		}
		if !reflect.DeepEqual(timeless(r.History), timeless(one.History)) || !slices.Equal(trainedWeights(r.Ranker), trainedWeights(one.Ranker)) {
			return errors.New("another result")
		}
		return nil
	}) {
		if err != nil {
			t.Errorf("rank %d: %v", rank, err)
		}
	}
}

// Ranks that measure a model together, each on some chunks of the queries, find what one
// process does: also where rankings are sampled, with weights, and with fewer chunks than
// ranks.
func TestRanksMeasureTogether(t *testing.T) {
	c := busy("adam")
	c.Shards, c.Epochs, c.Report, c.WeightedMetrics, c.EvaluationSamples = 5, 1, []string{"expected-map", "err@5", "disparity"}, true, 7
	var reports []*Report
	for _, ranks := range []int{1, 2, 5} {
		for rank, err := range onRanks(ranks, func(g Processes) error {
			s := small()
			s.Vali = many(s.Vali, 40)
			if n := len(chunks(s.Vali)) - 1; n < 3 {
				return fmt.Errorf("%d chunks, want several", n)
			}
			tr, err := New(c.Plain(), Parts{Processes: g}, s)
			if err != nil {
				return err
			}
			result, err := tr.Run(ctx, Hooks{})
			if err != nil {
				return err
			}
			report, err := tr.Report(result.Ranker)
			if g.Rank() == ranks-1 {
				reports = append(reports, report)
			}
			return err
		}) {
			if err != nil {
				t.Fatalf("rank %d of %d: %v", rank, ranks, err)
			}
		}
	}
	for _, report := range reports[1:] {
		if !reflect.DeepEqual(report, reports[0]) {
			t.Errorf("%+v, want %+v", report, reports[0])
		}
	}
}

// many is the queries of d again and again, with weights.
func many(d *datasets.Dataset, times int) *datasets.Dataset {
	var queries []int
	for range times {
		for q := range d.Queries() {
			queries = append(queries, q)
		}
	}
	d = d.Select(queries)
	for q := range d.Queries() {
		d.QueryWeights = append(d.QueryWeights, 1+float32(q%3))
	}
	return d
}
