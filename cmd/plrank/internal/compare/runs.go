package compare

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"strings"

	"github.com/plrank/plrank/cmd/internal/cli"
	"github.com/plrank/plrank/forest/foreign"
	"github.com/plrank/plrank/internal/command"
	"github.com/plrank/plrank/internal/textfile"
	"github.com/plrank/plrank/ranker"
)

// A run is one of the files that are compared: a model, values by query, or scores.
type run struct {
	path   string
	model  *ranker.Model // nil: the file is not a model
	values *cli.PerQuery // nil until they are measured

	threshold string // see train.SplitReport
}

// zip is how the file of a model begins.
const zip = "PK\x03\x04"

// open opens the files that are not scores.
func (o *options) open() (runs []*run, err error) {
	measured := false
	for _, path := range o.files {
		r := &run{path: path}
		if err := r.open(); err != nil {
			return nil, err
		}
		switch {
		case r.values != nil:
		case !o.measures():
			return nil, command.Usage(fmt.Errorf("%s has no values by query: -data must name labelled documents, or -qrels judgements of a TREC run",
				path))
		case r.model != nil && o.Data == "":
			return nil, command.Usage(fmt.Errorf("%s is a model, which needs the features of -data", path))
		}
		measured = measured || r.values == nil
		runs = append(runs, r)
	}
	if o.measures() && !measured {
		return nil, command.Usage(errors.New("all files have values by query: -data and -qrels have no effect"))
	}
	return runs, nil
}

func (r *run) open() error {
	f, err := os.Open(r.path)
	if err != nil {
		return err
	}
	defer f.Close()
	text := bufio.NewReader(textfile.WithoutMark(f))
	begin, err := text.Peek(text.Size())
	if err != nil && err != io.EOF {
		return err
	}
	if strings.HasPrefix(string(begin), zip) || foreign.Is(begin) {
		r.model, err = ranker.Open(r.path)
		return err
	}
	line := ""
	for line = range strings.Lines(string(begin)) {
		if !strings.HasPrefix(strings.TrimSpace(line), "#") { // a comment of a run
			break
		}
	}
	if !cli.IsPerQuery(line) {
		return nil // scores, which are read with their documents
	}
	r.values, err = cli.ReadPerQuery(r.path, text)
	return err
}

// agree takes the gain and the highest grade from the models, unless they are given, and the columns that they know. It returns an error if
// the gains of models differ.
func (o *options) agree(runs []*run, gainGiven bool) error {
	var names []string
	var models []*ranker.Model
	for _, r := range runs {
		if r.model != nil {
			names, models = append(names, r.path), append(models, r.model)
		}
	}
	o.Know(models...)
	return cli.TakeGain(&o.Config, gainGiven, names, models)
}

// measure gives a run its values by query, on the last split of the data.
func (o *options) measure(ctx context.Context, r *run, stderr io.Writer) (err error) {
	if r.values != nil {
		return nil
	}
	report, splits, err := o.Measure(ctx, r.path, r.model, stderr)
	if err != nil {
		return err
	}
	r.threshold = report.Splits[0].Threshold()
	if r.values, err = cli.NewPerQuery(splits[0].Data.QueryIDs, report.Metrics, report.Splits[0]); err != nil {
		return fmt.Errorf("compare: %s: %w", splits[0].Data.Name, err)
	}
	return nil
}
