package main

import (
	"errors"
	"flag"
	"fmt"
	"io"
	"os"
	"slices"
	"strings"

	"github.com/plrank/plrank/cmd/internal/command"
	"github.com/plrank/plrank/cmd/internal/markdown"
)

// tablesCommands are the sub-commands that make tables of documents from CSV files.
var tablesCommands = map[string]func(args []string, stdout, stderr io.Writer) error{
	"peers": peers, "scale": scale, "fullsize": fullsize,
}

// tablesFlags are the flags of such a sub-command, and what it says it does.
type tablesFlags struct {
	*flag.FlagSet
	about          string
	results, write *string
}

func newTablesFlags(name, about string) tablesFlags {
	f := flag.NewFlagSet("bench "+name, flag.ContinueOnError)
	return tablesFlags{f, about,
		f.String("results", "docs/"+name, "the `folder` of CSV files"),
		f.String("write", "", "replace the parts between comments <!-- "+name+"-TABLE --> in these Markdown `files`, with commas between")}
}

// parse reads the arguments. It is done with them where they only ask for the manual.
func (f tablesFlags) parse(args []string, stdout io.Writer) (done bool, err error) {
	switch err := command.Parse(f.FlagSet, args); {
	case errors.Is(err, flag.ErrHelp):
		fmt.Fprintf(stdout, "%s - %s\n\n", f.Name(), f.about)
		f.VisitAll(func(one *flag.Flag) { command.DescribeFlag(stdout, one) })
		return true, nil
	case err != nil:
		return true, command.Usage(err)
	}
	return false, nil
}

// A documentPart is a generated part of a document, made of results.
type documentPart[Results any] struct {
	name string
	text func(Results) (string, error)
}

// printParts prints all parts, and puts them into the documents that have a place for them.
func printParts[Results any](parts []documentPart[Results], r Results, documents string, stdout, stderr io.Writer) error {
	for _, p := range parts {
		body, err := p.text(r)
		if err != nil {
			return fmt.Errorf("bench: %s: %w", p.name, err)
		}
		fmt.Fprintf(stdout, "<!-- %s -->\n%s<!-- /%s -->\n\n", p.name, body, p.name)
		for path := range strings.SplitSeq(documents, ",") {
			if path == "" {
				continue
			}
			replaced, err := replace(path, p.name, body)
			if err != nil {
				return fmt.Errorf("bench: %w", err)
			}
			if replaced {
				fmt.Fprintf(stderr, "%s: replaced part %s\n", path, p.name)
			}
		}
	}
	return nil
}

// staleParts are the parts of a document that are not what the results give.
func staleParts[Results any](parts []documentPart[Results], r Results, path string) ([]string, error) {
	text, err := os.ReadFile(path)
	if err != nil {
		return nil, err
	}
	var stale []string
	found := markdown.Names(string(text))
	for _, p := range parts {
		if !slices.Contains(found, p.name) {
			continue
		}
		want, err := p.text(r)
		if err != nil {
			return nil, err
		}
		if got, err := markdown.Section(string(text), p.name); err != nil || got != want {
			stale = append(stale, p.name)
		}
	}
	return stale, nil
}
