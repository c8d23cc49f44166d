package command

import (
	"fmt"
	"io"
	"os"
	"strconv"
	"strings"
	"unicode"
	"unicode/utf8"

	"golang.org/x/term"
)

// Printable returns a text without what a terminal would take for commands: it writes characters that do not print,
// other than ends of lines and tabs, as Go escapes. Messages may quote what is in a file.
func Printable(text string) string {
	prints := func(r rune) bool { return r == '\n' || r == '\t' || unicode.IsPrint(r) }
	if utf8.ValidString(text) && strings.IndexFunc(text, func(r rune) bool { return !prints(r) }) < 0 {
		return text
	}
	var b strings.Builder
	for len(text) > 0 {
		r, size := utf8.DecodeRuneInString(text)
		if prints(r) && !(r == utf8.RuneError && size == 1) {
			b.WriteString(text[:size])
		} else {
			quoted := strconv.Quote(text[:size])
			b.WriteString(quoted[1 : len(quoted)-1])
		}
		text = text[size:]
	}
	return b.String()
}

// Warn prints warnings, each only once if [Once] made the writer.
func Warn(stderr io.Writer, warnings ...string) {
	o, _ := stderr.(*output)
	for _, w := range warnings {
		if o != nil && o.warned != nil {
			if o.warned[w] {
				continue
			}
			o.warned[w] = true
		}
		Note(stderr, "warning: "+Printable(w))
	}
}

// Columns returns the number of characters that lines written to w may have: the environment variable COLUMNS if it is a
// number, else the width of the terminal that w is, else 0.
func Columns(w io.Writer) int {
	if n, err := strconv.Atoi(os.Getenv("COLUMNS")); err == nil && n > 0 {
		return n
	}
	f, ok := inner(w).(*os.File)
	if !ok || !term.IsTerminal(int(f.Fd())) {
		return 0
	}
	if n, _, err := term.GetSize(int(f.Fd())); err == nil && n > 0 {
		return n
	}
	return Width
}

// Note prints lines, and breaks those that are longer than [Columns] at blanks: none in a file or for another program,
// unless COLUMNS is set.
func Note(w io.Writer, text string) {
	n := Columns(w)
	for line := range strings.Lines(text) {
		line = strings.TrimSuffix(line, "\n")
		if n > 0 && utf8.RuneCountInString(line) > n {
			line = strings.ReplaceAll(Wrap(line, n-2), "\n", "\n  ")
		}
		fmt.Fprintln(w, line)
	}
}

// An output is a stream that keeps its first error, and on a terminal writes printable text.
type output struct {
	w        io.Writer
	terminal bool
	err      error
	warned   map[string]bool // warnings that were printed; nil: they are printed again
}

// Once returns a writer for which [Warn] prints each warning once.
func Once(w io.Writer) io.Writer { return &output{w: w, warned: map[string]bool{}} }

// inner returns the writer below an output, else w.
func inner(w io.Writer) io.Writer {
	if o, ok := w.(*output); ok {
		return o.w
	}
	return w
}

func newOutput(w io.Writer) *output {
	f, ok := w.(*os.File)
	return &output{w: w, terminal: ok && term.IsTerminal(int(f.Fd()))}
}

func (o *output) Write(p []byte) (int, error) {
	if o.err != nil {
		return 0, o.err
	}
	text := p
	if o.terminal {
		text = []byte(Printable(string(p)))
	}
	if _, o.err = o.w.Write(text); o.err != nil {
		return 0, o.err
	}
	return len(p), nil
}
