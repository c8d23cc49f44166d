package command

import (
	"flag"
	"fmt"
	"io"
	"regexp"
	"slices"
	"strings"
)

// Width is the largest width of help, in characters. Explanations begin at column.
const (
	Width  = 80
	column = 18
)

// Explain prints a term, and its explanation to the right.
func Explain(w io.Writer, term, text string) {
	space := strings.Repeat(" ", column)
	lines := Indent(Wrap(text, Width-column), space)
	if len([]rune(term))+3 > column {
		fmt.Fprintf(w, "  %s\n%s\n", term, lines)
		return
	}
	fmt.Fprintln(w, strings.TrimRight(fmt.Sprintf("  %-*s%s", column-2, term, strings.TrimPrefix(lines, space)), " "))
}

// ExplainFlag prints a flag, its explanation, and its default.
func ExplainFlag(w io.Writer, f *flag.Flag) {
	value, text := flag.UnquoteUsage(f)
	if b, ok := f.Value.(interface{ IsBoolFlag() bool }); ok && b.IsBoolFlag() {
		value = ""
		if f.DefValue == "true" {
			text += fmt.Sprintf(" (on; -%s=false is off)", f.Name)
		}
	} else if f.DefValue != "" && f.DefValue != "0" {
		text += fmt.Sprintf(" (default %s)", f.DefValue)
	}
	Explain(w, strings.TrimRight("-"+f.Name+" "+value, " "), text)
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

var plainWord = regexp.MustCompile(`^[\w./=,:+@%-]+$`)

// Line returns the words of a command line, quoted for a shell.
func Line(words []string) string {
	quoted := slices.Clone(words)
	for i, word := range words {
		if !plainWord.MatchString(word) {
			quoted[i] = "'" + strings.ReplaceAll(word, "'", `'\''`) + "'"
		}
	}
	return strings.Join(quoted, " ")
}
