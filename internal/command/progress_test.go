package command

import (
	"fmt"
	"strings"
	"testing"
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
