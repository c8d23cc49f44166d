package serve

import (
	"bytes"
	"encoding/json"
	"io"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"testing"
)

// reranker answers POST /rerank of Weaviate, of OpenSearch's connectors and of Elasticsearch's custom inference, which send
// texts: each is the JSON of the features of a document, from a field of the index. The service is at this address.
func reranker(service string) http.Handler {
	mux := http.NewServeMux()
	mux.Handle("GET /.well-known/ready", http.RedirectHandler(service+"/readyz", http.StatusTemporaryRedirect))
	mux.HandleFunc("POST /rerank", func(w http.ResponseWriter, r *http.Request) {
		var in struct{ Documents, Input []string } // Input is Elasticsearch's
		if err := json.NewDecoder(r.Body).Decode(&in); err != nil {
			http.Error(w, `{"error": "want JSON with documents"}`, http.StatusBadRequest)
			return
		}
		texts := append(in.Documents, in.Input...)
		documents := make([]json.RawMessage, len(texts))
		for i, text := range texts {
			documents[i] = json.RawMessage(text)
		}
		body, err := json.Marshal(map[string]any{"documents": documents})
		if err != nil {
			http.Error(w, `{"error": "want the features of a document as JSON in each text"}`, http.StatusBadRequest)
			return
		}
		reply, err := http.Post(service+"/v1/rank", "application/json", bytes.NewReader(body))
		if err != nil {
			http.Error(w, `{"error": "no service"}`, http.StatusBadGateway)
			return
		}
		defer reply.Body.Close()
		w.Header().Set("Content-Type", "application/json")
		if w.WriteHeader(reply.StatusCode); reply.StatusCode != http.StatusOK {
			io.Copy(w, reply.Body) // {"error": …}
			return
		}
		var ranked struct{ Scores []float64 }
		json.NewDecoder(reply.Body).Decode(&ranked)
		results, scores := []any{}, []any{}
		for i, s := range ranked.Scores {
			number := json.RawMessage(strconv.AppendFloat(nil, s, 'e', -1, 64)) // OpenSearch takes no whole numbers
			results = append(results, map[string]any{"index": i, "relevance_score": number})
			scores = append(scores, map[string]any{"document": texts[i], "score": s})
		}
		json.NewEncoder(w).Encode(map[string]any{"results": results, "scores": scores}) // of all others, of Weaviate
	})
	return mux
}

// recorded returns a file of testdata/rerank.
func recorded(t *testing.T, name string) string {
	t.Helper()
	text, err := os.ReadFile(filepath.Join("testdata", "rerank", name))
	if err != nil {
		t.Fatal(err)
	}
	return string(text)
}

// The scores of the recorded documents, by the model of named.
var recordedScores = []float64{130, 255.5}

func TestRerankersAreAnsweredThroughAFewLines(t *testing.T) {
	s, _ := tested(t, Options{Models: only(named(t))})
	service := httptest.NewServer(s)
	defer service.Close()
	lines := httptest.NewServer(reranker(service.URL))
	defer lines.Close()
	for name, contentType := range map[string]string{"weaviate.json": "", "opensearch-rerank.json": "application/json", "elasticsearch-custom.json": "application/json"} {
		request := recorded(t, name)
		reply, err := http.Post(lines.URL+"/rerank", contentType, strings.NewReader(request))
		if err != nil {
			t.Fatal(err)
		}
		text, err := io.ReadAll(reply.Body)
		reply.Body.Close()
		var answer struct {
			Results []struct {
				Index int
				Score json.Number `json:"relevance_score"`
			}
			Scores []struct {
				Document string
				Score    float64
			}
		}
		if err != nil || reply.StatusCode != 200 || json.Unmarshal(text, &answer) != nil || len(answer.Results) != 2 || len(answer.Scores) != 2 {
			t.Fatalf("%s: %s %s, error %v", name, reply.Status, text, err)
		}
		for i, want := range recordedScores {
			r, s := answer.Results[i], answer.Scores[i]
			if got, err := r.Score.Float64(); err != nil || r.Index != i || got != want || !strings.Contains(r.Score.String(), "e") {
				t.Errorf("%s: result %+v, want %v, written as a floating-point number", name, r, want)
			}
			if quoted, err := json.Marshal(s.Document); err != nil || s.Score != want || !strings.Contains(request, string(quoted)) {
				t.Errorf("%s: score %+v, want %v, and the document as it was sent", name, s, want)
			}
		}
	}
	for body, status := range map[string]int{
		`{"documents": ["{}", "no features"]}`:     400,
		`{"documents": ["{\"colour\": \"red\"}"]}`: 400,
		`[]`: 400,
	} {
		reply, err := http.Post(lines.URL+"/rerank", "", strings.NewReader(body))
		if err != nil {
			t.Fatal(err)
		}
		text, err := io.ReadAll(reply.Body)
		reply.Body.Close()
		var answer struct{ Error string }
		if err != nil || reply.StatusCode != status || json.Unmarshal(text, &answer) != nil || answer.Error == "" {
			t.Errorf("%s: %s %s, want %d with an error", body, reply.Status, text, status)
		}
	}
	if reply, err := http.Get(lines.URL + "/.well-known/ready"); err != nil || reply.StatusCode != 200 {
		t.Errorf("ready: %v, error %v", reply, err)
	}
}

// What OpenSearch's ml_inference processor sends by the template in serving.md is a request as it is.
func TestInferenceProcessorIsAnsweredAsItIs(t *testing.T) {
	page, err := os.ReadFile("../docs/serving.md")
	if err != nil {
		t.Fatal(err)
	}
	template := regexp.MustCompile(`"request_body": ("\{\\"documents.*?\}")`).FindSubmatch(page)
	if template == nil {
		t.Fatal("serving.md has no template")
	}
	var body string
	if err := json.Unmarshal(template[1], &body); err != nil {
		t.Fatal(err)
	}
	before, after, _ := strings.Cut(body, "${parameters.features}")
	request := recorded(t, "opensearch-inference.json")
	if !strings.HasPrefix(request, before) || !strings.HasSuffix(request, after) {
		t.Errorf("%s is not %s with features", request, body)
	}
	s, _ := tested(t, Options{Models: only(named(t))})
	checkScores(t, post(s, request), recordedScores)
}

func checkScores(t *testing.T, w *httptest.ResponseRecorder, want []float64) {
	t.Helper()
	var answer struct{ Scores []float64 }
	if err := json.Unmarshal(w.Body.Bytes(), &answer); err != nil || !slices.Equal(answer.Scores, want) {
		t.Errorf("%d %s, want %v", w.Code, w.Body, want)
	}
}

// fromHits returns the documents of hits with logged features: the array log_entry1 of OpenSearch's and Elasticsearch's
// learning-to-rank plugins. Vespa's match-features are documents already.
func fromHits(result string) (documents []map[string]*float64, err error) {
	var r struct {
		Hits struct {
			Hits []struct {
				Fields struct {
					Logged []map[string][]struct {
						Name  string
						Value *float64 // nil: the feature does not match
					} `json:"_ltrlog"`
				}
			}
		}
	}
	err = json.Unmarshal([]byte(result), &r)
	for _, hit := range r.Hits.Hits {
		features := map[string]*float64{}
		for _, f := range hit.Fields.Logged[0]["log_entry1"] {
			features[f.Name] = f.Value
		}
		documents = append(documents, features)
	}
	return documents, err
}

func TestHitsWithFeaturesAreDocuments(t *testing.T) {
	s, _ := tested(t, Options{Models: only(named(t))})
	documents, err := fromHits(recorded(t, "opensearch-ltr.json"))
	if err != nil {
		t.Fatal(err)
	}
	request, err := json.Marshal(map[string]any{"documents": documents})
	if err != nil {
		t.Fatal(err)
	}
	checkScores(t, post(s, string(request)), []float64{30, 55.5})

	var result struct {
		Root struct {
			Children []struct {
				Fields struct{ MatchFeatures json.RawMessage }
			}
		}
	}
	if err := json.Unmarshal([]byte(recorded(t, "vespa.json")), &result); err != nil {
		t.Fatal(err)
	}
	var features []json.RawMessage
	for _, hit := range result.Root.Children {
		features = append(features, hit.Fields.MatchFeatures)
	}
	if request, err = json.Marshal(map[string]any{"documents": features}); err != nil {
		t.Fatal(err)
	}
	checkScores(t, post(s, string(request)), []float64{30, 55.5})
}
