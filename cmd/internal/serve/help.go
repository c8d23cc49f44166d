package serve

import (
	"flag"
	"fmt"
	"io"

	"github.com/plrank/plrank/internal/command"
)

const about = `Ranks the documents of queries over HTTP: POST /v1/rank. GET /v1/models, /readyz,
/livez, /metrics (Prometheus) and /openapi.json describe the service. See
docs/serving.md.

A model and the token are read again when their files change, and on SIGHUP. A file
that cannot be used leaves the model as it is, and is logged once.

On SIGTERM and Ctrl-C, /readyz has status 503 at once, so that load balancers send no
more. For the time -drain requests are answered as before, and connections close after
their next answer. Then no more connections are accepted, requests in flight are
answered, and the program ends. A second signal ends it at once.
`

func help(w io.Writer, f *flag.FlagSet) {
	fmt.Fprintf(w, "Usage:\n  plrank serve -model [NAME=]FILE … [flags]\n\n%s\nFlags:\n", about)
	f.VisitAll(func(f *flag.Flag) {
		value, text := flag.UnquoteUsage(f)
		if f.DefValue != "" {
			text += fmt.Sprintf(" (default %s)", f.DefValue)
		}
		fmt.Fprintf(w, "  -%s %s\n%s\n", f.Name, value, command.Indent(command.Wrap(text, 72), "        "))
	})
	fmt.Fprint(w, "\nExample:\n  plrank serve -model shop=runs/shop/model.npz -listen :8080\n")
}
