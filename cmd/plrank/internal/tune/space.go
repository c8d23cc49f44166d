package tune

import (
	"cmp"
	"slices"
	"strings"

	"github.com/plrank/plrank/cmd/internal/cli"
	"github.com/plrank/plrank/recipe"
	"github.com/plrank/plrank/train"
)

// space is what is tried without -grid. Every draw of it is a network that can learn: small views of the
// features suit scores, and bins, width and time suit attributes of queries and documents.
var space = []string{
	"transform=minmax+log-standard+quantile+rank,minmax+log-standard+quantile+missing,quantile,quantile+missing",
	"bins=0,8,16,32",
	"hidden=64;128,32;256,32;256,128",
	"activation=relu,gelu,swiglu",
	"dropout=0,.1,.2,.3,.5",
	"members=1,3",
	"shared-members=0,4",
	"loss=plrank-exact+0.01*softmax,plrank-exact+0.1*softmax,softmax",
	"lr=3e-4..6e-3",
	"schedule=constant,cosine",
	"group-lasso=3e-4..3e-2",
	"average=0,.99",
	"batch=4..64",
	"epochs=8..80",
}

// forests is what a third of the trials try, where no flag says something of models.
var forests = []string{
	"scorer=forest",
	"loss=softmax,query-rmse,lambdarank",
	"lr=0.02..0.3",
	"depth=4..8",
	"l2=0.3..10",
	"sampling=0.5..1",
	"feature-sampling=0.3..1",
	"bins=16,32,64",
}

const (
	usualMinutes = 20  // of a search without -grid and -trials
	mostDrawn    = 500 // trials without -grid and -trials, which take longer
)

// drawSpace gives the trials of a search without -grid: the recipe of a network, then draws from what is left of the space
// beside the flags for all trials.
func (s *search) drawSpace() (flags [][]string, err error) {
	groups := map[string]string{}
	for _, of := range new(train.Config).Settings() {
		groups[of.Flag] = of.Group
	}
	byLoss := cli.HasLoss(s.common.Metric)
	free := !s.saysModel() && !s.given("init-model") && !byLoss
	draw := func(space []string) (flags [][]string, err error) {
		var g grid
		for _, text := range space {
			c, err := parseChoice(text)
			if err != nil {
				return nil, err
			}
			group := groups[c.flag]
			fixed := s.given(c.flag) ||
				s.given("init-model") && (group == "Inputs" || group == "Model") || // whose architecture it is
				byLoss && group == "Objective" // or values of trials would mean different things
			if !fixed {
				g = append(g, c)
			}
			if !fixed && !slices.ContainsFunc(s.grid, func(other choice) bool { return other.flag == c.flag }) {
				s.grid = append(s.grid, c)
			}
		}
		if n := cmp.Or(s.trials, mostDrawn); n > 1 && g != nil {
			return g.trials(n-1, s.seed)
		}
		return nil, nil
	}
	if flags, err = draw(space); err != nil {
		return nil, err
	}
	first := []string{}
	if free {
		first = []string{"-scorer=mlp"}
		trees, err := draw(forests)
		if err != nil {
			return nil, err
		}
		for i := 1; i < len(flags); i += 3 {
			flags[i] = trees[i]
		}
	}
	return slices.Insert(flags, 0, first), nil
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
