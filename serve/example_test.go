package serve_test

import (
	"fmt"
	"io"
	"log"
	"log/slog"
	"net/http"
	"net/http/httptest"
	"strings"

	"github.com/plrank/plrank/serve"
)

// A server that ranks documents below /ranking/, next to its other handlers.
func Example() {
	s, err := serve.New(serve.Options{
		Models: map[string]string{"shop": "../ranker/testdata/model.npz"},
		Limits: serve.Limits{Documents: 500},
		Log:    slog.New(slog.DiscardHandler),
	})
	if err != nil {
		log.Fatal(err)
	}
	defer s.Close()
	mux := http.NewServeMux()
	mux.Handle("/ranking/", http.StripPrefix("/ranking", s))
	server := httptest.NewServer(mux) // in a program: http.ListenAndServe
	defer server.Close()

	answer, err := http.Post(server.URL+"/ranking/v1/rank", "application/json",
		strings.NewReader(`{"documents": [{"2": -0.5, "3": 0.1, "7": 0.4}, {"2": 0.8, "3": 1.1, "7": -0.2}]}`))
	if err != nil {
		log.Fatal(err)
	}
	defer answer.Body.Close()
	text, err := io.ReadAll(answer.Body)
	if err != nil {
		log.Fatal(err)
	}
	_, order, _ := strings.Cut(string(text), `"order":`)
	fmt.Println(answer.Status, order)
	// Output:
	// 200 OK [1,0]}
}
