package serve

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"log/slog"
	"net/http"
	"runtime"
	"sync"
	"sync/atomic"
	"time"

	"github.com/prometheus/client_golang/prometheus"
	"golang.org/x/sync/semaphore"
)

// Options configure a [Service]. Only Models is required.
type Options struct {
	// Models has the model files by name. A request that names no model gets the only one, or the
	// one called "default".
	Models map[string]string

	// Interleave names models, two or more, that share the rankings of requests that name no model: by team draft, or for a
	// draw from the mixture of their policies with the least variance, see [clicks.Interleaving]. It needs Clicks.
	Interleave []string

	// Split names models, two or more, among which an A/B test divides the requests that name no model: evenly, and a user or session,
	// the key of a request or else its client, always to the same model. It needs Clicks.
	Split []string

	// TokenFile holds the bearer token that requests need. If it equals "", they need none.
	TokenFile string

	// Hosts lists the names that the header Host of a request may have, with any port, besides localhost and loopback
	// addresses. If it equals nil, every name is accepted. A page of another website can then reach a service on localhost
	// that needs no token, by a name that resolves to 127.0.0.1.
	Hosts []string

	// Origins lists the websites, such as "https://shop.example", whose pages may send any request from a browser. Other
	// pages may only send JSON, which a browser does not send to another website unless that agrees.
	Origins []string

	// Limits holds the bounds on requests.
	Limits Limits

	// Poll is the time between two looks at the model files and the token file. Changed files
	// are read again. If it equals zero, only [Service.Reload] reads them.
	Poll time.Duration

	// Clicks is the folder of the click log: impressions, which are the rankings drawn, and
	// events. A request is answered when its line is on the disk. If Clicks equals "", nothing is
	// logged. No other Service may use the folder. Waiting for the disk takes up one of
	// GOMAXPROCS: a process may set one more, as plrank serve does.
	Clicks string

	// Metrics is the registry for the service's metrics, which GET /metrics shows. If it equals
	// nil, the service has its own.
	Metrics *prometheus.Registry

	// Log receives reloads and failed requests. If it equals nil, it is [slog.Default].
	Log *slog.Logger
}

// A Service answers requests with trained models. Its methods may be called by several
// goroutines at once.
type Service struct {
	models   models
	limits   Limits
	gate     *gate
	inFlight *semaphore.Weighted // requests whose bodies are there
	bodies   *semaphore.Weighted // bytes of large bodies
	token    token
	hosts    []string
	origins  http.CrossOriginProtection
	draining atomic.Bool
	measures *measures
	log      *slog.Logger
	failures failures
	clicks   *clickLog // nil: none

	interleaved []string // models; nil: none
	split       []string // models of an A/B test; nil: none
	mux         *http.ServeMux

	reload sync.Mutex // one at a time
	stop   context.CancelFunc
	ended  sync.WaitGroup // the goroutines that stop ends
	close  func() error   // once: later, another service may use the folder and the registry
}

// New reads the models and the token, and returns a service. It returns an error if a file cannot be
// used, if a limit is negative, if a model's name is empty or not UTF-8, if an origin is invalid, or
// if the registry has the metrics already.
func New(o Options) (*Service, error) {
	limits, err := o.Limits.orDefaults()
	if err != nil {
		return nil, err
	}
	if o.Poll < 0 {
		return nil, fmt.Errorf("service: negative Poll %v", o.Poll)
	}
	models, err := newModels(o.Models)
	if err != nil {
		return nil, err
	}
	s := &Service{
		models: models, limits: limits, gate: newGate(), inFlight: semaphore.NewWeighted(int64(limits.Requests)),
		bodies: semaphore.NewWeighted(bodiesPerCore * int64(runtime.GOMAXPROCS(0)) * limits.Body),
		hosts:  o.Hosts, log: cmp.Or(o.Log, slog.Default()),
	}
	for _, origin := range o.Origins {
		if err := s.origins.AddTrustedOrigin(origin); err != nil {
			return nil, fmt.Errorf("service: origin %q: %w: want a scheme and a host, such as https://shop.example", origin, err)
		}
	}
	s.token.path, s.token.load = o.TokenFile, s.token.read
	if s.measures, err = newMeasures(o.Metrics); err != nil {
		return nil, err
	}
	s.mux, s.close = s.routes(), sync.OnceValue(s.closeOnce)
	ctx, stop := context.WithCancel(context.Background())
	s.stop = stop
	if err := s.open(o); err != nil {
		s.Close()
		return nil, err
	}
	if o.Poll > 0 {
		s.ended.Go(func() { s.watch(ctx, o.Poll) })
	}
	return s, nil
}

// open reads the models and the token, and opens the click log.
func (s *Service) open(o Options) (err error) {
	s.interleaved, s.split = o.Interleave, o.Split
	switch err := s.Reload(); {
	case err != nil:
		return err
	case len(o.Interleave) > 0 && len(o.Split) > 0:
		return errors.New("service: models that are interleaved, and others that share the users: want one of the two")
	case o.Clicks != "":
		if s.clicks, err = openClicks(o.Clicks, s.models, s.measures, s.log, s.limits.Timeout); err != nil {
			return fmt.Errorf("service: %w", err)
		}
	}
	return cmp.Or(s.checkCompared(o.Interleave), s.checkCompared(o.Split))
}

// watch reads the files that change.
func (s *Service) watch(ctx context.Context, poll time.Duration) {
	ticker := time.NewTicker(poll)
	defer ticker.Stop()
	for {
		select {
		case <-ctx.Done():
			return
		case <-ticker.C:
			_ = s.refresh(false) // which logs its errors
		}
	}
}

// Reload reads all model files and the token again. If a file cannot be used, its model or the
// token stays as it is, and the error is logged. Reload returns these errors joined.
func (s *Service) Reload() error { return s.refresh(true) }

// refresh reads the files that have changed, or all.
func (s *Service) refresh(always bool) error {
	s.reload.Lock()
	defer s.reload.Unlock()
	var failed []error
	for _, name := range s.models.names() {
		m := s.models[name]
		loaded, err := m.refresh(always, func(err error) { s.log.Error("cannot read model", "model", name, "error", err) })
		switch {
		case err != nil:
			failed = append(failed, fmt.Errorf("service: model %s: %w", name, err))
			s.measures.loads.WithLabelValues(name, "refused").Inc()
		case loaded:
			model := m.model.Load()
			version := model.Digest()
			s.measures.read(name, version)
			s.log.Info("read model", "model", name, "file", m.path, "version", version)
			if f := model.Foreign(); f != nil {
				for _, warning := range f.Notes() {
					s.log.Warn(warning, "model", name)
				}
			}
		}
	}
	if before := s.token.used; s.token.path != "" {
		_, err := s.token.refresh(always, func(err error) { s.log.Error("cannot read token: it stays the same", "error", err) })
		switch {
		case err != nil:
			failed = append(failed, fmt.Errorf("service: %w", err))
		case before != "" && before != s.token.used:
			s.log.Info("the token has changed")
		}
	}
	return errors.Join(failed...)
}

// Drain prepares for the end. From now on /readyz has status 503, so that load balancers send no
// more requests, and every answer asks the client to close its connection. Requests are still
// answered.
func (s *Service) Drain() { s.draining.Store(true) }

// Close ends the polling of files, closes the click log, and removes the metrics from the registry. It does not wait for
// requests in flight: call it after [http.Server.Shutdown]. Further calls do nothing, and return the same error.
func (s *Service) Close() error { return s.close() }

func (s *Service) closeOnce() error {
	s.stop()
	s.ended.Wait()
	s.measures.registry.Unregister(s.measures.own)
	if s.clicks == nil {
		return nil
	}
	return s.clicks.Close()
}
