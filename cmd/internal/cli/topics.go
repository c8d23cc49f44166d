package cli

import (
	"flag"
	"fmt"
	"io"
	"strings"

	"github.com/plrank/plrank/docs"
	"github.com/plrank/plrank/internal/command"
	"github.com/plrank/plrank/internal/names"
	"github.com/plrank/plrank/losses"
	"github.com/plrank/plrank/metrics"
	"github.com/plrank/plrank/train"
)

// A topic is a section of the guide, with the flags that it is about and names that it lists.
type topic struct {
	name    string // the section's heading, in lower case
	summary string
	flags   []string
	lists   []nameList
}

// A nameList is names under a title.
type nameList struct {
	title string
	names func() []string
}

// topics are in the order of the guide.
var topics = []topic{
	{"formats", "text formats, columns, labels and weights", []string{"duplicates", "minus-one", "headerless", "label-column", "query-column",
		"document-column", "weight-column", "base-column"}, nil},
	{"columns", "tables with text, features by name, from a table to a service", nil, nil},
	{"splits", "files of a collection, folds, synthetic data and caches", []string{"vali", "test", "fold", "scale", "cache"}, nil},
	{"features", "transforms, categorical features, missing values", append([]string{"features", "ignore"}, settingFlags("Inputs")...), nil},
	{"objectives", "losses, gains, discounts and their sums", settingFlags("Objective"),
		[]nameList{{"Losses", losses.Names}, {"Of these, losses that also learn from queries without a relevant document", labelFree}}},
	{"models", "networks, ensembles and attention", settingFlags("Model"), nil},
	{"training", "recipes, optimizers, schedules and penalties", append(settingFlags("Optimization"), "seed"), nil},
	{"tuning", "grids, random trials, and how a search goes on", nil, nil},
	{"metrics", "measures, validation and what is reported", settingFlags("Evaluation"), []nameList{{"Metrics", metrics.Names}}},
	{"fairness", "groups, fair losses and their measures; intents", []string{"group-column", "groups", "intents", "subtopics"},
		[]nameList{{"Measures of fairness", metrics.FairnessNames}}},
	{"scoring", "scores, TREC files, drawn rankings and exposure", nil, nil},
	{"comparing", "values by query, paired tests, scores from anywhere, TREC runs", nil, nil},
	{"rankings", "files of observed rankings, worths, ties and a prior", nil, nil},
	{"clicks", "learning from logs: bias, estimators, safety, the gate", []string{"clicks", "bias", "estimator"}, nil},
	{"files", "what a run writes, and how it goes on", nil, nil},
	{"faults", "errors, interruptions and exit statuses", nil, nil},
}

// settingFlags returns the flags of a group of settings, a struct within train.Config.
func settingFlags(group string) (flags []string) {
	for _, s := range new(train.Config).Settings() {
		if s.Group == group {
			flags = append(flags, s.Flag)
		}
	}
	return flags
}

// Topics returns the names of all topics.
func Topics() (known []string) {
	for _, t := range topics {
		known = append(known, t.name)
	}
	return known
}

// PrintTopic prints a topic. It returns an error that suggests the nearest name if there is none of this name.
func PrintTopic(w io.Writer, name string) error {
	for _, t := range topics {
		if t.name == name {
			printMarkdown(w, section(docs.Guide, name))
			for _, l := range t.lists {
				fmt.Fprintf(w, "\n%s:\n%s\n", l.title, command.Indent(command.Wrap(strings.Join(l.names(), " "), command.Width-2), "  "))
			}
			printFlags(w, topicFlags(), t.flags)
			return nil
		}
	}
	return fmt.Errorf("no help on %q: %s", name, names.Want(name, Topics()))
}

// PrintTopics prints the names of all topics and what they are about.
func PrintTopics(w io.Writer) {
	for _, t := range topics {
		command.Explain(w, t.name, t.summary)
	}
}

// topicFlags returns the flags that topics explain, with the defaults of the default recipe.
func topicFlags() *flag.FlagSet {
	c, _ := Preset(ByData)
	f := configFlags(&c)
	var s Source
	s.Define(f, "")
	s.DefineCache(f)
	new(ClickLogs).DefineClicks(f)
	return f
}

// labelFree returns the losses that learn from queries without a relevant document.
func labelFree() (list []string) {
	for _, name := range losses.Names() {
		if terms, err := losses.Terms(name); err == nil && terms[0].LabelFree {
			list = append(list, name)
		}
	}
	return list
}
