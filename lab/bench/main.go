// Command bench runs the Go benchmarks of the project, part by part, and prints
// the tables of speed.md: the kernel and the papers' algorithms, ops, losses, a
// training step, and an epoch. See -help.
package main

import (
	"context"
	"errors"
	"flag"
	"fmt"
	"io"
	"os"
	"slices"
	"strings"

	"github.com/plrank/plrank/internal/command"
	"github.com/plrank/plrank/lab/internal/markdown"
)

func main() {
	os.Exit(run(command.Interruptible(), os.Args[1:], goTest, os.Stdout, os.Stderr))
}

// run is the command, and its exit status.
func run(ctx context.Context, args []string, test tester, stdout, stderr io.Writer) int {
	return command.Run("bench", stdout, stderr, func(stdout io.Writer) error {
		if len(args) > 0 {
			if tables := tablesCommands[args[0]]; tables != nil {
				return tables(args[1:], stdout, stderr)
			}
		}
		o, err := parse(args)
		if errors.Is(err, flag.ErrHelp) {
			help(stdout)
			return nil
		}
		if err != nil {
			return command.Usage(err)
		}
		err = measure(ctx, o, test, stdout, stderr)
		if err != nil && ctx.Err() != nil {
			fmt.Fprintln(stderr, "interrupted: parts that are finished are kept; -parts runs the others")
			return command.ErrInterrupted
		}
		return err
	})
}

// tablesCommands are the sub-commands that make tables of documents from CSV files.
var tablesCommands = map[string]func(args []string, stdout, stderr io.Writer) error{
	"peers": peers.run, "scale": scale.run, "fullsize": fullsize.run,
}

// measure runs the parts one after another. Each is printed, and written, as soon
// as it is finished.
func measure(ctx context.Context, o options, test tester, stdout, stderr io.Writer) error {
	if err := o.findMarkers(); err != nil { // before minutes are spent
		return fmt.Errorf("bench: %w", err)
	}
	for i, p := range o.parts {
		cores := p.cores(o.cores)
		fmt.Fprintf(stderr, "part %d of %d, %s: benchmarks of %s, %d times each\n", i+1, len(o.parts), p.name, p.pkg, o.count)
		results, err := test(ctx, p, cores, o.count, stderr)
		if err != nil {
			return fmt.Errorf("bench: %s: %w", p.name, err)
		}
		measured := p.measured(results.processor, cores, o.count)
		body, err := p.body(results, measured)
		if err != nil {
			return fmt.Errorf("bench: %s: %w", p.name, err)
		}
		if o.write != nil {
			if err := results.save(csvPath(o.results, p), measured); err != nil {
				return fmt.Errorf("bench: %w", err)
			}
		}
		if err := printPart(p.marker(), body, o.write, stdout, stderr); err != nil {
			return err
		}
	}
	return nil
}

// findMarkers returns an error if none of the files to write has a part that is not linked.
func (o options) findMarkers() error {
	if o.write == nil {
		return nil
	}
	var found []string
	for _, path := range o.write {
		text, err := os.ReadFile(path)
		if err != nil {
			return err
		}
		for _, p := range o.parts {
			if !slices.Contains(markdown.Names(string(text)), p.marker()) {
				continue
			}
			if _, err := markdown.Section(string(text), p.marker()); err != nil {
				return fmt.Errorf("%s: %w", path, err)
			}
			found = append(found, p.marker())
		}
	}
	for _, p := range o.parts {
		if !p.linked && !slices.Contains(found, p.marker()) {
			return fmt.Errorf("%s: no part %q, a line <!-- %s -->", strings.Join(o.write, ", "), p.marker(), p.marker())
		}
	}
	return nil
}
