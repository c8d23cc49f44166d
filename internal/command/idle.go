package command

import (
	"flag"
	"fmt"
	"io"
	"maps"
	"slices"
)

// A Use says where flags have an effect.
type Use struct {
	Works bool     // they have, beside the other flags and on the data
	Flags []string // their names
	Why   string   // what they do not go with, and what they are for, where they have none
}

// Idle returns a warning, by flag, for each flag of the command line that has no effect by one of the uses. They are
// no errors: a script may give the same flags to runs of several kinds. A flag that asks for nothing, such as
// -patience 0, has no warning.
func Idle(line *flag.FlagSet, uses ...Use) map[string]string {
	lines := map[string]string{}
	for _, use := range uses {
		line.Visit(func(f *flag.Flag) {
			asked := !slices.Contains([]string{"", "0", "false", "off"}, f.Value.String())
			if !use.Works && asked && slices.Contains(use.Flags, f.Name) {
				lines[f.Name] = fmt.Sprintf("-%s has no effect %s", f.Name, use.Why)
			}
		})
	}
	return lines
}

// WarnIdle prints what [Idle] returns.
func WarnIdle(stderr io.Writer, line *flag.FlagSet, uses ...Use) {
	Warn(stderr, slices.Sorted(maps.Values(Idle(line, uses...)))...)
}
