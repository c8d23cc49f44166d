package main

import (
	"context"
	"encoding/json"
	"fmt"
	"io"
	"os"

	"github.com/plrank/plrank/datasets"
)

// A description is what -json prints.
type description struct {
	Queries           int            `json:"queries"`
	Documents         int            `json:"documents"`
	Features          int            `json:"features"` // distinct ids
	Labels            map[string]int `json:"labels"`   // documents by label
	LabelFree         int            `json:"labelFree"`
	DocumentsPerQuery datasets.Range `json:"documentsPerQuery"`
	Constant          []int          `json:"constant"` // ids
	Missing           []int          `json:"missing"`  // ids

	Weights      *datasets.Range `json:"weights,omitempty"`      // of documents
	QueryWeights *datasets.Range `json:"queryWeights,omitempty"` // of queries

	Groups []datasets.GroupDescription `json:"groups,omitempty"`
}

// describeData says what is in the data, unlabelled documents too.
func describeData(ctx context.Context, o *options, stdout, stderr io.Writer) error {
	parts, err := parts(ctx, o, stderr)
	if err != nil {
		return err
	}
	d := datasets.Describe(o.Data, parts...)
	if o.asJSON {
		enc := json.NewEncoder(stdout)
		enc.SetIndent("", "  ")
		return enc.Encode(description{
			Queries: d.Queries, Documents: d.Documents, Features: d.Features, Labels: d.Labels, LabelFree: d.LabelFree,
			DocumentsPerQuery: d.DocumentsPerQuery, Constant: d.Constant, Missing: d.Missing, Weights: d.Weights, QueryWeights: d.QueryWeights, Groups: d.Groups,
		})
	}
	fmt.Fprint(stdout, d)
	if len(parts) > 1 {
		fmt.Fprintln(stdout)
		for _, part := range parts {
			fmt.Fprintln(stdout, part)
		}
	}
	return nil
}

// singleFile tells whether the data are one file, without others for its splits.
func (o *options) singleFile() bool {
	info, err := os.Stat(o.Data)
	return err == nil && !info.IsDir() && o.Vali == "" && o.Test == "" && o.Fold == 0
}

// parts are the splits of the data; a single file is not split.
func parts(ctx context.Context, o *options, stderr io.Writer) ([]*datasets.Dataset, error) {
	if o.singleFile() {
		read := o.ReadOptions()
		read.Context = ctx
		d, err := datasets.ReadFile(o.Data, read)
		if err != nil {
			return nil, err
		}
		warn(d.Warnings, stderr)
		return []*datasets.Dataset{d}, nil
	}
	s, err := open(ctx, o, datasets.ReadOptions{}, "keep", stderr)
	if err != nil {
		return nil, err
	}
	list := []*datasets.Dataset{s.Train, s.Vali}
	if s.Test != nil {
		list = append(list, s.Test)
	}
	return list, nil
}
