package recipe

import (
	"cmp"
	"context"
	"errors"
	"math"
	"math/rand/v2"
	"slices"

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
	if len(p.Models) != 1 || !p.Models[0].LearnsProducts() {
		var err error
		if s, err = train.FitProducts(ctx, s); err != nil {
			return nil, err
		}
	}
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
// trained. The metric of the first model chooses the shares as in [Mix], on the validation split and, where this has few queries, on the
// training queries with scores by models that were trained on others. The last model is the usual one for such data: another takes its
// place in a resample if its gain is beyond the standard error, which is the larger, the fewer queries there are. Where validation has
// few, all gains have to be beyond two. After a model whose training was interrupted, no other is trained.
func (p Plan) Train(ctx context.Context, s *datasets.Splits, one func(i int, c train.Config, r *Rival) (*train.Result, error)) (
	*Result, error) {
	if len(p.Models) == 0 {
		return nil, errors.New("recipe: the plan has no models")
	}
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
	e, err := p.elect(s.Vali, trained)
	if err != nil {
		return err
	}
	r.Metric, r.Values = e.config.Metric, slices.Repeat([]float64{math.NaN()}, len(p.Models))
	for i, way := range e.singles() {
		r.Values[trained[i].index] = e.sign * stat.Mean(e.values[way], nil)
	}
	if e.queries < fewQueries && s.Train.Rows() < mostHeldOut && !r.Interrupted {
		slices.SortStableFunc(trained, func(a, b candidate) int { // the usual one last
			if last := len(p.Models) - 1; a.index == last || b.index == last {
				return cmp.Compare(a.index, b.index)
			}
			return cmp.Compare(e.sign*r.Values[a.index], e.sign*r.Values[b.index])
		})
		trained = trained[max(0, len(trained)-3):]
		if e, err = p.elect(s.Vali, trained); err == nil {
			e.doubt = 2
			err = e.addHeldOut(ctx, s, trained)
		}
		if err != nil {
			return err
		}
		r.Interrupted = ctx.Err() != nil
	}
	shares := e.shares()
	r.Queries, r.Shares = e.queries, make([]float64, len(p.Models))
	for i, c := range trained {
		r.Shares[c.index] = shares[i]
	}
	if r.Model, err = mixed(shares, e.units, models(trained)); err != nil {
		return err
	}
	train.ReferScores(r.Model, s.Train)
	return nil
}

// elect returns the election of the models that were trained; the last of the plan is the usual one.
func (p Plan) elect(vali *datasets.Dataset, trained []candidate) (*election, error) {
	e, err := newElection(p.Models[0], vali, models(trained))
	if last := len(trained) - 1; err == nil && trained[last].index == len(p.Models)-1 {
		e.usual = e.singles()[last]
	}
	return e, err
}

func models(trained []candidate) (models []*ranker.Model) {
	for _, c := range trained {
		models = append(models, c.result.Model)
	}
	return models
}

const (
	fewQueries  = 30     // of validation, below which training queries choose between the usual model and the two best others
	mostHeldOut = 20_000 // training documents, from which on it would take too long
)

// addHeldOut adds the training queries, with scores by models that were trained on the other half of them, for as many epochs as were
// best on all. It adds nothing if a model cannot be trained on half of the queries, or if the context is cancelled.
func (e *election) addHeldOut(ctx context.Context, s *datasets.Splits, trained []candidate) error {
	order := rand.New(rand.NewPCG(2, 0)).Perm(s.Train.Queries())
	middle := len(order) / 2
	scores := make([][]float64, len(trained))
	for i, c := range trained {
		scores[i] = make([]float64, s.Train.Rows())
		one := c.config
		one.Epochs, one.Patience = max(1, c.result.BestEpoch), 0
		for _, half := range [][2][]int{{order[:middle], order[middle:]}, {order[middle:], order[:middle]}} {
			r, _ := train.Run(ctx, one, &datasets.Splits{Train: s.Train.Select(half[0]), Vali: s.Vali}, train.Hooks{})
			if r == nil || r.Interrupted { // validation alone chooses
				return nil
			}
			held := s.Train.Select(half[1])
			scored, err := datasets.Score(r.Model, held)
			if err != nil {
				return err
			}
			for at, q := range half[1] {
				copy(scores[i][s.Train.Offsets[q]:s.Train.Offsets[q+1]], scored[held.Offsets[at]:held.Offsets[at+1]])
			}
		}
	}
	return e.add(s.Train, scores)
}
