package service

import (
	"log/slog"
	"sync"
	"time"
)

// overload logs requests that get status 503: the first one at once, the others as a count a
// minute later. Under load there may be thousands a second.
type overload struct {
	mu     sync.Mutex
	logged bool // a line, less than a minute ago
	more   int  // since that line
}

const overloadInterval = time.Minute

// record counts a request, and calls log if it is the first one.
func (o *overload) record(logger *slog.Logger, log func()) {
	o.mu.Lock()
	defer o.mu.Unlock()
	if o.logged {
		o.more++
		return
	}
	o.logged = true
	log()
	time.AfterFunc(overloadInterval, func() { o.flush(logger) })
}

// flush logs the count. The next request is logged again.
func (o *overload) flush(logger *slog.Logger) {
	o.mu.Lock()
	defer o.mu.Unlock()
	if o.more > 0 {
		logger.Warn("more requests got status 503", "count", o.more, "within", overloadInterval)
	}
	o.logged, o.more = false, 0
}
