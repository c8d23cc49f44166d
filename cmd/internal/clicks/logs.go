package clicks

import (
	"context"
	"errors"
	"fmt"
	"io"
	"slices"
	"strconv"

	logs "github.com/plrank/plrank/clicks"
	"github.com/plrank/plrank/cmd/internal/cli"
	"github.com/plrank/plrank/datasets"
	"github.com/plrank/plrank/internal/command"
	"github.com/plrank/plrank/ranker"
)

func texts[T ~string](names []T) (all []string) {
	for _, n := range names {
		all = append(all, string(n))
	}
	return all
}

// errNoLogs is the error of a command line without a log.
var errNoLogs = errors.New("want a log, such as logs/2026-11.jsonl, or a folder of logs")

// scanLog passes the parts of a log to each, and prints its warnings.
func scanLog(ctx context.Context, paths []string, stderr io.Writer, each func(part *logs.Log) error) (warnings []string, err error) {
	return scanWith(ctx, logs.ReadOptions{}, paths, stderr, each)
}

// scanWith is scanLog with options.
func scanWith(ctx context.Context, reading logs.ReadOptions, paths []string, stderr io.Writer,
	each func(part *logs.Log) error) (warnings []string, err error) {
	bar := command.NewBar(stderr)
	read := 0
	warnings, err = cli.Await(ctx, func() ([]string, error) {
		return reading.Scan(paths, func(part *logs.Log) error {
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

// dataFlags returns the flags of data that commands here can use: all work on one split, and clicks have neither weights nor groups nor
// intents.
func dataFlags(s *cli.Source, absent string) cli.Flags {
	return s.Flags(absent).Without("vali", "test", "weight-column", "group-column", "intents", "subtopics")
}

// openData returns the documents of a file, or the training split of a collection, with the features of
// the model, or with all if it is nil. It reads labels only if labelled is true.
func openData(ctx context.Context, from cli.Source, model *ranker.Model, labelled bool, seed uint64, stderr io.Writer) (*datasets.Dataset,
	error) {
	o := datasets.Options{Seed: seed, FeaturesOnly: !labelled}
	if model != nil {
		o.Read = cli.Without(datasets.OptionsFor(model), "weight", "group")
	}
	splits, err := from.Measured(ctx, o, stderr)
	if err != nil {
		return nil, err
	}
	d := splits[0].Data
	if model != nil { // whatever names the columns have in the file
		d.FeatureNames = model.FeatureNames()
	}
	return d, nil
}

// valuesOf returns the policy of the scores of the documents of d, divided by the temperature, 0: as in the log.
func valuesOf(d *datasets.Dataset, scores []float64, temperature float64) logs.PolicyFunc {
	find, name := logs.Find(d), d.Name
	return func(im *logs.Impression) ([]float64, error) {
		rows, own := find(im), *im
		if rows == nil {
			return nil, fmt.Errorf("%s lacks its query, or a candidate, or has one twice", name)
		}
		own.Scores = make([]float64, len(rows))
		for i, row := range rows {
			own.Scores[i] = scores[row]
		}
		if temperature != 0 {
			own.Temperature = temperature
		}
		return logs.Logged(&own)
	}
}

// A scorer is the policy of a model, for documents with features of a log.
type scorer struct {
	path        string
	model       *ranker.Model
	columns     []int       // of the log, by feature of the model; −1: not used
	places      []int32     // of features of the model, by column of a log with sparse features; −1: it has none
	ofText      []bool      // by feature of the model
	levels      [][]float32 // by feature of the model: its values for the texts of the log, from 1; nil: the log has numbers
	temperature float64     // 0: as in the log
}

// newScorer returns the scorer of a model for a part of a log. Features are found by name if they have names, and
// otherwise by id.
func newScorer(path string, model *ranker.Model, part *logs.Log, temperature float64) (*scorer, error) {
	width, isSparse := 0, slices.ContainsFunc(part.Impressions, func(im logs.Impression) bool { return im.Sparse != nil })
	if isSparse {
		width = max(len(part.FeatureIDs), len(part.FeatureNames))
	} else if i := slices.IndexFunc(part.Impressions, hasFeatures); i >= 0 {
		width = len(part.Impressions[i].Features) / len(part.Impressions[i].Documents)
	}
	ids, names, own := part.FeatureIDs, model.FeatureNames(), model.FeatureIDs()
	first := min(1, own[0]) // by position, as in a table
	for i := len(ids); i < width; i++ {
		ids = append(ids, first+i)
	}
	if n := own[len(own)-1] - first + 1; names == nil && part.FeatureIDs == nil && part.FeatureNames == nil && width > 0 && width != n {
		return nil, fmt.Errorf("%s has %d features without names, and the log %d without ids: give the features of its documents by "+
			"-data FILE", path, n, width)
	}
	if width > 0 && (names == nil) != (part.FeatureNames == nil) {
		return nil, fmt.Errorf("%s: only one of the model and the log has feature names, so features cannot be matched: give the features of "+
			"its documents by -data FILE", path)
	}
	s := &scorer{path: path, model: model, temperature: temperature}
	byID, byName := map[int]int{}, map[string]int{} // columns of the log, from 1
	for column, id := range ids {
		byID[id] = column + 1
	}
	for column, name := range part.FeatureNames {
		byName[name] = column + 1
	}
	if isSparse {
		s.places = slices.Repeat([]int32{-1}, width)
	}
	used := model.UsedFeatures()
	for i, id := range own {
		_, ofText := model.Level(i, "")
		s.columns, s.ofText, s.levels = append(s.columns, -1), append(s.ofText, ofText), append(s.levels, nil)
		column, feature := byID[id]-1, strconv.Itoa(id)
		if names != nil && (names[i] != "" || isSparse) {
			feature = strconv.Quote(model.FeatureName(i))
			column = byName[model.FeatureName(i)] - 1
		}
		if isSparse && column >= 0 {
			s.places[column] = int32(i)
		}
		if _, isUsed := slices.BinarySearch(used, id); !isUsed {
			continue
		}
		switch s.columns[i] = column; {
		case column < 0 && isSparse: // it is 0 in all of the part
			continue
		case column < 0:
			return nil, fmt.Errorf("%s uses feature %s, which the log lacks: give the features of its documents by -data FILE", path, feature)
		}
		if part.Levels != nil && part.Levels[column] != nil {
			s.levels[i] = make([]float32, 1, 1+len(part.Levels[column]))
			for _, text := range part.Levels[column] {
				v, _ := model.Level(i, text)
				s.levels[i] = append(s.levels[i], v)
			}
		}
	}
	return s, nil
}

// known returns sparse documents with the features that the model knows.
func (s *scorer) known(d *datasets.Dataset) *datasets.Dataset {
	own := *d
	own.FeatureIDs, own.Sparse = s.model.FeatureIDs(), datasets.Sparse{Starts: d.Sparse.Starts, Values: slices.Clone(d.Sparse.Values)}
	for i, c := range d.Sparse.Columns {
		if own.Sparse.Columns = append(own.Sparse.Columns, max(0, s.places[c])); s.places[c] < 0 {
			own.Sparse.Values[i] = 0
		}
	}
	return &own
}

// hasFeatures reports whether an impression has the features of its documents.
func hasFeatures(im logs.Impression) bool { return len(im.Features) > 0 || im.Sparse != nil }

// value returns the value of feature i of the model for a value of the log.
func (s *scorer) value(i int, v float32) (float32, error) {
	levels := s.levels[i]
	switch {
	case v != v:
		return v, nil
	case s.ofText[i] != (levels != nil):
		return 0, fmt.Errorf("column %d of its features and feature %d of %s are not both texts or both numbers: give the features "+
			"of its documents by -data FILE", s.columns[i]+1, s.model.FeatureIDs()[i], s.path)
	case levels == nil:
		return v, nil
	case !(v >= 0) || int(v) >= len(levels):
		return 0, fmt.Errorf("column %d of its features: %v stands for no text", s.columns[i]+1, v)
	}
	return levels[int(v)], nil
}

// rows returns the features of the documents of an impression as the model reads them.
func (s *scorer) rows(im *logs.Impression) ([]float32, error) {
	if !hasFeatures(*im) {
		return nil, errors.New("the log has no features of its documents: give them by -data FILE")
	}
	x := make([]float32, 0, len(im.Documents)*len(s.columns))
	if im.Sparse != nil {
		x = x[:cap(x)]
		im.Sparse.Dense(x, len(s.columns), s.places)
		return x, nil
	}
	width := len(im.Features) / len(im.Documents)
	for d := range im.Documents {
		for i, c := range s.columns {
			if c < 0 {
				x = append(x, 0)
				continue
			}
			v, err := s.value(i, im.Features[d*width+c])
			if err != nil {
				return nil, err
			}
			x = append(x, v)
		}
	}
	return x, nil
}

// policy returns the scores divided by the temperature. It is a [logs.PolicyFunc].
func (s *scorer) policy(im *logs.Impression) ([]float64, error) {
	if len(im.Documents) == 0 {
		return nil, nil
	}
	x, err := s.rows(im)
	if err != nil {
		return nil, err
	}
	own := *im
	if own.Scores, err = s.model.Score(nil, x); err != nil {
		return nil, err
	}
	if s.temperature != 0 {
		own.Temperature = s.temperature
	}
	return logs.Logged(&own)
}
