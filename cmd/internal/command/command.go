// Package command is what the commands have in common: how they end, and how their
// manual pages are set.
package command

import (
	"context"
	"os"
	"os/signal"
	"syscall"
)

// Exit statuses.
const (
	ExitError       = 1
	ExitUsage       = 2
	ExitInterrupted = 130 // 128 + SIGINT, as shells have it
)

// A UsageError is a command line that makes no sense.
type UsageError struct{ error }

// Usage makes a UsageError of an error.
func Usage(err error) error { return UsageError{err} }

// Interruptible is a context that ends with the first Ctrl-C, or a request to
// terminate. A second one ends the program at once.
func Interruptible() context.Context {
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	context.AfterFunc(ctx, stop)
	return ctx
}
