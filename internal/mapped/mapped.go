// Package mapped gives the bytes of files without reading them, and tells what a
// program can say where such a file is cut short meanwhile. To read a page that is no
// longer there ends the program, but for goroutines that have asked for a panic by
// debug.SetPanicOnFault.
package mapped

import (
	"errors"
	"fmt"
	"sync"
	"unsafe"
)

var (
	mutex sync.Mutex
	files []file // those that are mapped
)

type file struct {
	path  string
	bytes []byte
}

// keep remembers what a file is mapped to.
func keep(path string, b []byte) {
	mutex.Lock()
	defer mutex.Unlock()
	files = append(files, file{path, b})
	watch()
}

// at finds the mapped file with an address, and where in it that is. The mutex is held.
func at(address uintptr) (f file, offset int, ok bool) {
	for _, f := range files {
		if from := uintptr(unsafe.Pointer(&f.bytes[0])); address >= from && address < from+uintptr(len(f.bytes)) {
			return f, int(address - from), true
		}
	}
	return file{}, 0, false
}

// CutShort is an error that names the file, where a recovered panic is that of reading a
// mapped file beyond its end, which can only be because it was cut short meanwhile; else
// nil.
func CutShort(recovered any) error {
	err, ok := recovered.(error)
	var fault interface{ Addr() uintptr }
	if !ok || !errors.As(err, &fault) {
		return nil
	}
	mutex.Lock()
	defer mutex.Unlock()
	if f, _, ok := at(fault.Addr()); ok {
		return fmt.Errorf("%s was cut short while it was in use: please start again", f.path)
	}
	return nil
}
