// Package clicks implements the sub-commands that work on logs of clicks.
package clicks

import (
	"context"
	"errors"
	"fmt"
	"io"
	"strings"

	"github.com/plrank/plrank/cmd/internal/cli"
	"github.com/plrank/plrank/internal/command"
	"github.com/plrank/plrank/internal/names"
)

var page = cli.Page{
	Command: "clicks",
	Usage: []string{
		"check LOGS [flags]",
		"bias LOGS [-out FILE] [flags]",
		"evaluate LOGS MODELS [-baseline FILE] [-require 0] [flags]",
		"compare LOGS [flags]",
		"drift -model FILE LOGS [flags]",
		"simulate -data FILE|DIR [-model FILE] -out LOG [flags]",
	},
	Text: "Learns from logs of impressions and clicks. check reports what can be learned from a log. bias estimates position bias, the " +
		"effect of a document's rank on its clicks. evaluate estimates how many clicks another model would get, and can refuse a model that " +
		"is not shown to be better. compare finds which of several models users prefer. drift finds what has moved since a model was " +
		"trained. simulate makes a log. plrank train -clicks LOGS " +
		"trains on a log. LOGS are files of UBI lines, as " +
		"plrank serve writes them, or folders of such files. -help after a word explains its flags.",
	Examples: []string{
		"check logs",
		"bias logs -out bias.json",
		"evaluate logs new.npz -baseline old.npz -require 0",
	},
	Topics: []string{"clicks"},
	Words:  true,
}

// A verb is a sub-command below clicks: its command line, and its work. All have -threads.
type verb interface {
	flags() cli.Flags
	check(line *cli.Line) error
	run(ctx context.Context, line *cli.Line, stdout, stderr io.Writer) error
}

var verbs = []struct {
	name string
	page *cli.Page
	new  func() verb
}{
	{"check", &checkPage, func() verb { return new(checkOptions) }},
	{"bias", &biasPage, func() verb { return new(biasOptions) }},
	{"evaluate", &evaluatePage, func() verb { return new(evaluateOptions) }},
	{"compare", &comparePage, func() verb { return new(compareOptions) }},
	{"drift", &driftPage, func() verb { return new(driftOptions) }},
	{"simulate", &simulatePage, func() verb { return new(simulateOptions) }},
}

// Verbs returns the words that may follow clicks.
func Verbs() (known []string) {
	for _, v := range verbs {
		known = append(known, v.name)
	}
	return known
}

// Run runs the sub-command, and returns its exit status.
func Run(args []string, _ io.Reader, stdout, stderr io.Writer) int {
	for _, v := range verbs {
		if len(args) > 0 && args[0] == v.name {
			ctx, o := command.Interruptible(), v.new()
			return v.page.Run(args[1:], append(o.flags(), cli.ThreadsFlag()), stdout, stderr, o.check, func(line *cli.Line, stdout io.Writer) error {
				return o.run(ctx, line, stdout, command.Once(stderr))
			})
		}
	}
	check := func(line *cli.Line) error {
		if line.NArg() == 0 {
			return errors.New("want one of " + strings.Join(Verbs(), ", "))
		}
		return fmt.Errorf("unknown command %q: %s", line.Arg(0), names.Want(line.Arg(0), Verbs()))
	}
	return page.Run(args, nil, stdout, stderr, check, nil)
}
