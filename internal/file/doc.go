// Package file does with files what package os does not: it writes them complete or not at all, maps them into
// memory, and locks them.
//
// To read a page past the end of a mapped file that was cut short ends the program, except for goroutines that have asked for
// a panic by debug.SetPanicOnFault; [CutShort] then says which file was cut short.
package file
