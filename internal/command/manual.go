package command

import (
	"flag"
	"fmt"
	"io"
	"strings"
)

// DescribeFlag prints a flag, what it is, and its default, for a manual page.
func DescribeFlag(w io.Writer, f *flag.Flag) {
	value, usage := flag.UnquoteUsage(f)
	if value != "" {
		value = " " + value
	}
	fmt.Fprintf(w, "  -%s%s\n", f.Name, value)
	text := usage
	if b, ok := f.Value.(interface{ IsBoolFlag() bool }); ok && b.IsBoolFlag() {
		if f.DefValue == "true" {
			text += fmt.Sprintf(" (on; -%s=false is off)", f.Name)
		}
	} else if f.DefValue != "" && f.DefValue != "0" {
		text += fmt.Sprintf(" (default %s)", f.DefValue)
	}
	fmt.Fprintln(w, Indent(Wrap(text, 70), "        "))
}

// Indent puts by before every line.
func Indent(text, by string) string {
	lines := strings.Split(text, "\n")
	for i, line := range lines {
		lines[i] = strings.TrimRight(by+line, " ")
	}
	return strings.Join(lines, "\n")
}

// Wrap breaks a line at blanks.
func Wrap(text string, width int) string {
	var lines []string
	line := ""
	for _, word := range strings.Fields(text) {
		if line != "" && len([]rune(line))+1+len([]rune(word)) > width {
			lines = append(lines, line)
			line = ""
		}
		line = strings.TrimPrefix(line+" "+word, " ")
	}
	return strings.Join(append(lines, line), "\n")
}
