package serve

import (
	"encoding/json"
	"fmt"
	"log/slog"
	"math"
	"path/filepath"
	"reflect"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/plrank/plrank/clicks"
	"github.com/plrank/plrank/internal/cputime"
	"github.com/plrank/plrank/internal/testkit"
)

// sharing is a service of two models that share rankings, and what the log holds.
func sharing(t testing.TB, interleave ...string) (s *Service, b string, read func() *clicks.Log) {
	t.Helper()
	dir := t.TempDir()
	a, folder := filepath.Join(dir, "a.npz"), filepath.Join(dir, "clicks")
	b = filepath.Join(dir, "b.npz")
	testkit.LinearModel(t, a, 1, 0, 0)
	testkit.LinearModel(t, b, 0, 1, 0)
	s, _ = tested(t, Options{Models: map[string]string{"a": a, "b": b}, Interleave: interleave, Clicks: folder})
	return s, b, func() *clicks.Log {
		t.Helper()
		log, err := clicks.Read(folder)
		if err != nil {
			t.Fatal(err)
		}
		return log
	}
}

const fourDocuments = `"document_ids": ["w", "x", "y", "z"], "documents": [[4, 1, 0], [3, 2, 0], [2, 3, 0], [1, 4, 0]]`

func rankBy(t *testing.T, s *Service, members string) response {
	t.Helper()
	w := send(s, "/v1/rank", "{"+members+", "+fourDocuments+"}")
	var out response
	if err := json.Unmarshal(w.Body.Bytes(), &out); err != nil || w.Code != 200 {
		t.Fatalf("%d, %s, %v", w.Code, w.Body, err)
	}
	return out
}

// A user or a session gets the same ranking of a query again, others the other ones; the log says who contributed what, with
// which probability, as the client got it.
func TestInterleavingsAreLoggedAsTheClientGotThem(t *testing.T) {
	s, _, read := sharing(t, "a", "b")
	firsts := map[int]int{}
	var answers []response
	for i := range 40 {
		members := fmt.Sprintf(`"query": "shoes", "interleave": {"cutoff": 3}, "segment": "phone", "key": "user %d"`, i%20)
		if i%20 == 0 {
			members = `"query": "shoes", "interleave": {"cutoff": 3}, "client_id": "user 0"`
		}
		out := rankBy(t, s, members)
		answers = append(answers, out)
		firsts[out.Order[0]]++
		if i >= 20 && (!slices.Equal(out.Order, answers[i-20].Order) || !reflect.DeepEqual(out.Interleaved.Teams, answers[i-20].Interleaved.Teams)) {
			t.Errorf("user %d gets %v, and before %v", i%20, out.Order, answers[i-20].Order)
		}
	}
	if len(firsts) != 2 || firsts[0] < 6 || firsts[3] < 6 {
		t.Errorf("documents at the top: %v", firsts)
	}
	log := read()
	if len(log.Impressions) != 40 || len(log.Warnings) > 0 || !strings.Contains(metricsOf(s), "\nplrank_impressions_total 40\n") {
		t.Fatal(len(log.Impressions), log.Warnings)
	}
	for i, im := range log.Impressions {
		out, v := answers[i], im.Interleaving
		if v == nil || !slices.Equal(im.Shown, out.Order[:3]) || !slices.Equal(im.Shown, out.Interleaved.Ranking) || im.ID != out.QueryID ||
			!slices.Equal(v.Teams, out.Interleaved.Teams) || fmt.Sprint(v.Probabilities) != "[0.5 1 0.5]" || im.Model != "a+b" || im.Version != out.Version {
			t.Fatalf("%+v of %+v, want %+v", v, im, out.Interleaved)
		}
		if !slices.Equal(v.Models[0].Scores, []float64{4, 3, 2, 1}) || !slices.Equal(v.Models[1].Scores, []float64{1, 2, 3, 4}) ||
			v.Models[1].Version != s.models["b"].model.Load().Digest() {
			t.Fatalf("%+v", v.Models)
		}
		if want := []string{"", "phone"}[min(1, i%20)]; im.Segment != want {
			t.Errorf("segment %q, want %q", im.Segment, want)
		}
	}
}

// Drawn rankings of several models come from a mixture, of which the log has the weights, and the seed draws them again.
func TestDrawsOfSeveralModelsAreAMixture(t *testing.T) {
	s, _, read := sharing(t, "a", "b")
	for i := range 20 {
		out := rankBy(t, s, fmt.Sprintf(`"query": "shoes", "draw": {"cutoff": 2, "temperature": 2}, "key": "%d"`, i))
		if out.Drawn != nil || out.Interleaved.By == nil || len(out.Interleaved.Models) != 3 || len(out.Order) != 4 {
			t.Fatalf("%+v", out)
		}
	}
	seeded := rankBy(t, s, `"query": "shoes", "draw": {"cutoff": 2, "seed": 77}, "key": "1"`)
	for i, im := range read().Impressions {
		v, sum := *im.Interleaving, 0.
		for _, m := range v.Models {
			sum += m.Weight
		}
		again, err := v.Draw(im.Temperature, 2, im.Seed)
		if math.Abs(sum-1) > 1e-9 || err != nil || !slices.Equal(again, im.Shown) || i == 20 && im.Seed != 77 {
			t.Errorf("%v again %v of seed %d: weights %v, %v", im.Shown, again, im.Seed, sum, err)
		}
	}
	if seeded.Interleaved.Seed != 77 {
		t.Errorf("%+v", seeded.Interleaved)
	}
}

// Models of an interleaving reload as others do, and each reads texts by its own numbers.
func TestInterleavedModelsReload(t *testing.T) {
	s, b, read := sharing(t, "b", "a")
	for _, name := range []string{"a", "b"} {
		f := *s.models[name].model.Load().File()
		f.FeatureNames, f.Levels = []string{"x", "colour", "y"}, [][]string{nil, {"red", "blue"}, nil}
		if name == "b" {
			f.Levels = [][]string{nil, {"blue", "red"}, nil}
		}
		if err := f.Save(s.models[name].path); err != nil {
			t.Fatal(err)
		}
		s.models[name].logged = nil // as if the process began with these models
	}
	if err := s.Reload(); err != nil {
		t.Fatal(err)
	}
	body := `{"query": "q", "document_ids": ["r", "s"], "documents": [{"colour": "red"}, {"colour": "blue", "x": 1}]}`
	if w := send(s, "/v1/rank", body); w.Code != 200 {
		t.Fatal(w.Body)
	}
	before := s.models["b"].model.Load().Digest()
	f := *s.models["b"].model.Load().File()
	f.Levels = [][]string{nil, {"red", "blue"}, nil}
	if err := f.Save(b); err != nil {
		t.Fatal(err)
	}
	if err := s.Reload(); err != nil {
		t.Fatal(err)
	}
	if w := send(s, "/v1/rank", body); w.Code != 200 {
		t.Fatal(w.Body)
	}
	log := read()
	for i, want := range [][]float64{{2, 1}, {1, 2}} { // colour counts 1: the number of the text, by b, which is the first
		v := log.Impressions[i].Interleaving
		if v.Models[0].Name != "b" || !slices.Equal(v.Models[0].Scores, want) || (v.Models[0].Version == before) != (i == 0) {
			t.Errorf("%+v, want the scores %v", v.Models[0], want)
		}
		if !math.IsNaN(v.Models[1].Scores[0]) && v.Models[1].Scores[1] != 1 {
			t.Errorf("%+v", v.Models[1])
		}
	}
}

// In an A/B test a user always has one model, by a hash of the key, whatever the query and wherever the key stands, and the log says which,
// and how likely.
func TestUsersAreSplit(t *testing.T) {
	dir := t.TempDir()
	a, b, folder := filepath.Join(dir, "a.npz"), filepath.Join(dir, "b.npz"), filepath.Join(dir, "clicks")
	testkit.LinearModel(t, a, 1, 0, 0)
	testkit.LinearModel(t, b, 0, 1, 0)
	s, _ := tested(t, Options{Models: map[string]string{"a": a, "b": b}, Split: []string{"a", "b"}, Clicks: folder})
	models, users := map[string]string{}, map[string]int{}
	for i := range 200 {
		user := fmt.Sprint("user ", i%100)
		body := fmt.Sprintf(`{"key": %q, "query": "q%d", "draw": {"cutoff": 2}, %s}`, user, i/100, fourDocuments)
		if i >= 100 {
			body = fmt.Sprintf(`{%s, "query": "q%d", "draw": {"cutoff": 2}, "client_id": %q}`, fourDocuments, i/100, user)
		}
		w := send(s, "/v1/rank", body)
		var out response
		if err := json.Unmarshal(w.Body.Bytes(), &out); err != nil || w.Code != 200 || out.Arm != .5 || out.Drawn == nil {
			t.Fatalf("%d, %s, %v", w.Code, w.Body, err)
		}
		if want := map[string][]float64{"a": {4, 3, 2, 1}, "b": {1, 2, 3, 4}}[out.Model]; !slices.Equal(out.Scores, want) {
			t.Fatalf("model %s: scores %v", out.Model, out.Scores)
		}
		if models[user] != "" && models[user] != out.Model {
			t.Errorf("%s has the models %s and %s", user, models[user], out.Model)
		}
		models[user] = out.Model
		users[out.Model]++
	}
	if users["a"] < 60 || users["b"] < 60 { // of 200, four standard deviations of 100 users
		t.Errorf("%v", users)
	}
	log, err := clicks.Read(folder)
	if err != nil || len(log.Impressions) != 200 {
		t.Fatal(len(log.Impressions), err)
	}
	for i, im := range log.Impressions {
		if im.Arm != .5 || im.Model != models[fmt.Sprint("user ", i%100)] {
			t.Fatalf("%+v", im)
		}
	}
	if out := rankBy(t, s, `"model": "a", "query": "q", "draw": {"cutoff": 2}`); out.Arm != 0 || out.Model != "a" {
		t.Errorf("a named model is no arm: %+v", out)
	}
}

// What cannot be interleaved is refused, when the service begins or when it is asked.
func TestInvalidInterleavingsAreRefused(t *testing.T) {
	dir := t.TempDir()
	path := filepath.Join(dir, "m.npz")
	testkit.LinearModel(t, path, 1, 2, 3)
	models := map[string]string{"a": path, "b": path}
	for want, o := range map[string]Options{
		`no model "c" to compare: want one of a, b`: {Models: models, Interleave: []string{"a", "c"}, Clicks: dir},
		`model "a" is compared twice`:               {Models: models, Interleave: []string{"a", "a"}, Clicks: dir},
		"one model to compare":                      {Models: models, Interleave: []string{"a"}, Clicks: dir},
		"without a click log":                       {Models: models, Interleave: []string{"a", "b"}},
		"one of the two":                            {Models: models, Interleave: []string{"a", "b"}, Split: []string{"a", "b"}, Clicks: dir},
	} {
		if s, err := New(o); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%v, want %s", err, want)
			s.Close()
		}
	}
	s, _, _ := sharing(t, "a", "b")
	for body, want := range map[string]string{
		`{"documents": [[1, 2, 3]]}`: "no query",
		`{"documents": [[1, 2, 3]], "query": "q", "document_ids": ["a"], "interleave": {"cutoff": 0}}`:                              "interleave: cutoff 0",
		`{"documents": [[1, 2, 3]], "query": "q", "document_ids": ["a"], "interleave": {}}`:                                         "interleave: no cutoff",
		`{"documents": [[1, 2, 3]], "query": "q", "document_ids": ["a"], "segment": "` + strings.Repeat("x", 101) + `"}`:            "segment: want at most 100",
		`{"documents": [[1, 2, 3]], "query": "q", "document_ids": ["a"], "draw": {"cutoff": 1, "temperature": 1e-320}, "key": "k"}`: "divided by the temperature",
	} {
		if w := send(s, "/v1/rank", body); w.Code != 400 || !strings.Contains(w.Body.String(), want) {
			t.Errorf("%s: %d, %s, want %s", body, w.Code, w.Body, want)
		}
	}
	if w := send(s, "/v1/rank", `{"model": "a", "documents": [[1, 2, 3]]}`); w.Code != 200 || strings.Contains(w.Body.String(), "interleaved") {
		t.Errorf("%d, %s", w.Code, w.Body)
	}
}

// BenchmarkInterleaving compares the processor time of a logged request to one model, by a draw, with requests to two and three models by
// team draft and by draws from their mixture: 10 ranks of networks of the default recipe, 46 features.
//
//	go test ./serve -run - -bench Interleaving -benchtime 1x
func BenchmarkInterleaving(b *testing.B) {
	dir := b.TempDir()
	models := map[string]string{}
	for _, name := range []string{"a", "b", "c"} {
		models[name] = filepath.Join(dir, name+".npz")
		f := network(b, "minmax+log-standard+quantile", 46, 3, 0, 64)
		for i := range f.Arrays[0].Values { // other weights
			f.Arrays[0].Values[i] *= 1 + .1*math.Sin(float64(i*len(models)))
		}
		if err := f.Save(models[name]); err != nil {
			b.Fatal(err)
		}
	}
	for _, documents := range []int{10, 100} {
		for _, c := range []struct {
			name       string
			interleave []string
			rest       string
		}{
			{"one", nil, `, "draw": {"cutoff": 10, "temperature": 5}`},
			{"drafted/2", []string{"a", "b"}, ""},
			{"drafted/3", []string{"a", "b", "c"}, ""},
			{"drawn/2", []string{"a", "b"}, `, "draw": {"cutoff": 10, "temperature": 5}`},
		} {
			b.Run(fmt.Sprintf("D=%d/%s", documents, c.name), func(b *testing.B) {
				s, err := New(Options{Models: models, Interleave: c.interleave, Clicks: b.TempDir(), Log: slog.New(slog.DiscardHandler)})
				if err != nil {
					b.Fatal(err)
				}
				defer s.Close()
				var ids []string
				for d := range documents {
					ids = append(ids, strconv.Itoa(d))
				}
				text, _ := json.Marshal(ids)
				in := body("a", s.models["a"].model.Load(), documents, 4, `, "query": "q", "document_ids": `+string(text)+c.rest)
				if c.interleave != nil {
					in = strings.Replace(in, `"model": "a", `, "", 1)
				}
				for b.Loop() {
					took := cputime.Shortest(100*time.Millisecond, func() {
						if w := send(s, "/v1/rank", in); w.Code != 200 {
							b.Error(w.Body)
						}
					})
					b.ReportMetric(float64(took), "cpu-ns/request")
					space := new(scratch)
					if err := s.compute(b.Context(), []byte(in), false, space, new(response)); err != nil {
						b.Fatal(err)
					}
					b.ReportMetric(space.spent/float64(took), "price/cost")
				}
			})
		}
	}
}
