// Package completion is the sub-command that prints scripts by which shells complete the others. The scripts ask plrank
// itself, by plrank completion words WORDS, what the last word may become.
package completion

import (
	"embed"
	"errors"
	"fmt"
	"io"

	"github.com/plrank/plrank/cmd/internal/cli"
	"github.com/plrank/plrank/internal/names"
)

// Words is the argument after which the words follow that are to be completed.
const Words = "words"

var page = cli.Page{
	Command: "completion",
	Usage:   []string{"bash|zsh|fish"},
	Text: "Prints a script by which a shell completes sub-commands, flags, names of losses, metrics and the like, and elsewhere names of " +
		"files. " +
		"Its first lines say where it goes, such as source <(plrank completion bash) in .bashrc.",
	Examples: []string{"bash", "zsh", "fish > ~/.config/fish/completions/plrank.fish"},
	Words:    true,
}

//go:embed plrank.bash plrank.zsh plrank.fish
var scripts embed.FS

// Shells returns the names of the shells that there is a script for.
func Shells() []string { return []string{"bash", "zsh", "fish"} }

// Run runs the sub-command, and returns its exit status.
func Run(args []string, _ io.Reader, stdout, stderr io.Writer) int {
	var script []byte
	check := func(line *cli.Line) (err error) {
		if line.NArg() != 1 {
			return errors.New("want one of bash, zsh, fish")
		}
		if script, err = scripts.ReadFile("plrank." + line.Arg(0)); err != nil {
			return fmt.Errorf("no script for %q: %s", line.Arg(0), names.Want(line.Arg(0), Shells()))
		}
		return nil
	}
	return page.Run(args, nil, stdout, stderr, check, func(_ *cli.Line, stdout io.Writer) error {
		_, err := stdout.Write(script)
		return err
	})
}
