package main

import (
	_ "embed"
	"encoding/json"
	"errors"
	"fmt"
	"log"
	"net/http"
	"strconv"
	"strings"
	"sync/atomic"
	"time"

	"github.com/prometheus/client_golang/prometheus"
	"github.com/prometheus/client_golang/prometheus/collectors"
	"github.com/prometheus/client_golang/prometheus/promhttp"

	"github.com/plrank/plrank/internal/command"
)

//go:embed openapi.json
var openAPI []byte

// A server answers requests. See openapi.json for what they are.
type server struct {
	models       *models
	maxBody      int64
	maxDocuments int
	maxCutoff    int
	maxWork      int
	timeout      time.Duration
	busy         chan struct{} // holds one token for each request at work
	work         *work
	token        *token
	draining     atomic.Bool // the service has been told to end
	tokenError   string      // of the last look at its file, to log each once
	log          *log.Logger
	overload     overload

	requests  *prometheus.CounterVec
	seconds   prometheus.Histogram
	documents prometheus.Histogram
	reloads   *prometheus.CounterVec
	refused   prometheus.Counter
	registry  *prometheus.Registry
}

func newServer(o *options, logger *log.Logger) *server {
	s := &server{
		models: &models{slots: o.models.slots}, maxBody: o.maxBody, maxDocuments: o.maxDocuments, maxCutoff: o.maxCutoff,
		maxWork: o.maxWork, timeout: o.timeout, work: newWork(),
		busy: make(chan struct{}, o.concurrency), token: &o.token, log: logger,
		requests: prometheus.NewCounterVec(prometheus.CounterOpts{
			Name: "plrank_requests_total", Help: "Requests to /v1/rank, and those to other paths that failed, by HTTP status."}, []string{"code"}),
		seconds: prometheus.NewHistogram(prometheus.HistogramOpts{
			Name: "plrank_request_seconds", Help: "Time to answer a request to /v1/rank.", Buckets: prometheus.ExponentialBuckets(1e-4, 2, 15)}),
		documents: prometheus.NewHistogram(prometheus.HistogramOpts{
			Name: "plrank_request_documents", Help: "Documents of an answered request.", Buckets: prometheus.ExponentialBuckets(1, 2, 14)}),
		reloads: prometheus.NewCounterVec(prometheus.CounterOpts{
			Name: "plrank_model_loads_total", Help: "Model files read, by model and result: ok or refused."}, []string{"model", "result"}),
		refused: prometheus.NewCounter(prometheus.CounterOpts{
			Name: "plrank_connections_refused_total", Help: "Connections that were closed at once, because there were too many."}),
		registry: prometheus.NewRegistry(),
	}
	s.registry.MustRegister(s.requests, s.seconds, s.documents, s.reloads, s.refused,
		collectors.NewGoCollector(), collectors.NewProcessCollector(collectors.ProcessCollectorOpts{}))
	return s
}

// refresh reads the files of models and of the token again, and returns the last error of
// a model.
func (s *server) refresh(always bool) (last error) {
	s.models.refresh(always, func(name string, err error) {
		slot := s.models.slots[name]
		if err != nil {
			last = err
			s.reloads.WithLabelValues(name, "refused").Inc()
			if text := err.Error(); always || text != slot.said {
				slot.said = text
				s.log.Print(command.Printable(fmt.Sprintf("model %s: %s", name, text)))
			}
			return
		}
		slot.said = ""
		s.reloads.WithLabelValues(name, "ok").Inc()
		s.log.Printf("model %s: read %s, version %s", name, command.Printable(slot.path), slot.model.Load().version)
	})
	s.refreshToken()
	return last
}

func (s *server) refreshToken() {
	if s.token.path == "" {
		return
	}
	changed, err := s.token.load()
	text := ""
	if err != nil {
		text = command.Printable(fmt.Sprintf("the token stays as it is: %v", err))
	} else if changed {
		s.log.Print("the token has changed")
	}
	if text != "" && text != s.tokenError {
		s.log.Print(text)
	}
	s.tokenError = text
}

// handler is all that the service answers.
func (s *server) handler() http.Handler {
	mux := http.NewServeMux()
	mux.HandleFunc("POST /v1/rank", s.authorised(s.serveRank))
	mux.HandleFunc("GET /v1/models", s.authorised(s.serveModels))
	mux.HandleFunc("GET /openapi.json", func(w http.ResponseWriter, _ *http.Request) {
		w.Header().Set("Content-Type", "application/json")
		w.Write(openAPI)
	})
	mux.HandleFunc("GET /livez", func(w http.ResponseWriter, _ *http.Request) { fmt.Fprintln(w, "ok") })
	mux.HandleFunc("GET /readyz", s.serveReady)
	mux.HandleFunc("GET /healthz", s.serveReady)
	mux.Handle("GET /metrics", s.authorised(promhttp.HandlerFor(s.registry, promhttp.HandlerOpts{}).ServeHTTP))
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if s.draining.Load() {
			w.Header().Set("Connection", "close")
		}
		refuse, pattern := mux.Handler(r)
		if pattern != "" {
			mux.ServeHTTP(w, r)
			return
		}
		said := &silent{ResponseWriter: w} // status 404, or 405 with a header Allow
		refuse.ServeHTTP(said, r)
		s.fail(w, r, httpError{said.status, fmt.Errorf("no %s %s: see /openapi.json", clip(r.Method), clip(r.URL.Path))})
	})
}

// serveReady tells whether requests should come here: not any more, once the service has been
// told to end.
func (s *server) serveReady(w http.ResponseWriter, _ *http.Request) {
	if s.draining.Load() {
		http.Error(w, "draining", http.StatusServiceUnavailable)
		return
	}
	fmt.Fprintln(w, "ok")
}

// silent keeps the status of an answer, and nothing of its text.
type silent struct {
	http.ResponseWriter
	status int
}

func (s *silent) WriteHeader(status int)             { s.status = status }
func (s *silent) Write(text []byte) (n int, _ error) { return len(text), nil }

// authorised asks for the token, if there is one.
func (s *server) authorised(next http.HandlerFunc) http.HandlerFunc {
	if s.token.path == "" {
		return next
	}
	return func(w http.ResponseWriter, r *http.Request) {
		if !s.token.admits(r.Header.Get("Authorization")) {
			w.Header().Set("WWW-Authenticate", "Bearer")
			s.fail(w, r, httpError{http.StatusUnauthorized, errors.New("want a header Authorization: Bearer TOKEN")})
			return
		}
		next(w, r)
	}
}

func (s *server) serveRank(w http.ResponseWriter, r *http.Request) {
	select {
	case s.busy <- struct{}{}:
		defer func() { <-s.busy }()
	default:
		s.fail(w, r, httpError{http.StatusServiceUnavailable, fmt.Errorf("%d requests are at work already", cap(s.busy))})
		return
	}
	defer s.work.idle.Reset(idleTime)
	if encoding := r.Header.Get("Content-Encoding"); encoding != "" && encoding != "identity" {
		s.fail(w, r, httpError{http.StatusUnsupportedMediaType, fmt.Errorf("the body is encoded as %q: want plain JSON", clip(encoding))})
		return
	}
	start := time.Now()
	out, err := s.rank(r.Context(), http.MaxBytesReader(w, r.Body, s.maxBody), r.ContentLength)
	if err != nil {
		s.fail(w, r, err)
		return
	}
	text, err := json.Marshal(out)
	if err != nil {
		s.fail(w, r, err)
		return
	}
	w.Header().Set("Content-Type", "application/json")
	w.Header().Set("Content-Length", strconv.Itoa(len(text)))
	if _, err := w.Write(text); err != nil {
		s.log.Printf("%s: %v", r.RemoteAddr, err)
	}
	s.requests.WithLabelValues("200").Inc()
	s.seconds.Observe(time.Since(start).Seconds())
	s.documents.Observe(float64(len(out.Scores)))
}

func (s *server) serveModels(w http.ResponseWriter, _ *http.Request) {
	type model struct {
		Name         string   `json:"name"`
		Version      string   `json:"version"`
		FeatureIDs   []int    `json:"feature_ids"`
		FeatureNames []string `json:"feature_names,omitempty"`
	}
	var list []model
	for _, name := range s.models.names() {
		m := s.models.slots[name].model.Load()
		list = append(list, model{name, m.version, m.FeatureIDs(), m.FeatureNames()})
	}
	w.Header().Set("Content-Type", "application/json")
	json.NewEncoder(w).Encode(map[string]any{"models": list})
}

// fail answers with an error, and logs it in one line.
func (s *server) fail(w http.ResponseWriter, r *http.Request, err error) {
	status := http.StatusInternalServerError
	if bad := (httpError{}); errors.As(err, &bad) {
		status = bad.status
	}
	s.requests.WithLabelValues(strconv.Itoa(status)).Inc()
	text := strings.ReplaceAll(err.Error(), "\n", " ")
	line := command.Printable(fmt.Sprintf("%s %s: %d: %s", r.RemoteAddr, clip(r.URL.Path), status, text))
	if status == http.StatusServiceUnavailable {
		s.overload.refuse(s.log, line)
	} else {
		s.log.Print(line)
	}
	w.Header().Set("Content-Type", "application/json")
	if status == http.StatusServiceUnavailable {
		w.Header().Set("Retry-After", "1")
	}
	w.WriteHeader(status)
	json.NewEncoder(w).Encode(map[string]string{"error": text})
}
