package tune

import (
	"slices"
	"strings"

	"github.com/plrank/plrank/cmd/internal/cli"
	"github.com/plrank/plrank/recipe"
	"github.com/plrank/plrank/train"
)

const usualMinutes = 20 // of a search without -grid and -trials

// A shared is the flags of train for all trials, as -name=value.
type shared []string

// spaces returns what is drawn from without -grid, of networks and of forests, less the flags for all trials.
func (s shared) spaces(metric string) (spaces []grid, err error) {
	groups := map[string]string{}
	for _, row := range new(train.Config).Settings() {
		groups[row.Flag] = row.Group
	}
	byLoss, begun := cli.HasLoss(metric), s.has("init-model")
	for _, texts := range [][]string{append([]string{"scorer=mlp"}, recipe.Networks...), recipe.Forests} {
		var g grid
		for _, text := range texts {
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
		}
		if g != nil {
			spaces = append(spaces, g)
		}
	}
	return spaces, nil
}

// has reports whether a flag is given.
func (s shared) has(name string) bool {
	return slices.ContainsFunc(s, func(flag string) bool { return strings.HasPrefix(flag, "-"+name+"=") })
}
