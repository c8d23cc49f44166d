package serve

import (
	"errors"
	"fmt"
	"net/http"
	"slices"
	"strings"
	"time"

	"github.com/plrank/plrank/cmd/internal/cli"
	"github.com/plrank/plrank/serve"
)

var page = cli.Page{
	Command: "serve",
	Usage:   []string{"-model [NAME=]FILE … [flags]"},
	Text: "Ranks the documents of queries over HTTP, by POST /v1/rank. GET /v1/models, /readyz, /livez, " +
		"/metrics (Prometheus) and /openapi.json describe the service. See docs/serving.md. " +
		"When the file of a model or of the token changes, and on SIGHUP, it is read again. If the new file " +
		"cannot be used, the service keeps the old model, and logs the error once. After SIGTERM or Ctrl-C, " +
		"/readyz answers 503 at once, so that load balancers stop sending requests. When the time of -drain is over, " +
		"the service accepts no more connections, answers the requests in flight, and ends. A second " +
		"signal ends it at once.",
	Examples: []string{
		"-model runs/fold1/model.npz",
		"-model shop=shop.npz -model news=news.npz -listen :8080",
		"-model runs/fold1/model.npz -log clicks",
		"-model old=old.npz -model new=new.npz -interleave old,new -log clicks",
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

func (o *options) flags() cli.Flags {
	o.Models, o.Limits = map[string]string{}, serve.DefaultLimits()
	o.listen, o.Poll, o.drain, o.connections = "localhost:8080", 2*time.Second, 5*time.Second, 4096
	l := &o.Limits
	return cli.Flags{
		{Name: "model", Value: o.addModel, Help: "a model `file`, or NAME=FILE; repeated for several models"},
		{Name: "listen", Value: &o.listen, Help: "`address` to listen on; :8080 is port 8080 on all interfaces"},
		{Name: "probes", Value: &o.probes, Help: "another `address`, such as :8081, only for /livez, /readyz, /healthz and /metrics; clients " +
			"of -listen cannot keep it busy"},
		{Name: "log", Value: &o.Clicks, Help: "`folder` for the click log: drawn rankings, and the events of POST /v1/events; no other process " +
			"may write there"},
		{Name: "interleave", Value: names(&o.Interleave), Needs: []string{"log"}, Help: "`models`, names or files, that share rankings"},
		{Name: "split", Value: names(&o.Split), Needs: []string{"log"}, Help: "`models`, by name, that divide the users: an A/B test"},
		{Name: "token-file", Value: &o.TokenFile, Help: "`file` with the TOKEN of Authorization: Bearer TOKEN"},
		{Name: "origin", Value: o.addOrigin, Help: "a `website`, such as https://shop.example, whose pages may send requests that are not " +
			"JSON; may be repeated"},
		{Name: "host", Value: o.addHost, Help: "a `name` allowed as Host on localhost; may be repeated"},
		{Name: "poll", Value: cli.Duration(&o.Poll, 0, longest), Help: "`time` between checks of the files; 0 means never"},
		{Name: "drain", Value: cli.Duration(&o.drain, 0, longest), Help: "`time` after SIGTERM to still accept requests"},
		{Name: "timeout", Value: cli.Duration(&l.Timeout, time.Millisecond, longest),
			Help: "`time` to receive a request, and again to wait for a core and compute"},
		{Name: "max-body", Value: cli.Int(&l.Body, 1, 1<<30), Help: "the most `bytes` of a request"},
		{Name: "max-documents", Value: cli.Int(&l.Documents, 1, 10_000_000), Help: "the most `documents` in a request"},
		{Name: "max-cutoff", Value: cli.Int(&l.Cutoff, 1, 10_000_000), Help: "the most `ranks` to draw, unless all are drawn"},
		{Name: "max-work", Value: cli.Int(&l.Work, 1, 2_000_000_000), Help: "the most `work` of a request, in units of 0.2 µs of a core"},
		{Name: "concurrency", Value: cli.Int(&l.Requests, 1, 1_000_000), Help: "the most `requests` in flight; more get status 503"},
		{Name: "connections", Value: cli.Int(&o.connections, 1, 1_000_000),
			Help: "the most `connections`; more wait until one closes, as do probes on them: see -probes"},
	}
}

// names returns a function that reads a flag of several models.
func names(to *[]string) func(text string) error {
	return func(text string) error {
		*to = strings.Split(text, ",")
		return cli.ErrorIf(len(*to) < 2 || slices.Contains(*to, ""), "want two names or more, with commas between")
	}
}

// addOrigin reads the flag -origin.
func (o *options) addOrigin(text string) error {
	o.Origins = append(o.Origins, text)
	return new(http.CrossOriginProtection).AddTrustedOrigin(text)
}

// addHost reads the flag -host.
func (o *options) addHost(text string) error {
	o.Hosts = append(o.Hosts, text)
	return cli.ErrorIf(text == "" || strings.ContainsAny(text, ":/"), "want a name, without a scheme and a port")
}

func (o *options) check(*cli.Line) error {
	for i, text := range o.Interleave {
		if o.Models[text] != "" {
			continue
		}
		name, path, named := strings.Cut(text, "=")
		if !named {
			path = text
		}
		if o.Models[name] != "" || name == "" || path == "" {
			return fmt.Errorf("-interleave %s: want the name of a -model, a file, or a new NAME=FILE", text)
		}
		o.Interleave[i], o.Models[name] = name, path
	}
	return cli.ErrorIf(len(o.Models) == 0, "-model is needed")
}

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
