package reader

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"
)

// A Kind is what a file next to a data file has. It is the ending of its name.
type Kind string

// The kinds of files next to a data file.
const (
	QuerySizes Kind = ".query" // as LightGBM names it
	GroupSizes Kind = ".group" // the same, as XGBoost names it
	GroupFile  Kind = ".groups"
	NameFile   Kind = ".names"
	Positions  Kind = ".position" // of LightGBM; not read
)

// kinds are all; Declare adds the kinds of optional columns.
var kinds = []Kind{QuerySizes, GroupSizes, GroupFile, NameFile, Positions, RowIDs}

var compressions = []string{".gz", ".gzip", ".zst", ".zstd"}

// Sidecar returns the name of a file of the kind next to a data file: the name of the data, without the ending of a
// compression, and the ending of the kind.
func (k Kind) Sidecar(path string) string { return withoutCompression(path) + string(k) }

// names are all names that a file of the kind may have: it may be compressed, and named after the compressed data.
func (k Kind) names(path string) (names []string) {
	for _, name := range slices.Compact([]string{k.Sidecar(path), path + string(k)}) {
		names = append(names, name)
		for _, ending := range compressions {
			names = append(names, name+ending)
		}
	}
	return names
}

// Find returns the file of the kind next to a data file, "" if there is none. It returns an error if there are several.
func (k Kind) Find(path string) (found string, err error) {
	for _, name := range k.names(path) {
		switch _, err := os.Stat(name); {
		case err != nil && !errors.Is(err, fs.ErrPermission): // it is not there
		case found != "":
			return "", fmt.Errorf("datasets: both %s and %s are next to %s: want one of the two", found, name, path)
		default:
			found = name
		}
	}
	return found, nil
}

// BesideFiles returns all names of files that may belong to a data file.
func BesideFiles(path string) (names []string) {
	for _, k := range kinds {
		names = append(names, k.names(path)...)
	}
	return names
}

// isBeside reports whether a file belongs to another one, by its name.
func isBeside(name string) bool {
	return slices.Contains(kinds, Kind(filepath.Ext(withoutCompression(name))))
}

// withoutCompression is a file name without the ending of a compression.
func withoutCompression(path string) string {
	for _, ending := range compressions {
		if n := len(path) - len(ending); n > 0 && strings.EqualFold(path[n:], ending) {
			return path[:n]
		}
	}
	return path
}
