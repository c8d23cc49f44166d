package main

import (
	"cmp"
	"crypto/rand"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"log/slog"
	mathrand "math/rand/v2"
	"net/http"
	"slices"
	"strings"
	"sync/atomic"
	"time"
	"unicode/utf8"

	"github.com/plrank/plrank/clicks"
	"github.com/plrank/plrank/ranker"
)

// A Server answers searches and takes events.
type Server struct {
	shop    *Shop
	engine  *Engine
	journal *Journal
	live    *Live                        // today's model
	rival   atomic.Pointer[ranker.Model] // the challenger, which is interleaved with today's model; nil: there is none
	before  atomic.Pointer[ranker.Model] // yesterday's: the one before; nil: the fusion
	share   float64                      // of the searches that are drawn and logged
	day     atomic.Int64                 // of the log, from 1
	logged  atomic.Int64                 // impressions of the day
	records atomic.Pointer[[]Record]     // of the days that are over
	failed  atomic.Int64                 // the second of the last error in the program's log
}

// An Answer is what a search gives.
type Answer struct {
	QueryID string `json:"query_id,omitempty"` // of an impression: events name it; "": not drawn, and not logged
	Version string `json:"version"`            // of the model
	Shown   []Hit  `json:"shown"`

	hits     []Hit
	features []float32
}

// answer ranks the candidates of a search. It draws a part of the rankings if it may, and interleaves the others if there is a challenger.
// Without one, and while the log cannot be written, they are in the order of the scores.
func (s *Server) answer(r *http.Request, q Search) (*Answer, error) {
	hits, err := s.engine.Search(r.Context(), q.Text, q.Facets)
	if err != nil {
		return nil, err
	}
	model := s.live.Model()
	a := &Answer{Version: version(model), hits: hits, features: features(q, hits)}
	mayLog := r.Method == http.MethodPost // others change nothing: any website can make a browser send them
	rival := s.rival.Load()
	if mathrand.Float64() < s.share {
		rival = nil
	} else if rival == nil {
		mayLog = false
	}
	if mayLog && len(hits) > 0 {
		im, err := s.log(q, model, rival, a)
		if err == nil {
			a.QueryID, a.Shown = im.ID, inOrder(hits, im.Shown)
			return a, nil
		}
		s.complain("not logged: ranked by score", err)
	}
	order, err := byScore(model, a.features)
	a.Shown = inOrder(hits, order[:min(shown, len(order))])
	return a, err
}

// inOrder returns hits in an order.
func inOrder(hits []Hit, order []int) []Hit {
	ranking := make([]Hit, len(order))
	for rank, i := range order {
		ranking[rank] = hits[i]
	}
	return ranking
}

// log draws a ranking, or interleaves with a rival, and writes it to the log before anybody sees it.
func (s *Server) log(q Search, model, rival *ranker.Model, a *Answer) (im *clicks.Impression, err error) {
	id := prefix(s.day.Load()) + "-" + rand.Text()
	if rival == nil {
		im, err = draw(q, id, model, a.hits, a.features)
	} else {
		im, err = interleave(q, id, model, rival, a.hits, a.features)
	}
	if err != nil {
		return nil, err
	}
	im.Time = time.Now().UTC()
	line, err := clicks.AppendQuery(nil, im, columns)
	if err != nil {
		return nil, err
	}
	if err := s.journal.Add(line); err != nil {
		return nil, err
	}
	s.logged.Add(1)
	return im, nil
}

// complain logs an error, at most one a second: requests may come faster than a disk takes the program's own log.
func (s *Server) complain(what string, err error) {
	if now := time.Now().Unix(); s.failed.Swap(now) != now {
		slog.Error(what, "error", err)
	}
}

// prefix returns what the names of a day's files and impressions begin with.
func prefix(day int64) string { return fmt.Sprintf("%04d", day) }

// version names a model in the log.
func version(m *ranker.Model) string {
	if m == nil {
		return "fused"
	}
	return m.Digest()
}

// Bounds of what a request may ask: each costs time, or room in the log.
const (
	mostText  = 200 // bytes of a text
	mostWords = 12  // of a query: the engine looks for each in four fields
)

// A badRequest is an error of the client.
type badRequest struct{ error }

func (b badRequest) Unwrap() error { return b.error }

// asked returns the search of a request.
func asked(r *http.Request) (s Search, err error) {
	if err := r.ParseForm(); err != nil {
		return s, badRequest{err}
	}
	s = Search{r.Form.Get("q"), cmp.Or(r.Form.Get("segment"), segments[0]), r.Form.Get("client"),
		Facets{r.Form.Get("brand"), r.Form.Get("category")}}
	for name, text := range map[string]string{"q": s.Text, "client": s.Client, "brand": s.Brand, "category": s.Category} {
		if len(text) > mostText || !utf8.ValidString(text) {
			return s, badRequest{fmt.Errorf("%s: want at most %d bytes of Unicode", name, mostText)}
		}
	}
	if n := len(strings.Fields(s.Text)); n > mostWords {
		return s, badRequest{fmt.Errorf("q has %d words: want at most %d", n, mostWords)}
	}
	if !slices.Contains(segments, s.Segment) {
		return s, badRequest{fmt.Errorf("unknown segment: want one of %s", strings.Join(segments, ", "))}
	}
	return s, nil
}

// serveSearch answers programs; servePage answers people.
func (s *Server) serveSearch(w http.ResponseWriter, r *http.Request) error {
	q, err := asked(r)
	if err != nil {
		return err
	}
	a, err := s.answer(r, q)
	if err != nil {
		return err
	}
	w.Header().Set("Content-Type", "application/json")
	return json.NewEncoder(w).Encode(a)
}

// serveEvents logs events of UBI, an array of them, and answers when they are on the disk.
func (s *Server) serveEvents(w http.ResponseWriter, r *http.Request) error {
	body, err := io.ReadAll(r.Body)
	var events []json.RawMessage
	if err == nil {
		err = json.Unmarshal(body, &events)
	}
	var lines []byte
	for i := 0; i < len(events) && err == nil; i++ {
		lines, err = clicks.AppendEvent(lines, events[i], time.Now().UTC())
	}
	if err != nil {
		return badRequest{err}
	}
	if len(lines) > 0 {
		if err := s.journal.Add(lines); err != nil {
			return err
		}
	}
	w.WriteHeader(http.StatusNoContent)
	return nil
}

// answering answers with the error of serve. What is inside the program is for its own log.
func (s *Server) answering(serve func(http.ResponseWriter, *http.Request) error) http.HandlerFunc {
	return func(w http.ResponseWriter, r *http.Request) {
		err := serve(w, r)
		switch {
		case err == nil || r.Context().Err() != nil: // the client is gone
		case errors.As(err, new(*http.MaxBytesError)):
			http.Error(w, err.Error(), http.StatusRequestEntityTooLarge)
		case errors.As(err, new(badRequest)):
			http.Error(w, err.Error(), http.StatusBadRequest)
		default:
			s.complain("request failed: "+r.URL.Path, err)
			http.Error(w, "internal error", http.StatusInternalServerError)
		}
	}
}
