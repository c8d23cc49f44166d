// Package serve ranks documents over HTTP with trained models. A [Service] is an
// [http.Handler] for other servers to mount; `plrank serve` is a program around it.
//
//	s, err := New(Options{Models: map[string]string{"shop": "runs/shop/model.npz"}})
//	mux.Handle("/ranking/", http.StripPrefix("/ranking", s))
//
// It answers
//
//	POST /v1/rank       the scores and the order of the documents of a query, and a drawn ranking
//	POST /v1/events     logs what users clicked, if there is a click log
//	GET  /v1/models     the models, their versions and feature ids
//	GET  /livez         200
//	GET  /readyz        200, or 503 after [Service.Drain]; /healthz is the same
//	GET  /metrics       for Prometheus
//	GET  /openapi.json  a description of all of these
//
// With [Options.Clicks], drawn rankings and events are logged in the form that package clicks reads. Their
// requests are answered when the log is on the disk.
//
// Requests that a browser sends for a page of another website are refused, unless they are JSON or
// the website is one of [Options.Origins].
//
// Each part of a request has a price before it is computed: see [Limits]. docs/serving.md describes the
// format of requests, and the memory and time that they take.
package serve
