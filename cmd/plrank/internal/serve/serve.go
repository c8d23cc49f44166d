// Package serve implements the command plrank serve, the process around package serve: flags,
// signals, connections and memory.
package serve

import (
	"context"
	"fmt"
	"io"
	"log/slog"
	"net"
	"net/http"
	"os"
	"os/signal"
	"runtime"
	"syscall"
	"time"

	"github.com/prometheus/client_golang/prometheus"
	"github.com/prometheus/client_golang/prometheus/collectors"

	"github.com/plrank/plrank/cmd/internal/cli"
	"github.com/plrank/plrank/internal/command"
	"github.com/plrank/plrank/serve"
)

// Run runs the command, and returns its exit status.
func Run(args []string, _ io.Reader, stdout, stderr io.Writer) int {
	return run(command.Interruptible(), args, stdout, stderr, func(net.Addr) {})
}

// run runs the command until the context ends. It calls listening with its address.
func run(ctx context.Context, args []string, stdout, stderr io.Writer, listening func(net.Addr)) int {
	var o options
	return page.Run(args, o.flags(), stdout, stderr, o.check, func(*cli.Line, io.Writer) error {
		return answer(ctx, &o, slog.New(slog.NewTextHandler(stderr, nil)), listening)
	})
}

// answer answers requests until the context ends, and while it drains.
func answer(ctx context.Context, o *options, logger *slog.Logger, listening func(net.Addr)) error {
	hangup := make(chan os.Signal, 1)
	signal.Notify(hangup, syscall.SIGHUP) // first and last: without it SIGHUP ends the program
	defer func() {
		signal.Stop(hangup)
		close(hangup)
	}()
	s, err := o.service(logger)
	if err != nil {
		return err
	}
	defer s.Close()
	if o.Clicks != "" {
		// While a goroutine waits for the disk, Go keeps one of GOMAXPROCS for it most of the time, and
		// the log always waits for the disk: without one more, a core would be idle.
		defer runtime.GOMAXPROCS(runtime.GOMAXPROCS(runtime.GOMAXPROCS(0) + 1))
	}
	listener, err := net.Listen("tcp", o.listen)
	if err != nil {
		return fmt.Errorf("serve: %w", err)
	}
	go func() {
		for range hangup {
			_ = s.Reload() // which logs its errors
		}
	}()
	ended := make(chan error, 2)
	if o.probes != "" {
		probes, err := net.Listen("tcp", o.probes)
		if err != nil {
			return fmt.Errorf("serve: -probes: %w", err)
		}
		logger.Info("answering probes", "url", "http://"+probes.Addr().String())
		p := o.server(probesOnly(s), logger)
		defer p.Close() // last: probes are answered while requests in flight are
		go func() { ended <- p.Serve(probes) }()
	}
	open := queue{listener, make(chan struct{}, o.connections)}
	h := o.server(freeingMemory(s, 2*time.Second), logger)
	h.ConnState = open.end
	logger.Info("listening", "url", "http://"+listener.Addr().String())
	if address, ok := listener.Addr().(*net.TCPAddr); ok && !address.IP.IsLoopback() && o.TokenFile == "" {
		logger.Warn("other machines can reach the service, which needs no token: they can use the models, and write to the click log; "+
			"use -token-file, or -listen on localhost", "address", listener.Addr().String())
	}
	listening(listener.Addr())
	go func() { ended <- h.Serve(open) }()
	select {
	case err := <-ended:
		return fmt.Errorf("serve: %w", err)
	case <-ctx.Done():
	}
	return o.drainAndEnd(s, h, ended, logger)
}

// service returns the service, and its metrics together with metrics of the process.
func (o *options) service(logger *slog.Logger) (*serve.Service, error) {
	registry := prometheus.NewRegistry()
	registry.MustRegister(collectors.NewGoCollector(), collectors.NewProcessCollector(collectors.ProcessCollectorOpts{}))
	o.Metrics, o.Log = registry, logger
	address, err := net.ResolveTCPAddr("tcp", o.listen)
	if err != nil {
		return nil, fmt.Errorf("serve: -listen: %w", err)
	}
	if name, _, err := net.SplitHostPort(o.listen); err == nil && address.IP.IsLoopback() && o.TokenFile == "" {
		o.Hosts = append(o.Hosts, name)
	}
	return serve.New(o.Options)
}

// drainAndEnd keeps answering for the time of -drain, and then ends h after the requests in flight.
func (o *options) drainAndEnd(s *serve.Service, h *http.Server, ended <-chan error, logger *slog.Logger) error {
	// Load balancers see that the service is not ready, and send no more. Clients that keep their
	// connection are asked to close it, so that it does not close while a request is on its way.
	s.Drain()
	logger.Info("draining: /readyz has status 503, requests are answered; a second signal ends the program at once", "for", o.drain)
	select {
	case err := <-ended:
		return fmt.Errorf("serve: %w", err)
	case <-time.After(o.drain):
	}
	logger.Info("no more connections are accepted; requests in flight are answered")
	last, cancel := context.WithTimeout(context.Background(), 4*o.Limits.Timeout)
	defer cancel()
	if err := h.Shutdown(last); err != nil {
		return fmt.Errorf("serve: requests were cut off: %w", err)
	}
	logger.Info("all requests are answered")
	return nil
}

// probesOnly answers probes and shows the metrics. Other paths have status 404.
func probesOnly(s *serve.Service) http.Handler {
	mux := http.NewServeMux()
	for _, path := range []string{"/livez", "/readyz", "/healthz", "/metrics"} {
		mux.Handle("GET "+path, s)
	}
	return mux
}

// server returns a server with the timeouts of the options.
func (o *options) server(h http.Handler, logger *slog.Logger) *http.Server {
	timeout := o.Limits.Timeout
	return &http.Server{
		Handler: h, ErrorLog: slog.NewLogLogger(logger.Handler(), slog.LevelWarn), MaxHeaderBytes: 1 << 16,
		ReadHeaderTimeout: timeout, ReadTimeout: timeout, WriteTimeout: 3 * timeout, IdleTimeout: 2 * time.Minute,
	}
}
