package serve

import (
	"errors"
	"flag"
	"fmt"
	"io"
	"strings"
	"time"

	"github.com/plrank/plrank/internal/command"
	"github.com/plrank/plrank/ranker/service"
)

type options struct {
	models      models
	tokenFile   string
	limits      service.Limits
	listen      string
	connections int
	drain       time.Duration
	poll        time.Duration
}

func flags(o *options) *flag.FlagSet {
	f := flag.NewFlagSet("serve", flag.ContinueOnError)
	o.models, o.limits = models{}, service.DefaultLimits()
	l := &o.limits
	f.Var(o.models, "model", "a model `file`, or NAME=FILE; repeat it for several models")
	f.StringVar(&o.listen, "listen", "localhost:8080", "`address` to listen on; :8080 is port 8080 on all interfaces")
	f.StringVar(&o.tokenFile, "token-file", "", "a `file` with the token that requests need: Authorization: Bearer TOKEN")
	f.Int64Var(&l.Body, "max-body", l.Body, "most `bytes` of a request")
	f.IntVar(&l.Documents, "max-documents", l.Documents, "most `documents` of a request")
	f.IntVar(&l.Cutoff, "max-cutoff", l.Cutoff, "most `ranks` to draw")
	f.IntVar(&l.Work, "max-work", l.Work, "most `work` of a request, in units of about 0.2 µs: documents × ranks to draw, and the computation of the scores; see docs/serving.md")
	f.IntVar(&l.Requests, "concurrency", l.Requests, "most `requests` in flight; further ones get status 503")
	f.IntVar(&o.connections, "connections", 4096, "most `connections`; further ones are closed at once")
	f.DurationVar(&l.Timeout, "timeout", l.Timeout, "`time` to receive a request, again to wait for a core and compute its answer, and again to send it")
	f.DurationVar(&o.drain, "drain", 5*time.Second, "`time` after SIGTERM in which requests are still answered, while /readyz tells load balancers to send no more")
	f.DurationVar(&o.poll, "poll", 2*time.Second, "`time` between two looks whether the files of models and the token have changed; 0 is never")
	return f
}

func (o *options) check() error {
	l := o.limits
	switch {
	case len(o.models) == 0:
		return command.Usage(errors.New("-model is needed"))
	case l.Body < 1 || l.Documents < 1 || l.Cutoff < 1 || l.Work < 1 || l.Requests < 1 || o.connections < 1:
		return command.Usage(errors.New("limits must be 1 or more"))
	case l.Timeout <= 0 || o.drain < 0 || o.poll < 0:
		return command.Usage(errors.New("-timeout must be more than 0, -drain and -poll 0 or more"))
	}
	return nil
}

// models is the flag -model: files by name. FILE alone is called default.
type models map[string]string

func (m models) String() string { return "" }

func (m models) Set(text string) error {
	name, path, ok := strings.Cut(text, "=")
	if !ok {
		name, path = "default", text
	}
	switch {
	case name == "" || path == "":
		return errors.New("want NAME=FILE, or FILE")
	case m[name] != "":
		return fmt.Errorf("two models are called %q: want NAME=FILE", name)
	}
	m[name] = path
	return nil
}

func help(w io.Writer, f *flag.FlagSet) {
	fmt.Fprint(w, `NAME
  plrank serve - rank documents over HTTP with trained models

SYNOPSIS
  plrank serve -model [NAME=]FILE … [flags]

DESCRIPTION
  POST /v1/rank ranks the documents of a query. GET /v1/models, /readyz, /livez,
  /metrics (Prometheus) and /openapi.json describe the service. See docs/serving.md.

  A model and the token are read again when their files change, and on SIGHUP. The
  version of a model, in answers and in the log, is the beginning of the SHA-256 of
  its file. A file that cannot be used leaves the model as it is, and is logged once.

  On SIGTERM and Ctrl-C, /readyz and /healthz have status 503 at once. For the time
  -drain requests are answered as before, and connections close after their next
  answer. Then no more connections are accepted, requests in flight are answered, and
  the program ends. A second signal ends it at once. /livez has status 200 until then.

FLAGS
`)
	f.VisitAll(func(f *flag.Flag) { command.DescribeFlag(w, f) })
}
