package train

import (
	"encoding/json"
	"errors"
	"fmt"
	"math"
	"reflect"
	"slices"
	"strings"
	"testing"

	"github.com/plrank/plrank/datasets"
	"github.com/plrank/plrank/metrics"
	"github.com/plrank/plrank/ops"
)

// featureRow is the row of the best feature in a report.
const featureRow = 1

// learning is a configuration that learns much in few epochs.
func learning(loss string) Config {
	return Config{
		Objective:    Objective{Loss: loss, Samples: 20},
		Inputs:       Inputs{Transform: "log-standard"},
		Model:        Model{Hidden: []int{16}, Activation: ops.Tanh},
		Optimization: Optimization{Optimizer: "adam", LearningRate: 0.02, Batch: 4, Epochs: 8},
		Evaluation:   Evaluation{EvaluateTrain: true},
	}
}

// Every kind of discounts raises the metric that it stands for, which is reported
// without being asked for.
func TestDiscountsRaiseTheirMetric(t *testing.T) {
	t.Parallel()
	s := small()
	for _, c := range []struct {
		discounts, gain string
		normalize       bool
		metric          string
	}{
		{"dcg", "exp2", true, "ndcg@5"},
		{"precision", "binary", false, "precision@5"},
		{"arp", "linear", true, "arp@5"},
		{"rbp", "binary", false, "rbp@5"},
		{"rbp( 0.9 )", "binary", false, "rbp(p=0.9)@5"},
		{"1, 0, 0, 0, 0", "exp2", false, "dcg@1"},
	} {
		config := learning("plrank-rb")
		config.Discounts, config.Gain, config.NormalizeGains, config.Metric = c.discounts, c.gain, c.normalize, "dcg@1"
		tr := mustNew(t, config, s)
		history := mustRun(t, tr, Hooks{}).History
		for _, name := range []string{c.metric, "expected-" + c.metric} {
			m, err := metrics.ParseMeasure(name)
			if err != nil {
				t.Fatal(err)
			}
			random, err := tr.parsed.evaluator.randomOrder(s.Train)
			if err != nil {
				t.Fatal(err)
			}
			// A good third of the way from random order to the best there can be.
			var labels []float64
			for _, label := range s.Train.Labels {
				labels = append(labels, float64(label))
			}
			ideal, err := tr.parsed.evaluator.evaluate(s.Train, labels, []metrics.Measure{m.Ranking()})
			if err != nil {
				t.Fatal(err)
			}
			least, best := float64(random[m.String()].mean), float64(ideal[m.Ranking().String()])
			last := float64(history[len(history)-1].Train[name])
			if reached := (last - least) / (best - least); !(reached > 0.35) {
				t.Errorf("%s: %s is %.3f, %.3f of the way from %.3f to %.3f", c.discounts, name, last, reached, least, best)
			}
		}
	}
}

// The loss is what the discounts, gains and normalization say that it is: minus
// precision, RBP, NDCG, and ARP up to a constant.
func TestObjectiveIsTheMetric(t *testing.T) {
	t.Parallel()
	s := tinySplits()
	for _, c := range []struct {
		discounts, gain string
		normalize       bool
		metric          string
		sign, constant  float64
	}{
		{"dcg", "exp2", false, "dcg@3", -1, 0},
		{"dcg", "exp2", true, "ndcg@3", -1, 0},
		{"dcg", "binary", true, "ndcg@3", -1, 0},
		{"precision", "binary", false, "precision@3", -1, 0},
		{"rbp(0.7)", "binary", false, "rbp(p=0.7)@3", -1, 0},
		{"arp", "linear", true, "arp@3", 1, -4},
	} {
		tr := mustNew(t, Config{
			Objective:    Objective{Loss: "plrank-rb", Cutoff: 3, Discounts: c.discounts, Gain: c.gain, NormalizeGains: c.normalize, Samples: 20000},
			Optimization: Optimization{Batch: 3, LearningRate: 1e-30},
		}, s)
		e, err := tr.loop.epoch(ctx, 0)
		if err != nil {
			t.Fatal(err)
		}
		m, err := metrics.ParseMeasure("expected-" + c.metric)
		if err != nil {
			t.Fatal(err)
		}
		train := s.Train.Select(tr.data.Queries)
		scores, err := datasets.Score(current(t, tr), train)
		if err != nil {
			t.Fatal(err)
		}
		values, err := tr.parsed.evaluator.evaluate(train, scores, []metrics.Measure{m})
		if err != nil {
			t.Fatal(err)
		}
		if want := c.sign*float64(values[m.String()]) + c.constant; math.Abs(e.Loss-want) > 0.02 {
			t.Errorf("%s of %s gains: the loss is %v, want %v", c.discounts, c.gain, e.Loss, want)
		}
	}
}

func TestNormalizedByDiscounts(t *testing.T) {
	// The first query: labels 0, 1, 2.
	for _, c := range []struct {
		discounts, gain string
		norm            float64
	}{
		{"precision", "binary", 1},
		{"arp", "linear", 3},
		{"3,1", "linear", 7},
		{"rbp(0.5)", "exp2", 0.5*3 + 0.25},
	} {
		tr := mustNew(t, Config{Objective: Objective{NormalizeGains: true, Cutoff: 2, Discounts: c.discounts, Gain: c.gain}}, tinySplits())
		raw, err := tr.parsed.loss.gain.Gains([]float32{0, 1, 2})
		if err != nil {
			t.Fatal(err)
		}
		for i, gain := range raw {
			if want := gain / c.norm; math.Abs(float64(tr.data.Gains[i])-want) > 1e-6 {
				t.Errorf("%s of %s gains: row %d has %v, want %v", c.discounts, c.gain, i, tr.data.Gains[i], want)
			}
		}
		if gains := tr.data.Gains[3:5]; !slices.Equal(gains, []float32{0, 0}) {
			t.Errorf("%s: a query without gains has %v", c.discounts, gains)
		}
	}
}

func TestReported(t *testing.T) {
	usual := []string{"dcg@5", "ndcg@5", "ndcg@10", "expected-dcg@5", "expected-ndcg@5", "expected-ndcg@10"}
	asked := []string{"MAP", "expected-err@10", "ee-d", "map"}
	for _, c := range []struct {
		config Config
		more   []string
	}{
		{Config{}, nil},
		{Config{Evaluation: Evaluation{Report: asked}}, []string{"map", "expected-err@10", "ee-d"}},
		{Config{Objective: Objective{Loss: "plrank-rb+0.5*disparity"}}, []string{"disparity", "loss"}},
		{Config{Objective: Objective{Loss: "disparity"}}, []string{"disparity", "loss"}},
		{Config{Evaluation: Evaluation{Metric: "expected-ndcg@5 - 1e1*Disparity"}}, []string{"disparity", "expected-ndcg@5-10*disparity"}},
		{Config{Objective: Objective{Loss: "plrank-rb+0*disparity"}}, nil},
		{Config{Objective: Objective{Loss: "ee-l"}, Evaluation: Evaluation{Metric: "Disparity"}}, []string{"ee-l", "disparity"}},
		{Config{Objective: Objective{Loss: "group-exposure+group-treatment"}, Evaluation: Evaluation{Report: []string{"treatment-ratio"}}}, []string{"exposure-ratio", "treatment-ratio", "loss"}},
	} {
		p, err := c.config.Plain().parse(Custom{})
		if err != nil {
			t.Fatal(err)
		}
		if got, want := p.evaluator.names(), append(slices.Clone(usual), c.more...); !slices.Equal(got, want) {
			t.Errorf("%+v: %v, want %v", c.config, got, want)
		}
	}
	similar, err := (Config{Objective: Objective{Loss: "plrank-exact+0.2*similarity"}}).Plain().parse(Custom{})
	want := []string{"dcg@5", "ndcg@5", "ndcg@10", "ils@5", "expected-dcg@5", "expected-ndcg@5", "expected-ndcg@10", "expected-ils@5", "loss"}
	if err != nil || !slices.Equal(similar.evaluator.names(), want) {
		t.Errorf("with similarity: %v, %v", similar.evaluator.names(), err)
	}
	if asked[0] != "MAP" {
		t.Error("the caller's names were changed")
	}
	for report, want := range map[string]string{
		"x":                  "the nearest of ",
		"expected-disparity": "remove the prefix expected-",
		"ndcg@0":             "report: ",
	} {
		if err := (Config{Evaluation: Evaluation{Report: []string{report}}}).Plain().Check(); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%s: %v, want %q", report, err, want)
		}
	}
}

// Fairness is measured on the exposure under the policy, with the objective's
// discounts; of random order too, and unknown for rankers that are no policy.
func TestFairnessReport(t *testing.T) {
	t.Parallel()
	s := small()
	config := learning("disparity")
	config.Discounts, config.Report, config.Epochs = "rbp", []string{"ee-l"}, 1
	tr := mustNew(t, config, s)
	r := mustRun(t, tr, Hooks{})
	scores, err := datasets.Score(r.Model, s.Vali)
	if err != nil {
		t.Fatal(err)
	}
	in := metrics.Queries{
		Scores: scores, Labels: s.Vali.Labels, Offsets: s.Vali.Offsets, Discounts: tr.parsed.evaluator.in.Discounts,
	}
	in.Exposure, err = metrics.Exposure(in)
	if err != nil {
		t.Fatal(err)
	}
	report, err := tr.Report(r.Model)
	if err != nil {
		t.Fatal(err)
	}
	for _, name := range []string{"disparity", "ee-l"} {
		m, err := metrics.ParseMeasure(name)
		if err != nil {
			t.Fatal(err)
		}
		means, err := metrics.Means(in, []metrics.Measure{m})
		if err != nil {
			t.Fatal(err)
		}
		want := means[0]
		if got := float64(r.History[0].Vali[name]); math.Abs(got-want) > 0.01*want {
			t.Errorf("%s is %v, want %v", name, got, want)
		}
		vali := report.Splits[1]
		if vali.Value(2, name) != float64(r.History[0].Vali[name]) || !(vali.Value(0, name) > 0) || !math.IsNaN(vali.Value(featureRow, name)) {
			t.Errorf("%s: random order %v, feature %v, model %v", name, vali.Value(0, name), vali.Value(featureRow, name), vali.Value(2, name))
		}
	}
}

// A measure where less is better picks the epoch, and its loss lowers it.
func TestFairnessPicksTheEpoch(t *testing.T) {
	t.Parallel()
	for _, name := range []string{"disparity", "ee-l"} {
		config := learning(name)
		config.Metric = name
		history := mustRun(t, mustNew(t, config, small()), Hooks{}).History
		best := math.Inf(1)
		for _, e := range history {
			v := float64(e.Vali[name])
			if e.Best != (v < best) {
				t.Errorf("%s, epoch %d: best is %t for %v after %v", name, e.Epoch, e.Best, v, best)
			}
			best = min(best, v)
		}
		first, last := history[0].Train[name], history[len(history)-1].Train[name]
		if !(last < 0.97*first) {
			t.Errorf("%s on the training split went from %v to %v", name, first, last)
		}
	}
}

func TestEvaluateTest(t *testing.T) {
	t.Parallel()
	s := small()
	config := busy("sgd")
	config.EvaluateTest, config.Epochs = true, 2
	tr := mustNew(t, config, s)
	history := mustRun(t, tr, Hooks{}).History
	for _, e := range history {
		if len(e.Test) != len(e.Vali) || e.Test["ndcg@5"] == e.Vali["ndcg@5"] || !(e.TrainSeconds > 0 && e.TrainSeconds < e.Seconds) {
			t.Errorf("%+v", e)
		}
	}
	if values, err := tr.parsed.evaluator.values(networkOf(tr), s.Test); err != nil || !reflect.DeepEqual(values, history[1].Test) {
		t.Errorf("after the last epoch: %v, %v, want %v", history[1].Test, values, err)
	}
	// It changes nothing else.
	config.EvaluateTest = false
	without := mustRun(t, mustNew(t, config, s), Hooks{}).History
	for i := range without {
		if without[i].Test != nil || without[i].Loss != history[i].Loss || !reflect.DeepEqual(without[i].Vali, history[i].Vali) {
			t.Errorf("epoch %d: %+v, %+v", i, without[i], history[i])
		}
	}
	config.EvaluateTest = true
	if _, err := New(config.Plain(), Custom{}, &datasets.Splits{Train: s.Train, Vali: s.Vali}); err == nil || !strings.Contains(err.Error(), "no test split") {
		t.Errorf("without a test split: %v", err)
	}
}

func TestGroupsAreMissing(t *testing.T) {
	for what, c := range map[string]Config{
		"the loss group-exposure": {Objective: Objective{Loss: "plrank-rb + 0.1*group-exposure"}},
		"treatment-ratio":         {Evaluation: Evaluation{Report: []string{"treatment-ratio"}}},
		"exposure-ratio":          {Evaluation: Evaluation{Metric: "exposure-ratio"}},
	} {
		_, err := New(c.Plain(), Custom{}, tinySplits())
		if want := "train: train: " + what + " compares groups: "; !errors.Is(err, ErrNoGroups) || !strings.HasPrefix(err.Error(), want) {
			t.Errorf("%+v: %v, want %q", c, err, want)
		}
	}
	s := grouped(small())
	s.Test.Groups = nil
	if _, err := New(Config{Objective: Objective{Loss: "group-exposure"}}.Plain(), Custom{}, s); err == nil || !strings.HasPrefix(err.Error(), "train: test: the loss") {
		t.Errorf("no groups of the test split: %v", err)
	}
}

func TestIntentsAreMissing(t *testing.T) {
	for what, c := range map[string]Config{
		"the loss exact-alpha-ndcg": {Objective: Objective{Loss: "plrank-exact + 0.1*exact-alpha-ndcg"}},
		"err-ia@5":                  {Evaluation: Evaluation{Report: []string{"ERR-IA@5"}}},
		"alpha-ndcg@10":             {Evaluation: Evaluation{Metric: "expected-alpha-ndcg@10"}},
	} {
		_, err := New(c.Plain(), Custom{}, tinySplits())
		if want := what + " goes by intents: "; !errors.Is(err, ErrNoIntents) || !strings.Contains(err.Error(), want) {
			t.Errorf("%+v: %v, want %q", c, err, want)
		}
	}
}

// Intents that take several ints a document train and measure as few ones do. The splits may have other numbers of ints.
func TestManyIntentsTrainAsFew(t *testing.T) {
	for _, scorer := range []string{"mlp", forestScorer} {
		var histories [2]string
		for i, places := range [][]int{{0, 1, 2}, {5, 70, 140}} {
			s := small()
			for n, d := range []*datasets.Dataset{s.Train, s.Vali, s.Test} {
				ints := 1
				if i == 1 {
					ints = 3 + n
				}
				d.Intents = make([]int, d.Rows()*ints)
				for row, label := range d.Labels {
					for k, place := range places {
						d.Intents[row*ints+place/63] |= int(label) >> k & 1 << (place % 63)
					}
				}
			}
			c := Config{Objective: Objective{Loss: "exact-alpha-ndcg"}, Model: Model{Scorer: scorer}, Optimization: Optimization{Epochs: 2}}
			c.Metric, c.Report = LossMetric, []string{"alpha-ndcg@5", "expected-err-ia"}
			for _, e := range mustRun(t, mustNew(t, c, s), Hooks{}).History {
				histories[i] += fmt.Sprintln(e.Loss, e.Vali)
			}
		}
		if histories[0] != histories[1] || !strings.Contains(histories[0], "alpha-ndcg@5") {
			t.Errorf("%s: %s, with three ints a document %s", scorer, histories[0], histories[1])
		}
	}
}

// What the safety losses go by comes from a log.
func TestLoggedExposureIsMissing(t *testing.T) {
	s := datasets.Synthetic(datasets.SyntheticOptions{Train: 2, Vali: 1, Test: 1, Seed: 3})
	_, err := New(Config{Objective: Objective{Loss: "plrank-exact + exposure-risk(0.95)"}}.Plain(), Custom{}, s)
	if err == nil || !strings.Contains(err.Error(), "the loss exposure-risk(0.95) goes by the exposure of documents in a log") {
		t.Errorf("error %v without an exposure in a log", err)
	}
}

// Gains of a dataset take the place of gains by its labels.
func TestGainsOfADatasetAreLearned(t *testing.T) {
	s := datasets.Synthetic(datasets.SyntheticOptions{Train: 4, Vali: 1, Test: 1, Seed: 3})
	config := learning("plrank-exact")
	want := mustRun(t, mustNew(t, config, s), Hooks{}).History
	for _, l := range s.Train.Labels {
		s.Train.Gains = append(s.Train.Gains, math.Exp2(float64(l))-1)
	}
	got := mustRun(t, mustNew(t, config, s), Hooks{}).History
	for i := range want {
		if got[i].Loss != want[i].Loss {
			t.Errorf("epoch %d: loss %v with gains, %v with labels", i, got[i].Loss, want[i].Loss)
		}
	}
}

// grouped gives the documents groups that their first feature tells, where the
// relevant are mostly in one, and some are in none.
func grouped(s *datasets.Splits) *datasets.Splits {
	for _, d := range []*datasets.Dataset{s.Train, s.Vali, s.Test} {
		d.GroupNames = []string{"low", "high"}
		for r := range d.Rows() {
			switch x := d.Row(r)[0]; {
			case r%17 == 0:
				d.Groups = append(d.Groups, -1)
			case x < 0:
				d.Groups = append(d.Groups, 0)
			default:
				d.Groups = append(d.Groups, 1)
			}
		}
	}
	return s
}

// A relevance objective treats groups unequally; with a group objective added to it
// the ratio between them comes nearer to 1, on training and unseen queries.
func TestGroupObjectives(t *testing.T) {
	t.Parallel()
	s := grouped(small())
	for _, c := range []struct{ loss, ratio string }{
		{"group-exposure", "exposure-ratio"},
		{"group-treatment", "treatment-ratio"},
	} {
		run := func(loss string) Epoch {
			config := learning(loss)
			config.NormalizeGains, config.Report, config.EvaluateTest = true, []string{c.ratio}, true
			history := mustRun(t, mustNew(t, config, s), Hooks{}).History
			return history[len(history)-1]
		}
		alone, fair := run("plrank-rb"), run("plrank-rb+30*"+c.loss)
		for split, values := range map[string][2]Value{
			"train": {alone.Train[c.ratio], fair.Train[c.ratio]},
			"test":  {alone.Test[c.ratio], fair.Test[c.ratio]},
		} {
			if !(values[1] > values[0]+0.1 && values[1] <= 1) {
				t.Errorf("%s, %s: the ratio is %v, with %s %v", c.loss, split, values[0], c.loss, values[1])
			}
		}
	}
}

// Groups change nothing where nothing compares them, are part of what a checkpoint
// belongs to, and a run goes on to the same end.
func TestGroupsAndCheckpoints(t *testing.T) {
	t.Parallel()
	c := busy("adam")
	plain := mustRun(t, mustNew(t, c, small()), Hooks{})
	same := mustRun(t, mustNew(t, c, grouped(small())), Hooks{})
	if !slices.Equal(trainedWeights(plain.Model), trainedWeights(same.Model)) {
		t.Error("another model with groups that nothing compares")
	}

	c.Loss = "plrank-rb+group-treatment+disparity"
	s := grouped(small())
	whole := mustRun(t, mustNew(t, c, s), Hooks{})
	path := resumes(t, whole, c, 2, func(c Config) *Trainer { return mustNew(t, c, s) })
	other := grouped(small())
	other.Train.Groups[1] = 1 - other.Train.Groups[1]
	if err := mustNew(t, c, other).Restore(path); err == nil || !strings.Contains(err.Error(), "groups of the training split differ") {
		t.Errorf("another group: %v", err)
	}
}

func TestDiscountErrors(t *testing.T) {
	for _, c := range []struct {
		config Config
		want   string
	}{
		{Config{Objective: Objective{Discounts: "x"}}, "want dcg, precision, arp, rbp"},
		{Config{Objective: Objective{Discounts: "1,2"}}, "2 numbers for a cutoff of 5"},
		{Config{Objective: Objective{Discounts: "0,0", Cutoff: 2}}, "all are 0"},
		{Config{Objective: Objective{Discounts: "rbp(2)"}}, "a persistence between 0 and 1"},
		{Config{Objective: Objective{Discounts: "1,2", Cutoff: 2, NormalizeGains: true}}, "discounts 1,2, rank 2: "},
		{Config{Objective: Objective{Discounts: "1,-2", Cutoff: 2, NormalizeGains: true}}, "discounts 1,-2, rank 2: "},
	} {
		if err := c.config.Plain().Check(); err == nil || !strings.Contains(err.Error(), c.want) {
			t.Errorf("%+v: %v, want %q", c.config, err, c.want)
		}
	}
	if err := (Config{Objective: Objective{Discounts: "1,2", Cutoff: 2}}).Plain().Check(); err != nil {
		t.Errorf("rising discounts without normalization: %v", err)
	}
}

// No report is the null of older runs.
func TestNoReportIsNull(t *testing.T) {
	text, err := json.Marshal(Config{})
	if err != nil || !strings.Contains(string(text), `"report":null`) {
		t.Errorf("%s, %v", text, err)
	}
}

// The baselines do not depend on the order of the documents in a file, however many of
// their features tie.
func TestBaselinesIgnoreFileOrder(t *testing.T) {
	t.Parallel()
	coarse := func(reverse bool) *datasets.Splits {
		s := small()
		for _, d := range []*datasets.Dataset{s.Train, s.Vali, s.Test} {
			for i, x := range d.Features {
				d.Features[i] = float32(math.Round(float64(x) / 100))
			}
			for q := range d.Queries() {
				for a, b := d.Offsets[q], d.Offsets[q+1]-1; reverse && a < b; a, b = a+1, b-1 {
					d.Labels[a], d.Labels[b] = d.Labels[b], d.Labels[a]
					for c := range d.Width() {
						d.Row(a)[c], d.Row(b)[c] = d.Row(b)[c], d.Row(a)[c]
					}
				}
			}
		}
		return s
	}
	reports := map[string][2]*Report{}
	for _, ties := range []string{"random", "order"} {
		var both [2]*Report
		for i, reverse := range []bool{false, true} {
			tr := mustNew(t, Config{Optimization: Optimization{Epochs: 1}, Evaluation: Evaluation{Ties: ties, Report: []string{"map", "mrr", "err", "rbp", "arp", "recall@3"}}}, coarse(reverse))
			report, err := tr.Report(mustRun(t, tr, Hooks{}).Model)
			if err != nil {
				t.Fatal(err)
			}
			both[i] = report
		}
		reports[ties] = both
	}
	differ := 0
	for i, s := range reports["random"][0].Splits {
		other := reports["random"][1].Splits[i]
		if s.Rankers[featureRow] != other.Rankers[featureRow] {
			t.Errorf("%s, in another order %s", s.Rankers[featureRow], other.Rankers[featureRow])
		}
		for _, row := range []int{0, featureRow} {
			for name, v := range s.Rows[row] {
				if w := other.Rows[row][name]; math.Abs(float64(v-w)) > 1e-12*(1+math.Abs(float64(v))) {
					t.Errorf("%s, %s, %s: %v, in another order %v", s.Name, s.Rankers[row], name, v, w)
				}
			}
		}
		for name, v := range reports["order"][0].Splits[i].Rows[featureRow] {
			if v != reports["order"][1].Splits[i].Rows[featureRow][name] {
				differ++
			}
		}
	}
	if differ == 0 {
		t.Error("there are no ties in this test")
	}
}
