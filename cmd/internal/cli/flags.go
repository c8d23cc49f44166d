package cli

import (
	"flag"
	"fmt"
	"io"
	"maps"
	"slices"
	"strings"

	"github.com/plrank/plrank/internal/command"
	"github.com/plrank/plrank/train"
)

// A Flag is a flag of a sub-command, in one row: help, topics, checks and warnings follow from it.
type Flag struct {
	Name  string
	Value any    // a pointer to the variable, whose value is the default; a flag.Value; or a function that takes the text
	Help  string // what it sets; the word in backquotes stands for the value, as in package flag
	Topic string // which explains the flag; "": the page of the sub-command does

	// Needs are flags that this one needs: it is refused unless one of them is given.
	Needs []string
	// Idle returns why the flag has no effect, with the others or on the data, which is then a warning; "": it has one. Nil: it always has.
	Idle func(*train.Use) string

	Resumable bool // may differ when a run is resumed
}

// Flags are the flags of a sub-command, in the order of its page.
type Flags []Flag

// Set returns the flags for package flag.
func (list Flags) Set() *flag.FlagSet {
	f := flag.NewFlagSet("", flag.ContinueOnError)
	for _, row := range list {
		command.Define(f, row.Name, row.Value, row.Help)
	}
	return f
}

// Without returns all flags except some.
func (list Flags) Without(names ...string) Flags {
	return slices.DeleteFunc(slices.Clone(list), func(row Flag) bool { return slices.Contains(names, row.Name) })
}

// Names returns the names of the flags.
func (list Flags) Names() (names []string) {
	for _, row := range list {
		names = append(names, row.Name)
	}
	return names
}

// Row returns the row of a flag, nil if there is none.
func (list Flags) Row(name string) *Flag {
	if i := slices.IndexFunc(list, func(row Flag) bool { return row.Name == name }); i >= 0 {
		return &list[i]
	}
	return nil
}

// AlsoIdle adds to some flags why they have no effect in this sub-command.
func (list Flags) AlsoIdle(why func(*train.Use) string, names ...string) {
	for _, name := range names {
		row := list.Row(name)
		was := row.Idle
		row.Idle = func(u *train.Use) string {
			if text := why(u); text != "" || was == nil {
				return text
			}
			return was(u)
		}
	}
}

// OnPage returns the flags as those that the page of the sub-command explains.
func (list Flags) OnPage() Flags {
	for i := range list {
		list[i].Topic = ""
	}
	return list
}

// A Line is a command line that has been read: the flags that were given, and words.
type Line struct {
	*flag.FlagSet
	Rows Flags
}

// Given reports whether a flag is on the command line.
func (l *Line) Given(name string) bool { return command.IsGiven(l.FlagSet, name) }

// checkNeeds returns an error for the first flag that lacks one that it needs.
func (l *Line) checkNeeds() error {
	for _, row := range l.Rows {
		if row.Needs != nil && l.Given(row.Name) && !slices.ContainsFunc(row.Needs, l.Given) {
			return fmt.Errorf("-%s has no effect without -%s", row.Name, strings.Join(row.Needs, " or -"))
		}
	}
	return nil
}

// Idle returns a warning, by flag, for each flag on the command line that has no effect. It is not an error, because a script may give
// the same flags to runs of several kinds. A flag that asks for nothing, such as -patience 0, gets no warning.
func (l *Line) Idle(u *train.Use) map[string]string {
	warnings := map[string]string{}
	l.Visit(func(f *flag.Flag) {
		row := l.Rows.Row(f.Name)
		if row.Idle == nil || slices.Contains([]string{"", "0", "false", "off"}, f.Value.String()) {
			return
		}
		if why := row.Idle(u); why != "" {
			warnings[f.Name] = fmt.Sprintf("-%s has no effect %s", f.Name, why)
		}
	})
	return warnings
}

// WarnIdle prints the warnings of [Line.Idle].
func (l *Line) WarnIdle(stderr io.Writer, u *train.Use) { command.Warn(stderr, Sorted(l.Idle(u))...) }

// Sorted returns the warnings of [Line.Idle], sorted.
func Sorted(idle map[string]string) []string { return slices.Sorted(maps.Values(idle)) }

// Refuse returns an error for the first of some flags on the command line, which says why it has no effect.
func (l *Line) Refuse(why string, names ...string) error {
	for _, name := range command.Given(l.FlagSet) {
		if slices.Contains(names, name) {
			return fmt.Errorf("-%s has no effect %s", name, why)
		}
	}
	return nil
}

// RefuseOthers is Refuse for all flags other than these.
func (l *Line) RefuseOthers(why string, than ...string) error {
	return l.Refuse(why, l.Rows.Without(than...).Names()...)
}

// ErrorIf returns an error if a condition holds. A check of flags is cmp.Or of such errors.
func ErrorIf(holds bool, format string, args ...any) error {
	if holds {
		return fmt.Errorf(format, args...)
	}
	return nil
}
