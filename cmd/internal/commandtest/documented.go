package commandtest

import (
	"flag"
	"regexp"
	"strings"
	"testing"

	"github.com/plrank/plrank/cmd/internal/cli"
)

var (
	explained = regexp.MustCompile(`(?m)^  -([a-z0-9-]+)(?: |$)`)
	topic     = regexp.MustCompile(`(?m)^  ([a-z]+) `)
)

// Documented checks that every flag is explained once: on the page, or by a topic that the page names.
func Documented(t *testing.T, page cli.Page, flags *flag.FlagSet) {
	t.Helper()
	var text strings.Builder
	page.Print(&text, flags)
	_, more, _ := strings.Cut(text.String(), "\nMore, by plrank help TOPIC:\n")
	more, _, _ = strings.Cut(more, "\nExamples:\n")
	for _, m := range topic.FindAllStringSubmatch(more, -1) {
		if err := cli.PrintTopic(&text, m[1]); err != nil {
			t.Error(err)
		}
	}
	places := map[string]int{}
	for _, m := range explained.FindAllStringSubmatch(text.String(), -1) {
		places[m[1]]++
	}
	flags.VisitAll(func(f *flag.Flag) {
		if places[f.Name] != 1 {
			t.Errorf("-%s is explained %d times in\n%s", f.Name, places[f.Name], &text)
		}
	})
}
