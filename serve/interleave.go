package serve

import (
	"cmp"
	"context"
	"crypto/sha256"
	"encoding/binary"
	"errors"
	"fmt"
	"math/rand/v2"
	"slices"
	"strings"

	"github.com/plrank/plrank/clicks"
)

// defaultRanks is how many ranks of a team draft are logged unless the request says.
const defaultRanks = 10

// interleaved is how several models made the ranking of an answer.
type interleaved struct {
	Models        []clicks.Contributor `json:"models"`
	Ranking       []int                `json:"ranking"`
	Teams         []int                `json:"teams,omitempty"`         // by rank: the position of a model in models; −1: all
	Probabilities []float64            `json:"probabilities,omitempty"` // by rank, that this model contributed
	By            *int                 `json:"by,omitempty"`            // the policy that a drawn ranking came from
	Seed          uint64               `json:"seed"`
	Temperature   float64              `json:"temperature,omitempty"` // of a drawn ranking

	how *clicks.Interleaving
}

// checkCompared returns an error if models cannot be compared on users.
func (s *Service) checkCompared(names []string) error {
	for i, name := range names {
		m := s.models[name]
		switch {
		case m == nil:
			return fmt.Errorf("service: no model %q to compare: want one of %s", name, strings.Join(s.models.names(), ", "))
		case slices.Contains(names[:i], name):
			return fmt.Errorf("service: model %q is compared twice", name)
		case m.model.Load().OnBaseScores() != s.models[names[0]].model.Load().OnBaseScores():
			return fmt.Errorf("service: only one of the compared models %s and %s takes base scores", names[0], name)
		}
	}
	switch {
	case len(names) == 1:
		return errors.New("service: one model to compare: want two or more")
	case len(names) > 0 && s.clicks == nil:
		return errors.New("service: models are compared without a click log: nothing could be learned from them")
	}
	return nil
}

// parseInterleave reads the member interleave.
func parseInterleave(value []byte) (ranks int, err error) {
	if value == nil {
		return defaultRanks, nil
	}
	_, err = readFields(value, field{"cutoff", &ranks, 1, true})
	return ranks, err
}

// seedOf returns the seed of a user or session and a query: both get the same ranking again.
func seedOf(key, query string) uint64 {
	sum := sha256.Sum256(fmt.Appendf(nil, "%d %s %s", len(key), key, query))
	return binary.LittleEndian.Uint64(sum[:]) >> 11 // which JSON's readers have exactly
}

// arm returns the number by which a user or session has its model in an A/B test, a random one without a key.
func (in *request) arm() uint64 {
	if key := cmp.Or(in.key, in.clientID); key != "" {
		return seedOf(key, "")
	}
	return rand.Uint64()
}

// setSeed sets the seed of an interleaving: the one given, or by the key and the query, or a random one.
func (in *request) setSeed() {
	key := cmp.Or(in.key, in.clientID)
	switch {
	case in.draw != nil && (in.draw.given || key == ""):
		in.seed = in.draw.seed
	case key != "":
		in.seed = seedOf(key, in.query)
	default:
		in.seed = rand.Uint64N(1 << 53)
	}
}

// interleave makes a ranking with the scores of all interleaved models; out has the scores of the first.
func (s *Service) interleave(ctx context.Context, in *request, space *scratch, out *response) error {
	how := &clicks.Interleaving{}
	out.Model, out.Version = "", ""
	for i, name := range s.interleaved {
		model, scores := in.served, out.Scores
		if i > 0 {
			model = s.models[name].model.Load()
			price := model.scoring.at(in.count) + documentTime*float64(in.count)
			if in.readsAgain(model) {
				price = model.price(in, false)
			}
			if err := s.part(ctx, space, "the scores of "+name, price, 1, func() (err error) {
				scores, err = space.scoresOf(ctx, in, model)
				return err
			}); err != nil {
				return err
			}
			out.Model, out.Version = out.Model+"+", out.Version+"+"
		}
		out.Model, out.Version = out.Model+name, out.Version+model.Digest()
		how.Models = append(how.Models, clicks.Contributor{Name: name, Version: model.Digest(), Scores: scores})
	}
	ranks := min(in.ranks, in.count)
	price := drawTime * float64(in.count*len(how.Models))
	if in.draw != nil {
		ranks = min(in.draw.cutoff, in.count)
		price += weighTime * float64(in.count*min(ranks, clicks.WeighedRanks)*(len(how.Models)+1))
	}
	if ranks > s.limits.Cutoff {
		return badRequest("interleave: cutoff %d, want at most %d", ranks, s.limits.Cutoff)
	}
	return s.part(ctx, space, "its interleaving", price, 1, func() error { return in.share(how, ranks, out) })
}

// share makes the ranking of an interleaving. The order has it first, and then the others as the first model has them.
func (in *request) share(how *clicks.Interleaving, ranks int, out *response) (err error) {
	i := &interleaved{Seed: in.seed, how: how}
	if in.draw == nil {
		i.Ranking = how.Draft(ranks, in.seed)
		i.Teams, i.Probabilities = how.Teams, how.Probabilities
	} else {
		i.Temperature = in.draw.temperature
		if err := how.Weigh(i.Temperature, ranks); err != nil {
			return badRequest("%w", err)
		}
		if i.Ranking, err = how.Draw(i.Temperature, ranks, in.seed); err != nil {
			return badRequest("%w", err)
		}
		i.By = &how.By
	}
	i.Models = how.Models
	shown := make([]bool, in.count)
	for _, d := range i.Ranking {
		shown[d] = true
	}
	out.Order = append(slices.Clone(i.Ranking), slices.DeleteFunc(out.Order, func(d int) bool { return shown[d] })...)
	out.Interleaved = i
	return nil
}

// readsAgain reports whether a model may have other numbers than the first one for the texts of documents, or other words.
func (in *request) readsAgain(model *served) bool {
	return in.served.Levels() != nil || model.Levels() != nil || model.keepsSparse
}

// scoresOf returns the scores of another model for the documents of the request.
func (space *scratch) scoresOf(ctx context.Context, in *request, model *served) ([]float64, error) {
	features, base := space.rows.features, space.rows.base
	if in.readsAgain(model) {
		other := *in
		other.logged, other.decoded = false, false
		var rows rows
		if err := rows.complete(model, &other); err != nil {
			return nil, err
		}
		rows.densify()
		features = rows.features
	}
	scores, err := model.ScoreOn(ctx, make([]float64, 0, in.count), features, base)
	if err != nil {
		return nil, badRequest("%w", err)
	}
	return scores, nil
}
