package train

import (
	"encoding/json"
	"fmt"
	"math/rand/v2"
	"reflect"
	"slices"
	"testing"

	"github.com/plrank/plrank/datasets"
	"github.com/plrank/plrank/ops"
)

// few are splits of a few short queries, one of each without a relevant document; the last feature has few values.
func few() *datasets.Splits {
	split := func(name string, queries int, seed uint64) *datasets.Dataset {
		rng := rand.New(rand.NewPCG(seed, 0))
		d := &datasets.Dataset{Name: name, FeatureIDs: []int{1, 2, 3}, Offsets: []int{0}}
		for q := range queries {
			for range 9 {
				x, y := float32(rng.NormFloat64()), float32(rng.NormFloat64())
				d.Features = append(d.Features, x, y, float32(1+rng.IntN(3)))
				d.Labels = append(d.Labels, max(0, min(3, float32(int(x+y*y)+rng.IntN(2))))*float32(min(q, 1)))
				d.Groups = append(d.Groups, len(d.Groups)%2)
			}
			copy(d.Features[len(d.Features)-6:], d.Features[len(d.Features)-3:]) // a tie
			d.Offsets = append(d.Offsets, len(d.Labels))
			d.QueryIDs = append(d.QueryIDs, fmt.Sprint(name, q))
		}
		return d
	}
	return &datasets.Splits{Train: split("train", 12, 1), Vali: split("vali", 4, 2), Test: split("test", 4, 3)}
}

// others returns values that differ from the setting's, as JSON has them.
func others(s Setting) (values []string) {
	switch s.Value.(type) {
	case *bool:
		return []string{fmt.Sprint(!*s.Value.(*bool))}
	case *[]int:
		return []string{"[8]"}
	case *Features:
		return []string{`["3"]`, `["1"]`}
	case *[]string:
		return []string{`["mrr"]`, `["0: 0.6"]`}
	case *ops.Activation, *string:
		for _, name := range s.Names() {
			values = append(values, `"`+name+`"`)
		}
		slices.Reverse(values) // the names of schedules end in one that changes most
		return values
	}
	return []string{"1", "2", "0.5", "3", "0.01", "8", "20"}
}

// trained returns all that a training gives: its model, history and report.
func trained(c Config, s *datasets.Splits) (result string, err error) {
	tr, err := New(c, Custom{}, s)
	if err != nil {
		return "", err
	}
	r, err := tr.Run(ctx, Hooks{})
	if err != nil {
		return "", err
	}
	report, err := tr.Report(r.Model)
	if err != nil {
		return "", err
	}
	for i := range r.History {
		r.History[i].Seconds, r.History[i].TrainSeconds, r.History[i].Samples = 0, 0, 0
	}
	f := r.Model.File()
	text, err := json.Marshal([]any{r.History, report.Splits, f.Arrays, f.Transform, f.Grade})
	return string(text), err
}

// A setting has an effect on a training exactly where its row says so: a row that leaves out for which models it is, fails here.
func TestSettingsHaveAnEffectWhereTheirRowsSaySo(t *testing.T) {
	t.Parallel()
	base := Config{
		Objective: Objective{Loss: "plrank-rb", Samples: 5, NormalizeGains: true}, Model: Model{Hidden: []int{4}, Activation: ops.Tanh},
		Optimization: Optimization{LearningRate: 0.1, Batch: 4, Epochs: 5},
		Evaluation:   Evaluation{Report: []string{"err", "expected-pair-accuracy@3", "ndcg"}, Metric: "map"},
	}.Plain()
	use := func(c Config) *Use {
		measures, err := c.Measures()
		if err != nil {
			t.Fatal(err)
		}
		return &Use{Config: c, Measures: measures, Splits: few()}
	}
	usual := use(base)
	for name, change := range map[string]func(*Config){
		"networks":         func(*Config) {},
		"attention":        func(c *Config) { c.Scorer = attentionScorer },
		"forests":          func(c *Config) { c.Scorer, c.Leaves = forestScorer, 6 },
		"momentum":         func(c *Config) { c.Optimizer = "momentum" },
		"adamw":            func(c *Config) { c.Optimizer = "adamw" },
		"linear models":    func(c *Config) { c.Hidden = nil },
		"losses of labels": func(c *Config) { c.Loss, c.Report = "mse", nil },
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			c := base
			change(&c)
			u := use(c)
			result, err := trained(c, u.Splits)
			if err != nil {
				t.Fatal(err)
			}
			every := name == "networks" || c.Scorer != base.Scorer // of the others, the settings that these change
			for i, row := range c.Settings() {
				idle := row.Idle(u)
				switch {
				case slices.Contains([]string{"on-nan", "shards", "scorer", "refit"}, row.Flag): // no batch fails, one process, no initial model
				case every || (idle == "") != (row.Idle(usual) == ""):
					if changed := changes(c, i, result, u.Splits); changed != (idle == "") {
						t.Errorf("-%s: another value changes the result: %t; no effect by its row: %q", row.Flag, changed, idle)
					}
				}
			}
		})
	}
}

// changes reports whether another value of a setting gives another result.
func changes(c Config, setting int, result string, s *datasets.Splits) bool {
	return slices.ContainsFunc(others(c.Settings()[setting]), func(value string) bool {
		with := c
		row := with.Settings()[setting]
		if row.field().SetZero(); json.Unmarshal([]byte(value), row.Value) != nil || reflect.DeepEqual(with, c) {
			return false
		}
		other, err := trained(with, s)
		return err == nil && other != result
	})
}
