// Package version has the version of plrank that a program was built with.
package version

import (
	"fmt"
	"io"
	"runtime"
	"runtime/debug"
)

const module = "github.com/plrank/plrank"

// Release is the version of programs that are built without version control information.
const Release = "v0.1.0"

// String returns the version of the module: its tag or pseudo-version, or Release where the build
// information has none, as in tests and in builds from a source archive.
func String() string {
	info, ok := debug.ReadBuildInfo()
	if !ok {
		return Release
	}
	for _, m := range append(info.Deps, &info.Main) {
		if m.Path == module && m.Version != "" && m.Version != "(devel)" {
			return m.Version
		}
	}
	return Release
}

// Print prints the versions of plrank and of Go.
func Print(w io.Writer) error {
	_, err := fmt.Fprintln(w, "plrank", String(), runtime.Version())
	return err
}
