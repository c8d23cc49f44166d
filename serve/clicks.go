package serve

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"net/http"
	"slices"
	"time"
	"unicode/utf8"

	"github.com/plrank/plrank/clicks"
	"github.com/plrank/plrank/internal/jsonread"
	"github.com/plrank/plrank/ranker"
	"github.com/plrank/plrank/serve/internal/journal"
)

// shown holds what the click log needs from a request besides its documents. UBI allows 100 characters
// for ids of queries and clients, and 256 for ids of documents.
type shown struct {
	query, queryID, clientID string
	segment                  string   // of the user or the query
	documentIDs              []string // nil: not given
	logged                   bool
}

const (
	longestID         = 100
	longestDocumentID = 256
)

// parseIDs decodes the ids of documents.
func parseIDs(value []byte, documents int) ([]string, error) {
	if value[0] != '[' {
		return nil, errors.New("want an array of strings")
	}
	ids := make([]string, 0, min(documents, len(value)/len(`"",`)+1))
	seen := make(map[string]bool, cap(ids))
	for i, element := range jsonread.New(value).Elements() {
		id, err := jsonread.Unquote(element)
		switch {
		case err != nil:
			return nil, fmt.Errorf("entry %d: want a string", i)
		case id == "" || utf8.RuneCountInString(id) > longestDocumentID:
			return nil, fmt.Errorf("entry %d: %d characters, want 1 to %d", i, utf8.RuneCountInString(id), longestDocumentID)
		case seen[id]:
			return nil, fmt.Errorf("%q occurs twice", clip(id))
		case i >= documents:
			return nil, fmt.Errorf("more ids than the %d documents", documents)
		}
		seen[id] = true
		ids = append(ids, id)
	}
	if len(ids) != documents {
		return nil, fmt.Errorf("%d ids for %d documents", len(ids), documents)
	}
	return ids, nil
}

// complete returns an error if an impression lacks what the log needs.
func (s *shown) complete() error {
	switch {
	case s.query == "":
		return badRequest("no query: this service logs drawn rankings, and interleaved ones: want the text of the query")
	case s.documentIDs == nil:
		return badRequest("no document_ids: this service logs drawn rankings, and interleaved ones: want a string for each document")
	case utf8.RuneCountInString(s.queryID) > longestID || utf8.RuneCountInString(s.clientID) > longestID:
		return badRequest("query_id and client_id: want at most %d characters", longestID)
	case utf8.RuneCountInString(s.segment) > longestID:
		return badRequest("segment: want at most %d characters", longestID)
	}
	return nil
}

// A clickLog writes impressions and events to the disk, in the form of UBI.
type clickLog struct {
	*journal.Journal
	timeout time.Duration // the longest wait for the disk
}

// sameFeatures reports whether one log can have impressions of both models: their features have the same ids and names,
// and the same ones are texts. Documents of words say themselves which ones they have.
func sameFeatures(a, b *ranker.Model) bool {
	if keepsSparse(a) && keepsSparse(b) {
		return (a.FeatureNames() == nil) == (b.FeatureNames() == nil)
	}
	if !slices.Equal(a.FeatureIDs(), b.FeatureIDs()) || !slices.Equal(a.FeatureNames(), b.FeatureNames()) {
		return false
	}
	for column := range a.FeatureIDs() {
		_, textA := a.Level(column, "")
		_, textB := b.Level(column, "")
		if textA != textB {
			return false
		}
	}
	return true
}

// openClicks opens the click log of a folder. Package clicks reads logs with one list of features.
func openClicks(folder string, models models, measures *measures, log *slog.Logger, timeout time.Duration) (*clickLog, error) {
	first := models.names()[0]
	features := models[first].model.Load().Model
	for _, name := range models.names() {
		if !sameFeatures(features, models[name].model.Load().Model) {
			return nil, fmt.Errorf("models %s and %s have different features, by id, name or type, and a click log has one feature list: "+
				"serve them from two processes with their own log folders", first, name)
		}
		models[name].logged = features
	}
	j, warnings, err := journal.Open(folder, "clicks", func(took time.Duration, err error) {
		measures.syncs.Observe(took.Seconds())
		if err != nil {
			measures.failures.Inc()
		}
	})
	for _, w := range warnings {
		log.Warn(w)
	}
	if err != nil {
		return nil, fmt.Errorf("click log: %w", err)
	}
	return &clickLog{j, timeout}, nil
}

// add adds lines to the log.
func (c *clickLog) add(lines []byte) (*journal.Batch, error) {
	b, err := c.Add(lines)
	if err != nil {
		return nil, statusError{http.StatusServiceUnavailable, fmt.Errorf("click log: %w", err)}
	}
	return b, nil
}

// wait waits until lines are on the disk.
func (c *clickLog) wait(ctx context.Context, lines *journal.Batch) error {
	late := time.NewTimer(c.timeout) // which takes less than a context of its own
	defer late.Stop()
	select {
	case <-lines.Done():
	case <-ctx.Done():
		return ctx.Err()
	case <-late.C:
		return context.DeadlineExceeded
	}
	if err := lines.Err(); err != nil {
		return statusError{http.StatusInsufficientStorage, fmt.Errorf("click log: %w", err)} // which fail does not show
	}
	return nil
}

// appendEvents appends the lines of a body: an event, or an array of events.
func appendEvents(dst, body []byte, most int) (lines []byte, n int, err error) {
	now := time.Now().UTC()
	r := jsonread.New(body)
	switch r.Kind() {
	case '{':
		if dst, err = clicks.AppendEvent(dst, body, now); err != nil {
			return dst, 0, badRequest("%w", err)
		}
		return dst, 1, nil
	case '[', 0: // 0: there is none, as End says
	default:
		return dst, 0, badRequest("invalid request body: want an event of UBI, or an array of events")
	}
	for i, event := range r.Elements() {
		if i >= most {
			return dst, 0, statusError{http.StatusRequestEntityTooLarge, fmt.Errorf("more than %d events", most)}
		}
		if dst, err = clicks.AppendEvent(dst, event, now); err != nil {
			return dst, 0, badRequest("event %d: %w", i, err)
		}
		n++
	}
	if err := r.End(); err != nil {
		return dst, 0, badRequest("invalid request body: %w", err)
	}
	return dst, n, nil
}
