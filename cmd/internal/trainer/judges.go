package trainer

import (
	"cmp"
	"fmt"
	"io"
	"math"
	"strings"

	"github.com/plrank/plrank/cmd/internal/cli"
	"github.com/plrank/plrank/datasets"
	"github.com/plrank/plrank/internal/command"
	"github.com/plrank/plrank/judges"
	"github.com/plrank/plrank/metrics"
)

// checkJudge reports flags that make no sense with the labels of a judge.
func (o *options) checkJudge() error {
	return cmp.Or(
		cli.ErrorIf(o.Judge == "" && o.Qrels != "", "-qrels needs -judge: they are people's labels for a part of what a judge has labelled"),
		cli.ErrorIf(o.Judge != "" && (o.Data == "" || o.Synthetic() || o.Items != "" || o.Clicks != ""),
			"-judge is for -data with documents, without -items and -clicks"),
		cli.ErrorIf(o.Judge != "" && o.Gain == metrics.BinaryGain.String(),
			"-judge gives documents the gain that people are expected to give, which is not 0 or 1: want -gain exp2 or linear"),
	)
}

// A pairKey is the ids of a query and a document.
type pairKey [2]string

// judged holds the gains of labels by people and by judges.
type judged struct {
	gain   metrics.Gain
	people map[pairKey]float64 // nil: the labels of the data are theirs
	judges []map[pairKey]float64
}

// labelByJudges gives the documents that people did not judge the label whose gain people are expected to give them, see judges.Gains,
// which is fitted to the training and the validation split.
func labelByJudges(o *options, s *datasets.Splits, stderr io.Writer) error {
	if o.Judge == "" {
		return nil
	}
	j, err := readJudged(o, stderr)
	if err != nil {
		return err
	}
	fitted, err := j.fit(s)
	if err != nil {
		return fmt.Errorf("-judge %s: %w; the ids of queries and documents must be spelt as in the data", o.Judge, err)
	}
	byPeople, expected, neither := 0, 0, 0
	for _, d := range []*datasets.Dataset{s.Train, s.Vali, s.Test} {
		if d == nil {
			continue
		}
		labels := make([]float32, d.Rows()) // the labels of a cache must not be written
		if err := j.each(d, func(row int, _ pairKey, p float64, byJudges []float64) error {
			switch {
			case !math.IsNaN(p):
				byPeople++
			case judges.Silent(byJudges):
				neither, p = neither+1, 0
			default:
				expected, p = expected+1, fitted.Of(byJudges, featuresOf(d, row))
			}
			labels[row] = float32(p)
			if j.gain == metrics.Exp2Gain {
				labels[row] = float32(math.Log2(1 + p))
			}
			return nil
		}); err != nil {
			return err
		}
		d.Labels = labels
	}
	with := ""
	if fitted.Features {
		with = " and by the features, on which a judge's errors depend"
	}
	command.Note(o.notes(stderr), fmt.Sprintf("labels: %d by people; %d are the gain that people are expected to give, by the judge's grade%s",
		byPeople, expected, with))
	if neither > 0 {
		command.Warn(stderr, fmt.Sprintf("%d documents have no label by people or a judge, and count as not relevant", neither))
	}
	return nil
}

// fit fits the gain that people are expected to give to the training and the validation split.
func (j judged) fit(s *datasets.Splits) (*judges.Gains, error) {
	var people []float64
	var gains [][]float64
	var features []float32
	var queries []int
	numbers, seen := map[string]int{}, map[pairKey]bool{} // validation may be by the training documents
	for _, d := range []*datasets.Dataset{s.Train, s.Vali} {
		if err := j.each(d, func(row int, pair pairKey, p float64, byJudges []float64) error {
			if seen[pair] || math.IsNaN(p) {
				return nil
			}
			if _, known := numbers[pair[0]]; !known {
				numbers[pair[0]] = len(numbers)
			}
			seen[pair], queries = true, append(queries, numbers[pair[0]])
			people, gains, features = append(people, p), append(gains, byJudges), append(features, featuresOf(d, row)...)
			return nil
		}); err != nil {
			return nil, err
		}
	}
	return judges.FitGains(people, queries, gains, features, len(featuresOf(s.Train, 0)))
}

// featuresOf returns the features of a document by which a judge is corrected: none of sparse documents, which have too many.
func featuresOf(d *datasets.Dataset, row int) []float32 {
	if d.IsSparse() {
		return nil
	}
	return d.Row(row)
}

// readJudged reads the labels of judges, and the labels of people unless the data have them.
func readJudged(o *options, stderr io.Writer) (j judged, err error) {
	if j.gain, err = metrics.ParseGain(o.Gain); err != nil {
		return j, err
	}
	read := func(paths string, take func(list []datasets.Judgement)) error {
		for path := range strings.SplitSeq(paths, ",") {
			list, warnings, err := datasets.ReadJudgements(path)
			if err != nil {
				return err
			}
			command.Warn(stderr, warnings...)
			take(list)
		}
		return nil
	}
	add := func(to map[pairKey]float64, list []datasets.Judgement) {
		for _, x := range list {
			gain, wrong := j.gain.Of(x.Grade)
			err = cmp.Or(err, wrong)
			to[pairKey{x.Query, x.Document}] = gain
		}
	}
	failed := read(o.Judge, func(list []datasets.Judgement) {
		one := map[pairKey]float64{}
		add(one, list)
		j.judges = append(j.judges, one)
	})
	if failed == nil && o.Qrels != "" {
		j.people = map[pairKey]float64{}
		failed = read(o.Qrels, func(list []datasets.Judgement) { add(j.people, list) })
	}
	return j, cmp.Or(failed, err)
}

// each calls a function with every row of a split, its ids, its gain by people, NaN if they did not judge it, and the gains by judges.
func (j judged) each(d *datasets.Dataset, visit func(row int, pair pairKey, people float64, judges []float64) error) error {
	if d == nil {
		return nil
	}
	if d.DocumentIDs == nil {
		return fmt.Errorf("%s has no ids of documents (-document-column), by which -judge labels them", d.Name)
	}
	for q, id := range d.QueryIDs {
		for row := d.Offsets[q]; row < d.Offsets[q+1]; row++ {
			pair := pairKey{id, d.DocumentIDs[row]}
			people, known := j.people[pair]
			switch {
			case j.people == nil && d.Labels[row] != datasets.Unlabelled:
				var err error
				if people, err = j.gain.Of(d.Labels[row]); err != nil {
					return fmt.Errorf("%s: %w", d.Where(row), err)
				}
			case !known:
				people = math.NaN()
			}
			gains := make([]float64, len(j.judges))
			for i, byJudge := range j.judges {
				gain, known := byJudge[pair]
				if !known {
					gain = math.NaN()
				}
				gains[i] = gain
			}
			if err := visit(row, pair, people, gains); err != nil {
				return err
			}
		}
	}
	return nil
}
