// Package clicks implements the sub-commands that work on logs of clicks.
package clicks

import (
	"errors"
	"fmt"
	"io"

	"github.com/plrank/plrank/cmd/internal/cli"
	"github.com/plrank/plrank/internal/names"
)

var page = cli.Page{
	Command: "clicks",
	Usage: []string{
		"check LOGS [flags]",
		"bias LOGS [-out FILE] [flags]",
		"evaluate LOGS MODELS [-baseline FILE] [-require 0] [flags]",
		"simulate -data FILE|DIR [-model FILE] -out LOG [flags]",
	},
	Text: "Learns from logs of impressions and clicks. check says what a log can tell; bias estimates position bias, the effect of a document's rank on its clicks; " +
		"evaluate estimates how many clicks another model would get, and can refuse a model that is not shown to be better; simulate makes a log. " +
		"plrank train -clicks LOGS trains on one. LOGS are files of UBI lines, as plrank serve writes them, or folders; -help after a word explains its flags.",
	Examples: []string{
		"check logs",
		"bias logs -out bias.json",
		"evaluate logs new.npz -baseline old.npz -require 0",
	},
	Topics: []string{"clicks"},
	Words:  true,
}

// verbs lists the sub-commands below clicks.
var verbs = []struct {
	name string
	run  func(args []string, stdin io.Reader, stdout, stderr io.Writer) int
}{
	{"check", runCheck},
	{"bias", runBias},
	{"evaluate", runEvaluate},
	{"simulate", runSimulate},
}

// Run runs the sub-command, and returns its exit status.
func Run(args []string, stdin io.Reader, stdout, stderr io.Writer) int {
	var known []string
	for _, v := range verbs {
		if len(args) > 0 && args[0] == v.name {
			return v.run(args[1:], stdin, stdout, stderr)
		}
		known = append(known, v.name)
	}
	flags := newFlags("clicks")
	check := func() error {
		if flags.NArg() == 0 {
			return errors.New("want one of check, bias, evaluate, simulate")
		}
		return fmt.Errorf("unknown command %q: %s", flags.Arg(0), names.Want(flags.Arg(0), known))
	}
	return page.Run(args, flags, stdout, stderr, check, nil)
}
