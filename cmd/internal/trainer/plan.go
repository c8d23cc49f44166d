package trainer

import (
	"fmt"
	"slices"
	"strings"

	"github.com/plrank/plrank/cmd/internal/cli"
	"github.com/plrank/plrank/datasets"
	"github.com/plrank/plrank/internal/command"
	"github.com/plrank/plrank/metrics"
	"github.com/plrank/plrank/ranker"
	"github.com/plrank/plrank/recipe"
	"github.com/plrank/plrank/train"
	"github.com/plrank/plrank/transforms"
)

// chooseRecipe takes the plan for the training data, with the flags that are given in place of its settings, and puts into words what it
// is. There is nothing to choose for another preset, a -config, a run that goes on, or a fold after the first.
func chooseRecipe(o *options, s *datasets.Splits) error {
	if !o.bySize {
		return nil
	}
	if parts, products, err := transforms.SplitSpec(o.Transform); parts == nil && products != nil && err == nil {
		o.given = slices.DeleteFunc(o.given, func(flag string) bool { return flag == "transform" })
		o.more = "+" + o.Transform // to the parts of the recipe
	}
	if why := o.whySingle(); why != "" {
		return o.takeSingle(s, why)
	}
	with, changes := recipe.For(s).With(o.Config, o.own()...)
	return o.take(with, s, changes)
}

// specs returns the transforms that flags and configurations name.
func (o *options) specs() (specs []string) {
	for _, k := range o.kinds {
		if k.name == "transform" {
			specs = append(specs, k.value)
		}
	}
	for _, c := range append([]train.Config{o.Config}, o.Models...) {
		specs = append(specs, c.Transform)
	}
	return specs
}

// products returns the features made of vectors that transforms name; nil: none does. Fitting a transform tells errors.
func (o *options) products() (all []transforms.Product) {
	for _, spec := range o.specs() {
		_, products, _ := transforms.SplitSpec(spec)
		for _, p := range products {
			if !slices.ContainsFunc(all, func(other transforms.Product) bool { return other.Name == p.Name }) {
				all = append(all, p)
			}
		}
	}
	return all
}

// whySingle returns why the recipe is one model, "" if the data choose.
func (o *options) whySingle() string {
	_, err := metrics.ParseMeasure(o.Metric)
	switch {
	case o.InitModel != "":
		return "by -init-model"
	case slices.Contains(o.given, "scorer"):
		return "by -scorer"
	case len(o.AtLeast) > 0:
		return "as -at-least is for one model"
	case o.Data == "":
		return "for the built-in data"
	case err != nil:
		return "as models of several kinds cannot be compared by -metric " + o.Metric
	}
	return ""
}

// beginWith takes the kind of the initial model, nil without one, unless -scorer names another.
func (o *options) beginWith(initial *ranker.Model) error {
	if initial == nil || !o.bySize || slices.Contains(o.given, "scorer") {
		return nil
	}
	kind := initial.File().Kind
	if kind == ranker.MixtureKind {
		return command.Usage(fmt.Errorf("-init-model %s: a mixture is not trained on: want one of its models", o.InitModel))
	}
	o.Scorer, o.given = kind, append(o.given, "scorer")
	return nil
}

// takeSingle takes the recipe of one model, for a reason. It is a forest if a flag is for forests alone, and no flag says otherwise.
func (o *options) takeSingle(s *datasets.Splits, why string) error {
	if !slices.Contains(o.given, "scorer") {
		o.Scorer, o.given = recipe.ScorerFor(o.given...), append(o.given, "scorer")
	}
	if (len(o.Rising) > 0 || len(o.Falling) > 0) && o.Scorer != ranker.ForestKind {
		return command.Usage(fmt.Errorf("-rising and -falling are for -scorer forest: scores by -scorer %s may rise and fall", o.Scorer))
	}
	plan := recipe.Single(o.Scorer, s)
	if o.Refit > 0 {
		plan.Models[0].Epochs = 1 // each has all trees
	}
	cli.Override(&plan.Models[0], o.Config, o.own()...)
	plan.Reason += "; one model, " + why
	return o.take(plan, s, nil)
}

// own returns the flags whose settings are the ones of the options in every model: two may be of mpirun, and of all folds.
func (o *options) own() []string { return append([]string{"shards", "highest-grade"}, o.given...) }

// take takes a plan, with settings for one kind, and says what it is.
func (o *options) take(plan recipe.Plan, s *datasets.Splits, changes []string) error {
	for i := range plan.Models {
		plan.Models[i].Transform += o.more
	}
	if err := o.setKinds(plan.Models); err != nil {
		return err
	}
	said := func(flag string) bool {
		return slices.Contains(o.given, flag) || slices.ContainsFunc(o.kinds, func(k kindFlag) bool { return k.name == flag })
	}
	for _, c := range plan.Models {
		if c.Leaves > 0 && c.Depth > 0 && said("leaves") && !said("depth") {
			changes = append(changes, fmt.Sprintf("-leaves %d: to depth %d, by the recipe; -depth 0 is any depth", c.Leaves, c.Depth))
			break
		}
	}
	o.recipe = fmt.Sprintf("recipe for %d training documents: %s\n", s.Train.Rows(), plan.Reason)
	var products []string
	for _, p := range s.Train.Products {
		products = append(products, p.Name)
	}
	if o.chosen != "" {
		changes = append(changes, o.chosen)
	}
	if products != nil {
		changes = append(changes, "features made of vectors: "+strings.Join(products, ", "))
	}
	for _, k := range o.kinds {
		changes = append(changes, fmt.Sprintf("-%s %s: for every %s", k.name, k.value, k.kind))
	}
	for _, change := range changes {
		o.recipe += change + "\n"
	}
	if len(plan.Models) == 1 { // several are told of as they are trained
		if flags := cli.Differences(plan.Models[0], defaults().Config); flags != "" {
			o.recipe += "it sets " + flags + "\n"
		}
	}
	if o.Recipe, o.Config, o.bySize = plan.Reason, plan.Models[0], false; len(plan.Models) > 1 {
		o.Models = plan.Models
	}
	return o.check()
}

// A kindFlag is a setting of one kind of models: -lr forest:0.1.
type kindFlag struct{ kind, name, value string }

// The kinds of a kindFlag.
var kinds = []string{"forest", "network"}

func (k kindFlag) has(c train.Config) bool {
	return (c.Scorer == ranker.ForestKind) == (k.kind == "forest")
}

// takeKinds takes the settings of one kind from the command line, and returns the other arguments.
func (o *options) takeKinds(args []string) (others []string) {
	settings := cli.SettingFlags(&o.Config).Set()
	o.kinds = nil
	for i := 0; i < len(args); i++ {
		name, value, joined := strings.Cut(strings.TrimPrefix(strings.TrimPrefix(args[i], "-"), "-"), "=")
		known := strings.HasPrefix(args[i], "-") && settings.Lookup(name) != nil
		if known && !joined && i+1 < len(args) {
			value = args[i+1]
		}
		kind, own, ofKind := strings.Cut(value, ":")
		if !known || !ofKind || !slices.Contains(kinds, kind) {
			others = append(others, args[i])
			continue
		}
		o.kinds = append(o.kinds, kindFlag{kind, name, own})
		if !joined {
			i++
		}
	}
	return others
}

// setKinds gives models the settings of their kinds.
func (o *options) setKinds(models []train.Config) error {
	for _, k := range o.kinds {
		found := false
		for i := range models {
			if !k.has(models[i]) {
				continue
			}
			found = true
			if err := command.Parse(cli.SettingFlags(&models[i], k.name).Set(), []string{"-" + k.name + "=" + k.value}); err != nil {
				return command.Usage(fmt.Errorf("-%s %s:%s: %w", k.name, k.kind, k.value, err))
			}
		}
		if !found {
			return command.Usage(fmt.Errorf("-%s %s:%s: none of the models is a %[2]s", k.name, k.kind, k.value))
		}
	}
	return nil
}
