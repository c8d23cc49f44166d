package plrank_test

import (
	"fmt"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"
)

var (
	link        = regexp.MustCompile(`\]\(([^)\s]+)\)`)
	heading     = regexp.MustCompile(`(?m)^#+ +(.*)$`)
	fence       = regexp.MustCompile("(?ms)^ *```.*?^ *```$")
	punctuation = regexp.MustCompile(`[^\p{L}\p{N} _-]`)
)

// documents are the texts of all Markdown files of the project, by their paths.
func documents(t *testing.T) map[string]string {
	t.Helper()
	texts := map[string]string{}
	for _, pattern := range []string{"*.md", "*/*.md", "*/*/*.md", "*/*/*/*.md"} {
		paths, err := filepath.Glob(pattern)
		if err != nil {
			t.Fatal(err)
		}
		for _, path := range paths {
			text, err := os.ReadFile(path)
			if err != nil {
				t.Fatal(err)
			}
			texts[path] = string(text)
		}
	}
	return texts
}

// anchors are the names that GitHub gives the headings of a text.
func anchors(text string) (names []string) {
	for _, h := range heading.FindAllStringSubmatch(fence.ReplaceAllString(text, ""), -1) {
		title := link.ReplaceAllString(strings.ToLower(h[1]), "]")
		name := strings.ReplaceAll(strings.TrimSpace(punctuation.ReplaceAllString(title, "")), " ", "-")
		unique := name
		for n := 1; slices.Contains(names, unique); n++ {
			unique = fmt.Sprintf("%s-%d", name, n)
		}
		names = append(names, unique)
	}
	return names
}

// Links within the project lead to files and headings that there are.
func TestLinks(t *testing.T) {
	texts := documents(t)
	checked := 0
	for path, text := range texts {
		for _, l := range link.FindAllStringSubmatch(fence.ReplaceAllString(text, ""), -1) {
			if strings.Contains(l[1], "://") || strings.HasPrefix(l[1], "mailto:") {
				continue
			}
			file, anchor, _ := strings.Cut(l[1], "#")
			target := path
			if file != "" {
				target = filepath.Join(filepath.Dir(path), file)
			}
			if _, err := os.Stat(target); err != nil {
				t.Errorf("%s: the link %s leads nowhere: %v", path, l[1], err)
			}
			if anchor != "" && !slices.Contains(anchors(texts[target]), anchor) {
				t.Errorf("%s: %s has no heading #%s", path, target, anchor)
			}
			checked++
		}
	}
	if checked < 100 {
		t.Errorf("%d links in %d documents", checked, len(texts))
	}
}
