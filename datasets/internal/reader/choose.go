package reader

import (
	"fmt"
	"path"
	"slices"

	"github.com/plrank/plrank/internal/names"
	"github.com/plrank/plrank/internal/text"
)

// Choose returns the positions of the features that a word stands for: the feature of that name, else the one with that id, else all
// whose names match the word as a pattern, see path.Match. It returns an error if there are none. Without names, words are ids.
func Choose(word string, ids []int, called []string) ([]int, error) {
	if i := slices.Index(called, word); i >= 0 {
		return []int{i}, nil
	}
	if id, isID := text.ParseFeatureID(word); isID {
		if i := slices.Index(ids, id); i >= 0 {
			return []int{i}, nil
		}
	}
	var chosen []int
	for i, name := range called {
		matches, err := path.Match(word, name)
		if err != nil {
			return nil, fmt.Errorf("%q is not a pattern such as price*: a [ without its ], or a \\ at the end", word)
		}
		if matches {
			chosen = append(chosen, i)
		}
	}
	if chosen == nil {
		return nil, fmt.Errorf("no feature %q: %s", word, features(word, ids, called))
	}
	return chosen, nil
}

// features says what features there are, for an error.
func features(word string, ids []int, called []string) string {
	switch {
	case len(ids) == 0:
		return "there are none"
	case called == nil:
		return fmt.Sprintf("ids go from %d to %d", slices.Min(ids), slices.Max(ids))
	}
	return names.Want(word, called)
}

// Chosen reports for each feature whether a word stands for it.
func Chosen(words []string, ids []int, called []string) ([]bool, error) {
	is := make([]bool, len(ids))
	for _, word := range words {
		chosen, err := Choose(word, ids, called)
		if err != nil {
			return nil, err
		}
		for _, i := range chosen {
			is[i] = true
		}
	}
	return is, nil
}
