package clicks

import (
	"bytes"
	"compress/gzip"
	"errors"
	"fmt"
	"math"
	"os"
	"path/filepath"
	"reflect"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/klauspost/compress/zstd"
)

// logFile writes a file for a test, compressed by what its name ends in.
func logFile(t *testing.T, name, content string) string {
	t.Helper()
	var b bytes.Buffer
	switch filepath.Ext(name) {
	case ".gz":
		z := gzip.NewWriter(&b)
		z.Write([]byte(content))
		z.Close()
	case ".zst":
		z, err := zstd.NewWriter(&b)
		if err != nil {
			t.Fatal(err)
		}
		z.Write([]byte(content))
		z.Close()
	default:
		b.WriteString(content)
	}
	path := filepath.Join(t.TempDir(), name)
	if err := os.WriteFile(path, b.Bytes(), 0o666); err != nil {
		t.Fatal(err)
	}
	return path
}

func TestWhatIsWrittenIsReadBack(t *testing.T) {
	log := simulated(t, 6, 3, 200)
	missing := log.Impressions[7]
	missing.ID, missing.Query, missing.Client, missing.Temperature, missing.Version = "missing", "Schuhe, „rot“ <b>", "c1", .5, "2"
	missing.Features = append([]float32{float32(math.NaN())}, missing.Features[1:]...)
	missing.Scores = append([]float64{math.Pi * 1e-300}, missing.Scores[1:]...)
	missing.Seed = math.MaxUint64
	log.Impressions = append(log.Impressions, missing)
	var b bytes.Buffer
	if err := Write(&b, log); err != nil {
		t.Fatal(err)
	}
	half := strings.Index(b.String(), `{"query_id":"100"`)
	for _, ending := range []string{"", ".gz", ".zst"} {
		// The second file first: events may come before their queries.
		got, err := Read(logFile(t, "2.jsonl"+ending, b.String()[half:]), logFile(t, "1.jsonl"+ending, b.String()[:half]))
		if err != nil {
			t.Fatal(err)
		}
		got.Impressions = append(got.Impressions[102:], got.Impressions[:102]...)
		if len(got.Warnings) > 0 || len(got.Impressions) != 201 || !reflect.DeepEqual(got.FeatureIDs, log.FeatureIDs) {
			t.Fatalf("%d impressions, warnings %q", len(got.Impressions), got.Warnings)
		}
		last := &got.Impressions[200]
		if !math.IsNaN(float64(last.Features[0])) {
			t.Errorf("feature %v, want NaN", last.Features[0])
		}
		last.Features[0], missing.Features[0] = 0, 0
		for i := range got.Impressions {
			if !reflect.DeepEqual(got.Impressions[i], log.Impressions[i]) {
				t.Errorf("%+v, want %+v", got.Impressions[i], log.Impressions[i])
			}
		}
		if n, want := len(got.situations()), len(log.situations()); n != want {
			t.Errorf("%d situations after reading, %d before", n, want)
		}
	}
}

// The queries and events of this log are in the forms that occur in published ones.
const oddLog = `{"index": {"_index": "ubi_queries", "_id": "1"}}
{"query_id": "q1", "client_id": "c", "user_query": "shoes", "query_attributes": null, "timestamp": "2024-12-10T00:01:29.378+0000", "query_response_hit_ids": ["a", "b", "c"]}
{"query_id": "q2", "user_query": null, "query_attributes": {}, "timestamp": 1733788889378, "query_response_hit_ids": ["a", 7]}

{"query_id": "q3", "user_query": "no hits"}
{"query_id": "q1", "user_query": "again", "query_response_hit_ids": ["a"]}
{"query_id": "q4", "user_query": "twice", "query_response_hit_ids": ["a", "a"]}
{"query_id": "q5", "user_query": "filtered", "timestamp": "2024-12-10", "query_response_hit_ids": ["a", "c"], "query_attributes": {"plrank": {"seed": "1", "cutoff": 3, "candidates": ["a", "b", "c"], "scores": [1, 2, 3], "drawn": [0, 1, 2]}}}
{"query_id": "q6", "user_query": "a score is missing", "query_response_hit_ids": ["a", "b"], "query_attributes": {"plrank": {"seed": "1", "cutoff": 3, "candidates": ["a", "b", "c"], "scores": [1, 2]}}}
{"query_id": "q10", "user_query": "a candidate is listed twice", "query_response_hit_ids": ["a", "b"], "query_attributes": {"plrank": {"seed": "1", "cutoff": 2, "candidates": ["a", "b", "a"], "scores": [1, 2, 3], "drawn": [0, 1]}}}
{"query_id": "q7", "user_query": "only two were seen", "query_response_hit_ids": ["c", "a"], "query_attributes": {"other": 1, "plrank": {"seed": "1", "cutoff": 3, "candidates": ["a", "b", "c"], "scores": [1, 2, 3], "drawn": [2, 0, 1]}}}
{"action_name": "click", "query_id": "q1", "timestamp": "2024-12-10T00:02:00Z", "event_attributes": {"object": {"object_id": "b"}, "position": {"ordinal": 0}}}
{"action_name": "click", "query_id": "q1", "timestamp": "2024-12-10T00:02:00Z", "event_attributes": {"object": {"object_id": "b"}, "position": {"ordinal": 2}}}
{"action_name": "click", "query_id": "q2", "timestamp": 1733788889379, "event_attributes": {"object": {"object_id": 7}, "position": {"xy": {"x": 1, "y": 2}}}}
{"action_name": "click", "query_id": "q2", "event_attributes": {"object": {"object_id": "z"}}}
{"action_name": "click", "query_id": "q9", "event_attributes": {"object": {"object_id": "a"}}}
{"action_name": "click", "query_id": null, "event_attributes": null}
{"action_name": "purchase", "query_id": "q1", "event_attributes": {"object": {"object_id": "a"}}}
{"something": "else"}
[1, 2]
{"query_id": "q8", "user_query": "torn", "query_resp`

func TestOdditiesAreCounted(t *testing.T) {
	log, err := Read(logFile(t, "ubi.ndjson", oddLog))
	if err != nil {
		t.Fatal(err)
	}
	want := []Impression{
		{ID: "q1", Client: "c", Query: "shoes", Time: time.Date(2024, 12, 10, 0, 1, 29, 378e6, time.UTC), Documents: []string{"a", "b", "c"}, Cutoff: 3, Shown: []int{0, 1, 2}, Clicks: []float64{0, 1, 0}},
		{ID: "q2", Time: time.UnixMilli(1733788889378).UTC(), Documents: []string{"a", "7"}, Cutoff: 2, Shown: []int{0, 1}, Clicks: []float64{0, 1}},
		{ID: "q7", Query: "only two were seen", Seed: 1, Cutoff: 3, Documents: []string{"a", "b", "c"}, Scores: []float64{1, 2, 3}, Shown: []int{2, 0}, Clicks: []float64{0, 0}},
	}
	log.Impressions[0].Time = log.Impressions[0].Time.UTC()
	if !reflect.DeepEqual(log.Impressions, want) {
		t.Errorf("%+v, want %+v", log.Impressions, want)
	}
	wantWarnings := []string{
		"2 lines are not JSON objects of UBI, are torn, or have a name twice or in capitals: left out",
		"1 lines are neither a query nor an event: left out",
		"1 queries without query_response_hit_ids: left out",
		"1 queries with the query_id of an earlier query: left out",
		"1 queries with a document twice among their hits: left out",
		"2 queries with query_attributes.plrank that do not fit together, or with a document twice among their candidates: left out",
		"1 queries whose hits are not the first documents drawn: left out",
		"5 queries without a valid timestamp: kept, with no time",
		"1 clicks without a query_id or an object_id: left out",
		"1 clicks whose query was not kept, or is not in the log: left out",
		"1 clicks on a document that was not shown: left out",
		"1 clicks on a document that was clicked before: counted once",
		"1 of 4 impressions were changed after they were drawn: the others are not a fair sample if the changes depend on the documents",
	}
	slices.Sort(wantWarnings)
	slices.Sort(log.Warnings)
	if !reflect.DeepEqual(log.Warnings, wantWarnings) {
		t.Errorf("warnings\n%s\nwant\n%s", strings.Join(log.Warnings, "\n"), strings.Join(wantWarnings, "\n"))
	}
}

// An id that is a number is the same in all its spellings, as tables of floats have others than tables of whole numbers.
func TestNumbersAsIDsAreDigits(t *testing.T) {
	log, err := Read(logFile(t, "ubi.ndjson", `{"query_id": 7.0, "query_response_hit_ids": [100001, 1.00002e5, 1.5, 12345678901234567890, "2.0"]}
{"action_name": "click", "query_id": 7, "event_attributes": {"object": {"object_id": 100001.0}}}
{"action_name": "click", "query_id": "7", "event_attributes": {"object": {"object_id": "100002"}}}
{"query_id": 8, "query_response_hit_ids": [1], "query_attributes": {"plrank": {"model": 3, "version": 2.0, "seed": 12, "cutoff": 1}}}
`))
	if err != nil {
		t.Fatal(err)
	}
	if im := log.Impressions[1]; im.Model != "3" || im.Version != "2" || im.Seed != 12 {
		t.Errorf("%+v", im)
	}
	im := log.Impressions[0]
	if im.ID != "7" || !reflect.DeepEqual(im.Documents, []string{"100001", "100002", "1.5", "12345678901234567890", "2.0"}) || !reflect.DeepEqual(im.Clicks, []float64{1, 1, 0, 0, 0}) {
		t.Errorf("%+v", im)
	}
}

// Names are compared exactly, whatever their escapes, and ids that are not Unicode are not mended: all of these would
// be one document.
func TestNamesAndTextsOfALogAreExact(t *testing.T) {
	const log = `{"query_id": "q1", "timestamp": 0, "query_response_hit_ids": ["a", "b"]}
{"\u0061ction_name": "click", "query_id": "q1", "event_attributes": {"object": {"\u006fbject_id": "b"}}}
{"Action_Name": "click", "query_id": "q1", "event_attributes": {"object": {"object_id": "a"}}}
{"action_name": "click", "query_id": "q1", "query_id": "q2", "event_attributes": {"object": {"object_id": "a"}}}
{"action_name": "click", "query_id": "q1", "event_attributes": {"object": {"object_id": "` + "\xff" + `"}}}
{"query_id": "q2", "query_response_hit_ids": ["\ud800"]}
{"query_id": "q3", "query_response_hit_ids": ["a"], "query_attributes": {"plrank": {"seed": "1", "model": "\udc00"}}}
{"query_id": "` + "\xe9" + `", "query_response_hit_ids": ["a"]}
{"action_name": "view", "timestamp": null, "message": "\ud800", "timestamp": "2026-01-02T03:04:05Z"}
`
	got, err := Read(logFile(t, "log.jsonl", log))
	if err != nil {
		t.Fatal(err)
	}
	want := []string{
		"2 lines are not JSON objects of UBI, are torn, or have a name twice or in capitals: left out",
		"4 lines have ids or other texts that are not in UTF-8, or half of a surrogate pair: left out",
	}
	if len(got.Impressions) != 1 || !slices.Equal(got.Impressions[0].Clicks, []float64{0, 1}) || !slices.Equal(got.Warnings, want) {
		t.Errorf("%+v, warnings %q", got.Impressions, got.Warnings)
	}
}

// A query of many documents with many clicks is read as others are, in a time in proportion to both:
// where it grows with their product, this test takes minutes.
func TestLongQueriesAreRead(t *testing.T) {
	const documents, clicks = 200_000, 2_000
	var b bytes.Buffer
	hits := make([]string, documents)
	for d := range hits {
		hits[d] = strconv.Itoa(d)
	}
	query := func(id string, hits []string, attributes string) {
		fmt.Fprintf(&b, `{"query_id": %q, "timestamp": "2024-12-10", "query_response_hit_ids": [%s]%s}`+"\n", id, strings.Join(hits, ","), attributes)
	}
	query("all", hits, "")
	query("twice", append(hits[:documents:documents], "7"), "")
	query("added", append(hits[:100:100], `"x"`), `, "query_attributes": {"plrank": {"seed": "1", "cutoff": 200, "candidates": ["`+strings.Join(hits[:200], `","`)+`"]}}`)
	query("candidate twice", hits[1:100], `, "query_attributes": {"plrank": {"seed": "1", "cutoff": 200, "candidates": ["`+strings.Join(hits[:100], `","`)+`", "5"]}}`)
	for i := range clicks + 1 { // the first document is clicked twice, one is not shown
		fmt.Fprintf(&b, `{"action_name": "click", "query_id": "all", "event_attributes": {"object": {"object_id": %d}}}`+"\n", (i%clicks)*101)
	}
	log, err := Read(logFile(t, "log.jsonl", b.String()))
	if err != nil || len(log.Impressions) != 1 {
		t.Fatalf("%d impressions, error %v", len(log.Impressions), err)
	}
	im, shown := &log.Impressions[0], (documents+100)/101 // i·101 < documents
	for k, c := range im.Clicks {
		if want := k%101 == 0; im.Shown[k] != k || (c == 1) != want {
			t.Fatalf("document %d at rank %d, click %v", im.Shown[k], k+1, c)
		}
	}
	want := []string{
		"4 queries without a valid timestamp: kept, with no time",
		"1 queries with a document twice among their hits: left out",
		"1 queries with query_attributes.plrank that do not fit together, or with a document twice among their candidates: left out",
		"1 queries whose hits are not the first documents drawn: left out",
		fmt.Sprintf("%d clicks on a document that was not shown: left out", clicks-shown),
		"1 clicks on a document that was clicked before: counted once",
		"1 of 2 impressions were changed after they were drawn: the others are not a fair sample if the changes depend on the documents",
	}
	slices.Sort(want)
	slices.Sort(log.Warnings)
	if !slices.Equal(log.Warnings, want) {
		t.Errorf("warnings %q, want %q", log.Warnings, want)
	}
}

func TestUnreadableLogsAreErrors(t *testing.T) {
	with := `{"query_id": "1", "query_response_hit_ids": ["a"], "query_attributes": {"plrank": {"seed": "1", "cutoff": 1, "features": [1, 2], "feature_ids": [1, 2]}}}` + "\n"
	for name, want := range map[string]string{
		"label qid:1 1:2\n1 qid:1 1:3\n": "no line is a query or an event of UBI",
		"PK\x03\x04 not a log":           "a zip archive",
		with + strings.ReplaceAll(strings.Replace(with, `"1"`, `"2"`, 1), "[1, 2]}}}", "[1, 3]}}}"): "line 2: query \"2\" has the feature ids [1 3]",
	} {
		path := logFile(t, "log", name)
		if _, err := Read(path); err == nil || !strings.Contains(err.Error(), want) || !strings.Contains(err.Error(), path) {
			t.Errorf("error %v, want %q with the path", err, want)
		}
	}
	if _, err := Read(filepath.Join(t.TempDir(), "missing")); err == nil {
		t.Error("no error for a file that does not exist")
	}
	// Pipes and devices cannot be read twice.
	if _, err := Read(logFile(t, "log", with), os.DevNull); err == nil || !strings.Contains(err.Error(), os.DevNull+" is not a regular file") {
		t.Errorf("error %v for a device", err)
	}
}

// A program that was killed while it wrote the first line of a file does not make the rest of its log unreadable.
func TestFileOfTornLineIsNoError(t *testing.T) {
	whole := `{"query_id": "1", "query_response_hit_ids": ["a"], "event_attributes": {"object": {"object_id": "b"}}}` + "\n"
	for end := 1; end < len(whole)-1; end++ {
		log, err := Read(logFile(t, "torn", whole[:end]), logFile(t, "log", whole))
		if err != nil || len(log.Impressions) != 1 || !strings.HasPrefix(log.Warnings[0], "1 lines are not JSON objects of UBI, are torn") {
			t.Errorf("%s: %+v, error %v", whole[:end], log, err)
		}
	}
}

func TestLogsThatCannotBeReadBackAreNotWritten(t *testing.T) {
	valid := Impression{ID: "r", Query: "q", Documents: []string{"a"}, Scores: []float64{0}, Features: []float32{1}, Shown: []int{0}, Clicks: []float64{1}}
	for _, c := range []struct {
		change func(im *Impression)
		want   string
	}{
		{func(im *Impression) { im.ID = "" }, "an impression without ID"},
		{func(im *Impression) { im.Clicks = []float64{.5} }, "the click at rank 1 is 0.5"},
		{func(im *Impression) { im.Scores = []float64{math.Inf(1)} }, "it must be finite"},
		{func(im *Impression) { im.Documents, im.Scores, im.Features = []string{"a", "a"}, nil, nil }, `impression "r" (query "q"): document "a" is among the candidates twice`},
		{func(im *Impression) { im.Features = []float32{float32(math.Inf(1))} }, "feature +Inf is not finite"},
		{func(im *Impression) { im.ID = "\xff" }, `invalid UTF-8 within "/query_id"`},
		{func(im *Impression) { im.Client = "\xff" }, `invalid UTF-8 within "/client_id"`},
		{func(im *Impression) { im.Query = "caf\xe9" }, `invalid UTF-8 within "/user_query"`},
		{func(im *Impression) { im.Model = "\xff" }, `invalid UTF-8 within "/query_attributes/plrank/model"`},
		{func(im *Impression) { im.Version = "\xff" }, `invalid UTF-8 within "/query_attributes/plrank/version"`},
		{func(im *Impression) { im.Documents = []string{"\xff"} }, `invalid UTF-8 within "/query_response_hit_ids/0"`},
	} {
		im := valid
		c.change(&im)
		if err := Write(&bytes.Buffer{}, &Log{Impressions: []Impression{im}}); err == nil || !strings.Contains(err.Error(), c.want) {
			t.Errorf("error %v, want %q", err, c.want)
		}
	}
	if err := Write(&bytes.Buffer{}, &Log{Impressions: []Impression{valid, valid}}); err == nil || !strings.Contains(err.Error(), `the ID "r" is there twice`) {
		t.Errorf("error %v for equal IDs", err)
	}
	if _, err := AppendQuery(nil, &valid, &Log{Levels: [][]string{nil, {"x"}}}); err == nil || !strings.Contains(err.Error(), `impression "r": 2 levels for 1 features a document`) {
		t.Errorf("error %v for other columns", err)
	}
	for want, l := range map[string]*Log{`invalid UTF-8 within "/query_attributes/plrank/feature_names/0"`: {FeatureNames: []string{"\xff"}}, `jsontext: invalid UTF-8`: {Levels: [][]string{{"\xff"}}}} {
		if _, err := AppendQuery(nil, &valid, l); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("error %v, want %s", err, want)
		}
	}
	latin := valid
	latin.Documents = []string{"\xe9"}
	if _, err := AppendClick(nil, &latin, 1, time.Time{}); err == nil || !strings.Contains(err.Error(), "want text in UTF-8") {
		t.Errorf("error %v for a click on a document whose id is Latin-1", err)
	}
	if _, err := AppendClick(nil, &valid, 2, time.Time{}); err == nil {
		t.Error("no error for a click below the ranks shown")
	}
}

// Whatever a file holds, Read returns an error or a valid log.
func FuzzRead(f *testing.F) {
	for _, line := range strings.Split(oddLog, "\n") {
		f.Add([]byte(line))
	}
	f.Fuzz(func(t *testing.T, content []byte) {
		log, err := Read(logFile(t, "log", string(content)))
		if err != nil {
			return
		}
		if err := log.Validate(); err != nil {
			t.Error(err)
		}
	})
}

// The parts of a log are the log, and small enough.
func TestScanGivesAllImpressionsInParts(t *testing.T) {
	log := simulated(t, 6, 3, 200)
	var b bytes.Buffer
	if err := Write(&b, log); err != nil {
		t.Fatal(err)
	}
	path := logFile(t, "log.jsonl", b.String()+"torn")
	most := 20 * log.Impressions[0].size()
	all := &Log{}
	parts := 0
	warnings, err := ReadOptions{}.scan([]string{path}, most, func(part *Log) error {
		if len(part.Impressions) > 20 || !reflect.DeepEqual(part.FeatureIDs, log.FeatureIDs) {
			t.Errorf("%d impressions with features %v", len(part.Impressions), part.FeatureIDs)
		}
		all.Impressions = append(all.Impressions, part.Impressions...)
		parts++
		return nil
	})
	if err != nil || parts != 10 || len(warnings) != 1 || !reflect.DeepEqual(all.Impressions, log.Impressions) {
		t.Errorf("%d parts of %d impressions, warnings %q, %v", parts, len(all.Impressions), warnings, err)
	}
	calls := 0
	failed := errors.New("enough")
	if _, err := (ReadOptions{}).scan([]string{path}, most, func(*Log) error { calls++; return failed }); err != failed || calls != 1 {
		t.Errorf("error %v after %d parts", err, calls)
	}
}

// The size of a number tells its unit: a moment of 2024 is one whatever program wrote it.
func TestTimestampsAreOfAnyUnit(t *testing.T) {
	moment := time.Date(2024, 12, 10, 0, 1, 29, 378e6, time.UTC)
	second := moment.Truncate(time.Second)
	for text, want := range map[string]time.Time{
		"1733788889":                 second,
		`"1733788889"`:               second,
		"1733788889.378":             moment,
		"1.733788889378e9":           moment,
		"1733788889378":              moment,
		`"1733788889378"`:            moment,
		"1733788889378000":           moment,
		"1733788889378000000":        moment,
		"0":                          time.Unix(0, 0),
		"-86400":                     time.Date(1969, 12, 31, 0, 0, 0, 0, time.UTC),
		"99999999999":                time.Date(5138, 11, 16, 9, 46, 39, 0, time.UTC),
		"100000000000":               time.Date(1973, 3, 3, 9, 46, 40, 0, time.UTC),
		`"2024-12-10T00:01:29.378Z"`: moment,
		"1e20":                       {},
		`"NaN"`:                      {},
		`"Inf"`:                      {},
		`"today"`:                    {},
	} {
		log, err := Read(logFile(t, "ubi.ndjson", `{"query_id": "q", "user_query": "x", "timestamp": `+text+`, "query_response_hit_ids": ["a"]}`+"\n"))
		if err != nil {
			t.Errorf("%s: %v", text, err)
			continue
		}
		if got := log.Impressions[0].Time; !got.Equal(want) || (len(log.Warnings) > 0) != want.IsZero() {
			t.Errorf("%s is %v, want %v; %q", text, got, want, log.Warnings)
		}
	}
}

// Queries without hits are rebuilt from their impression events, by ordinals from 0 or 1, down to the first gap; two documents
// at one ordinal are not a ranking. Queries whose window is not over are left out.
func TestImpressionsAreRebuiltFromEvents(t *testing.T) {
	var b strings.Builder
	event := func(action, query, object string, ordinal int, at string) {
		fmt.Fprintf(&b, `{"action_name":%q,"query_id":%q,"timestamp":%q,"event_attributes":{"object":{"object_id":%q},"position":{"ordinal":%d}}}`+"\n", action, query, at, object, ordinal)
	}
	const day1, day2, day5 = "2026-11-01T00:00:00Z", "2026-11-02T00:00:00Z", "2026-11-05T00:00:00Z"
	event("impression", "zero", "b", 1, day1) // in any order, before their query
	event("impression", "zero", "a", 0, day1)
	event("impression", "zero", "a", 0, day1)
	event("impression", "zero", "far", 3, day1)
	event("impression", "one", "c", 1, day1)
	event("impression", "twice", "c", 1, day1)
	event("impression", "twice", "d", 1, day1)
	event("click", "zero", "b", 1, day2)
	event("click", "zero", "far", 3, day2)
	event("click", "one", "c", 1, day5)
	for _, q := range []string{"zero", "one", "twice", "none"} {
		fmt.Fprintf(&b, `{"query_id":%q,"user_query":"q","timestamp":%q}`+"\n", q, day1)
	}
	fmt.Fprintf(&b, `{"query_id":"late","user_query":"q","timestamp":%q,"query_response_hit_ids":["a"]}`+"\n", day5)
	path := filepath.Join(t.TempDir(), "log.jsonl")
	if err := os.WriteFile(path, []byte(b.String()), 0o666); err != nil {
		t.Fatal(err)
	}
	var all []Impression
	warnings, err := ReadOptions{Window: 48 * time.Hour}.Scan([]string{path}, func(l *Log) error {
		all = append(all, l.Impressions...)
		return nil
	})
	if err != nil || len(all) != 2 {
		t.Fatal(all, warnings, err)
	}
	if !slices.Equal(all[0].Documents, []string{"a", "b"}) || !slices.Equal(all[0].Clicks, []float64{0, 1}) ||
		!slices.Equal(all[1].Documents, []string{"c"}) || !slices.Equal(all[1].Clicks, []float64{0}) {
		t.Errorf("%+v", all)
	}
	for _, want := range []oddity{rebuiltHits, noHits, notOver, clickNotShown, lateClick} {
		if !slices.ContainsFunc(warnings, func(w string) bool { return strings.HasSuffix(w, " "+string(want)) }) {
			t.Errorf("no %q in %q", want, warnings)
		}
	}
	if whole, err := Read(path); err != nil || len(whole.Impressions) != 3 || whole.Impressions[1].Clicks[0] != 1 {
		t.Errorf("%+v, %v", whole, err)
	}
}

// A dump as OpenSearch's Chorus has it: lines of the bulk API with their index, numbers and texts of time, null attributes, events of
// other actions, and a query that application and engine log several times, with its hits in one of the lines.
func TestDumpsOfChorusAreRead(t *testing.T) {
	const dump = `{"index": {"_index": "ubi_queries", "_id": "1"}}
{"application": "sample", "query_id": "q1", "client_id": "c1", "user_query": "red lamp", "query_attributes": {}, "timestamp": "2026-11-10T00:01:29.378Z"}
{"index": {"_index": "ubi_events", "_id": "2"}}
{"application": "sample", "action_name": "impression", "query_id": "q1", "session_id": "s1", "client_id": "c1", "timestamp": "2026-11-10T00:01:29.378Z", "user_query": "red lamp", "message_type": null, "message": null, "event_attributes": {"object": {"object_id": "lamp-1", "object_id_field": "sku"}, "position": {"ordinal": 0}}}
{"application": "sample", "action_name": "impression", "query_id": "q1", "session_id": "s1", "client_id": "c1", "timestamp": "2026-11-10T00:01:29.378Z", "user_query": "red lamp", "message_type": null, "message": null, "event_attributes": {"object": {"object_id": "lamp-2", "object_id_field": "sku"}, "position": {"ordinal": 1}}}
{"application": "sample", "action_name": "click", "query_id": "q1", "session_id": "s1", "client_id": "c1", "timestamp": "2026-11-10T00:03:30.466Z", "user_query": "red lamp", "message_type": null, "message": null, "event_attributes": {"object": {"object_id": "lamp-2", "object_id_field": "sku"}, "position": {"ordinal": 1}}}
{"query_response_id": "r1", "user_query": "rug", "query_id": "q2", "application": "Shop", "query": "{\"size\":0}", "query_response_hit_ids": [], "query_attributes": {}, "client_id": "c2", "timestamp": "2026-11-22T14:57:24.305Z"}
{"query_response_id": "r2", "user_query": "rug", "query_id": "q2", "application": "Shop", "query": "{\"size\":20}", "query_response_hit_ids": ["rug-1", "rug-2", "rug-3"], "query_attributes": {}, "client_id": "c2", "timestamp": "2026-11-22T14:57:24.310Z"}
{"query_response_id": "r3", "user_query": "rug", "query_id": "q2", "application": "Shop", "query": "{\"size\":0}", "query_response_hit_ids": [], "query_attributes": {}, "client_id": "c2", "timestamp": "2026-11-22T14:57:24.311Z"}
{"application": "Shop", "action_name": "search", "query_id": "q2", "session_id": "s2", "client_id": "c2", "user_id": "", "timestamp": "2026-11-22T14:57:24.305Z", "message_type": "QUERY", "message": "go", "event_attributes": null}
{"action_name": "on_search", "client_id": "c3", "query_id": "q9", "message_type": "QUERY", "message": "bag", "timestamp": 1795527762025, "event_attributes": {"page_id": "/a.gif", "dwell_time": 49.6, "position": {"page_depth": 8, "trail": ["/b", "/c"]}, "result_count": 25}}
{"application": "Shop", "action_name": "click", "query_id": "q2", "session_id": "s2", "client_id": "c2", "user_id": "", "timestamp": "2026-11-22T14:57:26.316Z", "message_type": "CLICK_THROUGH", "message": "rug", "event_attributes": {"object": {"object_id": "rug-3", "object_id_field": "sku", "description": "a rug"}, "position": {"ordinal": 3}}}
`
	path := filepath.Join(t.TempDir(), "dump.ndjson")
	if err := os.WriteFile(path, []byte(dump), 0o666); err != nil {
		t.Fatal(err)
	}
	log, err := Read(path)
	if err != nil || len(log.Impressions) != 2 {
		t.Fatalf("%+v, %v", log, err)
	}
	lamp, rug := log.Impressions[0], log.Impressions[1]
	if !slices.Equal(lamp.Documents, []string{"lamp-1", "lamp-2"}) || !slices.Equal(lamp.Clicks, []float64{0, 1}) || lamp.Client != "c1" ||
		!slices.Equal(rug.Documents, []string{"rug-1", "rug-2", "rug-3"}) || !slices.Equal(rug.Clicks, []float64{0, 0, 1}) || rug.Query != "rug" {
		t.Errorf("%+v\n%+v", lamp, rug)
	}
}

// Tables of other systems are logs: each row of a bandit has its propensity, and clicks of sessions belong to the last query that
// showed the document.
func TestTablesOfOthersAreLogs(t *testing.T) {
	dir := t.TempDir()
	read := func(name, text string) *Log {
		t.Helper()
		path := filepath.Join(dir, name)
		if err := os.WriteFile(path, []byte(text), 0o666); err != nil {
			t.Fatal(err)
		}
		l, err := Read(path)
		if err != nil {
			t.Fatal(err)
		}
		return l
	}
	l := read("bandit.csv", ",timestamp,item_id,position,click,propensity_score,user\n0,2019-11-24 00:00:00+00:00,14,3,0,0.25,a\n1,x,15,1,1,1,b\n2,x,16,1,1,0,b\n3,x,17,1,1,0.5,b\n")
	if len(l.Impressions) != 3 || len(l.Warnings) != 1 || len(l.Impressions[0].Documents) != 4 || l.Impressions[0].Query != "position 3" || l.Impressions[1].Clicks[0] != 1 {
		t.Fatalf("%+v", l)
	}
	uniform := func(im *Impression) ([]float64, error) { return make([]float64, len(im.Documents)), nil }
	estimates, err := Evaluate(l, Target{Policy: uniform}, IIPS) // (0 + 1/4 · 1/1 + 1/4 · 1/.5) / 3
	if err != nil || math.Abs(estimates[0].Value-.25) > 1e-6 {
		t.Errorf("%+v, %v", estimates, err)
	}
	l = read("sessions.tsv", "s1\t0\tQ\tq1\t7\ta\tb\tc\ns1\t5\tC\tb\ns1\t6\tC\tb\ns1\t9\tQ\tq2\t7\tb\td\ns1\t12\tC\tb\ns1\t13\tC\ta\ns2\t0\tQ\tq1\t7\tc\ta\ns2\t2\tC\tz\n")
	if len(l.Impressions) != 3 || len(l.Warnings) != 2 {
		t.Fatalf("%+v", l)
	}
	for i, want := range [][]float64{{1, 1, 0}, {1, 0}, {0, 0}} {
		if im := l.Impressions[i]; !slices.Equal(im.Clicks, want) || im.Client != []string{"s1", "s1", "s2"}[i] || im.Query != []string{"q1", "q2", "q1"}[i] {
			t.Errorf("%+v, want clicks %v", im, want)
		}
	}
}
