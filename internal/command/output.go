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

// Warn prints warnings.
func Warn(stderr io.Writer, warnings ...string) {
	for _, w := range warnings {
		fmt.Fprintln(stderr, "warning:", Printable(w))
	}
}

// An output is a stream that keeps its first error, and on a terminal writes printable text.
type output struct {
	w        io.Writer
	terminal bool
	err      error
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
