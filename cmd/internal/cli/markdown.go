package cli

import (
	"fmt"
	"io"
	"regexp"
	"strings"

	"github.com/plrank/plrank/internal/command"
)

// section returns the text under a heading of the second level, with the heading.
func section(markdown, name string) string {
	for part := range strings.SplitSeq("\n"+markdown, "\n## ") {
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

// printMarkdown prints Markdown for a terminal: it wraps paragraphs and items of lists, indents code, and prints the
// texts of links.
func printMarkdown(w io.Writer, markdown string) {
	var paragraph []string
	flush := func() {
		if paragraph == nil {
			return
		}
		text := strings.Join(paragraph, " ")
		hang := strings.Repeat(" ", len(item.FindString(text)))
		lines := command.Indent(command.Wrap(bold.Replace(link.ReplaceAllString(text, "$1")), command.Width-len(hang)), hang)
		fmt.Fprintln(w, lines[len(hang):])
		paragraph = nil
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
