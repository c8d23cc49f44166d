// Package markdown keeps generated parts of Markdown files. A part stands between
// two lines of its own, which Markdown does not show:
//
//	<!-- NAME -->
//	| generated | table |
//	<!-- /NAME -->
//
// A name is made of letters, digits, dots, hyphens, underscores and slashes within, and may begin
// with ../; other comments are left alone.
package markdown

import (
	"fmt"
	"regexp"
	"slices"
	"strings"
)

var marker = regexp.MustCompile(`^<!-- (/?)((?:\.\./)*[\pL\pN][\pL\pN._/-]*) -->$`)

// parse says which part a line opens or closes; its name is empty for other lines.
func parse(line string) (name string, closes bool) {
	m := marker.FindStringSubmatch(strings.TrimSpace(line))
	if m == nil {
		return "", false
	}
	return m[2], m[1] != ""
}

// Names are the names of all markers in a text, in the order of their first
// appearance. Whether each has its two markers is for [Section] to say.
func Names(text string) []string {
	var names []string
	for line := range strings.Lines(text) {
		if name, _ := parse(line); name != "" && !slices.Contains(names, name) {
			names = append(names, name)
		}
	}
	return names
}

// Section is what stands between the markers of a name, with the end of its last
// line. The error says which marker is missing, doubled or in the wrong place,
// and in which line.
func Section(text, name string) (string, error) {
	from, to, err := find(text, name)
	if err != nil {
		return "", err
	}
	return text[from:to], nil
}

// Replace is a text with body in the place of what stands between the markers of
// a name. A body that does not end its last line gets an end of line. It returns an
// error if body itself has markers, and whenever [Section] does.
func Replace(text, name, body string) (string, error) {
	from, to, err := find(text, name)
	if err != nil {
		return "", err
	}
	if inner := Names(body); inner != nil {
		return "", fmt.Errorf("markdown: the new text of part %q contains a marker, of %q", name, inner[0])
	}
	if body != "" && !strings.HasSuffix(body, "\n") {
		body += "\n"
	}
	return text[:from] + body + text[to:], nil
}

// find is where in a text the part of a name begins and ends.
func find(text, name string) (from, to int, err error) {
	opened, closed := 0, 0 // lines of the markers, from 1
	at, number := 0, 0
	for line := range strings.Lines(text) {
		number++
		found, closes := parse(line)
		switch {
		case found == "":
		case found != name && opened > 0 && closed == 0:
			return 0, 0, fmt.Errorf(
				"markdown: line %d: a marker of %q inside part %q of line %d, which should be closed before: <!-- /%s -->",
				number,
				found,
				name,
				opened,
				name,
			)
		case found != name:
		case closes && opened == 0:
			return 0, 0, fmt.Errorf("markdown: line %d: part %q is closed before it is opened: <!-- %s --> is missing above", number, name, name)
		case closes && closed > 0:
			return 0, 0, fmt.Errorf("markdown: line %d: part %q is closed twice; first in line %d", number, name, closed)
		case closes:
			closed, to = number, at
		case opened > 0:
			return 0, 0, fmt.Errorf("markdown: line %d: part %q is opened twice; first in line %d", number, name, opened)
		default:
			opened, from = number, at+len(line)
		}
		at += len(line)
	}
	switch {
	case opened == 0:
		has := "the text has none"
		if names := Names(text); names != nil {
			has = "there is " + strings.Join(names, ", ")
		}
		return 0, 0, fmt.Errorf("markdown: no part %q, a line <!-- %s -->: %s", name, name, has)
	case closed == 0:
		return 0, 0, fmt.Errorf("markdown: line %d: part %q is never closed: <!-- /%s --> is missing below", opened, name, name)
	}
	return from, to, nil
}
