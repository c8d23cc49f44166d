package text

import (
	"fmt"
	"slices"
	"strconv"
	"strings"
	"unicode/utf8"
)

func isBlank(c byte) bool { return c == ' ' || c == '\t' || c == '\r' }

// SkipBlanks is the position of the first byte from i on that is not blank.
func SkipBlanks(b []byte, i int) int {
	for i < len(b) && isBlank(b[i]) {
		i++
	}
	return i
}

// IsComment reports whether a line is blank, or begins with #.
func IsComment(line []byte) bool {
	i := SkipBlanks(line, 0)
	return i == len(line) || line[i] == '#'
}

// Ends reports whether a word may end before b[i].
func Ends(b []byte, i int) bool { return i == len(b) || isBlank(b[i]) || b[i] == '#' }

// Word is the word at b[i:].
func Word(b []byte, i int) []byte {
	end := i
	for !Ends(b, end) {
		end++
	}
	return b[i:end]
}

// Quote quotes text of a file for a message, cut to a readable length.
func Quote(b []byte) string {
	const most = 40
	if len(b) > most {
		return fmt.Sprintf("%q…", b[:most])
	}
	return fmt.Sprintf("%q", b)
}

// CheckUTF8 returns an error for text in another encoding. Model files keep names and texts of categories, and JSON has
// nothing but UTF-8: all others would become one.
func CheckUTF8(b []byte) error {
	if utf8.Valid(b) {
		return nil
	}
	return fmt.Errorf("%s is not in UTF-8: want text in UTF-8, such as iconv makes of Latin-1", Quote(b))
}

// List lists names for a message, quoted if they are empty or something in them does not print, and none where there are none.
func List(names []string) string {
	const most = 12
	if len(names) == 0 {
		return "none"
	}
	shown := slices.Clone(names[:min(len(names), most)])
	for i, name := range shown {
		if quoted := strconv.Quote(name); name == "" || quoted != `"`+name+`"` {
			shown[i] = quoted
		}
	}
	list := strings.Join(shown, ", ")
	if len(names) > most {
		list += fmt.Sprintf(", … (%d in all)", len(names))
	}
	return list
}
