package markdown

import (
	"fmt"
	"slices"
	"strings"
	"testing"

	"pgregory.net/rapid"
)

func ExampleReplace() {
	readme := "# Speed\n<!-- table -->\nold\n<!-- /table -->\nAs measured.\n"
	text, err := Replace(readme, "table", "| new |")
	if err != nil {
		panic(err)
	}
	fmt.Print(text)
	// Output:
	// # Speed
	// <!-- table -->
	// | new |
	// <!-- /table -->
	// As measured.
}

const two = "a\n<!-- x/one -->\n1\n<!-- /x/one -->\nb <!-- c -->\n<!-- a comment -->\r\n<!-- 2 -->\r\n  <!-- /2 -->"

func TestNamesAreInOrderOfAppearance(t *testing.T) {
	if got := Names(two); !slices.Equal(got, []string{"x/one", "2"}) {
		t.Errorf("%q", got)
	}
	if got := Names("none\n<!-- -->\n<!-- / -->\n<!--x-->\n"); got != nil {
		t.Errorf("%q", got)
	}
}

func TestSectionIsBetweenTheMarkers(t *testing.T) {
	for name, want := range map[string]string{"x/one": "1\n", "2": ""} {
		if got, err := Section(two, name); err != nil || got != want {
			t.Errorf("%s: %q, %v", name, got, err)
		}
	}
}

func TestErrorsNameTheMarkerAndItsLine(t *testing.T) {
	for _, c := range []struct{ text, want string }{
		{"", `markdown: no part "x", a line <!-- x -->: the text has none`},
		{"<!-- y -->\n<!-- /y -->\n<!-- z -->", `markdown: no part "x", a line <!-- x -->: there is y, z`},
		{"\n<!-- /x -->\n", `markdown: line 2: part "x" is closed before it is opened: <!-- x --> is missing above`},
		{"\n<!-- x -->\n", `markdown: line 2: part "x" is never closed: <!-- /x --> is missing below`},
		{"<!-- x -->\n<!-- x -->\n<!-- /x -->\n", `markdown: line 2: part "x" is opened twice; first in line 1`},
		{"<!-- x -->\n<!-- /x -->\n<!-- x -->\n<!-- /x -->\n", `markdown: line 3: part "x" is opened twice; first in line 1`},
		{"<!-- x -->\n<!-- /x -->\n<!-- /x -->\n", `markdown: line 3: part "x" is closed twice; first in line 2`},
		{"<!-- x -->\n<!-- y -->\n<!-- /x -->\n", `markdown: line 2: a marker of "y" inside part "x" of line 1, which should be closed before: <!-- /x -->`},
	} {
		if _, err := Section(c.text, "x"); err == nil || err.Error() != c.want {
			t.Errorf("%q: %v, want %s", c.text, err, c.want)
		}
		if _, err := Replace(c.text, "x", "new"); err == nil || err.Error() != c.want {
			t.Errorf("%q: %v, want %s", c.text, err, c.want)
		}
	}
	_, err := Replace(two, "2", "fine\n<!-- /2 -->\n")
	if want := `markdown: the new text of part "2" contains a marker, of "2"`; err == nil || err.Error() != want {
		t.Error(err)
	}
}

// What was put in is what is there, and nothing else has changed.
func TestReplaceLaws(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		plain := rapid.Custom(func(t *rapid.T) string {
			lines := rapid.SliceOfN(rapid.SampledFrom([]string{"", "|a|b|", "<!-- no marker -->", "é\r", "$1 \\1"}), 0, 4).Draw(t, "lines")
			return strings.Join(append(lines, ""), "\n")
		})
		before, old, between, other, after := plain.Draw(t, "before"), plain.Draw(t, "old"), plain.Draw(t, "between"), plain.Draw(t, "other"), plain.Draw(t, "after")
		text := before + "<!-- p -->\n" + old + "<!-- /p -->\n" + between + "<!-- q -->\n" + other + "<!-- /q -->\n" + after
		body := plain.Draw(t, "body")
		got, err := Replace(text, "p", body)
		if err != nil {
			t.Fatal(err)
		}
		if s, err := Section(got, "p"); err != nil || s != body {
			t.Fatalf("part p is %q, %v, want %q", s, err, body)
		}
		if s, err := Section(got, "q"); err != nil || s != other {
			t.Fatalf("part q is %q, %v, want %q", s, err, other)
		}
		if back, err := Replace(got, "p", old); err != nil || back != text {
			t.Fatalf("putting back what was there: %q, %v", back, err)
		}
	})
}
