package mapped

import (
	"bytes"
	"os"
	"strconv"
	"sync/atomic"
	"time"
	"unsafe"

	"golang.org/x/sys/unix"
)

// limit is how many bytes of mapped files a process has in its own memory, and what it
// reads within 20 ms. What is beyond stays in the memory of the system for as long
// as there is room. A variable for tests.
var limit = 256 << 20

// large tells whether there was a mapped file of more than that.
var large atomic.Bool

// watch starts the work for the first large file. The mutex is held.
func watch(size int) {
	if size <= limit || large.Swap(true) {
		return
	}
	go func() {
		for range time.Tick(20 * time.Millisecond) {
			if residentFiles() > limit {
				release()
			}
		}
	}()
}

// residentFiles is how much of files is in the memory of the process.
func residentFiles() int {
	text, err := os.ReadFile("/proc/self/statm")
	fields := bytes.Fields(text)
	if err != nil || len(fields) < 3 {
		return 0
	}
	pages, _ := strconv.Atoi(string(fields[2]))
	return pages * os.Getpagesize()
}

// release takes all mapped files out of the memory of the process. They come back where
// they are read.
func release() {
	mutex.Lock()
	defer mutex.Unlock()
	for _, f := range files {
		unix.Madvise(f.bytes, unix.MADV_DONTNEED)
	}
}

// WillNeed tells the system that bytes are going to be read, if they are of a file too
// large to count on its being in memory: it then reads them while the program goes on.
func WillNeed(b []byte) {
	if len(b) == 0 || !large.Load() {
		return
	}
	at := uintptr(unsafe.Pointer(&b[0]))
	mutex.Lock()
	defer mutex.Unlock()
	for _, f := range files {
		if from := uintptr(unsafe.Pointer(&f.bytes[0])); at >= from && at < from+uintptr(len(f.bytes)) {
			first := int(at-from) &^ (os.Getpagesize() - 1)
			unix.Madvise(f.bytes[first:int(at-from)+len(b)], unix.MADV_WILLNEED)
			return
		}
	}
}
