package cli

import (
	"flag"
	"fmt"
	"io"
	"maps"
	"slices"

	"github.com/plrank/plrank/internal/command"
)

// ErrorIf returns an error if a condition holds. A check of flags is cmp.Or of such errors.
func ErrorIf(holds bool, format string, args ...any) error {
	if holds {
		return fmt.Errorf(format, args...)
	}
	return nil
}

// A Use says whether flags have an effect.
type Use struct {
	Works bool     // whether they have one, with the other flags and on the data
	Flags []string // their names
	Why   string   // what they do not go with, and what they are for
}

// Idle returns a warning, by flag, for each flag on the command line that has no effect by one of the uses. It is not
// an error, because a script may give the same flags to runs of several kinds. A flag that asks for nothing, such as
// -patience 0, gets no warning.
func Idle(line *flag.FlagSet, uses ...Use) map[string]string {
	warnings := map[string]string{}
	for _, use := range uses {
		line.Visit(func(f *flag.Flag) {
			asked := !slices.Contains([]string{"", "0", "false", "off"}, f.Value.String())
			if !use.Works && asked && slices.Contains(use.Flags, f.Name) {
				warnings[f.Name] = fmt.Sprintf("-%s has no effect %s", f.Name, use.Why)
			}
		})
	}
	return warnings
}

// CheckIdle returns an error for the first flag on the command line that has no effect by one of the uses.
func CheckIdle(line *flag.FlagSet, uses ...Use) error {
	for _, use := range uses {
		for _, name := range command.Given(line) {
			if !use.Works && slices.Contains(use.Flags, name) {
				return fmt.Errorf("-%s has no effect %s", name, use.Why)
			}
		}
	}
	return nil
}

// Others returns the flags on the command line other than these.
func Others(line *flag.FlagSet, than ...string) []string {
	return slices.DeleteFunc(command.Given(line), func(name string) bool { return slices.Contains(than, name) })
}

// WarnIdle prints the warnings of [Idle].
func WarnIdle(stderr io.Writer, line *flag.FlagSet, uses ...Use) {
	command.Warn(stderr, slices.Sorted(maps.Values(Idle(line, uses...)))...)
}
