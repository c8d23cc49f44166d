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

// A shared is the flags of train for all trials, as -name=value.
type shared []string

// draw returns the trials of a search without -grid: the recipe of a network, then draws from what is left of the space beside the
// flags for all trials; and the choices that were drawn from. Zero trials are as many as there is time for.
func (s shared) draw(metric string, trials int, seed uint64) (flags [][]string, tried grid, err error) {
	groups := map[string]string{}
	for _, row := range new(train.Config).Settings() {
		groups[row.Flag] = row.Group
	}
	byLoss, begun := cli.HasLoss(metric), s.has("init-model")
	draw := func(space []string) (flags [][]string, err error) {
		var g grid
		for _, text := range space {
			c, err := parseChoice(text)
			if err != nil {
				return nil, err
			}
			group := groups[c.flag]
			if s.has(c.flag) ||
				begun && (group == "Inputs" || group == "Model") || // the architecture of the initial model
				byLoss && group == "Objective" { // values of trials would mean different things
				continue
			}
			g = append(g, c)
			if !slices.ContainsFunc(tried, func(other choice) bool { return other.flag == c.flag }) {
				tried = append(tried, c)
			}
		}
		if n := cmp.Or(trials, mostDrawn); n > 1 && g != nil {
			return g.trials(n-1, seed)
		}
		return nil, nil
	}
	if flags, err = draw(recipe.Networks); err != nil {
		return nil, nil, err
	}
	first := []string{}
	if !s.saysModel() && !begun && !byLoss {
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

// saysModel reports whether a flag says something of models.
func (s shared) saysModel() bool {
	return slices.ContainsFunc(s, func(flag string) bool {
		name, _, _ := strings.Cut(flag, "=")
		return recipe.OfModel(name[1:])
	})
}

// has reports whether a flag is given.
func (s shared) has(name string) bool {
	return slices.ContainsFunc(s, func(flag string) bool { return strings.HasPrefix(flag, "-"+name+"=") })
}
