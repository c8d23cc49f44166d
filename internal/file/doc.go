// Package file does with files what package os does not: it writes them complete or not at all, maps them into
// memory, and locks them.
//
// To read a page of a mapped file that is no longer there ends the program, except for goroutines that have asked for
// a panic by debug.SetPanicOnFault; [CutShort] then says which file was cut short.
package file
