package tune

import (
	"cmp"
	"slices"
	"strings"

	"github.com/plrank/plrank/cmd/internal/cli"
	"github.com/plrank/plrank/recipe"
	"github.com/plrank/plrank/train"
)

const (
	usualMinutes = 20  // of a search without -grid and -trials
	mostDrawn    = 500 // trials without -grid and -trials, which take longer
)

// drawSpace gives the trials of a search without -grid: the recipe of a network, then draws from what is left of the space
// beside the flags for all trials; and the choices that were drawn from.
func (o *options) drawSpace(metric string) (flags [][]string, tried grid, err error) {
	groups := map[string]string{}
	for _, of := range new(train.Config).Settings() {
		groups[of.Flag] = of.Group
	}
	byLoss := cli.HasLoss(metric)
	free := !o.saysModel() && !o.given("init-model") && !byLoss
	draw := func(space []string) (flags [][]string, err error) {
		var g grid
		for _, text := range space {
			c, err := parseChoice(text)
			if err != nil {
				return nil, err
			}
			group := groups[c.flag]
			fixed := o.given(c.flag) ||
				o.given("init-model") && (group == "Inputs" || group == "Model") || // whose architecture it is
				byLoss && group == "Objective" // or values of trials would mean different things
			if !fixed {
				g = append(g, c)
			}
			if !fixed && !slices.ContainsFunc(tried, func(other choice) bool { return other.flag == c.flag }) {
				tried = append(tried, c)
			}
		}
		if n := cmp.Or(o.trials, mostDrawn); n > 1 && g != nil {
			return g.trials(n-1, o.seed)
		}
		return nil, nil
	}
	if flags, err = draw(recipe.Networks); err != nil {
		return nil, nil, err
	}
	first := []string{}
	if free {
		first = []string{"-scorer=mlp"}
		trees, err := draw(recipe.Forests)
		if err != nil {
			return nil, nil, err
		}
		for i := 1; i < len(flags); i += 3 {
			flags[i] = trees[i]
		}
	}
	return slices.Insert(flags, 0, first), tried, nil
}

// saysModel reports whether a flag for all trials, or of the grid, says something of models.
func (o *options) saysModel() bool {
	return slices.ContainsFunc(o.grid, func(c choice) bool { return recipe.OfModel(c.flag) }) ||
		slices.ContainsFunc(o.shared, func(flag string) bool { return recipe.OfModel(flagName(flag)) })
}

// flagName returns the name of a flag that is written -name=value.
func flagName(flag string) string {
	name, _, _ := strings.Cut(flag, "=")
	return strings.TrimPrefix(name, "-")
}

// given reports whether a flag is given for all trials.
func (o *options) given(name string) bool {
	return slices.ContainsFunc(o.shared, func(flag string) bool { return strings.HasPrefix(flag, "-"+name+"=") })
}
