package main

import (
	"slices"
	"strings"
)

// A method is a way to estimate the gradient, as the paper calls it.
type method struct {
	loss  string // its name in package losses
	label string // in legends and tables
	color int    // in all plots, see viz.Series
}

// methods are the methods of the paper, in its order, and PL-Rank-RB.
var methods = []method{
	{"lambdaloss", "LambdaLoss", 4},
	{"policy-gradient", "Policy Gradient", 6},
	{"placement-policy-gradient", "Placement P.G.", 5},
	{"plrank1", "PL-Rank-1", 3},
	{"plrank2", "PL-Rank-2", 1},
	{"plrank-rb", "PL-Rank-RB", 2},
}

// otherMethods are further estimators of package plackett and competitors of package
// variance. They are not compared unless asked for.
var otherMethods = []method{
	{exactLoss, "PL-Rank, exact", 7},
	{"policy-gradient-loo", "Policy Gradient, leave-one-out", 6},
	{"plrank1-loo", "Placement P.G., leave-one-out", 5},
	{"plrank2-loo", "PL-Rank-2 + leave-one-out", 1},
	{"plrank2-expected", "PL-Rank-2 + expected rewards", 1},
	{"unordered-set", "Unordered set", 4},
	{"plrank1/qmc", "PL-Rank-1, quasi-random", 3},
	{"plrank2/qmc", "PL-Rank-2, quasi-random", 1},
	{"plrank2-expected/qmc", "PL-Rank-2 + expected rewards, quasi-random", 1},
	{"plrank-rb/qmc", "PL-Rank-RB, quasi-random", 2},
}

// rateSeparator stands between a loss and its own learning rate: "lambdaloss:0.001".
const rateSeparator = ":"

// rated splits a loss of the command line or a table from its own learning rate, "" if it
// has none.
func rated(loss string) (name, rate string) {
	name, rate, _ = strings.Cut(loss, rateSeparator)
	return name, rate
}

// isExact reports whether a loss needs no rankings.
func isExact(loss string) bool {
	name, _ := rated(loss)
	return name == exactLoss
}

// exactLoss is the method without rankings: it stands for N = ∞, and is run once.
const (
	exactLoss = "plrank-exact"
	unlimited = "∞"
)

// reference is the method that the paper's table compares the others with.
const reference = "plrank2"

// methodOf is the method of a loss. Other losses of package losses than the
// paper's go by their own name.
func methodOf(loss string) method {
	name, rate := rated(loss)
	m := method{label: name, color: 7}
	known := slices.Concat(methods, otherMethods)
	if i := slices.IndexFunc(known, func(m method) bool { return m.loss == name }); i >= 0 {
		m = known[i]
	}
	m.loss = loss
	if rate != "" {
		m.label += ", rate " + rate
	}
	return m
}

// fair is the loss for the disparity whose gradient a method estimates.
func fair(loss string) string {
	name, rate := rated(loss)
	fair := disparity
	if name != exactLoss {
		fair += "(" + name + ")"
	}
	if rate != "" {
		fair += rateSeparator + rate
	}
	return fair
}

// methodOfFair is the method of what fair gives.
func methodOfFair(loss string) method {
	name, rate := rated(loss)
	if name == disparity {
		name = exactLoss
	}
	name = strings.TrimSuffix(strings.TrimPrefix(name, disparity+"("), ")")
	if rate != "" {
		name += rateSeparator + rate
	}
	return methodOf(name)
}
