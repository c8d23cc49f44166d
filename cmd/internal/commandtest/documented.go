package commandtest

import (
	"flag"
	"regexp"
	"strings"
	"testing"

	"github.com/plrank/plrank/cmd/internal/help"
)

var (
	explained = regexp.MustCompile(`(?m)^  -([a-z0-9-]+)(?: |$)`)
	listed    = regexp.MustCompile(`(?m) -([a-z0-9-]+)`)
	topic     = regexp.MustCompile(`^  ([a-z]+)(?: |$)`)
)

// Documented looks that every flag is explained once: on the page, or by a topic that the
// page names.
func Documented(t *testing.T, page help.Page, flags *flag.FlagSet) {
	t.Helper()
	var text strings.Builder
	page.Print(&text, flags)
	own, more, _ := strings.Cut(text.String(), "\nMore, by plrank help TOPIC:\n")
	more, _, _ = strings.Cut(more, "\nExamples:\n")
	places := map[string]int{}
	for _, m := range explained.FindAllStringSubmatch(own, -1) {
		places[m[1]]++
	}
	topics := ""
	for line := range strings.Lines(more) {
		if m := topic.FindStringSubmatch(line); m != nil {
			var text strings.Builder
			if err := help.Topic(&text, m[1]); err != nil {
				t.Error(err)
			}
			topics = text.String()
		}
		for _, m := range listed.FindAllStringSubmatch(line, -1) {
			places[m[1]]++
			if n := strings.Count(topics, "\n  -"+m[1]+" ") + strings.Count(topics, "\n  -"+m[1]+"\n"); n != 1 {
				t.Errorf("-%s is explained %d times by its topic", m[1], n)
			}
		}
	}
	flags.VisitAll(func(f *flag.Flag) {
		if places[f.Name] != 1 {
			t.Errorf("-%s is in %d places of\n%s", f.Name, places[f.Name], &text)
		}
		delete(places, f.Name)
	})
	for name := range places {
		t.Errorf("there is no flag -%s", name)
	}
}
