package serve

import (
	"context"
	"crypto/rand"
	_ "embed"
	"encoding/json"
	"errors"
	"fmt"
	"mime"
	"net"
	"net/http"
	"net/netip"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/prometheus/client_golang/prometheus/promhttp"
)

//go:embed openapi.json
var openAPI []byte

// routes returns the paths of the service. See openapi.json.
func (s *Service) routes() *http.ServeMux {
	mux := http.NewServeMux()
	mux.HandleFunc("POST /v1/rank", s.authorised(s.serveRank))
	mux.HandleFunc("POST /v1/events", s.authorised(s.serveEvents))
	mux.HandleFunc("GET /v1/models", s.authorised(s.serveModels))
	mux.HandleFunc("GET /openapi.json", func(w http.ResponseWriter, r *http.Request) { s.write(w, r, http.StatusOK, openAPI) })
	mux.HandleFunc("GET /livez", func(w http.ResponseWriter, _ *http.Request) { fmt.Fprintln(w, "ok") })
	mux.HandleFunc("GET /readyz", s.serveReady)
	mux.HandleFunc("GET /healthz", s.serveReady)
	metrics := promhttp.HandlerFor(s.measures.registry, promhttp.HandlerOpts{})
	mux.Handle("GET /metrics", s.authorised(func(w http.ResponseWriter, r *http.Request) error {
		metrics.ServeHTTP(w, r)
		return nil
	}))
	return mux
}

// ServeHTTP answers a request to one of the service's paths. Behind a prefix, use
// [http.StripPrefix].
//
// The answer and the log repeat the request's header X-Request-ID. If it is missing, or not a word of
// at most 100 characters, the service makes a new one.
func (s *Service) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	id := r.Header.Get(requestID)
	if !isID(id) {
		id = rand.Text()
	}
	w.Header().Set(requestID, id)
	if s.draining.Load() {
		w.Header().Set("Connection", "close")
	}
	refuse, pattern := s.mux.Handler(r)
	if pattern != "" {
		s.mux.ServeHTTP(w, r)
		return
	}
	status := &statusWriter{ResponseWriter: w} // 404, or 405 with a header Allow
	refuse.ServeHTTP(status, r)
	s.fail(w, r, statusError{status.code, fmt.Errorf("no %s %s: see /openapi.json", clip(r.Method), clip(r.URL.Path))})
}

// requestID is the header that names a request.
const requestID = "X-Request-Id"

// isID reports whether a text can be repeated in headers and logs: a word of letters, digits and some
// other characters.
func isID(text string) bool {
	known := func(c rune) bool {
		return 'a' <= c && c <= 'z' || 'A' <= c && c <= 'Z' || '0' <= c && c <= '9' || strings.ContainsRune("-_.:/+=@", c)
	}
	return 0 < len(text) && len(text) <= 100 && strings.IndexFunc(text, func(c rune) bool { return !known(c) }) < 0
}

// A statusWriter keeps the status of an answer and drops its body.
type statusWriter struct {
	http.ResponseWriter
	code int
}

func (s *statusWriter) WriteHeader(code int)               { s.code = code }
func (s *statusWriter) Write(text []byte) (n int, _ error) { return len(text), nil }

// serveReady tells load balancers whether to send requests here.
func (s *Service) serveReady(w http.ResponseWriter, _ *http.Request) {
	if s.draining.Load() {
		http.Error(w, "draining", http.StatusServiceUnavailable)
		return
	}
	fmt.Fprintln(w, "ok")
}

// authorised checks the token, if there is one, and the host, and answers with the error of serve.
func (s *Service) authorised(serve func(http.ResponseWriter, *http.Request) error) http.HandlerFunc {
	return func(w http.ResponseWriter, r *http.Request) {
		if s.token.path != "" && !s.token.admits(r.Header.Get("Authorization")) {
			w.Header().Set("WWW-Authenticate", "Bearer")
			s.fail(w, r, statusError{http.StatusUnauthorized, errors.New("want a header Authorization: Bearer TOKEN")})
		} else if s.hosts != nil && !s.knowsHost(r.Host) {
			s.fail(w, r, statusError{http.StatusForbidden, fmt.Errorf("the header Host is %q: "+
				"want localhost, an address of this machine, or a name given by -host (serve.Options.Hosts)", clip(r.Host))})
		} else if err := serve(w, r); err != nil {
			s.fail(w, r, err)
		}
	}
}

// knowsHost reports whether the header Host, with any port, is a loopback address, localhost or one of the hosts. A browser
// sends the name in its address bar, which may be one that another website has for this address.
func (s *Service) knowsHost(host string) bool {
	if name, _, err := net.SplitHostPort(host); err == nil {
		host = name
	}
	if ip, err := netip.ParseAddr(strings.Trim(host, "[]")); err == nil && ip.Unmap().IsLoopback() {
		return true
	}
	known := func(name string) bool { return strings.EqualFold(name, strings.TrimSuffix(host, ".")) }
	return host == "" || known("localhost") || slices.ContainsFunc(s.hosts, known) // every browser sends one
}

// check returns an error for a request whose body is not worth reading.
func (s *Service) check(r *http.Request) error {
	if encoding := r.Header.Get("Content-Encoding"); encoding != "" && encoding != "identity" {
		return statusError{http.StatusUnsupportedMediaType, fmt.Errorf("the body is encoded as %q: want plain JSON", clip(encoding))}
	}
	if err := s.origins.Check(r); err != nil && !isJSON(r.Header.Get("Content-Type")) {
		return statusError{http.StatusForbidden, errors.New("request from a page of another website: " +
			"want Content-Type: application/json, or the website in the service's list of origins")}
	}
	return nil
}

// isJSON reports whether a content type stands for JSON.
func isJSON(contentType string) bool {
	kind, _, err := mime.ParseMediaType(contentType)
	return err == nil && (kind == "application/json" || strings.HasPrefix(kind, "application/") && strings.HasSuffix(kind, "+json"))
}

// rowsType is the content type of a request whose documents are float32 values after a line of JSON. It is not
// application/octet-stream, which some clients call any body.
const rowsType = "application/vnd.plrank.rows"

func (s *Service) serveRank(w http.ResponseWriter, r *http.Request) error {
	start := time.Now()
	out := &response{}
	logged, err := s.process(w, r, func(ctx context.Context, body []byte, space *scratch) error {
		return s.compute(ctx, body, r.Header.Get("Content-Type") == rowsType, space, out)
	})
	if err == nil {
		if logged {
			s.measures.impressions.Inc()
		}
		err = s.writeJSON(w, r, out)
	}
	if err != nil {
		return modelError{out.Model, err}
	}
	s.measures.requests.WithLabelValues("200", out.Model).Inc()
	s.measures.seconds.WithLabelValues(out.Model).Observe(time.Since(start).Seconds())
	s.measures.documents.WithLabelValues(out.Model).Observe(float64(len(out.Scores)))
	return nil
}

func (s *Service) serveEvents(w http.ResponseWriter, r *http.Request) error {
	if s.clicks == nil {
		return statusError{http.StatusNotFound, errors.New("this service has no click log: start plrank serve with -log")}
	}
	n := 0
	_, err := s.process(w, r, func(ctx context.Context, body []byte, space *scratch) (err error) {
		n, err = s.addEvents(ctx, body, space)
		return err
	})
	if err != nil {
		return err
	}
	s.measures.events.Add(float64(n))
	return s.writeJSON(w, r, map[string]int{"logged": n})
}

// writeJSON writes an answer. It returns an error, and writes nothing, if out has no JSON.
func (s *Service) writeJSON(w http.ResponseWriter, r *http.Request, out any) error {
	text, err := json.Marshal(out)
	if err == nil {
		s.write(w, r, http.StatusOK, text)
	}
	return err
}

// write writes an answer. If the client is gone, it logs this.
func (s *Service) write(w http.ResponseWriter, r *http.Request, status int, text []byte) {
	w.Header().Set("Content-Type", "application/json")
	w.Header().Set("Content-Length", strconv.Itoa(len(text)))
	w.WriteHeader(status)
	if _, err := w.Write(text); err != nil {
		s.failures.record(statusClientClosed, s.log, func() {
			s.log.Warn("cannot write answer", "request", w.Header().Get(requestID), "client", r.RemoteAddr, "error", err)
		})
	}
}

func (s *Service) serveModels(w http.ResponseWriter, r *http.Request) error {
	type model struct {
		Name         string         `json:"name"`
		Version      string         `json:"version"`
		FeatureIDs   []int          `json:"feature_ids"`
		FeatureNames []string       `json:"feature_names,omitempty"`
		BaseScores   bool           `json:"base_scores,omitempty"`
		Vectors      map[string]int `json:"vectors,omitempty"` // dimensions by name
	}
	var list []model
	for _, name := range s.models.names() {
		m := s.models[name].model.Load()
		dimensions := map[string]int{}
		for _, v := range m.Vectors() {
			dimensions[v.Name] = v.Dimension
		}
		list = append(list, model{name, m.Digest(), m.FeatureIDs(), m.FeatureNames(), m.File().BaseScores, dimensions})
	}
	return s.writeJSON(w, r, map[string]any{"models": list})
}

// fail answers with an error, and logs it in one line. Internal errors may contain paths of the machine: the answer only
// says where to find them.
func (s *Service) fail(w http.ResponseWriter, r *http.Request, err error) {
	asked := modelError{}
	errors.As(err, &asked) // "" if no model is known
	err = contextError(err, s.limits.Timeout)
	status := http.StatusInternalServerError
	if known := (statusError{}); errors.As(err, &known) {
		status = known.status
	}
	s.measures.requests.WithLabelValues(strconv.Itoa(status), asked.model).Inc()
	text := strings.ReplaceAll(err.Error(), "\n", " ")
	s.failures.record(status, s.log, func() {
		s.log.Warn("request failed", "request", w.Header().Get(requestID), "client", r.RemoteAddr, "path", clip(r.URL.Path),
			"status", status, "error", text)
	})
	switch status {
	case http.StatusServiceUnavailable:
		w.Header().Set("Retry-After", "1")
	case http.StatusInternalServerError:
		text = "internal error: see the log of the service for the X-Request-ID of this answer"
	case http.StatusInsufficientStorage:
		text = "the click log cannot be written: see the log of the service"
	}
	answer, err := json.Marshal(map[string]string{"error": text})
	if err != nil {
		panic(err) // a text has JSON
	}
	s.write(w, r, status, append(answer, '\n'))
}
