package names

import (
	"fmt"
	"slices"
)

// Features describes the features of data or of a model: their ids, ascending, and, if known, their names and the
// texts of the categorical ones, all as datasets.Dataset has them.
type Features struct {
	IDs    []int
	Names  []string // "": it has none
	Levels [][]string
}

// CheckFeatures returns an error if data have other features than they should, such as the features of a model. It
// names the source of the right ones.
func CheckFeatures(data string, has Features, whose string, want Features) error {
	if !slices.Equal(has.IDs, want.IDs) {
		problem := "they are not in ascending order"
		if i := slices.IndexFunc(has.IDs, func(id int) bool { return !slices.Contains(want.IDs, id) }); i >= 0 {
			problem = fmt.Sprintf("%d is not one of these %d", has.IDs[i], len(want.IDs))
		} else if i := slices.IndexFunc(want.IDs, func(id int) bool { return !slices.Contains(has.IDs, id) }); i >= 0 {
			problem = fmt.Sprintf("%d is missing", want.IDs[i])
		}
		return fmt.Errorf("%s has other feature ids than %s: %s", data, whose, problem)
	}
	if has.Names != nil && want.Names != nil {
		for i, name := range has.Names {
			if name != want.Names[i] && name != "" && want.Names[i] != "" {
				return fmt.Errorf("%s: feature %d is %q, and %q of %s: want the same order, in which datasets.OptionsFor reads "+
					"files for a model", data, has.IDs[i], name, want.Names[i], whose)
			}
		}
	}
	if has.Levels != nil && want.Levels != nil && !slices.EqualFunc(has.Levels, want.Levels, slices.Equal[[]string]) {
		return fmt.Errorf("%s: the texts of the categorical features are numbered otherwise than in %s: want data read with its "+
			"Levels", data, whose)
	}
	return nil
}
