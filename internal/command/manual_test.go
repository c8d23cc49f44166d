package command

import (
	"flag"
	"strings"
	"testing"
)

func TestFlagIsExplainedWithItsDefault(t *testing.T) {
	f := flag.NewFlagSet("", flag.ContinueOnError)
	f.Int("epochs", 40, "`passes` over the training queries")
	f.Int("patience", 0, "stop after N `epochs`")
	f.Bool("normalize", true, "divide gains")
	f.Bool("json", false, "describe in JSON")
	f.String("out", "", "a new `folder` "+strings.Repeat("long ", 20))
	var b strings.Builder
	f.VisitAll(func(f *flag.Flag) { ExplainFlag(&b, f) })
	for _, want := range []string{
		"  -epochs passes  passes over the training queries (default 40)\n",
		"  -patience epochs\n                  stop after N epochs\n",
		"  -normalize      divide gains (on; -normalize=false is off)\n",
		"  -json           describe in JSON\n",
		"  -out folder     a new folder long",
	} {
		if !strings.Contains(b.String(), want) {
			t.Errorf("no %q in\n%s", want, b.String())
		}
	}
	for _, line := range strings.Split(b.String(), "\n") {
		if len(line) > Width {
			t.Errorf("a line of %d characters: %q", len(line), line)
		}
	}
}

func TestLineForAShell(t *testing.T) {
	words := []string{"-hidden=64,32", "-data=a b", "", "it's", "-loss=a+b*c", "-data=ä"}
	if got, want := Line(words), `-hidden=64,32 '-data=a b' '' 'it'\''s' '-loss=a+b*c' '-data=ä'`; got != want {
		t.Errorf("%s, want %s", got, want)
	}
}
