package train

import (
	"encoding/json"
	"errors"
	"math"
	"path/filepath"
	"reflect"
	"slices"
	"strings"
	"testing"

	"github.com/plrank/plrank/datasets"
)

// Every field of a Config has one row in the table of settings, with a name of its own, and help.
func TestEveryFieldIsASetting(t *testing.T) {
	var c Config
	rows := map[any]int{}
	flags := map[string]bool{}
	for _, s := range c.Settings() {
		rows[s.Value]++
		if s.JSON == "" || s.Help == "" || flags[s.Flag] {
			t.Errorf("-%s: JSON %q, help %q, there already: %t", s.Flag, s.JSON, s.Help, flags[s.Flag])
		}
		flags[s.Flag] = true
		if s.Plain != nil && reflect.ValueOf(s.Plain).IsZero() {
			t.Errorf("-%s: the plain value is zero, which is not a value", s.Flag)
		}
	}
	config := reflect.ValueOf(&c).Elem()
	fields := 0
	for _, f := range reflect.VisibleFields(config.Type()) {
		if f.Anonymous {
			continue
		}
		fields++
		if len(f.Index) > 1 && !slices.ContainsFunc(c.Settings(), func(s Setting) bool {
			return s.Group == config.Type().Field(f.Index[0]).Name && s.JSON == f.Tag.Get("json")
		}) {
			t.Errorf("%s is in another group", f.Name)
		}
		if n := rows[config.FieldByIndex(f.Index).Addr().Interface()]; n != 1 {
			t.Errorf("%s has %d rows, want 1", f.Name, n)
		}
	}
	if fields != len(rows) {
		t.Errorf("%d fields, %d rows", fields, len(rows))
	}
}

// sized returns data of a number of queries of a number of documents each.
func sized(queries, documents int) *datasets.Splits {
	split := func(name string, queries int) *datasets.Dataset {
		d := &datasets.Dataset{Name: name, FeatureIDs: []int{1}, Offsets: []int{0}}
		for q := range queries {
			for i := range documents {
				d.Features = append(d.Features, float32(i*q%17))
				d.Labels = append(d.Labels, float32(i%3))
			}
			d.Offsets = append(d.Offsets, len(d.Labels))
			d.QueryIDs = append(d.QueryIDs, string(rune('a'+q%26))+strings.Repeat("x", q/26))
		}
		return d
	}
	return &datasets.Splits{Train: split("train", queries), Vali: split("vali", 2)}
}

// In a Config zero is zero, whatever the data and the other fields; a zero that is not a value is refused, and its name told.
func TestZeroIsZero(t *testing.T) {
	for _, c := range []Config{Default(), paper(), Config{}.Plain()} {
		c.Dropout, c.Members, c.Hidden, c.Activation, c.NormalizeGains, c.GroupLasso, c.Average, c.Warmup = 0, 0, nil, 0, false, 0, 0, 0
		c.Momentum, c.WeightDecay = 0, 0
		tr, err := New(c, Custom{}, sized(4, 60))
		if err != nil {
			t.Fatal(err)
		}
		if !reflect.DeepEqual(tr.Config, c) {
			t.Errorf("got %+v, want %+v", tr.Config, c)
		}
		for i, s := range c.Settings() {
			if s.Plain == nil || s.Flag == "momentum" || s.Flag == "weight-decay" { // zero is a value
				continue
			}
			lacks := c
			at := lacks.Settings()[i]
			at.field().SetZero()
			_, err := New(lacks, Custom{}, sized(4, 60))
			if named := (*settingError)(nil); !errors.As(err, &named) || named.Flag() != s.Flag {
				t.Errorf("%s: got %v", s.JSON, err)
			}
		}
	}
	if _, err := New(Config{Model: Model{Hidden: []int{8}}}, Custom{}, sized(4, 60)); err == nil {
		t.Error("a Config without a loss: no error")
	}
}

// Where its zeros are not values, a plain Config is plain SGD on the exact objective, as JSON of older versions that lacks settings is
// meant.
func TestPlain(t *testing.T) {
	want := Config{
		Objective:    Objective{Loss: "plrank-exact", Cutoff: 5, Samples: 100, Gain: "exp2", Discounts: "dcg"},
		Inputs:       Inputs{Transform: "minmax"},
		Model:        Model{Scorer: "mlp", Blocks: 1, Heads: 2},
		Optimization: Optimization{Optimizer: "sgd", LearningRate: 0.01, Momentum: 0.9, WeightDecay: 0.01, Decay: 1, Schedule: "constant", Batch: 1, Shards: 1, OnNaN: "stop", Epochs: 40},
		Evaluation:   Evaluation{Metric: "ndcg@5", LabelFree: "skip", Ties: "random"},
	}
	if c := (Config{}).Plain(); !reflect.DeepEqual(c, want) {
		t.Errorf("got %+v", c)
	}
	for _, test := range []struct {
		Objective
		metric string
	}{{Objective{Cutoff: 3}, "ndcg@3"}, {Objective{Loss: "disparity"}, LossMetric}, {Objective{Loss: "softmax+plrank2"}, LossMetric}} {
		if c := (Config{Objective: test.Objective}).Plain(); c.Metric != test.metric {
			t.Errorf("%+v: metric %s, want %s", test.Objective, c.Metric, test.metric)
		}
	}
}

// The config.json of a run of an older version gives the run that it gave, also where the recipe
// for the data has other values, and where the version did not know newer settings.
func TestOlderConfigJSON(t *testing.T) {
	const older = `{"seed":0,"loss":"plrank-exact","cutoff":20,"samples":100,"gain":"exp2","highestGrade":0,"normalizeGains":false,"discounts":"dcg",
		"transform":"minmax","categorical":null,"scorer":"mlp","hidden":null,"activation":"none","dropout":0,"members":0,"blocks":1,"heads":2,"latentCross":false,
		"optimizer":"adam","learningRate":0.006,"momentum":0.9,"weightDecay":0.01,"decay":0.85,"schedule":"constant","warmup":0,"l2":0,"groupLasso":0,"clip":0,"average":0,
		"batch":4,"shards":1,"onNaN":"stop","epochs":1,"patience":0,
		"metric":"expected-ndcg@10","convention":"skip","ties":"random","report":null,"weightedMetrics":false,"evaluationSamples":100,
		"evaluateTrain":false,"evaluateTest":false,"dropLabelFreeTest":false}`
	var c Config
	if err := json.Unmarshal([]byte(older), &c); err != nil {
		t.Fatal(err)
	}
	tr := func(c Config) *Trainer {
		tr, err := New(c, Custom{}, small())
		if err != nil {
			t.Fatal(err)
		}
		return tr
	}
	if got := tr(c).Config; !reflect.DeepEqual(got, c) {
		t.Errorf("got %+v, want %+v", got, c)
	}
	lacking := strings.NewReplacer(`"decay":0.85,`, "", `"shards":1,`, "", `"onNaN":"stop",`, "", `"scorer":"mlp",`, "").Replace(older)
	before := Config{}.Plain()
	if err := json.Unmarshal([]byte(lacking), &before); err != nil {
		t.Fatal(err)
	}
	if c.Decay = 1; !reflect.DeepEqual(before, c) {
		t.Errorf("got %+v, want %+v", before, c)
	}

	// A checkpoint of such a version.
	path := filepath.Join(t.TempDir(), "checkpoint.npz")
	whole := tr(c)
	checkpoint, err := whole.Checkpoint()
	if err != nil {
		t.Fatal(err)
	}
	checkpoint.values["config"] = json.RawMessage(lacking)
	if err := checkpoint.Save(path); err != nil {
		t.Fatal(err)
	}
	if err := tr(c).Restore(path); err != nil {
		t.Error(err)
	}
}

// The settings that may differ when a run is resumed say how long it goes on, and what
// becomes of batches that cannot be computed.
func TestResumableSettings(t *testing.T) {
	var resumable []string
	for _, s := range new(Config).Settings() {
		if s.Resumable {
			resumable = append(resumable, s.Flag)
		}
	}
	if want := []string{"on-nan", "epochs", "patience"}; !slices.Equal(resumable, want) {
		t.Errorf("got %v, want %v", resumable, want)
	}
}

// Differences are in terms of JSON, and numbers that JSON cannot have are not hidden.
func TestConfigDifferences(t *testing.T) {
	a, b := paper(), paper()
	b.Samples, b.Hidden, b.LearningRate = 7, nil, math.NaN()
	if got, want := configDifferences(a, b, "was"), `hidden is null, was [32,32], learningRate is NaN, was 0.01, samples is 7, was "dynamic"`; got != want {
		t.Errorf("got %s, want %s", got, want)
	}
	if a.Hidden, b.Hidden = []int{}, nil; strings.Contains(configDifferences(a, b, "was"), "hidden") {
		t.Error("no layers differ from none")
	}
}
