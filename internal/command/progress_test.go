package command

import (
	"fmt"
	"strings"
	"testing"
	"testing/synctest"
	"time"
)

// No line is as wide as the terminal, so that none scrolls, and those that are printed
// are whole.
func TestBarFitsTheTerminal(t *testing.T) {
	for columns := 20; columns <= 130; columns++ {
		var w strings.Builder
		b := newBar(&w, columns)
		for i := range 12 {
			b.Set(float64(i)/12, fmt.Sprintf("%d/12 epochs, best expected-ndcg@5 0.1234", i+1))
			b.Line(fmt.Sprintf("line %d.", i+1))
		}
		b.Finish()
		text := w.String()
		for i := range 12 {
			if line := fmt.Sprintf("\rline %d.\n", i+1); !strings.Contains(text, line) {
				t.Fatalf("%d columns: no %q in %q", columns, line, text)
			}
		}
		if !strings.Contains(text, "1/12") {
			t.Errorf("%d columns: no epoch in %q", columns, text)
		}
		for _, line := range strings.FieldsFunc(text, func(r rune) bool { return r == '\r' || r == '\n' }) {
			if n := len([]rune(line)); n >= columns {
				t.Fatalf("%d columns: a line of %d: %q", columns, n, line)
			}
		}
	}
}

// A quarter of what was left took 10 s, which leaves 30: the bar says so, or without a terminal the line.
func TestTimeLeftIsShown(t *testing.T) {
	for columns, want := range map[int]string{0: "first\na line  30s left\nlast\n", 80: "\rmore, 30s\u00a0left  "} {
		synctest.Test(t, func(t *testing.T) { // in which nothing takes time but Sleep
			var w strings.Builder
			b := newBar(&w, columns)
			b.Set(0.5, "half")
			b.LineLeft("first")
			time.Sleep(10 * time.Second)
			b.Set(0.625, "more")
			b.LineLeft("a line")
			b.Set(1, "all")
			b.LineLeft("last")
			b.Finish()
			if text := w.String(); !strings.Contains(text, want) || columns > 0 && !strings.Contains(text, "\ra line\n") {
				t.Errorf("%d columns: %q", columns, text)
			}
		})
	}
}

func TestBarNeedsATerminal(t *testing.T) {
	var w strings.Builder
	b := NewBar(&w)
	b.Set(0.5, "half")
	b.Line("a line")
	b.Finish()
	if w.String() != "a line\n" {
		t.Errorf("%q", &w)
	}
}

// A line that is too long is broken, where it is read; one that fits keeps its blanks, and other programs get it whole.
func TestNotesFitTheTerminal(t *testing.T) {
	text := "a  b\n" + strings.Repeat("word ", 10) + "\nend"
	for columns, want := range map[string]string{"": "a  b\n" + strings.Repeat("word ", 10) + "\nend\n", "30": "a  b\nword word word word word\n  word word word word word\nend\n", "x": text + "\n"} {
		t.Setenv("COLUMNS", columns)
		var w strings.Builder
		if Note(&w, text); w.String() != want {
			t.Errorf("%s columns: %q, want %q", columns, w.String(), want)
		}
	}
}
