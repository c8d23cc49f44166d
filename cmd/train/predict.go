package main

import (
	"bufio"
	"fmt"
	"io"
	"os"
	"strconv"

	"github.com/plrank/plrank/datasets"
	"github.com/plrank/plrank/train"
)

// predict scores the rows of a file.
func predict(o *options, stderr io.Writer) (err error) {
	ranker, err := train.LoadRanker(o.model)
	if err != nil {
		return err
	}
	d, err := datasets.ReadFile(o.predict, datasets.ReadOptions{FeatureIDs: ranker.FeatureIDs()})
	if err != nil {
		return err
	}
	warn(d, stderr)
	scores, err := ranker.Score(d)
	if err != nil {
		return err
	}
	f, err := os.OpenFile(o.scores, os.O_WRONLY|os.O_CREATE|os.O_EXCL, 0o644)
	if err != nil {
		return fmt.Errorf("train: the scores go to a new file: %w", err)
	}
	defer func() {
		if err != nil {
			f.Close()
			os.Remove(o.scores)
			err = fmt.Errorf("train: %w", err)
		}
	}()
	w := bufio.NewWriter(f)
	for _, s := range scores {
		w.WriteString(strconv.FormatFloat(s, 'g', -1, 32)) // a failed write stays failed
		w.WriteByte('\n')
	}
	if err := w.Flush(); err != nil {
		return err
	}
	return f.Close()
}
