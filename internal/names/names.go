// Package names reads weighted sums of names, and suggests the nearest name in errors about unknown
// names.
package names

import (
	"fmt"
	"slices"
	"strings"
)

// few is how many names an error may list.
const few = 12

// Want returns a list of the known names, or of the three nearest to name, which is unknown, if there are more than a few. It
// suggests the nearest: "want one of ndcg, map, mrr (did you mean map?)".
func Want(name string, known []string) string {
	text := "want one of " + strings.Join(known, ", ")
	if len(known) > few {
		text = fmt.Sprintf("the nearest of %d are %s", len(known), strings.Join(byNearness(name, known)[:3], ", "))
	}
	if near := Nearest(name, known); near != "" {
		text += " (did you mean " + near + "?)"
	}
	return text
}

// byNearness returns the known names, the nearest to a name first. Those that contain it come before others.
func byNearness(name string, known []string) []string {
	changes := func(k string) int {
		if name != "" && strings.Contains(strings.ToLower(k), strings.ToLower(name)) {
			return 0
		}
		return distance([]rune(strings.ToLower(name)), []rune(strings.ToLower(k)))
	}
	return slices.SortedStableFunc(slices.Values(known), func(a, b string) int { return changes(a) - changes(b) })
}

// Nearest returns the known name that a name becomes by the fewest changes of a character
// (an insertion, a deletion, a replacement, an exchange of neighbours), the first of
// several; "" if that takes more than a third of its characters.
func Nearest(name string, known []string) string {
	name = strings.ToLower(name)
	best, nearest := max(1, len([]rune(name))/3)+1, ""
	for _, k := range known {
		if d := distance([]rune(name), []rune(strings.ToLower(k))); d < best && d < len([]rune(name)) {
			best, nearest = d, k
		}
	}
	return nearest
}

// distance returns the number of such changes, where two neighbours that change places count
// once (Damerau's and Levenshtein's, the restricted form).
func distance(a, b []rune) int {
	d := make([][]int, len(a)+1) // [i][j]: of the first i of a and the first j of b
	for i := range d {
		d[i] = make([]int, len(b)+1)
		d[i][0] = i
	}
	for j := range d[0] {
		d[0][j] = j
	}
	for i := range a {
		for j := range b {
			replaced := d[i][j]
			if a[i] != b[j] {
				replaced++
			}
			d[i+1][j+1] = min(replaced, d[i][j+1]+1, d[i+1][j]+1)
			if i > 0 && j > 0 && a[i] == b[j-1] && a[i-1] == b[j] {
				d[i+1][j+1] = min(d[i+1][j+1], d[i-1][j-1]+1)
			}
		}
	}
	return d[len(a)][len(b)]
}
