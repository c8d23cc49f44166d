package metrics

import (
	"fmt"
	"slices"
	"strings"
)

// nameOf is the name of value i of a small enumeration.
func nameOf(names []string, i int, typeName string) string {
	if i < 0 || i >= len(names) {
		return fmt.Sprintf("%s(%d)", typeName, i)
	}
	return names[i]
}

// indexOf is the inverse of nameOf; an unknown name is an error that lists the
// valid ones.
func indexOf(names []string, name, what string) (int, error) {
	if i := slices.Index(names, name); i >= 0 {
		return i, nil
	}
	return 0, fmt.Errorf("metrics: unknown %s %q; one of: %s", what, name, strings.Join(names, ", "))
}
