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
	"math"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"

	"github.com/plrank/plrank/internal/jsonread"
	"github.com/plrank/plrank/internal/parallel"
	"github.com/plrank/plrank/internal/textfile"
)

// Read reads a log: files of JSON lines in the form of UBI 1.3 (github.com/o19s/ubi), plain or
// compressed by gzip or zstd, in any order. A query is an impression if it has
// query_response_hit_ids, the documents in the order shown. Events whose action_name is click
// are joined to it by query_id and object_id, never by position. Several clicks on a document
// count as one. [AppendQuery] writes query_attributes.plrank; an impression without it has no
// scores.
//
// Read leaves out what it cannot use, and counts it in Log.Warnings: lines that are not JSON,
// such as the torn last line of a program that was killed; queries without hits, or with the id
// of an earlier query; clicks on documents that were not shown; impressions that an application
// changed, so that the documents shown are not the first ones drawn. Read returns an error if
// no line of a file is a query or an event, or if the columns of features differ in their ids,
// their names, or in being numbers or texts.
//
// A folder stands for its files in the order of their names, except files that begin with a
// dot. Events may come before their queries, so the files are read twice: pipes cannot be read.
func Read(paths ...string) (*Log, error) {
	all := &Log{}
	warnings, err := scan(paths, math.MaxInt, func(part *Log) error {
		all = part
		return nil
	})
	if err != nil {
		return nil, err
	}
	all.Warnings = warnings
	return all, nil
}

// Scan reads a log as [Read] does, and calls each with one part after another, of about 100 MB
// at most. It needs memory for two parts, and about 50 bytes for each query and click of the log:
// the next part is read while each is at work. An error of each ends the scan, and is returned.
func Scan(paths []string, each func(part *Log) error) (warnings []string, err error) {
	return scan(paths, partSize, each)
}

// partSize is the size of a part of [Scan], as [Impression.size] counts.
const partSize = 1 << 23

// size estimates how many numbers and ids an impression has.
func (im *Impression) size() int { return len(im.Features) + 5*len(im.Documents) + 32 }

func scan(paths []string, most int, each func(part *Log) error) (warnings []string, err error) {
	if paths, err = files(paths); err != nil {
		return nil, err
	}
	r := &reader{seen: map[uint64]bool{}, known: map[listKey]any{}, counts: make([]int, len(oddities)), seed: maphash.MakeSeed(), most: most, each: each}
	defer func() { err = cmp.Or(err, r.wait()) }()
	for _, path := range paths {
		if err := r.readClicks(path); err != nil {
			return nil, fmt.Errorf("clicks: %w", textfile.At(path, err))
		}
	}
	slices.SortFunc(r.clicks, func(a, b click) int { return cmp.Compare(a.query, b.query) })
	for _, path := range paths {
		if err := r.readQueries(path); r.failed != nil {
			return nil, r.failed
		} else if err != nil {
			return nil, fmt.Errorf("clicks: %w", textfile.At(path, err))
		}
	}
	return r.warnings(), r.give()
}

// files returns the files of paths, some of which may be folders. It returns an error for a pipe, which would be empty
// when it is read again.
func files(paths []string) (all []string, err error) {
	for _, path := range paths {
		info, err := os.Stat(path)
		if err != nil {
			return nil, fmt.Errorf("clicks: %w", err)
		}
		if !info.IsDir() {
			all = append(all, path)
			continue
		}
		entries, err := os.ReadDir(path)
		if err != nil {
			return nil, fmt.Errorf("clicks: %w", err)
		}
		n := len(all)
		for _, e := range entries {
			if !e.IsDir() && !strings.HasPrefix(e.Name(), ".") {
				all = append(all, filepath.Join(path, e.Name()))
			}
		}
		if len(all) == n {
			return nil, fmt.Errorf("clicks: %s has no files: want a log", path)
		}
	}
	for _, path := range all {
		info, err := os.Stat(path)
		if err != nil {
			return nil, fmt.Errorf("clicks: %w", err)
		}
		if !info.Mode().IsRegular() {
			return nil, fmt.Errorf("clicks: %s is not a regular file: a log is read twice, so what comes through a pipe must be written to a file first", path)
		}
	}
	return all, nil
}

// warnings returns the oddities that occurred, with their counts.
func (r *reader) warnings() (all []string) {
	for _, c := range r.clicks {
		if !c.joined {
			r.counts[clickWithoutQuery]++
		}
	}
	for o, n := range r.counts {
		if n > 0 {
			all = append(all, fmt.Sprintf("%d %s", n, oddities[o]))
		}
	}
	if n := r.columns.beyond; n > 0 {
		all = append(all, fmt.Sprintf("%d values of features are texts beyond the first %d of their column: taken for texts that no model knows", n, mostTexts))
	}
	if total := r.impressions + r.counts[notAsDrawn]; 100*r.counts[notAsDrawn] > total {
		all = append(all, fmt.Sprintf("%d of %d impressions were changed after they were drawn: what is left is not a fair sample if the changes depend on the documents", r.counts[notAsDrawn], total))
	}
	return all
}

// An oddity is a reason to leave something out of a log, or to mend it.
type oddity int

const (
	notJSON oddity = iota
	notUnicode
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
	notJSON:           "lines are not JSON objects of UBI, or were torn, or have a name twice or in capitals: left out",
	notUnicode:        "lines have ids or other texts that are not in UTF-8, or half of a surrogate pair: left out",
	neither:           "lines are neither a query nor an event: left out",
	noHits:            "queries without query_response_hit_ids: left out",
	repeatedQuery:     "queries with a query_id that was there before: left out",
	repeatedHit:       "queries with a document twice among their hits: left out",
	badAttributes:     "queries with query_attributes.plrank that do not fit together, or with a document twice among their candidates: left out",
	notAsDrawn:        "queries whose hits are not the first documents drawn: left out",
	badTime:           "queries without a valid timestamp: kept, with no time",
	clickWithoutIDs:   "clicks without a query_id or an object_id: left out",
	clickWithoutQuery: "clicks whose query_id is of no query that was kept: left out",
	clickNotShown:     "clicks on a document that was not shown: left out",
	repeatedClick:     "clicks on a document that was clicked before: counted once",
}

// A reader reads all files twice: first for clicks, then for queries.
type reader struct {
	seed   maphash.Seed
	clicks []click         // sorted by query, after the first pass
	seen   map[uint64]bool // hashes of ids of impressions
	known  map[listKey]any // lists that were decoded before
	counts []int           // by oddity

	impressions int
	columns     columns // of the features of all impressions

	most  int // size of a part
	each  func(part *Log) error
	part  *Log // that grows
	size  int
	ended func() error // waits for each; nil: it is not at work

	failed error // of each
}

// A listKey is a hash of the text of a list, and its number of documents.
type listKey struct {
	text      [sha256.Size]byte
	documents int
}

// A click keeps 64-bit hashes of its ids. Two of a million are equal by chance in one of ten
// million logs.
type click struct {
	query, object uint64
	joined        bool
}

func (r *reader) hash(s string) uint64 { return maphash.String(r.seed, s) }

// longestLine bounds a line: a query of 100,000 documents with some hundred features.
const longestLine = 1 << 28

// lines calls f with the lines of a file that are not empty.
func lines(path string, f func(number int, line []byte) error) error {
	file, err := textfile.Open(context.Background(), path)
	if err != nil {
		return err
	}
	defer file.Close()
	all := bufio.NewScanner(file)
	all.Buffer(make([]byte, 1<<16), longestLine)
	number := 0
	for all.Scan() {
		number++
		if len(bytes.TrimSpace(all.Bytes())) == 0 {
			continue
		}
		if err := f(number, all.Bytes()); err != nil {
			return fmt.Errorf("line %d: %w", number, err)
		}
	}
	if err := all.Err(); err != nil {
		return fmt.Errorf("line %d: %w", number+1, err)
	}
	return nil
}

// mayBeEvent reports whether a line is worth decoding to find an event: its name may be there, or escaped.
func mayBeEvent(line []byte) bool {
	return bytes.Contains(line, []byte(`"action_name"`)) || bytes.Contains(line, []byte(`\u`))
}

// readClicks keeps the clicks until their queries are read.
func (r *reader) readClicks(path string) error {
	return lines(path, func(_ int, text []byte) error {
		if !mayBeEvent(text) {
			return nil
		}
		line, err := parseLine(jsonread.NewLenient(text))
		if err != nil || line.ActionName != "click" { // readQueries counts what is odd
			return nil
		}
		if line.QueryID == "" || line.Object == "" {
			r.counts[clickWithoutIDs]++
			return nil
		}
		r.clicks = append(r.clicks, click{query: r.hash(string(line.QueryID)), object: r.hash(string(line.Object))})
		return nil
	})
}

// readQueries reads impressions.
func (r *reader) readQueries(path string) error {
	last, used := 0, 0
	err := lines(path, func(number int, content []byte) error {
		last = number
		line, err := parseLine(jsonread.NewLenient(content))
		switch {
		case errors.Is(err, jsonread.ErrText):
			r.counts[notUnicode]++
		case err != nil:
			r.counts[notJSON]++
		case line.ActionName != "":
			used++
		case line.QueryID != "":
			used++
			return r.query(line)
		case !line.Bulk:
			r.counts[neither]++
		}
		return nil
	})
	if err == nil && used == 0 && last > 0 {
		err = errors.New("no line is a query or an event of UBI: want JSON lines with query_id")
	}
	return err
}

// query adds an impression.
func (r *reader) query(line *ubiLine) error {
	im := Impression{ID: string(line.QueryID), Client: string(line.ClientID)}
	id := r.hash(im.ID)
	if r.seen[id] {
		r.counts[repeatedQuery]++
		return nil
	}
	hits, err := parseTexts(line.Hits)
	p, wrong := parseAttributes(line.Attributes)
	switch err := cmp.Or(err, wrong); {
	case errors.Is(err, jsonread.ErrText):
		r.counts[notUnicode]++
		return nil
	case err != nil:
		r.counts[notJSON]++
		return nil
	case len(hits) == 0:
		r.counts[noHits]++
		return nil
	}
	im.Query = string(line.UserQuery)
	if im.Time, err = parseTime(line.Timestamp); err != nil {
		r.counts[badTime]++
	}
	odd, ok := r.fill(&im, hits, p)
	if err := r.columns.wrong; err != nil {
		return fmt.Errorf("query %q has %w", im.ID, err)
	}
	if !ok {
		r.counts[odd]++
		return nil
	}
	if p != nil {
		if err := r.columns.check(im.width(), p); err != nil {
			return fmt.Errorf("query %q has %w", im.ID, err)
		}
	}
	r.seen[id] = true
	r.join(&im, id)
	return r.add(im)
}

// add adds an impression to the part, which is given on when it is large enough.
func (r *reader) add(im Impression) error {
	if r.part == nil {
		r.part = &Log{}
	}
	r.impressions++
	r.part.Impressions = append(r.part.Impressions, im)
	if r.size += im.size(); r.size < r.most {
		return nil
	}
	clear(r.known)
	r.failed = r.give()
	return r.failed
}

// give passes the part to each, after the part before.
func (r *reader) give() error {
	if err := r.wait(); err != nil || r.part == nil {
		return err
	}
	part := r.part
	r.part, r.size = nil, 0
	part.FeatureIDs, part.FeatureNames, part.Levels = r.columns.ids, r.columns.names, r.columns.levels()
	var err error
	ended := parallel.Go(func() {
		if err = part.Validate(); err == nil {
			err = r.each(part)
		}
	})
	r.ended = func() error { ended(); return err }
	return nil
}

// wait returns when each has ended.
func (r *reader) wait() error {
	if r.ended == nil {
		return nil
	}
	ended := r.ended
	r.ended = nil
	return ended()
}

// fill sets the policy of an impression and the documents shown. If they cannot be used, it
// returns the oddity.
func (r *reader) fill(im *Impression, hits []string, p *attributes) (oddity, bool) {
	if p == nil {
		p = &attributes{Cutoff: len(hits)}
	}
	im.Model, im.Version, im.Seed, im.Cutoff, im.Temperature = string(p.Model), string(p.Version), p.Seed, p.Cutoff, p.Temperature
	if !decode(r, p.Candidates, 0, &im.Documents, parseCandidates) {
		return badAttributes, false
	}
	if im.Documents == nil {
		im.Documents = hits
	}
	n := len(im.Documents)
	if !decode(r, p.Scores, 0, &im.Scores, parseNumbers[float64]) {
		return badAttributes, false
	}
	index := indexer(n, func(d int) string { return im.Documents[d] }, len(hits))
	shown := make([]bool, n)
	for _, h := range hits {
		d := index(h)
		if d < 0 {
			return notAsDrawn, false // an application added it
		}
		if shown[d] {
			return repeatedHit, false
		}
		shown[d] = true
		im.Shown = append(im.Shown, d)
	}
	im.Clicks = make([]float64, len(im.Shown))
	if p.Drawn != nil && (len(im.Shown) > len(p.Drawn) || !slices.Equal(im.Shown, p.Drawn[:len(im.Shown)])) {
		return notAsDrawn, false
	}
	if im.check(make([]bool, len(im.Documents))) != nil || !decode(r, p.Features, n, &im.Features, func(raw []byte) ([]float32, error) { return r.columns.parse(raw, n) }) {
		return badAttributes, false
	}
	return 0, true
}

// indexer returns a function that finds the first of n keys equal to its argument, −1 if there is none. A map pays
// only if the function is called many times: most lists have ten documents.
func indexer[K comparable](n int, key func(i int) K, calls int) func(K) int {
	const few = 64
	if calls <= few {
		return func(k K) int {
			for i := range n {
				if key(i) == k {
					return i
				}
			}
			return -1
		}
	}
	first := make(map[K]int, n)
	for i := n - 1; i >= 0; i-- { // the first of equal ones stays
		first[key(i)] = i
	}
	return func(k K) int {
		if i, ok := first[k]; ok {
			return i
		}
		return -1
	}
}

// decode reads a list, which is shared by all lines with the same text. It returns false if the
// text is not such a list.
func decode[T any](r *reader, raw json.RawMessage, documents int, list *[]T, parse func([]byte) ([]T, error)) bool {
	if len(raw) == 0 || string(raw) == "null" {
		return true
	}
	key := listKey{sha256.Sum256(raw), documents}
	if known, ok := r.known[key].([]T); ok {
		*list = known
		return true
	}
	parsed, err := parse(raw)
	if err != nil {
		return false
	}
	*list = parsed
	r.known[key] = parsed
	return true
}

func parseCandidates(raw []byte) (list []string, err error) {
	if list, err = parseTexts(raw); err == nil {
		err = checkDistinct(list)
	}
	return list, err
}

// parseNumbers reads an array of JSON, in which null is NaN, several times faster than package json.
func parseNumbers[T float32 | float64](raw []byte) ([]T, error) {
	inside, ok := bytes.CutPrefix(raw, []byte{'['})
	if inside = bytes.TrimSpace(bytes.TrimSuffix(inside, []byte{']'})); !ok || len(inside) == 0 {
		return []T{}, json.Unmarshal(raw, new([]T)) // an empty list, or none
	}
	bits := 32
	if _, ok := any(T(0)).(float64); ok {
		bits = 64
	}
	list := make([]T, 0, bytes.Count(inside, []byte{','})+1)
	for field := range bytes.SplitSeq(inside, []byte{','}) {
		text := string(bytes.TrimSpace(field))
		if text == "null" {
			text = "NaN"
		}
		v, err := strconv.ParseFloat(text, bits)
		if err != nil {
			return nil, err
		}
		list = append(list, T(v))
	}
	return list, nil
}

// join sets the clicks of an impression.
func (r *reader) join(im *Impression, id uint64) {
	first, _ := slices.BinarySearchFunc(r.clicks, id, func(c click, id uint64) int { return cmp.Compare(c.query, id) })
	clicks := r.clicks[first:]
	if n := slices.IndexFunc(clicks, func(c click) bool { return c.query != id }); n >= 0 {
		clicks = clicks[:n]
	}
	rank := indexer(len(im.Shown), func(k int) uint64 { return r.hash(im.Documents[im.Shown[k]]) }, len(clicks))
	for i := range clicks {
		c := &clicks[i]
		c.joined = true
		k := rank(c.object)
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
