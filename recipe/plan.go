package recipe

import (
	"cmp"
	"context"
	"errors"
	"math"
	"math/rand/v2"
	"slices"

	"gonum.org/v1/gonum/floats"
	"gonum.org/v1/gonum/stat"

	"github.com/plrank/plrank/datasets"
	"github.com/plrank/plrank/metrics"
	"github.com/plrank/plrank/ranker"
	"github.com/plrank/plrank/train"
)

// OfModel reports whether the setting of that flag makes a model. A plan of several models has a value of it for each.
func OfModel(flag string) bool {
	return slices.ContainsFunc(new(train.Config).Settings(), func(s train.Setting) bool {
		return s.Flag == flag && s.Group != "" && s.Group != "Evaluation" && !s.Measuring && !s.Resumable &&
			s.Flag != "categorical" && s.Flag != "shards"
	})
}

// A Result holds what the training of a Plan ended with. Of several models, the Model is their mixture, and the History has the
// epochs of one after another, numbered from 1.
type Result struct {
	*train.Result
	Shares  []float64 // of the models in the mixture, see Mix; nil: it is a single model
	Values  []float64 // of the models by themselves, on the queries that chose the shares; NaN: the model failed, or was not trained
	Metric  string    // of the values
	Queries int       // that chose the shares
}

// Run trains the models on splits, and mixes them.
func (p Plan) Run(ctx context.Context, s *datasets.Splits, h train.Hooks) (*Result, error) {
	return p.Train(ctx, s, func(_ int, c train.Config, r *Rival) (*train.Result, error) {
		t, err := train.New(c, train.Custom{Hooks: []train.Hook{r}}, s)
		if err != nil {
			return nil, err
		}
		r.Trainer = t
		return t.Run(ctx, h)
	})
}

// Train is Run with a function that trains a model, given its index, with a hook, on the splits; nil without an error: it cannot be
// trained. The metric of the first model chooses the shares, on the validation split and, where this has few queries, on the training
// queries with scores by models that were trained on the others. After a model whose training was interrupted, no other is trained.
func (p Plan) Train(ctx context.Context, s *datasets.Splits, one func(i int, c train.Config, r *Rival) (*train.Result, error)) (
	*Result, error) {
	all := &Result{Result: new(train.Result)}
	var rival Rival
	if measure, err := metrics.ParseMeasure(p.Models[0].Metric); err == nil && !measure.LowerIsBetter() {
		rival.metric = measure.Ranking().String()
	}
	var trained []candidate
	for i, c := range p.Models {
		own := rival // hooks are not shared
		r, err := one(i, c, &own)
		if err != nil {
			return nil, err
		}
		if r == nil {
			continue
		}
		rival.take(r.History)
		trained = append(trained, candidate{i, c, r})
		for _, e := range r.History {
			e.Epoch, e.Model = len(all.History)+1, i+1
			all.History = append(all.History, e)
		}
		if all.Interrupted = r.Interrupted; r.Interrupted {
			break
		}
	}
	switch {
	case len(trained) == 0:
		return nil, errors.New("recipe: none of the models can be trained")
	case len(p.Models) == 1:
		return &Result{Result: trained[0].result}, nil
	}
	return all, all.mix(ctx, p, s, trained)
}

// A Rival is a hook that ends the training of a model that is going to stay behind the ones before it: even with the gain of the second
// half of its epochs again for each doubling of them, up to the last, it would have less than nineteen twentieths of the best value.
type Rival struct {
	train.NopHook
	Trainer *train.Trainer // of the model
	metric  string         // "": none that values of all models can be compared by
	best    float64        // of the models before
}

// take takes the values of a model that is trained.
func (r *Rival) take(history []train.Epoch) { r.best = max(r.best, r.bestOf(history)) }

func (r *Rival) bestOf(history []train.Epoch) (best float64) {
	for _, e := range history {
		if v := float64(e.Vali[r.metric]); v > best {
			best = v
		}
	}
	return best
}

// Done reports whether the model is going to stay behind.
func (r *Rival) Done() bool {
	if r.Trainer == nil || r.best <= 0 {
		return false
	}
	h := r.Trainer.History()
	if len(h) < 10 {
		return false
	}
	now := r.bestOf(h)
	gain := now - r.bestOf(h[:len(h)/2])
	return now > 0 && now+gain*math.Log2(float64(r.Trainer.Config.Epochs)/float64(len(h))) < 0.95*r.best
}

// A candidate is a model of a plan that was trained.
type candidate struct {
	index  int
	config train.Config
	result *train.Result
}

// mix completes the result of several models.
func (r *Result) mix(ctx context.Context, p Plan, s *datasets.Splits, trained []candidate) error {
	var models []*ranker.Model
	for _, c := range trained {
		models = append(models, c.result.Model)
	}
	e, err := newElection(p.Models[0], s.Vali, models)
	if err != nil {
		return err
	}
	r.Metric, r.Values = e.config.Metric, slices.Repeat([]float64{math.NaN()}, len(p.Models))
	for i, way := range e.singles() {
		r.Values[trained[i].index] = e.sign * stat.Mean(e.values[way], nil)
	}
	if e.queries < fewQueries && s.Train.Rows() < largeFrom && !r.Interrupted {
		if err := e.addHeldOut(ctx, s, trained); err != nil {
			return err
		}
		r.Interrupted = ctx.Err() != nil
	}
	model, shares, err := e.mixture(models)
	r.Model, r.Queries, r.Shares = model, e.queries, make([]float64, len(p.Models))
	for i, c := range trained {
		r.Shares[c.index] = shares[i]
	}
	return err
}

const (
	fewQueries = 100 // of validation, below which training queries choose, too
	folds      = 3
)

// addHeldOut adds the training queries, with scores by models that were trained on the queries of the other folds, for as many epochs
// as were best on all, and of an ensemble by one member. Models that are certainly behind by validation leave
// the election. It adds nothing if there is nothing left to choose, if a model cannot be trained on fewer queries, or if the context is
// cancelled.
func (e *election) addHeldOut(ctx context.Context, s *datasets.Splits, trained []candidate) error {
	left := e.dropBehind()
	if len(left) == 1 {
		return nil
	}
	order := rand.New(rand.NewPCG(2, 0)).Perm(s.Train.Queries())
	scores := make([][]float64, len(trained))
	for i, c := range trained {
		scores[i] = make([]float64, s.Train.Rows())
		if !slices.Contains(left, i) {
			continue
		}
		one := c.config
		one.Members, one.Epochs, one.Patience = min(1, one.Members), max(1, c.result.BestEpoch), 0
		for fold := range folds {
			var in, held []int
			for at, q := range order {
				if at%folds == fold {
					held = append(held, q)
				} else {
					in = append(in, q)
				}
			}
			r, _ := train.Run(ctx, one, &datasets.Splits{Train: s.Train.Select(in), Vali: s.Vali}, train.Hooks{})
			if r == nil || r.Interrupted { // validation alone chooses
				return nil
			}
			d := s.Train.Select(held)
			of, err := datasets.Score(r.Model, d)
			if err != nil {
				return err
			}
			for at, q := range held {
				copy(scores[i][s.Train.Offsets[q]:s.Train.Offsets[q+1]], of[d.Offsets[at]:d.Offsets[at+1]])
			}
		}
	}
	return e.add(s.Train, scores)
}

// dropBehind removes the ways with a share of a model whose mean is behind that of the best one by more than two standard errors of
// the difference, and returns the models that are left.
func (e *election) dropBehind() (left []int) {
	singles := e.singles()
	best := slices.MaxFunc(singles, func(a, b int) int { return cmp.Compare(floats.Sum(e.values[a]), floats.Sum(e.values[b])) })
	for m, way := range singles {
		behind := make([]float64, e.queries)
		floats.SubTo(behind, e.values[best], e.values[way])
		if mean, deviation := stat.MeanStdDev(behind, nil); !(mean > 2*stat.StdErr(deviation, float64(e.queries))) {
			left = append(left, m)
		}
	}
	var ways, values [][]float64
	for i, shares := range e.ways {
		if sharesOnly(shares, left) {
			ways, values = append(ways, shares), append(values, e.values[i])
		}
	}
	e.ways, e.values = ways, values
	return left
}

// sharesOnly reports whether no other models have a share.
func sharesOnly(shares []float64, models []int) bool {
	for m, share := range shares {
		if share > 0 && !slices.Contains(models, m) {
			return false
		}
	}
	return true
}
