package command

import (
	"io"
	"os"
	"strings"
	"time"

	"github.com/schollz/progressbar/v3"
	"golang.org/x/term"
)

// A Bar is one line at the bottom of a terminal. If the writer is not a terminal, only [Bar.Line] prints.
type Bar struct {
	w     io.Writer
	bar   *progressbar.ProgressBar // nil: not a terminal
	room  int                      // columns for the text before the bar
	start time.Time                // of the first Set, with
	from  float64                  // its part
	left  string                   // in words, "" if not known or less than a second
}

// NewBar returns a bar that fits the terminal, if w is one.
func NewBar(w io.Writer) *Bar {
	w, columns := inner(w), 0
	if f, ok := w.(*os.File); ok && term.IsTerminal(int(f.Fd())) {
		columns = Columns(w)
	}
	return newBar(w, columns)
}

const (
	barWidth = 16
	percent  = len(" 100% ||  ") // around the bar
	textRoom = 24                // at least, left of a bar
	whole    = 1 << 20
)

func newBar(w io.Writer, columns int) *Bar {
	if columns == 0 {
		return &Bar{w: w}
	}
	width := max(0, min(barWidth, columns-1-percent-textRoom))
	return &Bar{w: w, room: columns - 1 - percent - width, bar: progressbar.NewOptions64(whole,
		progressbar.OptionSetWriter(w), progressbar.OptionSetWidth(width), progressbar.OptionThrottle(100*time.Millisecond),
		progressbar.OptionSetElapsedTime(false), progressbar.OptionSetPredictTime(false), progressbar.OptionClearOnFinish())}
}

// Set moves the bar to a part from 0 to 1, with a text before it, and the time left if the rest goes on as the parts since
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
	if b.bar == nil {
		return
	}
	if b.left != "" {
		text += ", " + b.left
	}
	for len([]rune(text)) > b.room { // the last word goes
		text = text[:max(0, strings.LastIndexByte(text, ' '))]
	}
	b.bar.Describe(text)
	_ = b.bar.Set64(int64(part * whole))
}

// Shown reports whether there is a terminal that shows the bar.
func (b *Bar) Shown() bool { return b.bar != nil }

// LineLeft is [Line] with the time left at its end, unless a bar shows it.
func (b *Bar) LineLeft(text string) {
	if b.bar == nil && b.left != "" {
		text += "  " + strings.ReplaceAll(b.left, "\u00a0", " ")
	}
	b.Line(text)
}

// Line prints a line, above the bar if there is one.
func (b *Bar) Line(text string) {
	if b.bar == nil {
		Note(b.w, text)
		return
	}
	_ = b.bar.Clear()
	Note(b.w, text)
	if !b.bar.IsFinished() {
		_ = b.bar.RenderBlank()
	}
}

// Finish removes the bar.
func (b *Bar) Finish() {
	if b.bar != nil {
		_ = b.bar.Finish()
	}
}
