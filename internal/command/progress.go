package command

import (
	"fmt"
	"io"
	"os"
	"strings"
	"time"
	"unicode/utf8"

	"golang.org/x/term"
)

// A Bar is one line at the bottom of a terminal. If the writer is not a terminal, only [Bar.Line] prints.
type Bar struct {
	w       io.Writer
	columns int       // of the terminal; 0: it is none
	start   time.Time // of the first Set, with
	from    float64   // its part
	left    string    // in words, "" if not known or less than a second
	text    string    // to show
	drawn   time.Time // when it was shown last
	shown   int       // characters on the line
}

// NewBar returns a bar that fits the terminal, if w is one.
func NewBar(w io.Writer) *Bar {
	b := &Bar{w: inner(w)}
	if f, ok := b.w.(*os.File); ok && term.IsTerminal(int(f.Fd())) {
		b.columns = Columns(b.w)
	}
	return b
}

// Set shows the part that is done, from 0 to 1, a text before it, and the time left if the rest goes on as the parts since
// the first Set did: as many words as there is room for.
func (b *Bar) Set(part float64, text string) {
	if b.start.IsZero() {
		b.start, b.from = time.Now(), part
	}
	b.left = ""
	if part > b.from {
		left := time.Duration(min(1e18, float64(time.Since(b.start))*(1-part)/(part-b.from))).Round(time.Second)
		if left > 0 {
			b.left = left.String() + "\u00a0left" // one word
		}
	}
	if b.columns == 0 {
		return
	}
	if b.left != "" {
		text += ", " + b.left
	}
	percent := fmt.Sprintf("  %.0f %%", 100*part)
	for text != "" && utf8.RuneCountInString(text+percent) >= b.columns { // the last word goes
		text = text[:max(0, strings.LastIndexByte(text, ' '))]
	}
	if b.text = text + percent; time.Since(b.drawn) >= 100*time.Millisecond {
		b.drawn = time.Now()
		b.draw(b.text)
	}
}

// draw shows a text in place of the one on the line.
func (b *Bar) draw(text string) {
	if n := utf8.RuneCountInString(text); n+b.shown > 0 {
		fmt.Fprintf(b.w, "\r%-*s\r%s", b.shown, "", text)
		b.shown = n
	}
}

// Shown reports whether there is a terminal that shows the bar.
func (b *Bar) Shown() bool { return b.columns > 0 }

// LineLeft is [Line] with the time left at its end, unless a bar shows it.
func (b *Bar) LineLeft(text string) {
	if !b.Shown() && b.left != "" {
		text += "  " + strings.ReplaceAll(b.left, "\u00a0", " ")
	}
	b.Line(text)
}

// Line prints a line, above the bar if there is one.
func (b *Bar) Line(text string) {
	b.draw("")
	Note(b.w, text)
	b.draw(b.text)
}

// Finish removes the bar.
func (b *Bar) Finish() {
	b.text = ""
	b.draw("")
}
