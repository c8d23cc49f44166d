package datasets_test

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/plrank/plrank/datasets"
)

// Judgements of OpenSearch, RRE and Quepid, in the forms that their documentation and their sources describe, are read like TREC's; and
// those that have words for grades.
func TestExportsOfJudgementToolsAreRead(t *testing.T) {
	t.Parallel()
	path := filepath.Join(t.TempDir(), "file")
	write := func(path, text string) {
		if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	write(path+".grades", "Very good 3\nGood 3\nBad 0\n")
	for _, text := range []string{
		"red_dress 0 a 3\nred_dress 0 b 0\ntv 0 c,d 1\n",
		`{"name": "n", "type": "IMPORT_JUDGMENT", "judgmentRatings": [{"query": "red dress", "ratings": [{"docId": "a", "rating": "3.000"},
			{"docId": "b", "rating": "0"}]}, {"query": "tv", "ratings": [{"docId": "c,d", "rating": 1}]}]}`,
		`{"index": "i", "id_field": "id", "topics": [{"description": "x", "query_groups": [{"name": "red dress", "queries": [{"template": "t"}],
			"relevant_documents": {"3": ["a"], "0": ["b"]}}, {"name": "tv", "relevant_documents": {"c,d": {"gain": 1}}}]}]}`,
		`{"query_groups": [{"name": "red dress", "relevant_documents": {"a": {"gain": 3}, "b": {"gain": 0}}}, {"name": "tv", "relevant_documents": {"1": ["c,d"]}}]}`,
		"\ufeffquery,docid,rating\r\nred dress,a,3\r\nred dress,b,0\r\n\"tv\",\"c,d\",1\r\ntv,e,\r\n",
		"query,docid,rating\nlamp\nred dress,a,3\nred dress,b,0\ntv,\"c,d\",1\n",
		`{"queries": [{"query": "red dress", "ratings": {"a": 3.0, "b": 0.0}}, {"query": "tv", "ratings": {"c,d": 1.0}}, {"query": "lamp", "ratings": {}}]}`,
		`{"took": 1, "hits": {"total": {"value": 1}, "hits": [{"_id": "j", "_source": {"name": "n", "judgmentRatings": [{"query": "red dress",
			"ratings": [{"docId": "a", "rating": "3.0"}, {"docId": "b", "rating": "0.0"}]}, {"query": "tv", "ratings": [{"docId": "c,d", "rating": "1.0"}]}]}}]}}`,
		`{"judgmentRatings": {"red dress": [{"docId": "a", "rating": "3.000"}, {"docId": "b", "rating": "0.000"}], "tv": [{"docId": "c,d", "rating": 1}]}}`,
		`{"query_groups": [{"name": "red dress", "relevant_documents": [{"document_id": "a", "gain": 3}, {"document_id": "b", "gain": 0}]},
			{"name": "tv", "relevant_documents": [{"document_id": "c,d", "gain": 1}]}]}`,
		"query,docid,rating\nred dress,a,Very good\nred dress,b,Bad\ntv,\"c,d\",1\n",
		"red_dress 0 a Good\nred_dress 0 b Bad\ntv 0 c,d 1\n",
		"Query,Better,Worse\nred dress,a,b\nred dress,a,x\nred dress,x,y\nred dress,y,b\nred dress,b,b2\nred dress,b2,b\ntv,\"c,d\",e\n",
		"Query Text,Doc ID,Title,Rating\nred dress,a,t,3\nred dress,b,t,0\ntv,\"c,d\",t,1\n",
	} {
		write(path, text)
		d, err := datasets.ReadQrels(path)
		if err != nil {
			t.Fatalf("%s: %v", text, err)
		}
		grades := map[string]float32{}
		for q, id := range d.QueryIDs {
			for row := d.Offsets[q]; row < d.Offsets[q+1]; row++ {
				grades[id+" "+d.DocumentIDs[row]] = d.Labels[row]
			}
		}
		if preferences := strings.Contains(text, "Better"); preferences { // net wins of a, x, y, b2, b: 2, 0, 0, 0, −2
			if grades["red_dress a"] != 2 || grades["red_dress y"] != 1 || grades["red_dress b2"] != 1 || grades["red_dress b"] != 0 || grades["tv c,d"] != 1 {
				t.Errorf("%v", grades)
			}
			continue
		}
		if len(grades) != 3 || grades["red_dress a"] != 3 || grades["tv c,d"] != 1 {
			t.Errorf("%s: %v", text, grades)
		}
		if list, _, err := datasets.ReadJudgements(path); err != nil || len(list) != 3 || list[0].Query != "red_dress" {
			t.Errorf("%s: %v, %v", text, list, err)
		}
	}
	for text, want := range map[string]string{
		`{"a": 1}`:                         "no judgements: want judgmentRatings",
		`{"judgmentRatings": `:             "unexpected EOF",
		"query,rating\nq,1\n":              "no column docid",
		"query,docid,rating\nq,a,good\n":   path + ":2: \"good\" is not a label: want a whole number from −2^31 to 2^31 − 1; a file " + path + ".grades may",
		"q 0 a 0.5\n":                      "\"0.5\" is not a label",
		"query,docid,rating\nq,a,inf\n":    "\"inf\" is not a label",
		"query,docid,rating\n ,a,1\n":      `query "", document "a"`,
		"query,docid,rating\nq,a,1\nq,b\n": path + ":3: wrong number of fields",
		"query,docid,rating\n\"q,a,1\n":    path + ":2: extraneous or missing \"",
		"query,better,worse\nq,a,a\n":      path + ":2: query q: \"a\" is better than itself",
		`{"query_groups": [{"name": "q", "relevant_documents": 7}]}`:                     `query "q": want documents with their ratings, not 7`,
		`{"query_groups": [{"name": "q", "relevant_documents": {"a": {}}}]}`:             `judgement 1: "" is not a label`,
		`{"judgmentRatings": [{"query": "q", "ratings": [{"docId": 3, "rating": []}]}]}`: `judgement 1: "[]" is not a label`,
	} {
		write(path, text)
		if d, err := datasets.ReadQrels(path); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%s: %v, %v, want %q", text, d, err, want)
		}
	}
}
