// Package command is what the commands have in common: how they begin and end, what they
// print, and how their manual pages are set.
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
	ExitInterrupted = 130 // 128 + SIGINT, as shells have it
)

// A UsageError is a command line that makes no sense.
type UsageError struct{ error }

// Usage makes a UsageError of an error; nil stays nil.
func Usage(err error) error {
	if err == nil {
		return nil
	}
	return UsageError{err}
}

// ErrInterrupted is the end of a command that was interrupted, and has said so.
var ErrInterrupted = errors.New("interrupted")

// Run runs the body of a command, says on stderr why it failed, and gives the exit status. An end
// of a context is an interruption. What cannot be written to the body's stdout is an error as well.
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
	case errors.Is(err, ErrInterrupted):
		return ExitInterrupted
	case errors.Is(err, context.Canceled):
		fmt.Fprintf(stderr, "%s: interrupted\n", name)
		return ExitInterrupted
	}
	fmt.Fprintln(stderr, Printable(err.Error()))
	return ExitError
}

// withoutFaults gives the error of a body, also where a file that is mapped to memory was
// cut short.
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

// Parse reads the flags, beside which there must be nothing. Errors are those of ParseWords.
func Parse(flags *flag.FlagSet, args []string) error {
	err := ParseWords(flags, args)
	if err == nil && flags.NArg() > 0 {
		err = Usage(fmt.Errorf("unexpected argument %q%s", flags.Arg(0), meant(flags, flags.Arg(0))))
	}
	return err
}

// meant suggests the flag that a word without one may be for; "" if none is near.
func meant(flags *flag.FlagSet, word string) string {
	flagOf := "data"
	switch {
	case flags.Lookup(word) != nil:
		return fmt.Sprintf(" (did you mean -%s?)", word)
	case strings.HasSuffix(word, ".npz"):
		flagOf = "model"
	}
	if f := flags.Lookup(flagOf); f == nil || IsGiven(flags, flagOf) {
		return ""
	}
	return fmt.Sprintf(" (did you mean -%s %s?)", flagOf, Line([]string{word}))
}

// invalidValue is an error of package flag for a value: the value, quoted, the flag, and what is wrong.
var invalidValue = regexp.MustCompile(`(?s)^invalid (?:boolean )?value (".*?[^\\]"|"") for (?:flag )?-([^:]+): (.*)$`)

// ParseWords reads the flags; the words before, between and after them, such as names of files, are
// then their Args. A text that is given and empty, as from a variable of a shell that is not set, is
// an error. All are a UsageError but flag.ErrHelp.
func ParseWords(flags *flag.FlagSet, args []string) error {
	flags.SetOutput(io.Discard) // errors are one line of our own
	words := []string{"--"}     // after which all are words
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

// Given are the names of the flags that the command line has, in the order of the alphabet.
func Given(flags *flag.FlagSet) (names []string) {
	flags.Visit(func(f *flag.Flag) { names = append(names, f.Name) })
	return names
}

// IsGiven tells whether the command line has a flag.
func IsGiven(flags *flag.FlagSet, name string) bool { return slices.Contains(Given(flags), name) }

// Interruptible is a context that ends with the first Ctrl-C, or a request to
// terminate. A second one ends the program at once.
func Interruptible() context.Context {
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	context.AfterFunc(ctx, stop)
	return ctx
}
