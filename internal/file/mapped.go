package file

import (
	"errors"
	"fmt"
	"sync"
	"unsafe"
)

var (
	mutex    sync.Mutex
	mappings []mapping // at present
)

type mapping struct {
	path  string
	bytes []byte
}

// keep remembers what a file is mapped to.
func keep(path string, b []byte) {
	mutex.Lock()
	defer mutex.Unlock()
	mappings = append(mappings, mapping{path, b})
	watch()
}

// mappingAt finds the mapped file with an address, and where in it that is. The mutex is held.
func mappingAt(address uintptr) (f mapping, offset int, ok bool) {
	for _, f := range mappings {
		if from := uintptr(unsafe.Pointer(&f.bytes[0])); address >= from && address < from+uintptr(len(f.bytes)) {
			return f, int(address - from), true
		}
	}
	return mapping{}, 0, false
}

// CutShort returns an error that names the file, if a recovered panic comes from reading a
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
	if f, _, ok := mappingAt(fault.Addr()); ok {
		return fmt.Errorf("%s was cut short while it was in use: please start again", f.path)
	}
	return nil
}
