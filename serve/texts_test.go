package serve

import (
	"path/filepath"
	"strings"
	"testing"

	"github.com/plrank/plrank/clicks"
)

// A text that is not mentioned by id is logged as one that is not known, not as the last unknown text of
// the column, which may come from another document or request.
func TestTextsThatAreNotMentionedAreLoggedAsUnknown(t *testing.T) {
	folder := filepath.Join(t.TempDir(), "clicks")
	s, _ := tested(t, Options{Models: only(named(t)), Clicks: folder})
	for _, documents := range []string{`[{"1": 1, "5": "Rome"}, {"1": 2}]`, `[{"1": 1}, {"1": 2}]`} {
		if w := send(s, "/v1/rank", `{"query": "q", "document_ids": ["a", "b"], "documents": `+documents+`, "draw": {"cutoff": 1}}`); w.Code != 200 {
			t.Fatal(w.Body)
		}
	}
	log, err := clicks.Read(folder)
	if err != nil {
		t.Fatal(err)
	}
	var cities []string
	for _, im := range log.Impressions {
		for d := range im.Documents {
			text, err := clicks.AppendFeature(nil, im.Features[d*3+1], log.Levels[1])
			if err != nil {
				t.Fatal(err)
			}
			cities = append(cities, string(text))
		}
	}
	if got := strings.Join(cities, " "); got != `"Rome" "" "" ""` {
		t.Errorf("logged %s", got)
	}
}
