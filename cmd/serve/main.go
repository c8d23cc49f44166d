// Command serve ranks documents over HTTP with trained models. See -help.
package main

import (
	"context"
	"errors"
	"flag"
	"fmt"
	"io"
	"log"
	"net"
	"net/http"
	"os"
	"os/signal"
	"syscall"
	"time"

	"github.com/plrank/plrank/internal/command"
)

type options struct {
	models       modelFlag
	listen       string
	token        token
	maxBody      int64
	maxDocuments int
	maxCutoff    int
	concurrency  int
	timeout      time.Duration
	poll         time.Duration
}

func flags(o *options) *flag.FlagSet {
	f := flag.NewFlagSet("serve", flag.ContinueOnError)
	o.models.slots = map[string]*slot{}
	f.Var(o.models, "model", "a `model` file, or NAME=FILE; several times for several models")
	f.StringVar(&o.listen, "listen", "localhost:8080", "`address` to listen on; :8080 is port 8080 for everybody")
	f.StringVar(&o.token.path, "token-file", "", "a `file` with the token that requests must bring: Authorization: Bearer TOKEN")
	f.Int64Var(&o.maxBody, "max-body", 16<<20, "most `bytes` of a request")
	f.IntVar(&o.maxDocuments, "max-documents", 10000, "most `documents` of a request")
	f.IntVar(&o.maxCutoff, "max-cutoff", 1000, "most `ranks` of a ranking to draw: propensities of 1000 ranks take a second, and of 2000 seven times as long")
	f.IntVar(&o.concurrency, "concurrency", 256, "most `requests` at work; further ones get status 503")
	f.DurationVar(&o.timeout, "timeout", 10*time.Second, "`time` for a request to come in, and for its answer to go out")
	f.DurationVar(&o.poll, "poll", 2*time.Second, "how often to look whether the files of models and the token have changed (`time`); 0 is never")
	return f
}

func main() {
	os.Exit(run(command.Interruptible(), os.Args[1:], os.Stdout, os.Stderr, func(net.Addr) {}))
}

// run is the command, and its exit status. It tells where it listens.
func run(ctx context.Context, args []string, stdout, stderr io.Writer, listening func(net.Addr)) int {
	return command.Run("serve", stdout, stderr, func(stdout io.Writer) error {
		o := &options{}
		f := flags(o)
		switch err := command.Parse(f, args); {
		case errors.Is(err, flag.ErrHelp):
			help(stdout, f)
			return nil
		case err != nil:
			return err
		}
		if err := o.check(); err != nil {
			return err
		}
		return serve(ctx, o, log.New(stderr, "", log.LstdFlags|log.LUTC), listening)
	})
}

func (o *options) check() error {
	switch {
	case len(o.models.slots) == 0:
		return command.Usage(errors.New("-model is needed"))
	case o.maxBody < 1 || o.maxDocuments < 1 || o.maxCutoff < 1 || o.concurrency < 1 || o.timeout <= 0 || o.poll < 0:
		return command.Usage(errors.New("limits must be 1 or more, and times not negative"))
	}
	if o.token.path == "" {
		return nil
	}
	if _, err := o.token.load(); err != nil {
		return fmt.Errorf("serve: %w", err)
	}
	return nil
}

// serve answers requests until the context ends, and then those that have come.
func serve(ctx context.Context, o *options, logger *log.Logger, listening func(net.Addr)) error {
	s := newServer(o, logger)
	if err := s.refresh(true); err != nil {
		return fmt.Errorf("serve: %w", err)
	}
	listener, err := net.Listen("tcp", o.listen)
	if err != nil {
		return fmt.Errorf("serve: %w", err)
	}
	ctx, stop := context.WithCancel(ctx)
	defer stop()
	go s.watch(ctx, o.poll)
	h := &http.Server{
		Handler: s.handler(), ErrorLog: logger, MaxHeaderBytes: 1 << 16,
		ReadHeaderTimeout: o.timeout, ReadTimeout: o.timeout, WriteTimeout: 2 * o.timeout, IdleTimeout: 2 * time.Minute,
	}
	logger.Printf("listening on http://%s", listener.Addr())
	listening(listener.Addr())
	ended := make(chan error, 1)
	go func() { ended <- h.Serve(listener) }()
	select {
	case err := <-ended:
		return fmt.Errorf("serve: %w", err)
	case <-ctx.Done():
	}
	// Clients that keep their connection are told to close it, rather than that it is closed
	// while their next request is on its way.
	s.ending.Store(true)
	time.Sleep(farewell)
	last, cancel := context.WithTimeout(context.Background(), 3*o.timeout)
	defer cancel()
	if err := h.Shutdown(last); err != nil {
		return fmt.Errorf("serve: requests were cut off: %w", err)
	}
	logger.Print("all requests are answered")
	return nil
}

// farewell is the time in which the last answers on connections that are kept say that these end.
const farewell = 300 * time.Millisecond

// watch reads models and the token again on SIGHUP, and those whose files change.
func (s *server) watch(ctx context.Context, poll time.Duration) {
	hangup := make(chan os.Signal, 1)
	signal.Notify(hangup, syscall.SIGHUP)
	defer signal.Stop(hangup)
	var tick <-chan time.Time
	if poll > 0 {
		ticker := time.NewTicker(poll)
		defer ticker.Stop()
		tick = ticker.C
	}
	for {
		select {
		case <-ctx.Done():
			return
		case <-hangup:
			s.refresh(true)
		case <-tick:
			s.refresh(false)
		}
	}
}

func help(w io.Writer, f *flag.FlagSet) {
	fmt.Fprint(w, `NAME
  serve - rank documents over HTTP with trained models

SYNOPSIS
  serve -model [NAME=]FILE … [flags]

DESCRIPTION
  POST /v1/rank ranks the documents of a query; GET /v1/models, /healthz, /metrics
  (Prometheus) and /openapi.json say what there is. See docs/serving.md.

  A model and the token are read again when their files change, and on SIGHUP. The
  version of a model, in answers and in the log, is the beginning of the SHA-256 of its
  file: other content is another model, whatever the time and the size. A file that
  cannot be used leaves them as they are, and the log says so once. On SIGTERM and Ctrl-C connections end with
  their next answer, for 0.3 s; then no more are accepted, requests that have come are
  answered, and the program ends.

FLAGS
`)
	f.VisitAll(func(f *flag.Flag) { command.DescribeFlag(w, f) })
}
