package clicks

import (
	"bytes"
	"fmt"
	"math"
	"math/rand/v2"
	"os"
	"path/filepath"
	"reflect"
	"slices"
	"testing"

	"gonum.org/v1/gonum/floats"
	"gonum.org/v1/gonum/stat"

	"github.com/plrank/plrank/datasets"
	"github.com/plrank/plrank/plackett"
)

// enumerate calls f with every team draft of the models and its probability, by the rules as they are written: in each
// round every model once, in random order, adds its best document that is left.
func enumerate(orders [][]int, cutoff int, f func(ranking, teams []int, p float64)) {
	var step func(ranking, teams, waiting []int, p float64)
	step = func(ranking, teams, waiting []int, p float64) {
		if len(ranking) == cutoff {
			f(ranking, teams, p)
			return
		}
		if len(waiting) == 0 {
			for m := range orders {
				waiting = append(waiting, m)
			}
		}
		next := make([]int, len(orders))
		for m, order := range orders {
			next[m] = order[slices.IndexFunc(order, func(d int) bool { return !slices.Contains(ranking, d) })]
		}
		if slices.Min(next) == slices.Max(next) {
			step(append(slices.Clone(ranking), next[0]), append(slices.Clone(teams), Shared), waiting, p)
			return
		}
		for i, m := range waiting {
			rest := slices.Delete(slices.Clone(waiting), i, i+1)
			step(append(slices.Clone(ranking), next[m]), append(slices.Clone(teams), m), rest, p/float64(len(waiting)))
		}
	}
	step(nil, nil, nil, 1)
}

func contributors(models, documents int, random *rand.Rand) *Interleaving {
	v := &Interleaving{}
	for m := range models {
		scores := make([]float64, documents)
		for d := range scores {
			scores[d] = float64(random.IntN(5)) // with ties
		}
		v.Models = append(v.Models, Contributor{Name: fmt.Sprint("m", m), Scores: scores})
	}
	return v
}

// Drafts come as often, from the teams, and with the probabilities, that enumeration gives; placements are its sums.
func TestDraftsFollowTheirRules(t *testing.T) {
	random := rand.New(rand.NewPCG(1, 2))
	for _, models := range []int{2, 3, 4} {
		v := contributors(models, 7, random)
		const cutoff, draws = 4, 20000
		want, placed := map[string]float64{}, make([]float64, 7*cutoff)
		enumerate(v.orders(), cutoff, func(ranking, teams []int, p float64) {
			want[fmt.Sprint(ranking, teams)] += p
			for k, d := range ranking {
				placed[d*cutoff+k] += p
			}
		})
		got := make([]float64, 7*cutoff)
		if err := v.draftPlacements(cutoff, got); err != nil || !floats.EqualApprox(got, placed, 1e-12) {
			t.Errorf("%d models: placements %v, want %v (%v)", models, got, placed, err)
		}
		count := map[string]float64{}
		for i := range draws {
			ranking := v.Draft(cutoff, uint64(i))
			key := fmt.Sprint(ranking, v.Teams)
			count[key]++
			if p := floats.Prod(v.Probabilities); want[key] == 0 || p > want[key]*(1+1e-12) {
				t.Fatalf("%s with the probability %v, want %v", key, p, want[key])
			}
		}
		for key, p := range want {
			if sd := math.Sqrt(draws * p * (1 - p)); math.Abs(count[key]-draws*p) > 5*sd {
				t.Errorf("%d models: %s came %v times, want %v ± %v", models, key, count[key], draws*p, sd)
			}
		}
	}
}

// shop returns queries of 10 documents with labels in [0, 1], which are the attraction, and scorers that see the labels with
// noise.
func shop(queries int, seed uint64) (d *datasets.Dataset, noisy func(noise float64, seed uint64) func(*datasets.Dataset, int) ([]float64, error)) {
	const documents = 10
	random := rand.New(rand.NewPCG(seed, 1))
	d = &datasets.Dataset{Offsets: []int{0}, FeatureIDs: []int{1}}
	for q := range queries {
		d.QueryIDs, d.Offsets = append(d.QueryIDs, fmt.Sprint("q", q)), append(d.Offsets, (q+1)*documents)
		for range documents {
			l := float32(random.Float64())
			d.Labels, d.Features = append(d.Labels, l), append(d.Features, l)
		}
	}
	return d, func(noise float64, seed uint64) func(*datasets.Dataset, int) ([]float64, error) {
		return func(d *datasets.Dataset, q int) (scores []float64, err error) {
			random := rand.New(rand.NewPCG(seed, uint64(q)))
			for _, l := range d.Labels[d.Offsets[q]:d.Offsets[q+1]] {
				scores = append(scores, 3*(float64(l)+noise*random.NormFloat64()))
			}
			return scores, nil
		}
	}
}

var someUser = User{Attraction: func(l float32) float64 { return float64(l) / 2 },
	Behaviour: PositionBased([]float64{1, .6, .4, .3, .2})}

// The log of an interleaving is read back as it was written, and its placements are the mixture's.
func TestInterleavingsSurviveTheirLog(t *testing.T) {
	d, noisy := shop(5, 1)
	for _, draft := range []bool{false, true} {
		logger := Logger{Model: "a", Version: "1", Scores: noisy(.1, 1), Cutoff: 5, Draft: draft, Temperature: 2,
			Others: []Logger{{Model: "b", Version: "2", Scores: noisy(.3, 2)}}}
		l, err := Simulate(d, logger, someUser, 200, 1)
		if err != nil {
			t.Fatal(err)
		}
		for i := range l.Impressions {
			l.Impressions[i].Segment = []string{"", "phone \u00e4"}[i%2]
		}
		var b bytes.Buffer
		if err := Write(&b, l); err != nil {
			t.Fatal(err)
		}
		path := filepath.Join(t.TempDir(), "log.jsonl")
		if err := os.WriteFile(path, b.Bytes(), 0o666); err != nil {
			t.Fatal(err)
		}
		got, err := Read(path)
		if err != nil || got.Warnings != nil || !reflect.DeepEqual(got.Impressions, l.Impressions) {
			t.Fatalf("%v: %+v, want %+v: %v", got.Warnings, got.Impressions[0].Interleaving, l.Impressions[0].Interleaving, err)
		}
	}
}

// The weights have a sum within 2 % of the least one, at which no step from one weight to another helps, unless it is at its floor.
func TestWeightsHaveTheLeastVariance(t *testing.T) {
	random := rand.New(rand.NewPCG(3, 4))
	for range 5 {
		v := contributors(3, 8, random)
		for _, m := range v.Models {
			for d := range m.Scores {
				m.Scores[d] += random.NormFloat64() / 2
			}
		}
		if err := v.Weigh(1, 3); err != nil {
			t.Fatal(err)
		}
		im := &Impression{Documents: make([]string, 8)}
		var e plackett.Expectation
		var policies [][]float64
		var weights []float64
		for m := range v.Models {
			scores, _ := v.policy(im, m)
			p := make([]float64, 8*3)
			if err := e.Placements(scores, 3, p); err != nil {
				t.Fatal(err)
			}
			policies, weights = append(policies, p), append(weights, v.Models[m].Weight)
		}
		value := func(w []float64) (sum float64) {
			for i := range policies[0] {
				mix := 0.
				for j, p := range policies {
					mix += w[j] * p[i]
				}
				for m := 1; m < 3; m++ {
					delta := policies[m][i] - policies[0][i]
					sum += delta * delta / mix / math.Log2(float64(i%3)+2)
				}
			}
			return sum
		}
		if s := floats.Sum(weights); math.Abs(s-1) > 1e-9 || slices.Min(weights[:3]) < leastWeight-1e-12 {
			t.Errorf("weights %v", weights)
		}
		best, least := slices.Clone(weights), value(weights)
		for lower := true; lower; {
			lower = false
			for from := range weights {
				for to := range weights {
					w := slices.Clone(best)
					const step = 1e-3
					if w[from], w[to] = w[from]-step, w[to]+step; from == to || from < 3 && w[from] < leastWeight || w[from] < 0 {
						continue
					}
					if v := value(w); v < least*(1-1e-9) {
						best, least, lower = w, v, true
					}
				}
			}
		}
		if got := value(weights); got > 1.02*least {
			t.Errorf("weights %v have %v, and %v %v", weights, got, best, least)
		}
	}
	same := contributors(2, 4, random)
	same.Models[1].Scores = same.Models[0].Scores
	if err := same.Weigh(1, 2); err != nil || math.Abs(same.Models[0].Weight+same.Models[1].Weight+same.Models[2].Weight-1) > 1e-12 {
		t.Errorf("equal models: %+v, %v", same.Models, err)
	}
}

// value returns the clicks per impression of a model that ranks alone, drawn or by its scores.
func value(d *datasets.Dataset, scores func(*datasets.Dataset, int) ([]float64, error), temperature float64) (sum float64) {
	theta := []float64{1, .6, .4, .3, .2}
	for q := range d.Queries() {
		s, _ := scores(d, q)
		if temperature == 0 {
			v := Interleaving{Models: []Contributor{{Scores: s}}}
			for k, doc := range v.orders()[0][:5] {
				sum += theta[k] * float64(d.Labels[d.Offsets[q]+doc]) / 2
			}
			continue
		}
		var e plackett.Expectation
		floats.Scale(1/temperature, s)
		exposure := make([]float64, len(s))
		if err := e.Exposure(s, theta, exposure); err != nil {
			panic(err)
		}
		for doc, x := range exposure {
			sum += x * float64(d.Labels[d.Offsets[q]+doc]) / 2
		}
	}
	return sum / float64(d.Queries())
}

// The differences of drawn rankings and the counterfactual differences of team drafts are those of the models alone; team
// drafts and A/B find the better model, and say about how many impressions they need.
func TestDifferencesAreThoseOfTheModelsAlone(t *testing.T) {
	d, noisy := shop(40, 1)
	a, b := noisy(.6, 1), noisy(.1, 2)
	result := func(way Way, n int) Difference {
		t.Helper()
		logger := Logger{Model: "a", Scores: a, Cutoff: 5, Draft: way == TeamDraft, Others: []Logger{{Model: "b", Scores: b}}}
		c := &Comparison{Bias: Bias{Alpha: []float64{1, .6, .4, .3, .2}}}
		loggers := []Logger{logger}
		if way == AB {
			loggers = []Logger{{Model: "a", Scores: a, Cutoff: 5}, {Model: "b", Scores: b, Cutoff: 5}}
		}
		for i, logger := range loggers {
			l, err := Simulate(d, logger, someUser, n/len(loggers), uint64(i))
			if err != nil {
				t.Fatal(err)
			}
			for j := range l.Impressions {
				l.Impressions[j].ID += logger.Model
			}
			if err := c.Add(l); err != nil {
				t.Fatal(err)
			}
		}
		all, err := c.Results()
		if err != nil || len(all) != 1 || all[0].Way != way {
			t.Fatal(all, err)
		}
		return all[0]
	}
	for _, way := range []Way{TeamDraft, Drawn, AB} {
		r := result(way, 20000)
		if r.Decision != "b" || !(r.EValue > 20) || r.More != 0 || r.Impressions != 20000 || r.Units != 20000 {
			t.Errorf("%+v", r)
		}
		truth, got := value(d, b, 1)-value(d, a, 1), r.Difference
		if way == TeamDraft {
			truth, got = value(d, b, 0)-value(d, a, 0), r.Counterfactual.Difference
		}
		if half := (r.High - r.Low) / 2; math.Abs(got-truth) > max(half, .02) {
			t.Errorf("%s: difference %v ± %v, want %v", way, got, half, truth)
		}
		short := result(way, 200)
		if short.Decision == "" && !(short.More > 0) {
			t.Errorf("%+v", short)
		}
	}
}

// Intervals and e-values are those of their formulas, for numbers worked out by hand: ten units, six won, two lost.
func TestEValuesAreTheirFormula(t *testing.T) {
	u := &unitSums{at: map[string]int{}}
	for i, x := range []float64{1, 1, 1, 1, 1, 1, -1, -1, 0, 0} {
		u.add(fmt.Sprint(i), x)
	}
	s := u.sequence(func(s *unitSum) (float64, float64) { return s.value, s.n })
	n := 8 * mixture
	if want := math.Exp(n/(1+n)*(4*4/8.)/2) / math.Sqrt(1+n); s.mean != .4 || s.informed != 8 || math.Abs(s.eValue()-want) > 1e-12 {
		t.Errorf("%+v: e-value %v, want %v", s, s.eValue(), want)
	}
	long := sequence{mean: .4, variance: .64, units: 1000, informed: 800}
	for _, side := range []float64{-1, 1} { // at the ends of the interval, the e-value is 1/(1 − level)
		moved := long
		moved.mean = side * long.half(.95)
		if e := moved.eValue(); math.Abs(e-20) > 1e-6 {
			t.Errorf("the e-value at the end of the interval is %v, want 20", e)
		}
	}
	later := sequence{mean: .01, variance: .64, units: 1000, informed: 800}
	factor := 1 + float64(later.more(.95, 1000))/1000
	grown := sequence{.01, .64, int(1000 * factor), 800 * factor}
	if r := grown.half(.95) / .01; math.Abs(r-1) > .01 {
		t.Errorf("with the impressions that are needed, half the interval is %v times the difference", r)
	}
}

// Clients who come back on several days are units: the log of one who clicks often decides nothing.
func TestOneClientDecidesNothing(t *testing.T) {
	v := &Interleaving{Models: []Contributor{{Name: "a", Scores: []float64{1, 0}}, {Name: "b", Scores: []float64{0, 1}}}, Teams: []int{1, 0}}
	for _, clients := range []int{1, 400} {
		l := &Log{}
		for i := range 400 {
			l.Impressions = append(l.Impressions, Impression{ID: fmt.Sprint(i), Client: fmt.Sprint("c", i%clients), Documents: []string{"x", "y"},
				Interleaving: v, Shown: []int{1, 0}, Clicks: []float64{1, float64(i % 8 / 7)}, Segment: fmt.Sprint(i % 2)})
		}
		c := Comparison{Segments: true}
		if err := c.Add(l); err != nil {
			t.Fatal(err)
		}
		all, err := c.Results()
		if err != nil || len(all) != 3 || all[1].Segment != "0" || all[1].Impressions != 200 {
			t.Fatal(all, err)
		}
		if decided := all[0].Decision != ""; decided != (clients > 1) || all[0].Units != clients || *all[0].Preference != 1 {
			t.Errorf("%d clients: %+v", clients, all[0])
		}
	}
}

// Who looks every day, and stops at the first decision, decides wrongly in at most one of twenty runs: equal models, by all
// ways, with clients who come back, and with rare purchases of a large value.
func TestDailyLooksKeepTheLevel(t *testing.T) {
	const runs, days, perDay = 1000, 30, 40
	random := rand.New(rand.NewPCG(5, 6))
	var clients []string
	for i := range 300 {
		clients = append(clients, fmt.Sprint(i))
	}
	for _, c := range []struct {
		name  string
		value func(client int) float64
		arms  bool
	}{
		{"interleaved", func(int) float64 { return float64(random.IntN(3) - 1) }, false},
		{"heavy clients", func(client int) float64 { return float64(random.IntN(1+client%7)) * float64(1-2*random.IntN(2)) }, false},
		{"rare purchases", func(int) float64 {
			if random.Float64() < .05 {
				return 10 * float64(1-2*random.IntN(2)) * random.ExpFloat64()
			}
			return float64(random.IntN(3) - 1)
		}, false},
		{"a/b", func(client int) float64 { return float64(random.IntN(2) + random.IntN(2)) }, true},
	} {
		wrong := 0
		for range runs {
			arms := [2]*unitSums{{at: map[string]int{}}, {at: map[string]int{}}}
			decided := false
			for range days {
				for range perDay {
					client := random.IntN(len(clients))
					arm := 0
					if c.arms {
						arm = client % 2
					}
					arms[arm].add(clients[client], c.value(client))
				}
				var s sequence
				if c.arms {
					s.addArm(arms[0], 1)
					s.addArm(arms[1], -1)
				} else {
					s = arms[0].sequence(func(u *unitSum) (float64, float64) { return u.value, u.n })
				}
				decided = decided || math.Abs(s.mean) > s.half(.95)
			}
			if decided {
				wrong++
			}
		}
		t.Logf("%s: %d of %d runs decided wrongly", c.name, wrong, runs)
		if wrong > runs/20 {
			t.Errorf("%s: %d of %d runs decided wrongly", c.name, wrong, runs)
		}
	}
}

// Over 20 pairs of a model and a later version of it, the policy of least variance has at most .7 times the variance of the
// equal mixture: as computed by Weigh's sum, and as measured from clicks.
func TestLeastVarianceIsMeasured(t *testing.T) {
	const pairs, documents, cutoff, n = 20, 15, 5, 4000
	random := rand.New(rand.NewPCG(7, 8))
	var computed, measured [2]float64 // trained again, and with a new feature
	for pair := range pairs {
		v := &Interleaving{Models: []Contributor{{Name: "a"}, {Name: "b"}}}
		attraction := make([]float64, documents)
		for d := range documents {
			a := 2 * random.NormFloat64()
			b := a + .3*random.NormFloat64() // trained again
			if pair%2 == 1 {                 // a new feature, which one document in four has
				if b = a; random.IntN(4) == 0 {
					b += random.NormFloat64()
				}
			}
			v.Models[0].Scores, v.Models[1].Scores = append(v.Models[0].Scores, a), append(v.Models[1].Scores, b)
			attraction[d] = .3 * random.Float64()
		}
		equal := &Interleaving{Models: slices.Clone(v.Models)}
		equal.Models[0].Weight, equal.Models[1].Weight = .5, .5
		if err := v.Weigh(1, cutoff); err != nil {
			t.Fatal(err)
		}
		var sums, variances [2]float64
		for i, v := range []*Interleaving{v, equal} {
			im := &Impression{Documents: make([]string, documents), Interleaving: v, Shown: make([]int, cutoff)}
			for d := range im.Documents {
				im.Documents[d] = fmt.Sprint(d)
			}
			p, err := (&Comparison{}).contributions(im, &propensities{})
			if err != nil {
				t.Fatal(err)
			}
			logged := make([]float64, documents*cutoff)
			if err := v.placements(&plackett.Expectation{}, im, cutoff, logged); err != nil {
				t.Fatal(err)
			}
			for j := range logged {
				w := p.drawn[1][j] - p.drawn[0][j]
				sums[i] += w * w * logged[j] / math.Log2(float64(j%cutoff)+2)
			}
			var values []float64
			for draw := range n {
				ranking, err := v.Draw(1, cutoff, uint64(draw))
				if err != nil {
					t.Fatal(err)
				}
				x := 0.
				for k, d := range ranking {
					if random.Float64() < attraction[d]/math.Log2(float64(k)+2) {
						x += p.drawn[1][d*cutoff+k] - p.drawn[0][d*cutoff+k]
					}
				}
				values = append(values, x)
			}
			variances[i] = stat.Variance(values, nil)
		}
		computed[pair%2] += sums[0] / sums[1] / pairs * 2
		measured[pair%2] += variances[0] / variances[1] / pairs * 2
	}
	t.Logf("the variance over that of the equal mixture, trained again and with a new feature: computed %.3f, measured %.3f", computed, measured)
	if stat.Mean(computed[:], nil) > .7 || stat.Mean(measured[:], nil) > .7 {
		t.Errorf("the variance is %.3f times that of the equal mixture, and %.3f measured", computed, measured)
	}
}
