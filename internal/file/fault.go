package file

import "os"

// Fault, where it is not nil, is asked before every operation on a file: create, write,
// sync, close, rename, sync folder. Its error becomes the error of the operation, which is
// not done, except for half of a write. It is for tests of what programs do on a disk that
// fails; it is set while nothing is being written, and called by any goroutine.
var Fault func(operation, path string) error

func do(operation, path string, f func() error) error {
	if Fault != nil {
		if err := Fault(operation, path); err != nil {
			return err
		}
	}
	return f()
}

// A faultyFile is a file that is being written, which is to have the path in the end.
type faultyFile struct {
	f    *os.File
	path string
}

func (f faultyFile) Write(b []byte) (int, error) {
	if Fault != nil {
		if err := Fault("write", f.path); err != nil {
			n, _ := f.f.Write(b[:len(b)/2])
			return n, err
		}
	}
	return f.f.Write(b)
}
