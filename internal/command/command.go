// Package command holds what the commands of the project and of its laboratory share: how they begin and end, how they
// print, and how their help is set.
package command

import (
	"context"
	"errors"
	"flag"
	"fmt"
	"io"
	"os"
	"os/signal"
	"regexp"
	"runtime/debug"
	"slices"
	"strconv"
	"strings"
	"syscall"

	"github.com/plrank/plrank/internal/file"
	"github.com/plrank/plrank/internal/names"
)

// Exit statuses.
const (
	ExitError       = 1
	ExitUsage       = 2
	ExitFound       = 3
	ExitInterrupted = 130 // 128 + SIGINT, as shells have it
)

// A UsageError reports a command line that makes no sense.
type UsageError struct{ error }

// Usage returns err as a UsageError; nil stays nil.
func Usage(err error) error {
	if err == nil {
		return nil
	}
	return UsageError{err}
}

// ErrInterrupted is returned by a command that was interrupted and has said so.
var ErrInterrupted = errors.New("interrupted")

// ErrFound is returned by a command that found what it looks for, and has said what.
var ErrFound = errors.New("found")

// Run runs the body of a command, prints on stderr why it failed, and returns the exit status. The end of a context is
// an interruption. A failed write to the body's stdout counts as its error.
func Run(name string, stdout, stderr io.Writer, body func(stdout io.Writer) error) int {
	out := newOutput(stdout)
	err := withoutFaults(func() error { return body(out) })
	if out.err != nil {
		err = fmt.Errorf("%s: standard output: %w", name, out.err)
	}
	var usage UsageError
	switch {
	case err == nil:
		return 0
	case errors.As(err, &usage):
		text := strings.TrimPrefix(usage.Error(), name+": ")
		fmt.Fprintf(stderr, "%s: %s (-help explains all flags)\n", name, Printable(text))
		return ExitUsage
	case errors.Is(err, ErrFound):
		return ExitFound
	case errors.Is(err, ErrInterrupted):
		return ExitInterrupted
	case errors.Is(err, context.Canceled):
		fmt.Fprintf(stderr, "%s: interrupted\n", name)
		return ExitInterrupted
	}
	fmt.Fprintln(stderr, Printable(err.Error()))
	return ExitError
}

// withoutFaults returns the error of a body, even if a file mapped to memory was cut short.
func withoutFaults(body func() error) (err error) {
	defer debug.SetPanicOnFault(debug.SetPanicOnFault(true))
	defer func() {
		if r := recover(); r != nil {
			if err = file.CutShort(r); err == nil {
				panic(r)
			}
		}
	}()
	return body()
}

// Parse reads the flags. It returns an error as ParseWords does, or if there is anything else.
func Parse(flags *flag.FlagSet, args []string) error {
	err := ParseWords(flags, args)
	if err == nil && flags.NArg() > 0 {
		err = Usage(fmt.Errorf("unexpected argument %q%s", flags.Arg(0), meant(flags, flags.Arg(0))))
	}
	return err
}

// meant suggests the flag that a word may belong to; "" if none is near.
func meant(flags *flag.FlagSet, word string) string {
	name := "data"
	switch {
	case flags.Lookup(word) != nil:
		return fmt.Sprintf(" (did you mean -%s?)", word)
	case strings.HasSuffix(word, ".npz"):
		name = "model"
	}
	if flags.Lookup(name) == nil || IsGiven(flags, name) {
		return ""
	}
	return fmt.Sprintf(" (did you mean -%s %s?)", name, Line([]string{word}))
}

// invalidValue matches an error of package flag: the value, quoted, the flag, and what is wrong.
var invalidValue = regexp.MustCompile(`(?s)^invalid (?:boolean )?value (".*?[^\\]"|"") for (?:flag )?-([^:]+): (.*)$`)

// wanted says what value a flag of package flag wants, whose error does not say it.
func wanted(f *flag.Flag) string {
	if value, ok := f.Value.(flag.Getter); ok {
		switch value.Get().(type) {
		case bool:
			return "want true or false"
		case float64:
			return "want a number"
		}
	}
	return "want a whole number"
}

// ParseWords reads the flags. The words before, between and after them, such as names of files, are then their Args. It
// returns a UsageError, also for a text that is given but empty, as from an unset variable of a shell; or flag.ErrHelp.
func ParseWords(flags *flag.FlagSet, args []string) error {
	flags.SetOutput(io.Discard) // errors are one line of our own
	words := []string{"--"}     // after this all are words
	err := flags.Parse(args)
	for ; err == nil && flags.NArg() > 0; err = flags.Parse(flags.Args()[1:]) {
		words = append(words, flags.Arg(0))
	}
	if err == nil {
		err = flags.Parse(words)
	}
	switch {
	case errors.Is(err, flag.ErrHelp):
		return err
	case err != nil:
		if name, ok := strings.CutPrefix(err.Error(), "flag provided but not defined: -"); ok {
			err = fmt.Errorf("there is no flag -%s", name)
			var known []string
			flags.VisitAll(func(f *flag.Flag) { known = append(known, f.Name) })
			if near := names.Nearest(name, known); near != "" {
				err = fmt.Errorf("%w (did you mean -%s?)", err, near)
			}
		}
		if m := invalidValue.FindStringSubmatch(err.Error()); m != nil {
			if value, quoted := strconv.Unquote(m[1]); quoted == nil {
				err = fmt.Errorf("-%s %s: %s", m[2], value, m[3])
				if m[3] == "parse error" {
					err = fmt.Errorf("-%s %s: %s", m[2], value, wanted(flags.Lookup(m[2])))
				}
			}
		}
		return Usage(err)
	}
	flags.Visit(func(f *flag.Flag) {
		if text, ok := f.Value.(flag.Getter); ok && err == nil && text.Get() == "" {
			kind, _ := flag.UnquoteUsage(f)
			err = Usage(fmt.Errorf("-%s is empty: want a %s, or leave -%s out", f.Name, kind, f.Name))
		}
	})
	return err
}

// Given returns the names of the flags on the command line, sorted.
func Given(flags *flag.FlagSet) (names []string) {
	flags.Visit(func(f *flag.Flag) { names = append(names, f.Name) })
	return names
}

// IsGiven reports whether a flag is on the command line.
func IsGiven(flags *flag.FlagSet, name string) bool { return slices.Contains(Given(flags), name) }

// Interruptible returns a context that ends with the first Ctrl-C or request to terminate. A second one ends the program
// at once.
func Interruptible() context.Context {
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	context.AfterFunc(ctx, stop)
	return ctx
}
