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
		cli.ErrorIf(o.Judge != "" && (o.Data == "" || o.Synthetic() || o.Clicks != ""),
			"-judge is for -data with documents, without -clicks"),
		cli.ErrorIf(o.Judge != "" && o.Gain == metrics.BinaryGain.String(),
			"-judge gives documents the gain that people are expected to give, which is not 0 or 1: want -gain exp2 or linear"),
	)
}

// pairGains are gains by the ids of a query and a document.
type pairGains map[[2]string]float64

// of returns the gain of a pair, NaN without one.
func (g pairGains) of(query, document string) float64 {
	if gain, known := g[[2]string{query, document}]; known {
		return gain
	}
	return math.NaN()
}

// judged holds the gains of labels by people and by judges.
type judged struct {
	gain   metrics.Gain
	people pairGains // nil: the labels of the data are theirs
	judges []pairGains
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
	known, expected, neither := 0, 0, 0
	for _, split := range cli.Named(s) {
		d := split.Data
		people, byJudges, err := j.gains(d)
		if err != nil {
			return err
		}
		d.Labels = make([]float32, d.Rows()) // the labels of a cache must not be written
		for row, gain := range people {
			switch {
			case !math.IsNaN(gain):
				known++
			case judges.Silent(byJudges[row]):
				neither, gain = neither+1, 0
			default:
				expected, gain = expected+1, fitted.Of(byJudges[row], featuresOf(d, row))
			}
			d.Labels[row] = float32(gain)
			if j.gain == metrics.Exp2Gain {
				d.Labels[row] = float32(math.Log2(1 + gain))
			}
		}
	}
	with := ""
	if fitted.Features {
		with = " and by the features, on which a judge's errors depend"
	}
	command.Note(o.notes(stderr), fmt.Sprintf("labels: %d by people; %d are the gain that people are expected to give, by the judge's grade%s",
		known, expected, with))
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
	numbers, seen := map[string]int{}, pairGains{} // validation may be by the training documents
	for _, d := range []*datasets.Dataset{s.Train, s.Vali} {
		byPeople, byJudges, err := j.gains(d)
		if err != nil {
			return nil, err
		}
		for q, id := range d.QueryIDs {
			for row := d.Offsets[q]; row < d.Offsets[q+1]; row++ {
				pair := [2]string{id, d.DocumentIDs[row]}
				if _, again := seen[pair]; again || math.IsNaN(byPeople[row]) {
					continue
				}
				if _, known := numbers[id]; !known {
					numbers[id] = len(numbers)
				}
				seen[pair], queries = byPeople[row], append(queries, numbers[id])
				people, gains, features = append(people, byPeople[row]), append(gains, byJudges[row]), append(features, featuresOf(d, row)...)
			}
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
	read := func(to pairGains, path string) (pairGains, error) {
		list, warnings, err := datasets.ReadJudgements(path)
		command.Warn(stderr, warnings...)
		for _, x := range list {
			gain, wrong := j.gain.Of(x.Grade)
			err = cmp.Or(err, wrong)
			to[[2]string{x.Query, x.Document}] = gain
		}
		return to, err
	}
	for path := range strings.SplitSeq(o.Judge, ",") {
		one, wrong := read(pairGains{}, path)
		j.judges, err = append(j.judges, one), cmp.Or(err, wrong)
	}
	if o.Qrels != "" {
		j.people = pairGains{}
		for path := range strings.SplitSeq(o.Qrels, ",") {
			_, wrong := read(j.people, path)
			err = cmp.Or(err, wrong)
		}
	}
	return j, err
}

// gains returns the gains of the documents of a split by people, NaN of those that they did not judge, and by each judge.
func (j judged) gains(d *datasets.Dataset) (people []float64, byJudges [][]float64, err error) {
	if d.DocumentIDs == nil {
		return nil, nil, fmt.Errorf("%s has no ids of documents (-document-column), by which -judge labels them", d.Name)
	}
	for q, id := range d.QueryIDs {
		for row := d.Offsets[q]; row < d.Offsets[q+1]; row++ {
			gain, own := j.people.of(id, d.DocumentIDs[row]), make([]float64, len(j.judges))
			if j.people == nil && d.Labels[row] != datasets.Unlabelled {
				if gain, err = j.gain.Of(d.Labels[row]); err != nil {
					return nil, nil, fmt.Errorf("%s: %w", d.Where(row), err)
				}
			}
			for i, judge := range j.judges {
				own[i] = judge.of(id, d.DocumentIDs[row])
			}
			people, byJudges = append(people, gain), append(byJudges, own)
		}
	}
	return people, byJudges, nil
}
