package cli

import (
	"fmt"
	"io"
	"slices"
	"strings"

	"github.com/plrank/plrank/docs"
	"github.com/plrank/plrank/internal/command"
	"github.com/plrank/plrank/internal/names"
	"github.com/plrank/plrank/losses"
	"github.com/plrank/plrank/metrics"
)

// A topic is a section of the guide, with names that it lists. It explains the flags whose rows name it.
type topic struct {
	name    string // the section's heading, in lower case
	summary string
	lists   []nameList
}

// A nameList is names under a title.
type nameList struct {
	title string
	names func() []string
}

// topics are in the order of the guide.
var topics = []topic{
	{"formats", "text formats, columns, labels and weights", nil},
	{"columns", "tables with text, features by name, from a table to a service", nil},
	{"splits", "files of a collection, folds, synthetic data and caches", nil},
	{"features", "transforms, categorical features, missing values", nil},
	{"objectives", "losses, gains, discounts and their sums",
		[]nameList{{"Losses", losses.Names}, {"Of these, losses that also learn from queries without a relevant document", labelFree}}},
	{"models", "networks, ensembles and attention", nil},
	{"training", "recipes, optimizers, schedules and penalties", nil},
	{"tuning", "grids, random trials, and how a search goes on", nil},
	{"metrics", "measures, validation and what is reported", []nameList{{"Metrics", metrics.Names}}},
	{"fairness", "groups, fair losses and their measures; intents", []nameList{{"Measures of fairness", metrics.FairnessNames}}},
	{"scoring", "scores, TREC files, drawn rankings and exposure", nil},
	{"comparing", "values by query, paired tests, scores from anywhere, TREC runs", nil},
	{"rankings", "files of observed rankings, worths, ties and a prior", nil},
	{"clicks", "learning from logs: bias, estimators, safety, the gate", nil},
	{"files", "what a run writes, and how it goes on", nil},
	{"faults", "errors, interruptions and exit statuses", nil},
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
			printFlags(w, topicFlags(), func(row Flag) bool { return row.Topic == name })
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
func topicFlags() Flags {
	c, _ := Preset(ByData)
	var s Source
	return slices.Concat(s.Flags(""), s.CacheFlag(), SettingFlags(&c), new(ClickLogs).ClickFlags(), new(JudgeLabels).JudgeFlags())
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

// printFlags explains some flags, if there are any, under a title.
func printFlags(w io.Writer, flags Flags, these func(Flag) bool) {
	title, set := "\nFlags:\n", flags.Set()
	for _, row := range flags {
		if these(row) {
			fmt.Fprint(w, title)
			command.ExplainFlag(w, set.Lookup(row.Name))
			title = ""
		}
	}
}
