package command

import (
	"context"
	"errors"
	"flag"
	"fmt"
	"io"
	"strings"
	"testing"
)

func TestWarningsArePrintedOnce(t *testing.T) {
	var b strings.Builder
	w := Once(&b)
	Warn(w, "a", "b", "a")
	Warn(w, "b", "c")
	Note(w, "a")
	Note(w, "a")
	if want := "warning: a\nwarning: b\nwarning: c\na\na\n"; b.String() != want {
		t.Errorf("%q, want %q", &b, want)
	}
}

// full is a device with room for a number of bytes.
type full int

func (f *full) Write(p []byte) (int, error) {
	if *f -= full(len(p)); *f < 0 {
		return 0, errors.New("no space left on device")
	}
	return len(p), nil
}

func TestRunReturnsTheExitStatus(t *testing.T) {
	for _, c := range []struct {
		room   full
		body   error
		status int
		want   string
	}{
		{9, nil, 0, ""},
		{8, nil, ExitError, "tool: standard output: no space left on device\n"},
		{4, ErrInterrupted, ExitError, "tool: standard output: no space left on device\n"},
		{9, errors.New("train: bad \x1b[31mname\n"), ExitError, "train: bad \\x1b[31mname\n\n"},
		{9, Usage(errors.New("-x 3: want 2")), ExitUsage, "tool: -x 3: want 2 (-help explains all flags)\n"},
		{9, Usage(fmt.Errorf("tool: x")), ExitUsage, "tool: x (-help explains all flags)\n"},
		{9, fmt.Errorf("fold 2: %w", ErrInterrupted), ExitInterrupted, ""},
		{9, fmt.Errorf("reading: %w", context.Canceled), ExitInterrupted, "tool: interrupted\n"},
	} {
		var stderr strings.Builder
		status := Run("tool", &c.room, &stderr, func(stdout io.Writer) error {
			fmt.Fprint(stdout, "1234")
			fmt.Fprint(stdout, "56789")
			return c.body
		})
		if status != c.status || stderr.String() != c.want {
			t.Errorf("%v, room for %d: %d, %q; want %d, %q", c.body, c.room, status, &stderr, c.status, c.want)
		}
	}
}

func TestParseSuggestsWhatWasMeant(t *testing.T) {
	for args, want := range map[string]string{
		"-lose x":              "there is no flag -lose (did you mean -loss?)",
		"-quick":               "there is no flag -quick",
		"-loss x y":            `unexpected argument "y" (did you mean -data y?)`,
		"train.csv":            `unexpected argument "train.csv" (did you mean -data train.csv?)`,
		"m.npz":                `unexpected argument "m.npz" (did you mean -model m.npz?)`,
		"-data a.csv more.csv": `unexpected argument "more.csv"`,
		"loss x":               `unexpected argument "loss" (did you mean -loss?)`,
		"-epochs ten":          "-epochs ten: want a whole number",
	} {
		f := flag.NewFlagSet("tool", flag.ContinueOnError)
		f.String("loss", "", "")
		f.String("data", "", "")
		f.String("model", "", "")
		f.Int("epochs", 1, "")
		err := Parse(f, strings.Fields(args))
		var usage UsageError
		if !errors.As(err, &usage) || err.Error() != want {
			t.Errorf("%s: %v, want %s", args, err, want)
		}
	}
	if err := Parse(flag.NewFlagSet("tool", flag.ContinueOnError), []string{"-help"}); err != flag.ErrHelp {
		t.Error(err)
	}
}

func TestPrintableEscapesWhatATerminalObeys(t *testing.T) {
	for text, want := range map[string]string{
		"plain, grün\tund\n":      "plain, grün\tund\n",
		"\x1b]0;title\x07\x9b\r":  `\x1b]0;title\a\x9b\r`,
		"cut \xe2\x82 rune\u0085": `cut \xe2\x82 rune\u0085`,
		"\ufffd":                  "\ufffd",
	} {
		if got := Printable(text); got != want {
			t.Errorf("%q: %q, want %q", text, got, want)
		}
	}
	var b strings.Builder
	o := &output{w: &b, terminal: true}
	if n, err := o.Write([]byte("a\x1b[2J")); n != 5 || err != nil || b.String() != `a\x1b[2J` {
		t.Errorf("%d, %v, %q", n, err, &b)
	}
}
