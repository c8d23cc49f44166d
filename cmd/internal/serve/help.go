package serve

import "github.com/plrank/plrank/cmd/internal/help"

var page = help.Page{
	Command: "serve",
	Usage:   []string{"-model [NAME=]FILE … [flags]"},
	Text: "Ranks the documents of queries over HTTP: POST /v1/rank. GET /v1/models, /readyz, /livez, " +
		"/metrics (Prometheus) and /openapi.json describe the service. See docs/serving.md. " +
		"A model and the token are read again when their files change, and on SIGHUP; a file " +
		"that cannot be used leaves the model as it is, and is logged once. On SIGTERM and Ctrl-C, " +
		"/readyz has status 503 at once, so that load balancers send no more; after -drain no more " +
		"connections are accepted, requests in flight are answered, and the program ends. A second " +
		"signal ends it at once.",
	Flags: []string{"model", "listen", "token-file", "poll", "drain", "timeout", "max-body", "max-documents", "max-cutoff", "max-work", "concurrency", "connections"},
	Examples: []string{
		"-model runs/fold1/model.npz",
		"-model shop=shop.npz -model news=news.npz -listen :8080",
	},
}
