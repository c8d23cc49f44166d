package serve

import (
	"bytes"
	"encoding/json"
	"fmt"
	"log/slog"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"pgregory.net/rapid"

	"github.com/plrank/plrank/clicks"
	"github.com/plrank/plrank/internal/testkit"
	"github.com/plrank/plrank/ranker"
)

// oddText draws the inside of a JSON string: mostly plain, sometimes what readers of JSON differ in.
var oddText = rapid.Custom(func(t *rapid.T) string {
	if rapid.Float64Range(0, 1).Draw(t, "odd") < .6 {
		return rapid.SampledFrom([]string{"a", "b", "7", "shoe"}).Draw(t, "plain")
	}
	return strings.Join(rapid.SliceOfN(rapid.SampledFrom([]string{
		"a", " ", "ü", "\xff", "\xc3", `\u0000`, `\ud800`, `\udc00`, `\ud83d\ude00`, "😀", "\u2028", `\u2029`, "\ufeff", "\ufffd", `\ufffd`,
		`\"`, `\\`, `\n`, "<b>&", "\x7f", "\t", "]},{", strings.Repeat("x", 99), strings.Repeat("ü", 200), `\\ud800`, `\u0061`, "7.0", "1e2",
	}), 0, 3).Draw(t, "parts"), "")
})

// oddName draws a spelling of a name: mostly the right one.
func oddName(t *rapid.T, name string) string {
	switch rapid.SampledFrom([]int{0, 0, 0, 0, 0, 0, 0, 1, 2, 3, 4, 5}).Draw(t, "spelling of "+name) {
	case 1:
		return fmt.Sprintf(`\u%04x`, name[0]) + name[1:]
	case 2:
		return strings.ToUpper(name)
	case 3:
		return strings.ToUpper(name[:1]) + name[1:]
	case 4:
		return "\ufeff" + name
	case 5:
		return strings.ReplaceAll(name, "s", "ſ")
	}
	return name
}

// oddObject draws an object with these members. One may be there twice, or be null.
func oddObject(t *rapid.T, members ...string) string {
	var all []string
	for i := 0; i < len(members); i += 2 {
		name, value := oddName(t, members[i]), members[i+1]
		switch rapid.IntRange(0, 20).Draw(t, "fate of "+members[i]) {
		case 0:
			continue
		case 1:
			value = "null"
		case 2:
			all = append(all, `"`+name+`": "other"`)
		case 3:
			all = append(all, `"`+name+`": null`)
		}
		all = append(all, `"`+name+`": `+value)
	}
	return "{" + strings.Join(all, rapid.SampledFrom([]string{",", "\n,\r\t"}).Draw(t, "comma")) + "}"
}

// member returns a member of an object that package json has decoded, as a text; "" where it is missing.
func member(object any, path ...string) string {
	for _, name := range path {
		m, _ := object.(map[string]any)
		object = m[name]
	}
	if object == nil {
		return ""
	}
	return fmt.Sprint(object)
}

func decode(t *rapid.T, text string) (value any) {
	d := json.NewDecoder(strings.NewReader(text))
	d.UseNumber()
	if err := d.Decode(&value); err != nil {
		t.Fatal(err)
	}
	return value
}

// What is answered with status 200 is what package clicks reads from the log: each impression with its texts, and each
// event with all that it had. The rest was refused.
func TestAcceptedRequestsAreReadBack(t *testing.T) {
	path := filepath.Join(t.TempDir(), "m.npz")
	testkit.LinearModel(t, path, 1, 10, 100)
	f := *must(ranker.Open(path)).File()
	f.Levels, f.FeatureNames = [][]string{nil, {"7", "red"}, nil}, []string{"x", "colour", "y"}
	if err := f.Save(path); err != nil {
		t.Fatal(err)
	}
	rapid.Check(t, func(t *rapid.T) {
		folder := must(os.MkdirTemp("", "readback"))
		defer os.RemoveAll(folder)
		s := must(New(Options{Models: only(path), Clicks: folder, Log: slog.New(slog.DiscardHandler)}))
		defer s.Close()
		text := func(what string) string { return `"` + oddText.Draw(t, what) + `"` }
		var asked []any
		queries, objects := []string{`"q"`}, []string{`"a"`}
		for range rapid.IntRange(1, 3).Draw(t, "requests") {
			id, one, two, colour := text("query_id"), text("document"), text("document"), text("colour")
			body := oddObject(t, "query", text("query"), "query_id", id, "client_id", text("client_id"), "document_ids", "["+one+","+two+"]",
				"documents", "["+oddObject(t, "x", "1", "colour", colour)+`,[1,`+colour+`,3]]`, "draw", `{"cutoff": 2}`)
			w := send(s, "/v1/rank", body)
			var out response
			if w.Code != 200 || json.Unmarshal(w.Body.Bytes(), &out) != nil || out.Drawn == nil {
				continue
			}
			request := decode(t, body).(map[string]any)
			request["query_id"] = out.QueryID
			if !slices.ContainsFunc(asked, func(r any) bool { return member(r, "query_id") == out.QueryID }) {
				asked = append(asked, request)
			}
			queries, objects = append(queries, id), append(objects, one, two)
		}
		var events []any
		for range rapid.IntRange(0, 4).Draw(t, "events") {
			object := rapid.OneOf(rapid.SampledFrom(objects), rapid.Just(text("object"))).Draw(t, "object")
			body := oddObject(t, "action_name", rapid.SampledFrom([]string{`"click"`, `"cl\u0069ck"`, `"view"`, text("action")}).Draw(t, "action"),
				"query_id", rapid.SampledFrom(queries).Draw(t, "query"), "client_id", text("client"), "timestamp", rapid.SampledFrom([]string{`"2026-01-02T03:04:05Z"`, `""`, "7"}).Draw(t, "time"),
				"event_attributes", oddObject(t, "object", oddObject(t, "object_id", object, "name", text("name")), "position", "{}"), "message", text("message"))
			if send(s, "/v1/events", body).Code == 200 {
				events = append(events, decode(t, body))
			}
		}
		lines := 0
		for _, path := range must(filepath.Glob(filepath.Join(folder, "*.jsonl"))) {
			for line := range bytes.SplitSeq(must(os.ReadFile(path)), []byte("\n")) {
				if !bytes.Contains(line, []byte("query_response_hit_ids")) && len(line) > 0 {
					got, want := decode(t, string(line)).(map[string]any), events[lines].(map[string]any)
					if member(want, "timestamp") == "" && member(got, "timestamp") != "" {
						want["timestamp"] = got["timestamp"]
					}
					if a, b := must(json.Marshal(got)), must(json.Marshal(want)); !bytes.Equal(a, b) {
						t.Fatalf("the event %s was logged as %s", b, a)
					}
					lines++
				}
			}
		}
		if lines != len(events) {
			t.Fatalf("%d events are in the log, %d were accepted", lines, len(events))
		}
		if len(events)+len(asked) == 0 {
			return
		}
		log, err := clicks.Read(folder)
		if err != nil || len(log.Impressions) != len(asked) {
			t.Fatalf("%d impressions, want %d; warnings %q, error %v", len(log.Impressions), len(asked), log.Warnings, err)
		}
		for _, w := range log.Warnings {
			if !strings.Contains(w, "query was not kept") && !strings.Contains(w, "not shown") && !strings.Contains(w, "clicked before") &&
				!strings.Contains(w, "query_id of an earlier query") {
				t.Fatalf("what was accepted is: %s", w)
			}
		}
		for i, im := range log.Impressions {
			want := asked[i].(map[string]any)
			ids := want["document_ids"].([]any)
			if im.ID != member(want, "query_id") || im.Query != member(want, "query") || im.Client != member(want, "client_id") || im.Documents[0] != ids[0] || im.Documents[1] != ids[1] {
				t.Fatalf("%q was logged as %+v", want, im)
			}
			for k, d := range im.Shown {
				clicked := slices.ContainsFunc(events, func(e any) bool {
					return member(e, "action_name") == "click" && member(e, "query_id") == im.ID && member(e, "event_attributes", "object", "object_id") == im.Documents[d]
				})
				if clicked != (im.Clicks[k] == 1) {
					t.Fatalf("a click on %q of %q: %v, and in the log %v", im.Documents[d], im.ID, clicked, im.Clicks[k])
				}
			}
			colour := want["documents"].([]any)[1].([]any)[1].(string)
			got := im.Features[4]
			missing := slices.Contains([]string{"", "na", "nan", "null", "?"}, strings.ToLower(colour))
			if missing != (got != got) || !missing && log.Levels[1][int(got)-1] != colour {
				t.Fatalf("the colour %q was logged as %v of %q", colour, got, log.Levels)
			}
		}
	})
}

func TestTextsThatAreNotUnicodeAreRefused(t *testing.T) {
	s, read := logging(t)
	rank := func(query, id, client, document, model, name string) string {
		return `{"query": "` + query + `", "query_id": "` + id + `", "client_id": "` + client + `", "document_ids": ["a", "` + document + `"], "model": "` + model + `", "documents": [{"` + name + `": 1}, {}], "draw": {"cutoff": 1}}`
	}
	event := func(action, query, client, object, message string) string {
		return `[{"action_name": "view"}, {"action_name": "` + action + `", "query_id": "` + query + `", "client_id": "` + client + `", "event_attributes": {"object": {"object_id": "` + object + `"}, "message": "` + message + `"}}]`
	}
	for bad, fault := range map[string]string{"\xff": "UTF-8", "caf\xe9": "UTF-8", `\ud800`: "surrogate pair", `x\udc00\ud800`: "surrogate pair"} {
		for body, where := range map[string]string{
			rank(bad, "i", "c", "b", "default", "5"): "/query",
			rank("q", bad, "c", "b", "default", "5"): "/query_id",
			rank("q", "i", bad, "b", "default", "5"): "/client_id",
			rank("q", "i", "c", bad, "default", "5"): "/document_ids/1",
			rank("q", "i", "c", "b", bad, "5"):       "/model",
			rank("q", "i", "c", "b", "default", bad): "/documents/0",
			event(bad, "q", "c", "a", "m"):           "/1/action_name",
			event("click", bad, "c", "a", "m"):       "/1/query_id",
			event("click", "q", bad, "a", "m"):       "/1/client_id",
			event("click", "q", "c", bad, "m"):       "/1/event_attributes/object/object_id",
			event("click", "q", "c", "a", bad):       "/1/event_attributes/message",
		} {
			path := "/v1/rank"
			if body[0] == '[' {
				path = "/v1/events"
			}
			w := send(s, path, body)
			if w.Code != 400 || !strings.Contains(w.Body.String(), `within \"`+where) || !strings.Contains(w.Body.String(), "invalid "+fault) {
				t.Errorf("%q: %d, %s, want %s", body, w.Code, w.Body, where)
			}
		}
	}
	if log := read(); len(log.Impressions)+len(log.Warnings) > 0 {
		t.Errorf("%d impressions, %q", len(log.Impressions), log.Warnings)
	}
}

func TestOddNamesInEventsAreRefused(t *testing.T) {
	s, read := logging(t)
	for body, want := range map[string]string{
		`{"Action_Name": "click"}`:                                                                  `the name \"Action_Name\": want \"action_name\"`,
		`{"action_name": "view", "QUERY_ID": "q"}`:                                                  `want \"query_id\"`,
		`{"action_name": "view", "time\u0053tamp": "2026-01-02T03:04:05Z"}`:                         `want \"timestamp\"`,
		`{"action_name": "view", "event_attributes": {"Object": {}}}`:                               `event_attributes: the name \"Object\"`,
		`{"action_name": "view", "action_name": "click"}`:                                           `\"action_name\" occurs twice`,
		`{"action_name": "view", "\u0061ction_name": "click"}`:                                      `\"action_name\" occurs twice`,
		`{"action_name": "view", "event_attributes": {"object": {"object_id": 1, "object_id": 2}}}`: `object: \"object_id\" occurs twice`,
	} {
		if w := send(s, "/v1/events", body); w.Code != 400 || !strings.Contains(w.Body.String(), want) {
			t.Errorf("%s: %d, %s, want %s", body, w.Code, w.Body, want)
		}
	}
	if w := send(s, "/v1/rank", `{"query": "q", "query_id": "i", "document_ids": ["a"], "documents": [[1, 2, 3]], "draw": {"cutoff": 1}}`); w.Code != 200 {
		t.Fatal(w.Body)
	}
	if w := send(s, "/v1/events", `{"\u0061ction_name": "click", "query\u005fid": "i", "event_attributes": {"ob\u006aect": {"object_id": "a"}}}`); w.Code != 200 {
		t.Fatal(w.Body)
	}
	if log := read(); len(log.Warnings) > 0 || log.Impressions[0].Clicks[0] != 1 {
		t.Errorf("a click with escaped names: %v, %q", log.Impressions[0].Clicks, log.Warnings)
	}
}
