package recipe

import (
	"fmt"
	"slices"
	"strings"

	"github.com/plrank/plrank/datasets"
	"github.com/plrank/plrank/ranker"
	"github.com/plrank/plrank/train"
)

// With returns the plan with settings of c, by the names of their flags, in every model that has them, and what each changed, in words.
// Scores of a network cannot be made to rise or fall with a feature: those settings leave out the networks.
func (p Plan) With(c train.Config, flags ...string) (with Plan, changes []string) {
	with = Plan{Reason: p.Reason}
	var left []int // models of p
	constrained := len(c.Rising) > 0 && slices.Contains(flags, "rising") || len(c.Falling) > 0 && slices.Contains(flags, "falling")
	var dropped []string
	for i, m := range p.Models {
		if constrained && m.Scorer != ranker.ForestKind {
			dropped = append(dropped, fmt.Sprint(i+1))
			continue
		}
		left = append(left, i)
		with.Models = append(with.Models, override(m, c, flags))
	}
	if dropped != nil {
		changes = append(changes, fmt.Sprintf("-rising and -falling are for forests: models %s are left out", strings.Join(dropped, ", ")))
	}
	for at, row := range c.Settings() {
		if !slices.Contains(flags, row.Flag) {
			continue
		}
		var models, had []string
		for i, m := range with.Models {
			was := p.Models[left[i]]
			if before, now := text(was, at), text(m, at); before != now {
				models, had = append(models, fmt.Sprintf("%d (which had %s)", i+1, before)), append(had, before)
			}
		}
		switch {
		case len(had) > 1 && len(had) == len(with.Models) && len(slices.Compact(had)) == 1:
			changes = append(changes, fmt.Sprintf("-%s %s: for every model (which had %s)", row.Flag, text(c, at), had[0]))
		case had != nil:
			changes = append(changes, fmt.Sprintf("-%s %s: for model %s", row.Flag, text(c, at), strings.Join(models, ", ")))
		}
	}
	return with, changes
}

// anyData has what a setting may be for.
var anyData = &datasets.Splits{Train: &datasets.Dataset{QueryWeights: []float32{1}}, Vali: &datasets.Dataset{}, Test: &datasets.Dataset{}}

// override returns a model with those settings of another that have an effect on it.
func override(model, with train.Config, flags []string) train.Config {
	given := with.Settings()
	next := model
	for i, row := range next.Settings() {
		if slices.Contains(flags, row.Flag) {
			row.Take(given[i])
		}
	}
	was := model.Settings()
	use := &train.Use{Config: next, Splits: anyData}
	for i, row := range next.Settings() {
		if slices.Contains(flags, row.Flag) && row.Idle(use) != "" {
			row.Take(was[i])
		}
	}
	return next
}

// Idle returns the flags of the settings without an effect on a model, whatever the data.
func Idle(c train.Config) (flags []string) {
	use := &train.Use{Config: c, Splits: anyData}
	for _, row := range use.Settings() {
		if row.Idle(use) != "" {
			flags = append(flags, row.Flag)
		}
	}
	return flags
}

// ScorerFor returns the kind of the model of a plan of one where these flags are given: a forest if one is for forests alone, or else a
// network.
func ScorerFor(flags ...string) string {
	idle := func(scorer string) []string {
		return Idle(train.Config{Model: train.Model{Scorer: scorer, Hidden: []int{1}}}.Plain())
	}
	forest, mlp, attention := idle(ranker.ForestKind), idle("mlp"), idle("attention")
	if slices.ContainsFunc(flags, func(flag string) bool {
		return !slices.Contains(forest, flag) && slices.Contains(mlp, flag) && slices.Contains(attention, flag)
	}) {
		return ranker.ForestKind
	}
	return "mlp"
}

var plain = strings.NewReplacer(`"`, "", "[", "", "]", "", "null", "none")

// text returns the value of a setting, without the marks of JSON.
func text(c train.Config, setting int) string { return plain.Replace(c.Settings()[setting].Text()) }
