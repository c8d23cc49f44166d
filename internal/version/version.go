// Package version knows the version of plrank that a program was built with.
package version

import (
	"fmt"
	"io"
	"runtime"
	"runtime/debug"
)

const module = "github.com/plrank/plrank"

// String is the version of the module, such as v1.2.3, or "(devel)" where it was
// built in its own folder without one.
func String() string {
	info, ok := debug.ReadBuildInfo()
	if !ok {
		return "unknown"
	}
	if info.Main.Path == module && info.Main.Version != "" {
		return info.Main.Version
	}
	for _, m := range info.Deps {
		if m.Path == module {
			return m.Version
		}
	}
	return "(devel)"
}

// Print prints the version, and that of Go.
func Print(w io.Writer) error {
	_, err := fmt.Fprintln(w, "plrank", String(), runtime.Version())
	return err
}
