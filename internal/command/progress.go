package command

import (
	"fmt"
	"io"
	"os"
	"strings"
	"time"

	"github.com/schollz/progressbar/v3"
	"golang.org/x/term"
)

// A Bar is one line at the bottom of a terminal. If the writer is not a terminal, only [Bar.Line] prints.
type Bar struct {
	w    io.Writer
	bar  *progressbar.ProgressBar // nil: not a terminal
	room int                      // columns for the text before the bar
}

// NewBar returns a bar that fits the terminal, if w is one.
func NewBar(w io.Writer) *Bar {
	columns := 0
	if f, ok := w.(*os.File); ok && term.IsTerminal(int(f.Fd())) {
		columns = 80
		if width, _, err := term.GetSize(int(f.Fd())); err == nil && width > 0 {
			columns = width
		}
	}
	return newBar(w, columns)
}

const (
	barWidth = 16
	percent  = len(" 100% ||  ") // around the bar
	times    = len(" [99h59m59s:9999h59m59s]")
	textRoom = 24 // at least, left of a bar with times
	whole    = 1 << 20
)

func newBar(w io.Writer, columns int) *Bar {
	if columns == 0 {
		return &Bar{w: w}
	}
	wide := columns > textRoom+percent+barWidth+times
	width := barWidth
	room := columns - 1 - percent - barWidth - times
	if !wide {
		width = max(0, min(barWidth, columns-1-percent-textRoom))
		room = columns - 1 - percent - width
	}
	return &Bar{w: w, room: room, bar: progressbar.NewOptions64(whole,
		progressbar.OptionSetWriter(w), progressbar.OptionSetWidth(width), progressbar.OptionThrottle(100*time.Millisecond),
		progressbar.OptionSetElapsedTime(wide), progressbar.OptionSetPredictTime(wide), progressbar.OptionClearOnFinish())}
}

// Set moves the bar to a part from 0 to 1, with a text before it: as many of its words as there is room for.
func (b *Bar) Set(part float64, text string) {
	if b.bar == nil {
		return
	}
	for len([]rune(text)) > b.room { // the last word goes
		text = text[:max(0, strings.LastIndexByte(text, ' '))]
	}
	b.bar.Describe(text)
	b.bar.Set64(int64(part * whole))
}

// Line prints a line, above the bar if there is one.
func (b *Bar) Line(text string) {
	if b.bar == nil {
		fmt.Fprintln(b.w, text)
		return
	}
	b.bar.Clear()
	fmt.Fprintln(b.w, text)
	if !b.bar.IsFinished() {
		b.bar.RenderBlank()
	}
}

// Finish removes the bar.
func (b *Bar) Finish() {
	if b.bar != nil {
		b.bar.Finish()
	}
}
