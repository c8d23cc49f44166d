package tune

import (
	"cmp"
	"fmt"
	"io"
	"path/filepath"
	"slices"
	"strconv"
	"strings"

	"github.com/plrank/plrank/cmd/internal/cli"
	"github.com/plrank/plrank/internal/command"
	"github.com/plrank/plrank/recipe"
	"github.com/plrank/plrank/train"
)

// print prints all trials, the best first, and the commands for that.
func (s *search) print(w io.Writer, asJSON bool, out string) error {
	best := s.best()
	var commands [][]string // for the best
	model := ""             // its file
	if best != nil {
		commands = s.commands(best, out, "best")
		if s.log != nil && s.folds() == 1 {
			model = s.log.model(best)
		}
	}
	if asJSON {
		printed := struct {
			Metric  string     `json:"metric"`
			Trials  []*trial   `json:"trials"`           // the best first
			Before  [][]string `json:"before,omitempty"` // commands for the parts of a mixture
			Command []string   `json:"command"`          // null: no trial is complete
			Model   string     `json:"model,omitempty"`  // of the best trial
		}{Metric: s.common.Metric, Trials: s.ranked(), Model: model}
		if last := len(commands) - 1; last >= 0 {
			printed.Before, printed.Command = commands[:last], commands[last]
		}
		return cli.PrintJSON(w, printed)
	}
	s.printTable(w)
	if best == nil {
		fmt.Fprintf(w, "%d trials, and none is complete\n", len(s.done))
		return nil
	}
	fmt.Fprintln(w)
	cli.PrintNote(w, fmt.Sprintf("the best of %d trials is trial %d, %s", len(s.done), best.Number, best.words()))
	if model != "" {
		fmt.Fprintf(w, "its model is %s\n", model)
	}
	fmt.Fprintln(w, "to make its model, with the metrics of all splits:")
	for _, words := range commands {
		fmt.Fprintf(w, "  %s\n", command.Line(words))
	}
	return nil
}

// commands returns the words of the commands that make the model of a trial, in a folder within out, unless that is empty.
func (s *search) commands(t *trial, out, folder string) (all [][]string) {
	if t.Parts == nil {
		words := slices.Concat([]string{"plrank", "train"}, s.shared, t.Flags)
		if t.Number > 0 {
			words = append(words, s.metric...)
			flags := shared(words[2:])
			var names []string
			for _, flag := range flags {
				name, _, _ := strings.Cut(strings.TrimPrefix(flag, "-"), "=")
				names = append(names, name)
			}
			if slices.ContainsFunc(names, recipe.OfModel) && !flags.has("scorer") && !flags.has("config") { // a trial of these is one model
				words = append(words, "-scorer="+recipe.ScorerFor(names...))
			}
		}
		if out != "" {
			words = append(words, "-out="+filepath.Join(out, folder))
		}
		return [][]string{words}
	}
	if len(t.Parts) == 1 {
		return s.commands(s.trial(t.Parts[0].Trial), out, folder)
	}
	mix := []string{"plrank", "mix"}
	var weights []string
	for _, p := range t.Parts {
		name := filepath.Join(cmp.Or(out, "tuned"), fmt.Sprintf("trial%d", p.Trial))
		all = append(all, s.commands(s.trial(p.Trial), filepath.Dir(name), filepath.Base(name))...)
		mix, weights = append(mix, filepath.Join(name, cli.ModelFile)), append(weights, strconv.FormatFloat(p.Weight, 'g', -1, 64))
	}
	return append(all, append(mix, "-weights="+strings.Join(weights, ","), "-out="+filepath.Join(cmp.Or(out, "tuned"), folder+".npz")))
}

// printTable prints a row for each trial, and below them in what its flags differ from other trials.
func (s *search) printTable(w io.Writer) {
	ranked := s.ranked()
	if ranked == nil {
		return
	}
	var rows []string
	for _, t := range ranked {
		rows = append(rows, fmt.Sprintf("trial %d", t.Number))
	}
	columns := slices.Concat([]string{s.common.Metric}, s.report, []string{"epoch", "seconds"})
	cli.PrintTable(w, rows, columns, func(row, column int) string {
		t := ranked[row]
		switch columns[column] {
		case "epoch":
			return cmp.Or(strings.TrimPrefix(strconv.Itoa(t.Epoch), "0"), "–")
		case "seconds":
			return fmt.Sprintf("%.1f", t.Seconds)
		}
		return cli.FormatValue(train.Value(s.value(t, columns[column])))
	})
	fmt.Fprintln(w)
	for _, t := range ranked {
		lines := command.Indent(command.Wrap(fmt.Sprintf("trial %d: %s", t.Number, s.differences(t)), cli.TableWidth(w)-2), "  ")
		fmt.Fprintln(w, lines[2:])
	}
}

// differences says in what a trial differs from others, and how it ended, unless it is complete.
func (s *search) differences(t *trial) string {
	words := t.words()
	if t.Number > 0 && t.Parts == nil {
		flags := slices.DeleteFunc(slices.Clone(t.Flags), func(f string) bool {
			return len(s.done) > 2 && !slices.ContainsFunc(s.done, func(other *trial) bool {
				return other.Number > 0 && other.Parts == nil && !slices.Contains(other.Flags, f)
			})
		})
		words = strings.Join(flags, " ")
	}
	if t.End != complete {
		words += " (" + t.End + ")"
	}
	return words
}
