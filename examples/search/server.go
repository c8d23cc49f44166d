package main

import (
	"crypto/rand"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"log/slog"
	mathrand "math/rand/v2"
	"net/http"
	"sync/atomic"
	"time"

	"github.com/plrank/plrank/clicks"
	"github.com/plrank/plrank/ranker"
)

// A Server answers searches and takes events.
type Server struct {
	shop    *Shop
	engine  *Engine
	journal *Journal
	live    *Live                        // today's model
	before  atomic.Pointer[ranker.Model] // yesterday's: the one before; nil: BM25
	share   float64                      // of the searches that are drawn and logged
	day     atomic.Int64                 // of the log, from 1
	logged  atomic.Int64                 // impressions of the day
	records atomic.Pointer[[]Record]     // of the days that are over
}

// An Answer is what a search gives.
type Answer struct {
	QueryID string     `json:"query_id,omitempty"` // of an impression: events name it; "": not drawn, and not logged
	Version string     `json:"version"`            // of the model
	Shown   []*Product `json:"shown"`

	hits     []Hit
	features []float32
}

// answer ranks the candidates of a search. It draws a part of the rankings; others, and all while the log cannot be written, are
// in the order of the scores.
func (s *Server) answer(q Search) (*Answer, error) {
	hits, err := s.engine.Search(q.Text, q.Facets)
	if err != nil {
		return nil, err
	}
	model := s.live.Model()
	a := &Answer{Version: version(model), hits: hits, features: features(q, hits)}
	if len(hits) > 0 && mathrand.Float64() < s.share {
		im, err := s.log(q, model, a)
		if err == nil {
			a.QueryID, a.Shown = im.ID, products(hits, im.Shown)
			return a, nil
		}
		slog.Error("not logged: ranked by score", "error", err)
	}
	order, err := byScore(model, a.features)
	a.Shown = products(hits, order)[:min(shown, len(hits))]
	return a, err
}

// log draws a ranking, and writes it to the log before anybody sees it.
func (s *Server) log(q Search, model *ranker.Model, a *Answer) (*clicks.Impression, error) {
	day := prefix(s.day.Load())
	im, err := draw(q, day+"-"+rand.Text(), model, a.hits, a.features)
	if err != nil {
		return nil, err
	}
	im.Time = time.Now().UTC()
	line, err := clicks.AppendQuery(nil, im, columns)
	if err != nil {
		return nil, err
	}
	if err := s.journal.Add(day, line); err != nil {
		return nil, err
	}
	s.logged.Add(1)
	return im, nil
}

// prefix returns what the names of a day's files and impressions begin with.
func prefix(day int64) string { return fmt.Sprintf("%04d", day) }

// handler returns the pages of the shop. Other websites cannot send events.
func (s *Server) handler() http.Handler {
	mux := http.NewServeMux()
	mux.HandleFunc("GET /{$}", answering(s.servePage))
	mux.HandleFunc("GET /days", answering(s.serveDays))
	mux.HandleFunc("GET /search", answering(s.serveSearch))
	mux.HandleFunc("POST /events", answering(s.serveEvents))
	return http.NewCrossOriginProtection().Handler(mux)
}

func answering(serve func(http.ResponseWriter, *http.Request) error) http.HandlerFunc {
	return func(w http.ResponseWriter, r *http.Request) {
		err := serve(w, r)
		switch wrong := new(badEvent); {
		case errors.As(err, wrong):
			http.Error(w, err.Error(), http.StatusBadRequest)
		case err != nil:
			slog.Error("request failed", "path", r.URL.Path, "error", err)
			http.Error(w, "internal error", http.StatusInternalServerError)
		}
	}
}

// asked returns the search of a request.
func asked(r *http.Request) Search {
	s := Search{r.FormValue("q"), r.FormValue("segment"), r.FormValue("client"), Facets{r.FormValue("brand"), r.FormValue("category")}}
	if level(segments, s.Segment) == 0 {
		s.Segment = segments[0]
	}
	return s
}

func (s *Server) serveSearch(w http.ResponseWriter, r *http.Request) error {
	a, err := s.answer(asked(r))
	if err != nil {
		return err
	}
	w.Header().Set("Content-Type", "application/json")
	return json.NewEncoder(w).Encode(a)
}

type badEvent struct{ error }

// serveEvents logs events of UBI, an array of them, and answers when they are on the disk.
func (s *Server) serveEvents(w http.ResponseWriter, r *http.Request) error {
	body, err := io.ReadAll(http.MaxBytesReader(w, r.Body, 1<<16))
	var events []json.RawMessage
	if err = errors.Join(err, json.Unmarshal(body, &events)); err != nil {
		return badEvent{err}
	}
	var lines []byte
	for _, e := range events {
		if lines, err = clicks.AppendEvent(lines, e, time.Now().UTC()); err != nil {
			return badEvent{err}
		}
	}
	if err := s.journal.Add(prefix(s.day.Load()), lines); err != nil {
		return err
	}
	w.WriteHeader(http.StatusNoContent)
	return nil
}
