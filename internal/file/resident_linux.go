package file

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
// reads between two looks. What is beyond stays in the memory of the system for as long
// as there is room. A variable for tests, which set it while another goroutine keeps it.
var limit atomic.Int64

func init() { limit.Store(256 << 20) }

// large reports whether files of more than that were mapped at once.
var large atomic.Bool

// watch starts the work once so much is mapped. The mutex is held.
func watch() {
	size := int64(0)
	for _, f := range mappings {
		size += int64(len(f.bytes))
	}
	if size <= limit.Load() || large.Swap(true) {
		return
	}
	go func() { // for what reads without calling Relieve
		for range time.Tick(20 * time.Millisecond) {
			Relieve()
		}
	}()
}

var looked atomic.Int64 // when, in Unix nanoseconds

// Relieve keeps the limit. It is called by what reads a lot, every few MB; on a busy
// machine, nobody else may get the time for it.
func Relieve() {
	const pause = 2 * time.Millisecond
	if !large.Load() {
		return
	}
	was, now := looked.Load(), time.Now().UnixNano()
	if now-was > int64(pause) && looked.CompareAndSwap(was, now) && int64(residentFiles()) > limit.Load() {
		release()
	}
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
	for _, f := range mappings {
		_ = unix.Madvise(f.bytes, unix.MADV_DONTNEED) // here and below: advice, which the system need not take
	}
}

// WillRead is WillNeed for a part of a file that is read, not mapped.
func WillRead(f *os.File, offset, length int64) {
	if large.Load() {
		_ = unix.Fadvise(int(f.Fd()), offset, length, unix.FADV_WILLNEED)
	}
}

// WillNeed tells the system that bytes of a mapped file are going to be read, where so much is mapped
// that they may not be in memory: it then reads them while the program goes on.
func WillNeed(b []byte) {
	if len(b) == 0 || !large.Load() {
		return
	}
	mutex.Lock()
	defer mutex.Unlock()
	if f, offset, ok := mappingAt(uintptr(unsafe.Pointer(&b[0]))); ok {
		first := offset &^ (os.Getpagesize() - 1)
		_ = unix.Madvise(f.bytes[first:offset+len(b)], unix.MADV_WILLNEED)
	}
}
