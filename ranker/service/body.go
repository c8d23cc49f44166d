package service

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"net/http"
	"os"
	"time"
)

// keptBytes is the memory of a request that is kept for the next one. A longer body is a
// large one.
const keptBytes = 1 << 20

// A bodyReader reads the bodies of requests. Only so many large ones are in memory at a time.
type bodyReader struct {
	limit   int64
	timeout time.Duration
	large   lane
}

// read reads a body; length is -1 where it is not known. The caller calls done when it no longer
// needs the body, whatever the error.
func (b *bodyReader) read(ctx context.Context, to *bytes.Buffer, body io.Reader, length int64) (done func(), err error) {
	done = func() {}
	to.Reset()
	to.Grow(int(min(max(length, 0), keptBytes)) + bytes.MinRead)
	if _, err := to.ReadFrom(io.LimitReader(body, keptBytes)); err != nil {
		return done, b.error(err)
	}
	if to.Len() < keptBytes {
		return done, nil
	}
	ctx, cancel := context.WithTimeout(ctx, b.timeout)
	defer cancel()
	if done, err = b.large.enter(ctx); err != nil {
		return done, err
	}
	to.Grow(int(min(max(length-keptBytes, 0), b.limit)) + bytes.MinRead)
	if _, err = to.ReadFrom(body); err != nil {
		err = b.error(err)
	}
	return done, err
}

// error is the error of a body that could not be read.
func (b *bodyReader) error(err error) error {
	tooLarge := new(http.MaxBytesError)
	switch {
	case errors.As(err, &tooLarge):
		return statusError{http.StatusRequestEntityTooLarge, fmt.Errorf("the body has more than %d bytes", tooLarge.Limit)}
	case errors.Is(err, os.ErrDeadlineExceeded):
		return statusError{http.StatusRequestTimeout, fmt.Errorf("the body did not arrive within %v", b.timeout)}
	}
	return badRequest("the body ended early")
}
