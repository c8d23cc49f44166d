package serve

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"net/http"
	"strconv"
	"strings"
	"sync"
	"time"
)

// A statusError is an error with its HTTP status.
type statusError struct {
	status int
	error
}

func (e statusError) Unwrap() error { return e.error }

// A modelError is the error of a request to a model.
type modelError struct {
	model string
	error
}

func (e modelError) Unwrap() error { return e.error }

func badRequest(format string, args ...any) error {
	return statusError{http.StatusBadRequest, fmt.Errorf(format, args...)}
}

// statusClientClosed is nginx's status for a client that closed the connection. It is only seen
// in the log and in the metrics.
const statusClientClosed = 499

// contextError returns the error for a request whose context has ended. Other errors stay as they are.
func contextError(err error, timeout time.Duration) error {
	switch {
	case errors.Is(err, context.DeadlineExceeded):
		return statusError{http.StatusServiceUnavailable, fmt.Errorf("no answer within %v: the service is overloaded, or the request is too large for it", timeout)}
	case errors.Is(err, context.Canceled):
		return statusError{statusClientClosed, errors.New("the client closed the connection")}
	}
	return err
}

// clip shortens a part of a request for an error, which is logged.
func clip(text string) string {
	const most = 100
	if len(text) <= most {
		return text
	}
	return strings.ToValidUTF8(text[:most], "") + "…"
}

// overload logs requests that get one status, such as 503: the first one at once, the others as a
// count a minute later. Under load there may be thousands a second.
type overload struct {
	status int

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
		logger.Warn("more requests got status "+strconv.Itoa(o.status), "count", o.more, "within", overloadInterval)
	}
	o.logged, o.more = false, 0
}
