package names

import (
	"strings"
	"testing"
)

func TestWantSuggestsTheNearestName(t *testing.T) {
	known := []string{"plrank1", "plrank2", "plrank-rb", "softmax", "lambdarank", "map"}
	for name, want := range map[string]string{
		"plrank3": "plrank1", "plrankrb": "plrank-rb", "PLRank2": "plrank2", "sofmax": "softmax", "lambdamart": "lambdarank",
		"mpa": "map", "mp": "map", "x": "", "": "", "listnet": "",
	} {
		if got := Nearest(name, known); got != want {
			t.Errorf("%q: %q, want %q", name, got, want)
		}
	}
	if got := Want("softmx", []string{"mse", "softmax"}); got != "want one of mse, softmax (did you mean softmax?)" {
		t.Error(got)
	}
	if got := Want("x", []string{"mse"}); got != "want one of mse" {
		t.Error(got)
	}
	many := append([]string{"mse", "softmax-cut"}, strings.Split("a b c d e f g h i j softmin", " ")...)
	if got := Want("softmax", many); got != "the nearest of 13 are softmax-cut, softmin, mse (did you mean softmin?)" { // changes: contains it, 2, 6
		t.Error(got)
	}
	// By hand: kitten, sitten, sittin, sitting.
	for pair, want := range map[[2]string]int{{"kitten", "sitting"}: 3, {"", "ab"}: 2, {"ab", ""}: 2, {"ab", "ab"}: 0, {"ab", "ba"}: 1, {"ca", "abc"}: 3} {
		if got := distance([]rune(pair[0]), []rune(pair[1])); got != want {
			t.Errorf("%v: %d, want %d", pair, got, want)
		}
	}
}
