package clicks

import (
	"bufio"
	"bytes"
	"cmp"
	"context"
	"crypto/sha256"
	"encoding/json"
	"errors"
	"fmt"
	"hash/maphash"
	"maps"
	"math"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"sync"
	"time"

	json2 "github.com/go-json-experiment/json"

	"github.com/plrank/plrank/datasets"
	"github.com/plrank/plrank/internal/jsonread"
	"github.com/plrank/plrank/internal/parallel"
	"github.com/plrank/plrank/internal/textfile"
	"github.com/plrank/plrank/plackett"
)

// Read reads a log: files of JSON lines in the form of UBI 1.3 (github.com/o19s/ubi), plain or
// compressed by gzip or zstd, in any order. A query is an impression if it has
// query_response_hit_ids, the documents in the order shown. Events whose action_name is click
// are joined to it by query_id and object_id, never by position. Several clicks on a document
// count as one. [AppendQuery] writes query_attributes.plrank; an impression without it has no
// scores.
//
// Read also takes tables of the form of the Open Bandit Dataset (item_id, position, click, propensity_score), in which each
// row is an impression of one item, and sessions with tabs, as Yandex's relevance prediction challenge has them.
//
// Read leaves out what it cannot use, and counts it in Log.Warnings: lines that are not JSON,
// such as the torn last line of a program that was killed; queries without hits, or with the id
// of an earlier query; clicks on documents that were not shown; impressions that an application
// changed, so that the documents shown are not the first ones drawn. Read returns an error if
// a file has no query and no event, unless it is a torn line, or if the lines disagree about the
// features: their ids, their names, or which are texts.
//
// A folder stands for its files in the order of their names, except files that begin with a
// dot. Events may come before their queries, so the files are read twice: pipes cannot be read.
func Read(paths ...string) (*Log, error) {
	all := &Log{}
	warnings, err := ReadOptions{}.scan(paths, math.MaxInt, func(part *Log) error {
		all = part
		return nil
	})
	if err != nil {
		return nil, err
	}
	all.Warnings = warnings
	return all, nil
}

// Scan reads a log as [Read] does, and calls each with one part after another, of at most about
// 100 MB. The next part is read while each is at work, so Scan needs memory for two parts, and up
// to 100 bytes for each query and click of the log. If each returns an error, Scan returns it.
func Scan(paths []string, each func(part *Log) error) (warnings []string, err error) {
	return ReadOptions{}.Scan(paths, each)
}

// ReadOptions are the settings of [ReadOptions.Scan].
type ReadOptions struct {
	// Weights has the value of an event by its action_name: Impression.Clicks are sums of these, in which each action on a
	// document counts once. nil: a click counts 1.
	Weights map[string]float64

	// Window leaves out events that come later than this after their query, and queries in the last Window of the log, whose
	// events may not be there yet. If it equals zero, all count. Queries and events without a time stay.
	Window time.Duration

	// Segment is the member of query_attributes that becomes Impression.Segment. "": segment.
	Segment string
}

// Scan reads a log as [Scan] does.
func (o ReadOptions) Scan(paths []string, each func(part *Log) error) (warnings []string, err error) {
	return o.scan(paths, partSize, each)
}

// partSize is the size of a part of [Scan], as [Impression.size] counts.
const partSize = 1 << 23

// size estimates how many numbers and ids an impression has.
func (im *Impression) size() int {
	n := len(im.Features) + 5*len(im.Documents) + 32
	if im.Sparse != nil {
		n += 2 * len(im.Sparse.Values)
	}
	return n
}

func (o ReadOptions) scan(paths []string, most int, each func(part *Log) error) (warnings []string, err error) {
	if o.Weights == nil {
		o.Weights = map[string]float64{"click": 1}
	}
	o.Segment = cmp.Or(o.Segment, "segment")
	if paths, err = files(paths); err != nil {
		return nil, err
	}
	r := &reader{ReadOptions: o, seed: maphash.MakeSeed(), clicks: map[uint64][]event{}, hits: map[uint64][]hit{}, tables: map[string]table{},
		seen: map[uint64]bool{}, known: map[listKey]any{}, counts: map[oddity]int{}, most: most, each: each, part: &Log{},
		wait: func() error { return nil }}
	defer func() { err = cmp.Or(err, r.wait()) }()
	for _, read := range []func(path string) error{r.readClicks, r.readQueries} {
		for _, path := range paths {
			if err := read(path); err != nil {
				return nil, cmp.Or(r.failed, fmt.Errorf("clicks: %w", textfile.At(path, err)))
			}
		}
	}
	return r.warnings(), r.give()
}

// files returns the files of paths, which may be folders. It returns an error for a pipe, which would be empty
// when it is read again.
func files(paths []string) (all []string, err error) {
	for _, path := range paths {
		found := []string{path}
		if info, err := os.Stat(path); err == nil && info.IsDir() {
			entries, err := os.ReadDir(path)
			if err != nil {
				return nil, fmt.Errorf("clicks: %w", err)
			}
			found = nil
			for _, e := range entries {
				if !e.IsDir() && !strings.HasPrefix(e.Name(), ".") {
					found = append(found, filepath.Join(path, e.Name()))
				}
			}
		}
		if found == nil {
			return nil, fmt.Errorf("clicks: %s has no files: want a log", path)
		}
		for _, file := range found {
			info, err := os.Stat(file)
			if err != nil {
				return nil, fmt.Errorf("clicks: %w", err)
			}
			if !info.Mode().IsRegular() {
				return nil, fmt.Errorf("clicks: %s is not a regular file: a log is read twice, so write what comes through a pipe to a file "+
					"first", file)
			}
		}
		all = append(all, found...)
	}
	return all, nil
}

// warnings returns the oddities that occurred, with their counts.
func (r *reader) warnings() (all []string) {
	for _, objects := range r.clicks {
		r.counts[clickWithoutQuery] += len(objects)
	}
	for _, o := range slices.Sorted(maps.Keys(r.counts)) {
		all = append(all, fmt.Sprintf("%d %s", r.counts[o], string(o)))
	}
	if n := r.columns.beyond; n > 0 {
		all = append(all, fmt.Sprintf("%d values of features are texts beyond the first %d of their column: taken for texts that no model knows",
			n, mostTexts))
	}
	if changed := r.counts[notAsDrawn]; 100*changed > len(r.seen)+changed {
		all = append(all, fmt.Sprintf("%d of %d impressions were changed after they were drawn: the others are not a fair sample if the "+
			"changes depend on the documents", changed, len(r.seen)+changed))
	}
	return all
}

// An oddity is a reason to leave something out of a log, or to mend it. As the error of a line it is counted, and the
// next line is read.
type oddity string

func (o oddity) Error() string { return string(o) }

const (
	notJSON       oddity = "lines are not JSON objects of UBI, are torn, or have a name twice or in capitals: left out"
	notUnicode    oddity = "lines have ids or other texts that are not in UTF-8, or half of a surrogate pair: left out"
	neither       oddity = "lines are neither a query nor an event: left out"
	noHits        oddity = "queries without query_response_hit_ids: left out"
	repeatedQuery oddity = "queries with the query_id of an earlier query: left out"
	repeatedHit   oddity = "queries with a document twice among their hits: left out"
	badAttributes oddity = "queries with query_attributes.plrank that do not fit together, or with a document twice among their " +
		"candidates: left out"
	notAsDrawn        oddity = "queries whose hits are not the first documents drawn: left out"
	badTime           oddity = "queries without a valid timestamp: kept, with no time"
	clickWithoutIDs   oddity = "clicks without a query_id or an object_id: left out"
	clickWithoutQuery oddity = "clicks whose query was not kept, or is not in the log: left out"
	clickNotShown     oddity = "clicks on a document that was not shown: left out"
	repeatedClick     oddity = "clicks on a document that was clicked before: counted once"
	badRow            oddity = "rows that do not fit their table: left out"
	rebuiltHits       oddity = "queries without query_response_hit_ids, rebuilt from their impression events"
	notOver           oddity = "queries so near the end of the log that their window is not over: left out"
	lateClick         oddity = "clicks after the window of their query: left out"
)

// oddLine returns the oddity of a line that cannot be parsed.
func oddLine(err error) oddity {
	if errors.Is(err, jsonread.ErrText) {
		return notUnicode
	}
	return notJSON
}

// A reader reads all files twice: first for clicks, then for queries. It keeps 64-bit hashes of ids. Two of a million are
// equal by chance in one of ten million logs.
type reader struct {
	ReadOptions
	seed   maphash.Seed
	clicks map[uint64][]event // by query, until its impression takes them
	hits   map[uint64][]hit   // of impression events, by query
	last   time.Time          // in the log; only with a Window
	tables map[string]table   // by path: files that are not UBI
	seen   map[uint64]bool    // impressions
	known  map[listKey]any    // lists that were decoded before
	counts map[oddity]int

	columns columns // of the features of all impressions

	most   int // size of a part
	each   func(part *Log) error
	part   *Log // that grows
	size   int
	wait   func() error // until each has ended
	failed error        // of each
}

// An event is a click or another action that counts.
type event struct {
	object, action uint64 // hashes
	value          float64
	at             time.Time
}

// A hit is a document of an event that says that it was shown.
type hit struct {
	ordinal  int
	document string
}

// A listKey is a hash of the text of a list, and its number of documents.
type listKey struct {
	text      [sha256.Size]byte
	documents int
}

func (r *reader) hash(s string) uint64 { return maphash.String(r.seed, s) }

// lines calls f with the lines of a file that are not empty, and counts its oddities.
func (r *reader) lines(path string, f func(line []byte) error) error {
	file, err := textfile.Open(context.Background(), path)
	if err != nil {
		return err
	}
	defer file.Close()
	all := bufio.NewScanner(file)
	all.Buffer(make([]byte, 1<<16), longestLine)
	number := 1
	for ; all.Scan(); number++ {
		if len(bytes.TrimSpace(all.Bytes())) == 0 {
			continue
		}
		if err := f(all.Bytes()); err != nil {
			var odd oddity
			if !errors.As(err, &odd) {
				return fmt.Errorf("line %d: %w", number, err)
			}
			r.counts[odd]++
		}
	}
	if err := all.Err(); err != nil {
		return fmt.Errorf("line %d: %w", number, err)
	}
	return nil
}

// readClicks keeps the events until their queries are read.
func (r *reader) readClicks(path string) error {
	number := 0
	return r.lines(path, func(content []byte) error {
		if number++; number == 1 && content[0] != '{' {
			r.tables[path] = newTable(path, strings.TrimPrefix(string(content), "\ufeff"))
		} else if bandit, ok := r.tables[path].(*banditTable); ok {
			bandit.know(string(content))
		}
		if r.Window == 0 && !bytes.Contains(content, []byte(`"action_name"`)) && !bytes.Contains(content, []byte(`\u`)) { // which may escape it
			return nil
		}
		if line, err := parseLine(jsonread.NewLenient(content)); err == nil { // readQueries counts odd lines
			return r.event(line)
		}
		return nil
	})
}

// event keeps an event that counts, or that says what was shown.
func (r *reader) event(line *ubiLine) error {
	at, err := parseTime(line.Timestamp)
	if err == nil && at.After(r.last) {
		r.last = at
	}
	query := r.hash(line.QueryID)
	value, counts := r.Weights[line.ActionName]
	switch {
	case line.ActionName == "impression" && line.QueryID != "" && line.Object != "" && line.Ordinal >= 0:
		r.hits[query] = append(r.hits[query], hit{line.Ordinal, line.Object})
	case !counts || line.ActionName == "":
	case line.QueryID == "" || line.Object == "":
		return clickWithoutIDs
	default:
		r.clicks[query] = append(r.clicks[query], event{r.hash(line.Object), r.hash(line.ActionName), value, at})
	}
	return nil
}

// rebuilt returns the documents that impression events put at the ranks from the first, down to the first gap; nil if two
// are at one rank.
func rebuilt(hits []hit) (documents []string) {
	slices.SortFunc(hits, func(a, b hit) int {
		return cmp.Or(cmp.Compare(a.ordinal, b.ordinal), cmp.Compare(a.document, b.document))
	})
	hits = slices.Compact(hits)
	for i, h := range hits {
		switch {
		case i > 0 && h.ordinal == hits[i-1].ordinal:
			return nil
		case hits[0].ordinal > 1 || h.ordinal != hits[0].ordinal+i:
			return documents
		}
		documents = append(documents, h.document)
	}
	return documents
}

// readQueries reads impressions.
func (r *reader) readQueries(path string) error {
	empty, used := true, false
	other, number := r.tables[path], 0
	err := r.lines(path, func(content []byte) error {
		if number++; other != nil {
			return other.read(r, number, string(content))
		}
		empty = empty && content[0] == '{' && !json.Valid(content) // the torn first line of a killed program
		line, err := parseLine(jsonread.NewLenient(content))
		switch {
		case err != nil:
			return oddLine(err)
		case line.ActionName != "":
			used = true
		case line.QueryID != "":
			used = true
			return r.query(line)
		case !line.Bulk:
			return neither
		}
		return nil
	})
	if err == nil && other != nil {
		return other.end(r)
	}
	if err == nil && !used && !empty {
		err = errors.New("no line is a query or an event of UBI: want JSON lines with query_id, a table with item_id, position, click and " +
			"propensity_score, or sessions with tabs")
	}
	return err
}

// query adds an impression.
func (r *reader) query(line *ubiLine) error {
	im := Impression{ID: line.QueryID, Client: line.ClientID, Query: line.UserQuery}
	id := r.hash(im.ID)
	if r.seen[id] {
		return repeatedQuery
	}
	hits, err := parseTexts(line.Hits)
	p, segment, wrong := parseAttributes(line.Attributes, r.Segment)
	if err := cmp.Or(err, wrong); err != nil {
		return oddLine(err)
	}
	if len(hits) == 0 {
		if hits = rebuilt(r.hits[id]); len(hits) == 0 {
			return noHits
		}
		r.counts[rebuiltHits]++
	}
	delete(r.hits, id)
	im.Segment = segment
	if im.Time, err = parseTime(line.Timestamp); err != nil {
		r.counts[badTime]++
	} else if r.Window > 0 && im.Time.Add(r.Window).After(r.last) {
		r.seen[id] = true
		delete(r.clicks, id)
		return notOver
	}
	if err := r.fill(&im, hits, p); err != nil {
		return fmt.Errorf("query %q has %w", im.ID, err)
	}
	r.seen[id] = true
	r.join(&im, id)
	return r.add(im)
}

// add adds an impression to the part, which is given on when it is large enough.
func (r *reader) add(im Impression) error {
	r.part.Impressions = append(r.part.Impressions, im)
	if r.size += im.size(); r.size >= r.most {
		clear(r.known)
		r.failed = r.give()
	}
	return r.failed
}

// give passes the part to each, after the part before.
func (r *reader) give() error {
	if err := r.wait(); err != nil || len(r.part.Impressions) == 0 {
		return err
	}
	part := r.part
	r.part, r.size = &Log{}, 0
	part.FeatureIDs, part.FeatureNames, part.Levels = r.columns.ids, r.columns.names, r.columns.levels()
	var err error
	ended := parallel.Go(func() {
		if err = part.Validate(); err == nil {
			err = r.each(part)
		}
	})
	r.wait = sync.OnceValue(func() error { ended(); return err })
	return nil
}

// fill sets the policy of an impression and the documents shown.
func (r *reader) fill(im *Impression, hits []string, p *policyJSON) error {
	if p == nil {
		p = &policyJSON{Cutoff: len(hits)}
	}
	im.Model, im.Version, im.Cutoff, im.Temperature = string(p.Model), string(p.Version), p.Cutoff, p.Temperature
	im.LogProbability, im.Arm = p.LogProbability, p.Arm
	var wrong error
	if p.Seed != "" {
		im.Seed, wrong = strconv.ParseUint(string(p.Seed), 10, 64)
	}
	im.Documents = decode(r, p.Candidates, 0, parseCandidates, &wrong)
	im.Scores = decode(r, p.Scores, 0, parseScores, &wrong)
	im.Rules = first(decode(r, p.Rules, 0, func(text []byte) ([]plackett.Rules, error) {
		rules := make([]plackett.Rules, 1)
		return rules, json.Unmarshal(text, &rules[0])
	}, &wrong))
	if how := p.Interleaved; how != nil {
		im.Interleaving = &Interleaving{Teams: how.Teams, Probabilities: how.Probabilities, By: how.By}
		im.Interleaving.Models = decode(r, how.Models, 0, parseContributors, &wrong)
	}
	if wrong != nil {
		return badAttributes
	}
	if im.Documents == nil {
		im.Documents = hits
	}
	n := len(im.Documents)
	at := make(map[string]int, n)
	for d, id := range im.Documents {
		at[id] = d
	}
	shown := make([]bool, n)
	for _, h := range hits {
		d, known := at[h]
		if !known {
			return notAsDrawn // an application added it
		}
		if shown[d] {
			return repeatedHit
		}
		shown[d] = true
		im.Shown = append(im.Shown, d)
	}
	im.Clicks = make([]float64, len(im.Shown))
	if p.Drawn != nil && (len(im.Shown) > len(p.Drawn) || !slices.Equal(im.Shown, p.Drawn[:len(im.Shown)])) {
		return notAsDrawn
	}
	if im.check(make([]bool, n)) != nil {
		return badAttributes
	}
	if p.FeaturesBy != "" {
		im.Sparse = first(decode(r, p.Features, n, func(text []byte) ([]datasets.Sparse, error) {
			return r.columns.parseSparse(text, n, p.FeaturesBy)
		}, &wrong))
		return wrong
	}
	im.Features = decode(r, p.Features, n, func(text []byte) ([]float32, error) { return r.columns.parse(text, n) }, &wrong)
	return cmp.Or(wrong, r.columns.check(im.width(), p.FeatureIDs, p.FeatureNames))
}

// decode reads a list, which is shared by all lines with the same text. It sets wrong to an error.
func decode[T any](r *reader, from shared, documents int, parse func(text []byte) ([]T, error), wrong *error) []T {
	if len(from.text) == 0 || string(from.text) == "null" {
		return nil
	}
	key := listKey{sha256.Sum256(from.text), documents}
	list, known := r.known[key].([]T)
	if !known {
		var err error
		if list, err = parse(from.text); err != nil {
			*wrong = err
			return nil
		}
		r.known[key] = list
	}
	return list
}

func parseCandidates(array []byte) (all []string, err error) {
	if all, err = parseTexts(array); err == nil {
		err = checkDistinct(all)
	}
	return all, err
}

// parseContributors reads the models of an interleaving.
func parseContributors(array []byte) (all []Contributor, err error) {
	var models []contributorJSON
	err = json2.Unmarshal(array, &models)
	for _, m := range models {
		scores, wrong := parseScores(m.Scores.text)
		m.Contributor.Scores, err = scores, cmp.Or(err, wrong)
		all = append(all, m.Contributor)
	}
	return all, err
}

// join sets the clicks of an impression.
func (r *reader) join(im *Impression, id uint64) {
	events := r.clicks[id]
	delete(r.clicks, id)
	slices.SortStableFunc(events, func(a, b event) int { return a.at.Compare(b.at) })
	if len(events) == 0 {
		return
	}
	ranks := make(map[uint64]int, len(im.Shown))
	for k, d := range im.Shown {
		ranks[r.hash(im.Documents[d])] = k
	}
	counted := map[[2]uint64]bool{}
	for _, e := range events {
		k, known := ranks[e.object]
		switch {
		case !known:
			r.counts[clickNotShown]++
		case r.Window > 0 && !im.Time.IsZero() && e.at.After(im.Time.Add(r.Window)):
			r.counts[lateClick]++
		case counted[[2]uint64{e.object, e.action}]:
			r.counts[repeatedClick]++
		default:
			im.Clicks[k] += e.value
			counted[[2]uint64{e.object, e.action}] = true
		}
	}
}
