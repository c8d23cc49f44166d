package serve

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"maps"
	"net/http"
	"slices"
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
		return statusError{http.StatusServiceUnavailable,
			fmt.Errorf("no answer within %v: the service is overloaded, or the request is too large for it", timeout)}
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

// failures bounds the lines about failed requests in the log: under load, or attack, there may be thousands a second. Of each
// status the first ones are logged at once, and the number of others a minute later.
type failures struct {
	mu    sync.Mutex
	count map[int]int // by status, in this minute; nil: no request has failed
}

const (
	mostFailures     = 10
	failuresInterval = time.Minute
)

// record counts a request that got a status, and calls log if it is one of the first.
func (f *failures) record(status int, logger *slog.Logger, log func()) {
	f.mu.Lock()
	defer f.mu.Unlock()
	if f.count == nil {
		f.count = map[int]int{}
		time.AfterFunc(failuresInterval, func() { f.flush(logger) })
	}
	if f.count[status]++; f.count[status] <= mostFailures {
		log()
	}
}

// flush logs the numbers of others, and begins the next minute.
func (f *failures) flush(logger *slog.Logger) {
	f.mu.Lock()
	defer f.mu.Unlock()
	for _, status := range slices.Sorted(maps.Keys(f.count)) {
		if more := f.count[status] - mostFailures; more > 0 {
			logger.Warn("more requests got status "+strconv.Itoa(status), "count", more, "within", failuresInterval)
		}
	}
	f.count = nil
}
