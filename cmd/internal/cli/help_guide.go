package cli

import (
	"fmt"
	"io"
	"regexp"
	"strings"

	"github.com/plrank/plrank/internal/command"
)

// section is the text of the guide under a heading of the second level, with the heading.
func section(guide, name string) string {
	for part := range strings.SplitSeq("\n"+guide, "\n## ") {
		if heading, _, _ := strings.Cut(part, "\n"); strings.ToLower(heading) == name {
			return part
		}
	}
	return ""
}

var (
	bold = strings.NewReplacer("**", "")
	link = regexp.MustCompile(`\[([^]]*)\]\([^)]*\)`)
	item = regexp.MustCompile(`^(- |\d+\. )`)
)

// plain prints Markdown for a terminal: paragraphs and lists are wrapped, code is indented,
// links are their texts.
func plain(w io.Writer, markdown string) {
	var paragraph []string
	flush := func() {
		if paragraph != nil {
			text, hang := strings.Join(paragraph, " "), ""
			if mark := item.FindString(text); mark != "" {
				hang = strings.Repeat(" ", len(mark))
			}
			lines := command.Indent(command.Wrap(bold.Replace(link.ReplaceAllString(text, "$1")), command.Width-len(hang)), hang)
			if hang != "" {
				lines = lines[len(hang):]
			}
			fmt.Fprintln(w, lines)
			paragraph = nil
		}
	}
	code := false
	for line := range strings.SplitSeq(strings.TrimSpace(markdown), "\n") {
		switch fence := strings.HasPrefix(line, "```"); {
		case fence:
			flush()
			code = !code
		case code:
			fmt.Fprintln(w, strings.TrimRight("  "+line, " "))
		case line == "":
			flush()
			fmt.Fprintln(w)
		case strings.HasPrefix(line, "|"):
			flush()
			fmt.Fprintln(w, link.ReplaceAllString(line, "$1"))
		case item.MatchString(line):
			flush()
			paragraph = []string{line}
		default:
			paragraph = append(paragraph, strings.TrimLeft(strings.TrimLeft(line, "#"), " "))
		}
	}
	flush()
}
