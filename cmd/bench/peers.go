package main

import (
	"errors"
	"flag"
	"fmt"
	"io"
	"os"
	"strings"

	"github.com/plrank/plrank/cmd/internal/command"
	"github.com/plrank/plrank/cmd/internal/markdown"
)

// peersCommand is the sub-command that reads what bench/peers leaves.
const peersCommand = "peers"

// A peersTable is a generated part of a document, made of the results.
type peersTable struct {
	name string
	text func(*peerResults) (string, error)
}

var peersTables = []peersTable{
	{"peers-ndcg5", func(r *peerResults) (string, error) { return r.quality("ndcg@5") }},
	{"peers-ndcg10", func(r *peerResults) (string, error) { return r.quality("ndcg@10") }},
	{"peers-tests", (*peerResults).tests},
	{"peers-cost", (*peerResults).cost},
	{"peers-agreement", (*peerResults).agreement},
	{"peers-prediction", (*peerResults).prediction},
}

// peers judges score files, or makes tables of what was judged.
func peers(args []string, stdout, stderr io.Writer) error {
	flags := flag.NewFlagSet("bench peers", flag.ContinueOnError)
	work := flags.String("judge", "", "judge the scores in this working `folder` of bench/peers/quality/run.py, and write runs.csv and queries.csv to -results")
	results := flags.String("results", "docs/peers", "the `folder` of CSV files")
	write := flags.String("write", "", "replace the parts between comments <!-- peers-TABLE --> in these Markdown `files`, with commas between")
	err := command.Parse(flags, args)
	switch {
	case errors.Is(err, flag.ErrHelp):
		fmt.Fprint(stdout, "bench peers - judge other libraries' scores, and print the tables of docs/PEERS.md and docs/SERVING.md\n\n")
		flags.VisitAll(func(f *flag.Flag) { command.DescribeFlag(stdout, f) })
		return nil
	case err != nil:
		return command.Usage(err)
	case *work != "" && *write != "":
		return command.Usage(errors.New("-judge and -write exclude each other: independent tools judge between the two"))
	case *work != "":
		return judgePeers(*work, *results)
	}
	r, err := readPeers(*results)
	if err != nil {
		return fmt.Errorf("bench: %w", err)
	}
	for _, t := range peersTables {
		body, err := t.text(r)
		if err != nil {
			return fmt.Errorf("bench: %s: %w", t.name, err)
		}
		fmt.Fprintf(stdout, "<!-- %s -->\n%s<!-- /%s -->\n\n", t.name, body, t.name)
		for path := range strings.SplitSeq(*write, ",") {
			if path == "" {
				continue
			}
			replaced, err := replace(path, t.name, body)
			if err != nil {
				return fmt.Errorf("bench: %w", err)
			}
			if replaced {
				fmt.Fprintf(stderr, "%s: replaced part %s\n", path, t.name)
			}
		}
	}
	return nil
}

// stalePeers are the parts of a document that are not what the results give.
func stalePeers(path string, r *peerResults) ([]string, error) {
	text, err := os.ReadFile(path)
	if err != nil {
		return nil, err
	}
	var stale []string
	found := markdown.Names(string(text))
	for _, t := range peersTables {
		for _, name := range found {
			if name != t.name {
				continue
			}
			want, err := t.text(r)
			if err != nil {
				return nil, err
			}
			if got, err := markdown.Section(string(text), name); err != nil || got != want {
				stale = append(stale, name)
			}
		}
	}
	return stale, nil
}
