// Package symbols tells gomacro of the packages that notebooks import. The tables
// of their names, one file each, are generated from the list in packages.txt and
// from the packages as they are when the kernel is built; they are not committed.
// `go generate ./symbols` makes them alone.
//
// The package also registers the tables when it is linked, which is all that a kernel needs.
package symbols

import "strconv"

//go:generate go run ./gen

// integer is gomacro's text for an untyped constant of kind int or rune. Tables
// write constants by name where their values may differ between platforms.
func integer(kind string, v int64) string { return kind + ":" + strconv.FormatInt(v, 10) }
