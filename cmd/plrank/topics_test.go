package main

import (
	"regexp"
	"strings"
	"testing"

	"github.com/plrank/plrank/docs"
)

// The topics are the sections of the guide, in its order, and examples name flags that
// there are.
func TestTopicsAreTheSectionsOfTheGuide(t *testing.T) {
	_, overview, _ := call("help")
	_, overview, _ = strings.Cut(overview, "TOPIC:\n")
	var topics []string
	for line := range strings.Lines(overview) {
		if name, _, ok := strings.Cut(strings.TrimPrefix(line, "  "), " "); ok && strings.HasPrefix(line, "  ") && name != "" {
			topics = append(topics, name)
		}
	}
	var sections []string
	for _, m := range regexp.MustCompile(`(?m)^## (.*)$`).FindAllStringSubmatch(docs.Guide, -1) {
		sections = append(sections, strings.ToLower(m[1]))
	}
	if strings.Join(topics, " ") != strings.Join(sections, " ") {
		t.Errorf("topics %q, sections %q", topics, sections)
	}
	for _, name := range topics {
		status, text, stderr := call("help", name)
		if status != 0 || len(text) < 200 {
			t.Errorf("%s: %d, %s%s", name, status, text, stderr)
		}
		fits(t, name, text)
	}
}
