package metrics

import (
	"fmt"
	"slices"

	"github.com/plrank/plrank/internal/names"
)

// nameOf is the name of value i of a small enumeration.
func nameOf(names []string, i int, typeName string) string {
	if i < 0 || i >= len(names) {
		return fmt.Sprintf("%s(%d)", typeName, i)
	}
	return names[i]
}

// indexOf is the inverse of nameOf. The error of an unknown name lists the valid ones.
func indexOf(valid []string, name, what string) (int, error) {
	if i := slices.Index(valid, name); i >= 0 {
		return i, nil
	}
	return 0, fmt.Errorf("metrics: unknown %s %q: %s", what, name, names.Want(name, valid))
}
