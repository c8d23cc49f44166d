package clicks

import (
	"context"
	"errors"
	"flag"
	"fmt"
	"io"
	"slices"

	logs "github.com/plrank/plrank/clicks"
	"github.com/plrank/plrank/datasets"
	"github.com/plrank/plrank/internal/command"
	"github.com/plrank/plrank/internal/progress"
	"github.com/plrank/plrank/internal/source"
	"github.com/plrank/plrank/ranker"
)

func newFlags(name string) *flag.FlagSet { return flag.NewFlagSet(name, flag.ContinueOnError) }

// errNoLogs is the error of a command line without a log.
var errNoLogs = errors.New("want a log, such as logs/2026-11.jsonl, or a folder of logs")

// scanLog gives a log to each, part by part, and prints its warnings.
func scanLog(ctx context.Context, paths []string, stderr io.Writer, each func(part *logs.Log) error) (warnings []string, err error) {
	bar := progress.New(stderr)
	read := 0
	warnings, err = command.Await(ctx, func() ([]string, error) {
		return logs.Scan(paths, func(part *logs.Log) error {
			if err := each(part); err != nil {
				return err
			}
			read += len(part.Impressions)
			bar.Set(0, fmt.Sprintf("%d impressions", read))
			return ctx.Err()
		})
	})
	bar.Finish()
	if err == nil {
		command.Warn(stderr, warnings...)
	}
	return warnings, err
}

// unused are the flags of data that no command here can use: all work on one split, and clicks have
// neither weights nor groups.
func unused() []string { return []string{"vali", "test", "weight-column", "group-column", "groups"} }

// openData gives the documents of a file, or the training split of a collection, with the features
// of a model; nil: all.
func openData(ctx context.Context, from source.Source, model *ranker.Model, unlabelled string, seed uint64, stderr io.Writer) (*datasets.Dataset, error) {
	o := datasets.Options{Seed: seed, Unlabelled: unlabelled}
	if model != nil {
		o.Read = model.ReadOptions()
	}
	if from.SingleFile() {
		from.Vali = from.Data // so that nothing is held out
	}
	s, err := from.Open(ctx, o, stderr)
	if err != nil {
		return nil, err
	}
	return s.Train, nil
}

// A scorer is the policy of a model, for documents with features of some ids.
type scorer struct {
	model       *ranker.Model
	columns     []int   // of the log, by feature of the model; −1: not there, and not used
	temperature float64 // 0: that of the log
}

// newScorer is that of a model for a log with such features; nil: 1, 2, …
func newScorer(path string, model *ranker.Model, ids []int, width int, temperature float64) (*scorer, error) {
	for i := len(ids); i < width; i++ {
		ids = append(ids, i+1)
	}
	s := &scorer{model: model, temperature: temperature}
	used := model.UsedFeatures()
	for _, id := range model.FeatureIDs() {
		column := slices.Index(ids, id)
		if column < 0 && slices.Contains(used, id) {
			return nil, fmt.Errorf("%s uses feature %d, which the log lacks: -data names a file with the features of its documents", path, id)
		}
		s.columns = append(s.columns, column)
	}
	return s, nil
}

// policy gives the scores divided by the temperature.
func (s *scorer) policy(im *logs.Impression) ([]float64, error) {
	if len(im.Documents) == 0 {
		return nil, nil
	}
	width := len(im.Features) / len(im.Documents)
	if width == 0 {
		return nil, errors.New("no features of its documents were logged: -data names a file with them")
	}
	x := make([]float32, 0, len(im.Documents)*len(s.columns))
	for d := range im.Documents {
		for _, c := range s.columns {
			if c < 0 {
				x = append(x, 0)
				continue
			}
			x = append(x, im.Features[d*width+c])
		}
	}
	own := *im
	var err error
	if own.Scores, err = s.model.Score(nil, x); err != nil {
		return nil, err
	}
	if s.temperature != 0 {
		own.Temperature = s.temperature
	}
	return logs.Logged(&own)
}
