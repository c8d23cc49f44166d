package main

import (
	"errors"
	"flag"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"github.com/plrank/plrank/internal/command"
	"github.com/plrank/plrank/internal/file"
	"github.com/plrank/plrank/lab/internal/markdown"
)

// A tablesCommand reads the CSV files in a folder, and makes parts of documents and further files
// from them.
type tablesCommand[Results any] struct {
	name, about string
	read        func(folder string) (Results, error)
	parts       []documentPart[Results]
	files       func(Results) (map[string]string, error) // their texts by name
	measure     func(work, folder string) error          // with the flag -measure, instead of all that; nil: no such flag
}

// A documentPart is a generated part of a document, made of results.
type documentPart[Results any] struct {
	name string
	text func(Results) (string, error)
}

// run is the sub-command.
func (c tablesCommand[Results]) run(args []string, stdout, stderr io.Writer) error {
	f := flag.NewFlagSet("bench "+c.name, flag.ContinueOnError)
	folder := f.String("results", c.name, "the `folder` of CSV files")
	write := f.String(
		"write",
		"",
		"replace the parts between comments <!-- "+c.name+"-TABLE --> in these Markdown `files`, with commas between",
	)
	work := new(string)
	if c.measure != nil {
		work = f.String(
			"measure",
			"",
			"measure the scores in this working `folder` of peers/quality/run.py, and write runs.csv and queries.csv to -results",
		)
	}
	switch err := command.Parse(f, args); {
	case errors.Is(err, flag.ErrHelp):
		fmt.Fprintf(stdout, "%s - %s\n\n", f.Name(), c.about)
		f.VisitAll(func(one *flag.Flag) { command.ExplainFlag(stdout, one) })
		return nil
	case err != nil:
		return command.Usage(err)
	case *work != "" && *write != "":
		return command.Usage(errors.New("-measure and -write cannot be used together: independent tools measure in between"))
	case *work != "":
		return c.measure(*work, *folder)
	}
	r, err := c.read(*folder)
	if err != nil {
		return fmt.Errorf("bench: %w", err)
	}
	var documents []string
	if *write != "" {
		documents = strings.Split(*write, ",")
	}
	for _, p := range c.parts {
		body, err := p.text(r)
		if err != nil {
			return fmt.Errorf("bench: %s: %w", p.name, err)
		}
		if err := printPart(p.name, body, documents, stdout, stderr); err != nil {
			return err
		}
	}
	if *write == "" {
		return nil
	}
	files, err := c.files(r)
	if err != nil {
		return fmt.Errorf("bench: %w", err)
	}
	for name, text := range files {
		if err := writeText(filepath.Join(*folder, name), text); err != nil {
			return fmt.Errorf("bench: %w", err)
		}
	}
	return nil
}

// printPart prints a generated part, and puts it into the documents that have a place for it.
func printPart(name, body string, documents []string, stdout, stderr io.Writer) error {
	fmt.Fprintf(stdout, "<!-- %s -->\n%s<!-- /%s -->\n\n", name, body, name)
	for _, path := range documents {
		replaced, err := replace(path, name, body)
		if err != nil {
			return fmt.Errorf("bench: %w", err)
		}
		if replaced {
			fmt.Fprintf(stderr, "%s: replaced part %s\n", path, name)
		}
	}
	return nil
}

// replace puts body into a part of a file, as it is by now, if the file has that part.
func replace(path, marker, body string) (bool, error) {
	old, err := os.ReadFile(path)
	if err != nil || !slices.Contains(markdown.Names(string(old)), marker) {
		return false, err
	}
	text, err := markdown.Replace(string(old), marker, body)
	if err != nil {
		return false, fmt.Errorf("%s: %w", path, err)
	}
	return true, writeText(path, text)
}

func writeText(path, text string) error {
	return file.Write(path, func(w io.Writer) error {
		_, err := io.WriteString(w, text)
		return err
	})
}
