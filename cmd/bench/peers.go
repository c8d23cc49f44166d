package main

import (
	"errors"
	"fmt"
	"io"

	"github.com/plrank/plrank/cmd/internal/command"
)

var peersTables = []documentPart[*peerResults]{
	{"peers-ndcg5", func(r *peerResults) (string, error) { return r.quality("ndcg@5") }},
	{"peers-ndcg10", func(r *peerResults) (string, error) { return r.quality("ndcg@10") }},
	{"peers-tests", (*peerResults).tests},
	{"peers-cost", (*peerResults).cost},
	{"peers-agreement", (*peerResults).agreement},
	{"peers-queries", (*peerResults).testQueries},
	{"peers-prediction", (*peerResults).prediction},
}

// peers judges score files, or makes tables of what was judged.
func peers(args []string, stdout, stderr io.Writer) error {
	flags := newTablesFlags("peers", "judge other libraries' scores, and print the tables of docs/PEERS.md and docs/SERVING.md")
	work := flags.String("judge", "", "judge the scores in this working `folder` of bench/peers/quality/run.py, and write runs.csv and queries.csv to -results")
	if done, err := flags.parse(args, stdout); done {
		return err
	}
	switch {
	case *work != "" && *flags.write != "":
		return command.Usage(errors.New("-judge and -write exclude each other: independent tools judge between the two"))
	case *work != "":
		return judgePeers(*work, *flags.results)
	}
	r, err := readPeers(*flags.results)
	if err != nil {
		return fmt.Errorf("bench: %w", err)
	}
	return printParts(peersTables, r, *flags.write, stdout, stderr)
}
