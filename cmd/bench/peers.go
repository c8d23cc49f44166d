package main

import (
	"errors"
	"flag"
	"fmt"
	"io"

	"github.com/plrank/plrank/cmd/internal/command"
)

// peersCommand is the sub-command that reads what bench/peers leaves.
const peersCommand = "peers"

var peersTables = []documentPart[*peerResults]{
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
	return printParts(peersTables, r, *write, stdout, stderr)
}
