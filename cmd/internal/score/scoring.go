package score

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"strconv"

	"github.com/plrank/plrank/cmd/internal/input"
	"github.com/plrank/plrank/cmd/internal/newfiles"
	"github.com/plrank/plrank/datasets"
	bar "github.com/plrank/plrank/internal/progress"
	"github.com/plrank/plrank/internal/source"
	"github.com/plrank/plrank/ranker"
)

// A scoring is what is made of the documents of a file, block by block.
type scoring struct {
	model     *ranker.Model
	policy    policy
	drawn     bool      // runs have rankings that are drawn
	discounts []float64 // of the exposure

	files                newfiles.Files
	out, exposure, qrels *newfiles.File   // nil: not asked for
	runs                 []*newfiles.File // one for each ranking of a query

	bar           *bar.Bar
	size          int64 // of the file; 0: not known
	queries, rows int   // so far
	used          input.Used
}

// create makes the files of the results.
func (s *scoring) create(o *options) (err error) {
	if s.out, err = s.files.Open(o.out); err != nil {
		return err
	}
	if s.exposure, err = s.files.Open(o.exposure); err != nil {
		return err
	}
	if s.qrels, err = s.files.Open(o.qrels); err != nil {
		return err
	}
	s.drawn = o.draw > 0
	for _, path := range runFiles(o.run, o.draw) {
		run, err := s.files.Open(path)
		if err != nil {
			return err
		}
		s.runs = append(s.runs, run)
	}
	return nil
}

// runFiles are the files for so many drawn rankings of every query: programs that read TREC
// runs take one of a query. 0 is the ranking by the scores.
func runFiles(path string, draw int) (paths []string) {
	switch {
	case path == "":
		return nil
	case draw <= 1:
		return []string{path}
	}
	for i := range draw {
		paths = append(paths, fmt.Sprintf("%s.%d", path, i+1))
	}
	return paths
}

// path is that of the data.
func path(data string, stdin io.Reader) (string, error) {
	if data != newfiles.Standard {
		return data, nil
	}
	f, ok := stdin.(*os.File)
	if !ok {
		return "", errors.New("score: standard input is not a file")
	}
	return f.Name(), nil
}

// file scores a file, and gives the warnings.
func (s *scoring) file(ctx context.Context, o *options, path string) (warnings []string, err error) {
	if s.model, err = ranker.Open(o.model); err != nil {
		return nil, err
	}
	again := false
	if info, err := os.Stat(path); err == nil && info.Mode().IsRegular() {
		again, s.size = true, info.Size()
	}
	read := o.ReadOptions()
	read.Context, read.FeatureIDs, read.FeatureNames = ctx, s.model.FeatureIDs(), s.model.FeatureNames()
	s.used = input.NewUsed(s.model)
	warnings, err = datasets.ReadBlocks(path, read, s.block)
	switch {
	case errors.Is(err, datasets.ErrReturns) && !again:
		return nil, fmt.Errorf("%w (in a file, which can be read again, they need not)", err)
	case errors.Is(err, datasets.ErrReturns): // only the whole file has the queries
		if err := s.files.Empty(); err != nil {
			return nil, fmt.Errorf("score: %w", err)
		}
		d, err := datasets.ReadFile(path, read)
		if err != nil {
			return nil, err
		}
		s.queries, s.rows, s.used = 0, 0, input.NewUsed(s.model)
		if err := s.block(d, s.size); err != nil {
			return nil, err
		}
		warnings = d.Warnings
	case err != nil:
		return nil, source.WithFlags(err)
	}
	return append(warnings, s.used.Lacking(path)...), nil
}

// block scores some queries, the next ones of the file.
func (s *scoring) block(d *datasets.Dataset, read int64) error {
	scores, err := s.model.Scores(d)
	if err != nil {
		return err
	}
	if s.out != nil {
		writeLines(s.out, d.InSourceOrder(scores), 32)
	}
	if err := s.writePolicy(d, scores); err != nil {
		return err
	}
	if !s.drawn && s.runs != nil {
		if err := datasets.WriteRun(s.runs[0], d, scores, runTag); err != nil {
			return err
		}
	}
	if s.qrels != nil {
		if err := datasets.WriteQrels(s.qrels, d); err != nil {
			return err
		}
	}
	s.used.Add(d)
	s.queries, s.rows = s.queries+d.Queries(), s.rows+d.Rows()
	part := 0.
	if s.size > 0 {
		part = float64(read) / float64(s.size)
	}
	s.bar.Set(part, fmt.Sprintf("%d documents", s.rows))
	return nil
}

// writePolicy writes what is asked for of the policy of the scores: exposures and drawn
// rankings.
func (s *scoring) writePolicy(d *datasets.Dataset, scores []float64) error {
	scores, err := s.policy.scores(d, scores)
	if err != nil {
		return err
	}
	if s.exposure != nil {
		exposure, err := exposures(d, scores, s.discounts)
		if err != nil {
			return err
		}
		writeLines(s.exposure, d.InSourceOrder(exposure), 64)
	}
	if !s.drawn {
		return nil
	}
	return draw(s.policy, d, scores, s.queries, s.runs)
}

// writeLines writes a number a line, with all digits of so many bits.
func writeLines(out *newfiles.File, values []float64, bits int) {
	var line []byte
	for _, v := range values {
		line = append(strconv.AppendFloat(line[:0], v, 'g', -1, bits), '\n')
		out.Write(line) // a failed write stays failed
	}
}
