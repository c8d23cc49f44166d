package serve

import (
	"errors"
	"flag"
	"fmt"
	"net/http"
	"strings"
	"time"

	"github.com/plrank/plrank/cmd/internal/cli"
	"github.com/plrank/plrank/serve"
)

var page = cli.Page{
	Command: "serve",
	Usage:   []string{"-model [NAME=]FILE … [flags]"},
	Text: "Ranks the documents of queries over HTTP: POST /v1/rank. GET /v1/models, /readyz, /livez, " +
		"/metrics (Prometheus) and /openapi.json describe the service. See docs/serving.md. " +
		"A model and the token are read again when their files change, and on SIGHUP; a file " +
		"that cannot be used leaves the model as it is, and is logged once. On SIGTERM and Ctrl-C, " +
		"/readyz has status 503 at once, so that load balancers send no more; after -drain no more " +
		"connections are accepted, requests in flight are answered, and the program ends. A second " +
		"signal ends it at once.",
	Flags: []string{"model", "listen", "probes", "log", "token-file", "origin", "host", "poll", "drain", "timeout",
		"max-body", "max-documents", "max-cutoff", "max-work", "concurrency", "connections"},
	Examples: []string{
		"-model runs/fold1/model.npz",
		"-model shop=shop.npz -model news=news.npz -listen :8080",
		"-model runs/fold1/model.npz -log clicks",
	},
}

// options holds the command line.
type options struct {
	serve.Options
	listen      string
	probes      string // an address; "": none
	connections int
	drain       time.Duration
}

// longest is the longest time that a flag may give.
const longest = 24 * time.Hour

func (o *options) flags() *flag.FlagSet {
	f := flag.NewFlagSet("serve", flag.ContinueOnError)
	o.Models, o.Limits = map[string]string{}, serve.DefaultLimits()
	l := &o.Limits
	f.Func("model", "a model `file`, or NAME=FILE; repeat it for several models", o.addModel)
	f.StringVar(&o.listen, "listen", "localhost:8080", "`address` to listen on; :8080 is port 8080 on all interfaces")
	f.StringVar(&o.probes, "probes", "",
		"another `address`, such as :8081, for /livez, /readyz, /healthz and /metrics alone: clients of -listen cannot keep it busy")
	f.StringVar(&o.Clicks, "log", "",
		"`folder` of the click log: drawn rankings, and the events of POST /v1/events; no other process may write there")
	f.StringVar(&o.TokenFile, "token-file", "", "`file` of the token that requests need: Authorization: Bearer TOKEN")
	f.Func("origin", "a `website` such as https://shop.example, whose pages may send requests that are not JSON; repeat it for several",
		func(text string) error {
			o.Origins = append(o.Origins, text)
			return new(http.CrossOriginProtection).AddTrustedOrigin(text)
		})
	f.Func("host", "a `name` that requests to localhost may have as Host; repeat it for several", func(text string) error {
		o.Hosts = append(o.Hosts, text)
		return cli.ErrorIf(text == "" || strings.ContainsAny(text, ":/"), "want a name, without a scheme and a port")
	})
	o.Poll, o.drain, o.connections = 2*time.Second, 5*time.Second, 4096
	cli.DurationVar(f, &o.Poll, "poll", 0, longest, "`time` between two looks at the files; 0 is never")
	cli.DurationVar(f, &o.drain, "drain", 0, longest, "`time` after SIGTERM in which requests are still answered")
	cli.DurationVar(f, &l.Timeout, "timeout", time.Millisecond, longest,
		"`time` to receive a request, and again to wait for a core and compute")
	cli.IntVar(f, &l.Body, "max-body", 1, 1<<30, "most `bytes` of a request")
	cli.IntVar(f, &l.Documents, "max-documents", 1, 10_000_000, "most `documents` of a request")
	cli.IntVar(f, &l.Cutoff, "max-cutoff", 1, 10_000_000, "most `ranks` to draw, unless they are all")
	cli.IntVar(f, &l.Work, "max-work", 1, 2_000_000_000, "most `work` of a request, in units of 0.2 µs of a core")
	cli.IntVar(f, &l.Requests, "concurrency", 1, 1_000_000, "most `requests` in flight; further ones get status 503")
	cli.IntVar(f, &o.connections, "connections", 1, 1_000_000,
		"most `connections`; further ones are answered on /livez and /readyz alone")
	return f
}

func (o *options) check() error { return cli.ErrorIf(len(o.Models) == 0, "-model is needed") }

// addModel reads the flag -model. FILE alone is called default.
func (o *options) addModel(text string) error {
	name, path, ok := strings.Cut(text, "=")
	if !ok {
		name, path = "default", text
	}
	switch {
	case name == "" || path == "":
		return errors.New("want NAME=FILE, or FILE")
	case o.Models[name] != "":
		return fmt.Errorf("two models are called %q: want NAME=FILE", name)
	}
	o.Models[name] = path
	return nil
}
