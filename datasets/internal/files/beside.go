package files

import (
	"path/filepath"
	"slices"
	"strings"
)

// Files that lie beside a data file are named as it is, without the ending of a compression,
// plus one of these.
var (
	sizeEndings   = []string{".query", ".group"}
	groupsEnding  = ".groups"
	weightEnding  = ".weight"
	baseEnding    = ".init"
	namesEnding   = ".names"
	unusedEndings = []string{".position"}

	besideEndings = slices.Concat([]string{groupsEnding, weightEnding, baseEnding, namesEnding}, sizeEndings, unusedEndings)
)

// Beside are all names of files that may lie beside a data file.
func Beside(path string) []string { return beside(path, besideEndings...) }

// Sizes are the names under which the query sizes of a data file may lie.
func Sizes(path string) []string { return beside(path, sizeEndings...) }

// Groups is the name under which the groups of a data file may lie.
func Groups(path string) string { return withoutCompression(path) + groupsEnding }

// Weights is the name under which the weights of a data file may lie.
func Weights(path string) string { return withoutCompression(path) + weightEnding }

// BaseScores is the name under which the base scores of a data file may lie.
func BaseScores(path string) string { return withoutCompression(path) + baseEnding }

// Names is the name under which the names of the features of a data file may lie.
func Names(path string) string { return withoutCompression(path) + namesEnding }

// Unused are the names of files that other programs read beside a data file.
func Unused(path string) []string { return beside(path, unusedEndings...) }

func beside(path string, endings ...string) []string {
	var paths []string
	for _, ending := range endings {
		paths = append(paths, withoutCompression(path)+ending)
	}
	return paths
}

// isBeside tells whether a file belongs to another one, by its name.
func isBeside(name string) bool { return slices.Contains(besideEndings, filepath.Ext(name)) }

// withoutCompression is a file name without the ending of a compression.
func withoutCompression(path string) string {
	for _, ending := range []string{".gz", ".gzip", ".zst", ".zstd"} {
		if n := len(path) - len(ending); n > 0 && strings.EqualFold(path[n:], ending) {
			return path[:n]
		}
	}
	return path
}
