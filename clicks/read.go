package clicks

import (
	"bufio"
	"bytes"
	"context"
	"crypto/sha256"
	"encoding/json"
	"errors"
	"fmt"
	"slices"

	"github.com/plrank/plrank/internal/textfile"
)

// Read reads a log: files of JSON lines in the form of UBI 1.3 (github.com/o19s/ubi), plain or
// compressed by gzip or zstd, in any order. A query is an impression if it has
// query_response_hit_ids, the documents in the order shown; events whose action_name is
// click are joined to it by query_id and object_id, never by position. Several clicks on a
// document count as one. Under query_attributes.plrank stands what [AppendQuery] writes;
// an impression without it has no scores.
//
// What cannot be used is left out, and counted in Log.Warnings: lines that are not JSON, such
// as the torn last line of a program that was killed; queries without hits, and those with
// an id that was there before; clicks on what was not shown; impressions that an application
// changed, so that the documents shown are not the first of those drawn. It is an error if no
// line of a file is a query or an event, and if feature ids differ.
func Read(paths ...string) (*Log, error) {
	r := &reader{log: &Log{}, ids: map[string]int{}, known: map[[sha256.Size]byte]any{}, counts: make([]int, len(oddities))}
	for _, path := range paths {
		if err := r.read(path); err != nil {
			return nil, fmt.Errorf("clicks: %w", textfile.At(path, err))
		}
	}
	r.join()
	for o, n := range r.counts {
		if n > 0 {
			r.log.Warnings = append(r.log.Warnings, fmt.Sprintf("%d %s", n, oddities[o]))
		}
	}
	if total := len(r.log.Impressions) + r.counts[notAsDrawn]; 100*r.counts[notAsDrawn] > total {
		r.log.Warnings = append(r.log.Warnings, fmt.Sprintf("%d of %d impressions were changed after they were drawn: what is left is not a fair sample if the changes depend on the documents", r.counts[notAsDrawn], total))
	}
	if err := r.log.Validate(); err != nil {
		return nil, err
	}
	return r.log, nil
}

// An oddity is a kind of what is left out of a log, or mended.
type oddity int

const (
	notJSON oddity = iota
	neither
	noHits
	repeatedQuery
	repeatedHit
	badAttributes
	notAsDrawn
	badTime
	clickWithoutIDs
	clickWithoutQuery
	clickNotShown
	repeatedClick
)

var oddities = [...]string{
	notJSON:           "lines are not JSON objects of UBI, or were torn: left out",
	neither:           "lines are neither a query nor an event: left out",
	noHits:            "queries without query_response_hit_ids: left out",
	repeatedQuery:     "queries with a query_id that was there before: left out",
	repeatedHit:       "queries with a document twice among their hits: left out",
	badAttributes:     "queries with query_attributes.plrank that do not fit together: left out",
	notAsDrawn:        "queries whose hits are not the first documents drawn: left out",
	badTime:           "queries without a valid timestamp: kept, with no time",
	clickWithoutIDs:   "clicks without a query_id or an object_id: left out",
	clickWithoutQuery: "clicks whose query_id is of no query that was kept: left out",
	clickNotShown:     "clicks on a document that was not shown: left out",
	repeatedClick:     "clicks on a document that was clicked before: counted once",
}

// reader reads one file after another.
type reader struct {
	log    *Log
	ids    map[string]int            // of impressions
	clicks []click                   // to be joined
	known  map[[sha256.Size]byte]any // lists that were decoded before, by their text
	counts []int                     // by oddity
}

type click struct{ query, object text }

// longestLine bounds a line: a query of 100,000 documents with some hundred features.
const longestLine = 1 << 28

func (r *reader) read(path string) error {
	f, err := textfile.Open(context.Background(), path)
	if err != nil {
		return err
	}
	defer f.Close()
	lines := bufio.NewScanner(f)
	lines.Buffer(make([]byte, 1<<16), longestLine)
	number, used := 0, 0
	for lines.Scan() {
		number++
		if len(bytes.TrimSpace(lines.Bytes())) == 0 {
			continue
		}
		var line ubiLine
		if json.Unmarshal(lines.Bytes(), &line) != nil {
			r.counts[notJSON]++
			continue
		}
		switch {
		case line.ActionName != "":
			used++
			r.event(&line)
		case line.QueryID != "":
			used++
			if err := r.query(&line); err != nil {
				return fmt.Errorf("line %d: %w", number, err)
			}
		case line.Index == nil && line.Create == nil:
			r.counts[neither]++
		}
	}
	if err := lines.Err(); err != nil {
		return fmt.Errorf("line %d: %w", number+1, err)
	}
	if used == 0 && number > 0 {
		return errors.New("no line is a query or an event of UBI: want JSON lines with query_id")
	}
	return nil
}

// event keeps a click until all queries are known.
func (r *reader) event(line *ubiLine) {
	if line.ActionName != "click" {
		return
	}
	if line.QueryID == "" || line.EventDetails == nil || line.EventDetails.Object == nil || line.EventDetails.Object.ID == "" {
		r.counts[clickWithoutIDs]++
		return
	}
	r.clicks = append(r.clicks, click{line.QueryID, line.EventDetails.Object.ID})
}

// query adds an impression.
func (r *reader) query(line *ubiLine) error {
	im := Impression{ID: string(line.QueryID), Client: string(line.ClientID)}
	if _, ok := r.ids[im.ID]; ok {
		r.counts[repeatedQuery]++
		return nil
	}
	if len(line.Hits) == 0 {
		r.counts[noHits]++
		return nil
	}
	if line.UserQuery != nil {
		im.Query = string(*line.UserQuery)
	}
	var err error
	if im.Time, err = parseTime(line.Timestamp); err != nil {
		r.counts[badTime]++
	}
	var p *attributes
	if line.Attributes != nil {
		p = line.Attributes.Plrank
	}
	if odd, ok := r.fill(&im, line.Hits, p); !ok {
		r.counts[odd]++
		return nil
	}
	if p != nil && p.FeatureIDs != nil {
		if r.log.FeatureIDs == nil {
			r.log.FeatureIDs = p.FeatureIDs
		} else if !slices.Equal(r.log.FeatureIDs, p.FeatureIDs) {
			return fmt.Errorf("query %q has the feature ids %v, and those before it %v: want one list of features", im.ID, p.FeatureIDs, r.log.FeatureIDs)
		}
	}
	r.ids[im.ID] = len(r.log.Impressions)
	r.log.Impressions = append(r.log.Impressions, im)
	return nil
}

// fill sets what an impression has of its policy, and what was shown. If that cannot be used,
// it tells why.
func (r *reader) fill(im *Impression, hits []text, p *attributes) (oddity, bool) {
	if p == nil {
		p = &attributes{Cutoff: len(hits)}
	}
	im.Model, im.Version, im.Seed, im.Cutoff, im.Temperature = p.Model, p.Version, p.Seed, p.Cutoff, p.Temperature
	var features numbers
	if !decode(r, p.Candidates, &im.Documents) || !decode(r, p.Scores, &im.Scores) || !decode(r, p.Features, &features) {
		return badAttributes, false
	}
	im.Features = features
	if im.Documents == nil {
		for _, h := range hits {
			im.Documents = append(im.Documents, string(h))
		}
	}
	for _, h := range hits {
		d := slices.Index(im.Documents, string(h))
		if d < 0 {
			return notAsDrawn, false // an application added it
		}
		if slices.Contains(im.Shown, d) {
			return repeatedHit, false
		}
		im.Shown = append(im.Shown, d)
	}
	im.Clicks = make([]float64, len(im.Shown))
	if p.Drawn != nil && (len(im.Shown) > len(p.Drawn) || !slices.Equal(im.Shown, p.Drawn[:len(im.Shown)])) {
		return notAsDrawn, false
	}
	if im.check(make([]bool, len(im.Documents))) != nil {
		return badAttributes, false
	}
	return 0, true
}

// decode reads a list, which is shared with that of other lines with the same text. It is
// false for what is no such list.
func decode[T any](r *reader, raw json.RawMessage, list *T) bool {
	if len(raw) == 0 || string(raw) == "null" {
		return true
	}
	key := sha256.Sum256(raw)
	if known, ok := r.known[key].(T); ok {
		*list = known
		return true
	}
	if json.Unmarshal(raw, list) != nil {
		return false
	}
	r.known[key] = *list
	return true
}

// join counts the clicks.
func (r *reader) join() {
	for _, c := range r.clicks {
		i, ok := r.ids[string(c.query)]
		if !ok {
			r.counts[clickWithoutQuery]++
			continue
		}
		im := &r.log.Impressions[i]
		k := slices.IndexFunc(im.Shown, func(d int) bool { return im.Documents[d] == string(c.object) })
		switch {
		case k < 0:
			r.counts[clickNotShown]++
		case im.Clicks[k] != 0:
			r.counts[repeatedClick]++
		default:
			im.Clicks[k] = 1
		}
	}
}
