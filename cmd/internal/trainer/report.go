package trainer

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"

	"github.com/plrank/plrank/cmd/internal/cli"
	"github.com/plrank/plrank/cmd/internal/report"
	"github.com/plrank/plrank/datasets"
	"github.com/plrank/plrank/internal/file"
	"github.com/plrank/plrank/ranker"
	"github.com/plrank/plrank/train"
)

// writePage writes the picture and the page of the run from what is in its folder. It takes some seconds, also if the run was
// interrupted.
func (j *job) writePage(model *ranker.Model) error {
	r, err := readRun(j.out)
	if err != nil {
		return err
	}
	r.take(model, j.splits)
	curve := r.Curve()
	objective := r.Config.Loss
	if r.Models != nil {
		objective = ranker.MixtureKind
	}
	curve.Title = fmt.Sprintf("%s, %s", j.splits.Train.Name, objective)
	return errors.Join(curve.Save(j.dir.File(cli.CurveFile)),
		file.Write(j.dir.File(cli.ReportFile), func(w io.Writer) error { return report.Write(context.Background(), w, r.Run) }))
}

// A runFolder is what is read of the folder of a run.
type runFolder struct {
	*report.Run
	settings settings
}

// OpenRun returns a run for its page, with its data, which may be elsewhere now: flags, unless its Data are empty, says where.
// Data that cannot be read are missing on the page. It returns an error for a folder that is not of a run.
func OpenRun(ctx context.Context, path string, flags cli.Source, stderr io.Writer) (*report.Run, error) {
	r, err := readRun(path)
	if err != nil {
		return nil, err
	}
	model, err := ranker.Open(filepath.Join(path, cli.ModelFile))
	if errors.Is(err, os.ErrNotExist) {
		return nil, fmt.Errorf("%s has no %s yet: plrank train -resume -out %[1]s goes on with the run", path, cli.ModelFile)
	}
	if err != nil {
		return nil, err
	}
	s, initial := &r.settings, model
	if flags.Data != "" {
		s.Source = flags
	} else if s.InitModel == "" {
		initial = nil // read as in training, from the same cache
	}
	s.UseCacheOf(flags)
	splits, err := open(ctx, &options{settings: *s}, initial, stderr)
	if ctx.Err() != nil {
		return nil, context.Canceled
	}
	if err != nil {
		r.Missing = err.Error()
	}
	r.take(model, splits)
	return r.Run, nil
}

// readRun reads the settings, the result and the history of a run.
func readRun(path string) (*runFolder, error) {
	r := &runFolder{Run: &report.Run{Name: path}, settings: plain()}
	if err := cli.ReadSettings(path, &r.settings); errors.Is(err, os.ErrNotExist) {
		return nil, fmt.Errorf("%s is not the folder of a run: it has no %s", path, cli.SettingsFile)
	} else if err != nil {
		return nil, err
	}
	ended, err := cli.ReadJSON[*cli.RunSummary](filepath.Join(path, cli.ResultFile))
	if ended != nil {
		r.Summary = ended[0]
	}
	if err == nil {
		r.History, err = cli.ReadJSON[train.Epoch](filepath.Join(path, cli.HistoryFile))
	}
	if err != nil {
		return nil, fmt.Errorf("%s: %w", path, err)
	}
	return r, nil
}

// take takes what the page says of the settings, the model and the data; nil: they are missing.
func (r *runFolder) take(model *ranker.Model, splits *datasets.Splits) {
	s := r.settings
	r.Data, r.Config, r.Model, r.Recipe = s.words(s.Data), s.Config, model, s.Recipe
	if r.Title = s.words(filepath.Base(s.Data)); s.Synthetic() {
		r.Title = r.Data
	}
	if n := len(s.Models); n > 0 {
		r.Config, r.Models = s.Models[n-1], s.Models // the last one's settings measure a mixture
	}
	if splits == nil {
		return
	}
	for _, split := range cli.Named(splits) {
		if own, err := split.Data.ForModel(model); err == nil { // else the page says what differs
			split.Data = own
		}
		r.Splits = append(r.Splits, split)
	}
}

// words says which data were trained on, where they are called by that name.
func (s settings) words(words string) string {
	switch {
	case s.Clicks != "":
		words = "clicks of " + s.Clicks
	case s.Data == "":
		words = "built-in data"
	}
	if s.Fold != 0 {
		words += fmt.Sprintf(", fold %d", s.Fold)
	}
	return words
}
