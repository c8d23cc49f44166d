package main

import (
	"context"
	"fmt"
	"math"
	"math/rand/v2"
	"runtime"
	"slices"

	"github.com/plrank/plrank/datasets"
	"github.com/plrank/plrank/internal/command"
	"github.com/plrank/plrank/metrics"
	"github.com/plrank/plrank/train"
	"github.com/plrank/plrank/viz"
)

const epochsFile = "epochs.csv"

var epochsChapter = chapter{
	name: "epochs", title: "Time of an epoch (Table 1 of the paper)", csv: epochsFile,
	reading: "Seconds are those of training steps, without the first epoch, which compiles the graphs; brackets are one standard deviation over epochs. " +
		"Where few queries were measured, they are drawn from all query sizes, and the time of all is in proportion to their number.",
	tables: epochsTables, plots: func(string) ([]figure, error) { return nil, nil },
}

const (
	measuredEpochs = 5
	// Graphs and what they hold may take so much memory, in bytes.
	memoryLimit = 2 << 30
)

// An epochTime is what was measured of a loss with a number of samples.
type epochTime struct {
	Queries   int       `json:"queries"`
	Documents int       `json:"documents"`
	Seconds   []float64 `json:"seconds"` // of every measured epoch
}

// runEpochs measures epochs, alone, on as many queries as fit.
func runEpochs(ctx context.Context, s *session) error {
	if err := s.open(ctx); err != nil {
		return err
	}
	type pair struct {
		loss string
		n    int
	}
	var trials []pair
	for _, loss := range s.Losses {
		for i, n := range s.Samples {
			if isExact(loss) && i > 0 {
				break
			}
			if s.has(loss, n) {
				trials = append(trials, pair{loss, n})
			} else {
				s.leaveOut(loss, n)
			}
		}
	}
	if len(trials) == 0 {
		return command.Usage(errNoTrials)
	}
	relevant := relevantQueries(s.data.splits.Train)
	p := newProgress(s.stderr, epochsChapter.name, len(trials))
	defer p.finish()
	t := newTable("data", "loss", "samples", "epoch", "seconds", "queries", "documents", "trainQueries", "trainDocuments", "scale")
	documents := 0
	for _, q := range relevant {
		documents += length(s.data.splits.Train, q)
	}
	for i, c := range trials {
		settings := struct {
			TrialSeconds float64      `json:"trialSeconds"`
			Config       train.Config `json:"config"`
		}{s.TrialSeconds, s.config(c.loss, train.SampleCount(c.n), 0)}
		name := trialFile(fmt.Sprintf("%s-%s-n%d", epochsChapter.name, c.loss, c.n), settings)
		took, err := kept(s, name, settings, func() (epochTime, error) { return s.measure(ctx, c.loss, c.n, relevant, s.TrialSeconds) })
		if err != nil {
			return err
		}
		for e, seconds := range took.Seconds {
			t.add(s.data.ID.Name, c.loss, samplesText(c.loss, c.n), e+1, seconds, took.Queries, took.Documents, len(relevant), documents, s.data.ID.Scale)
		}
		p.done(i, name)
	}
	if err := t.write(s.file(epochsFile)); err != nil {
		return err
	}
	return s.publish(epochsChapter)
}

// measure times epochs over as many queries as the budget of time and memory holds.
func (s *session) measure(ctx context.Context, loss string, samples int, relevant []int, budget float64) (epochTime, error) {
	pilot := min(2, len(relevant))
	before := heap()
	took, keep, err := s.epochsOver(ctx, loss, samples, stratified(s.data.splits.Train, relevant, pilot, s.Seed), 1)
	if err != nil {
		return took, err
	}
	perQuery := took.Seconds[0] / float64(pilot)
	memory := (heap() - before) / float64(pilot)
	runtime.KeepAlive(keep)
	n := min(float64(len(relevant)), budget/(1+measuredEpochs)/perQuery, memoryLimit/max(memory, 1))
	took, _, err = s.epochsOver(ctx, loss, samples, stratified(s.data.splits.Train, relevant, max(pilot, int(n)), s.Seed), measuredEpochs)
	return took, err
}

// epochsOver times epochs over the given queries, after one that compiles the graphs.
func (s *session) epochsOver(ctx context.Context, loss string, samples int, queries []int, epochs int) (epochTime, *train.Trainer, error) {
	c := s.config(loss, train.SampleCount(samples), 0)
	c.Epochs, c.EvaluateTest = 1+epochs, false
	some := s.data.splits.Train.Select(queries)
	// Little to evaluate: only training is timed.
	t, err := train.New(c, train.Parts{}, &datasets.Splits{Train: some, Vali: some.Select([]int{0})})
	if err != nil {
		return epochTime{}, nil, err
	}
	runtime.GC() // not while the next is timed
	result, err := t.Run(ctx, train.Hooks{})
	if err != nil {
		return epochTime{}, nil, err
	}
	if result.Interrupted {
		return epochTime{}, nil, ctx.Err()
	}
	took := epochTime{Queries: some.Queries(), Documents: some.Rows()}
	for _, e := range result.History[1:] {
		took.Seconds = append(took.Seconds, e.TrainSeconds)
	}
	return took, t, nil
}

// heap is the memory in use, in bytes.
func heap() float64 {
	runtime.GC()
	var m runtime.MemStats
	runtime.ReadMemStats(&m)
	return float64(m.HeapAlloc)
}

func length(d *datasets.Dataset, q int) int { return d.Offsets[q+1] - d.Offsets[q] }

// stratified draws n of the queries: these are ordered by the length of their lists,
// cut into n parts of equal size, and one is drawn of each. So the mean time of the
// drawn is an estimate of that of all without bias (but for queries on a border,
// which may be drawn twice and count once), with little variance where time depends on
// length.
func stratified(d *datasets.Dataset, queries []int, n int, seed uint64) []int {
	ordered := slices.Clone(queries)
	slices.SortStableFunc(ordered, func(a, b int) int { return length(d, a) - length(d, b) })
	rng := rand.New(rand.NewPCG(seed, 0x65706f636873))
	drawn := make([]int, n)
	for i := range drawn {
		// Real limits, so that every query is drawn with the same probability.
		at := (float64(i) + rng.Float64()) * float64(len(ordered)) / float64(n)
		drawn[i] = ordered[min(int(at), len(ordered)-1)]
	}
	slices.Sort(drawn)
	return slices.Compact(drawn)
}

func epochsTables(dir string) ([]viz.Table, error) {
	t, err := readTable(dir+"/"+epochsFile, "loss", "samples", "seconds", "queries", "documents", "trainQueries", "trainDocuments", "scale")
	if err != nil {
		return nil, err
	}
	scale, err := t.floats("scale")
	if err != nil {
		return nil, err
	}
	whole := viz.Table{Columns: []string{""}, Title: fmt.Sprintf("seconds per epoch over all %s training queries with a relevant document", t.texts("trainQueries")[0])}
	if scale[0] < 1 {
		whole.Title = fmt.Sprintf("seconds per epoch over the whole collection, %s times the %s training queries with a relevant document that were made",
			short(1/scale[0]), t.texts("trainQueries")[0])
	}
	measured := viz.Table{
		Title:   "what was measured, and the seconds of an epoch that follow",
		Columns: []string{"", "N", "queries", "of", "documents", "of", "epochs", "seconds, measured", "all training queries"},
	}
	if scale[0] < 1 {
		measured.Columns = append(measured.Columns, "whole collection")
	}
	than := reference
	if len(t.where("loss", than).rows) == 0 {
		than = fair(reference)
	}
	base := map[string][]float64{} // the seconds of than
	var values []float64           // of tests, each for a number of times the reference
	var places [][2]int
	for _, n := range t.distinct("samples") {
		whole.Columns = append(whole.Columns, "N = "+n)
		trial := t.where("loss", than).where("samples", n)
		seconds, err := trial.floats("seconds")
		if err != nil {
			return nil, err
		}
		if base[n], err = trial.extrapolated(seconds, scale[0]); err != nil {
			return nil, err
		}
	}
	for _, loss := range t.distinct("loss") {
		row := viz.Row{methodOf(loss).label}
		for _, n := range t.distinct("samples") {
			trial := t.where("loss", loss).where("samples", n)
			if len(trial.rows) == 0 {
				row = append(row, "–")
				continue
			}
			seconds, err := trial.floats("seconds")
			if err != nil {
				return nil, err
			}
			all, err := trial.extrapolated(seconds, 1)
			if err != nil {
				return nil, err
			}
			collection, err := trial.extrapolated(seconds, scale[0])
			if err != nil {
				return nil, err
			}
			row = append(row, bracketedShort(collection))
			if b := first(meanSD(base[n])); b > 0 && loss != than {
				row[len(row)-1] = fmt.Sprintf("%s ×%s", row[len(row)-1], short(first(meanSD(collection))/b))
				if p := welch(collection, base[n]); !math.IsNaN(p) {
					values, places = append(values, p), append(places, [2]int{len(whole.Rows), len(row) - 1})
				}
			}
			line := viz.Row{methodOf(loss).label, n, trial.texts("queries")[0], trial.texts("trainQueries")[0],
				trial.texts("documents")[0], trial.texts("trainDocuments")[0], len(seconds), bracketedShort(seconds), bracketedShort(all)}
			if scale[0] < 1 {
				line = append(line, bracketedShort(collection))
			}
			measured.Rows = append(measured.Rows, line)
		}
		whole.Rows = append(whole.Rows, row)
	}
	if len(t.where("loss", than).rows) > 0 {
		whole.Title += "; × how many times those of " + methodOf(than).label
	}
	if len(values) == 0 {
		return []viz.Table{whole, measured}, nil
	}
	adjusted, err := metrics.Holm(values)
	if err != nil {
		return nil, err
	}
	whole.Title += fmt.Sprintf(", with * where p < %v by Welch's test of the epochs that were timed and Holm's method over this table", pairLevel)
	for i, p := range adjusted {
		if p < pairLevel {
			whole.Rows[places[i][0]][places[i][1]] = fmt.Sprintf("%v*", whole.Rows[places[i][0]][places[i][1]])
		}
	}
	return []viz.Table{whole, measured}, nil
}

// extrapolated is the seconds of all training queries of a collection, of which
// those here are the given fraction, in proportion to their number.
func (t *csvTable) extrapolated(seconds []float64, fraction float64) ([]float64, error) {
	measured, err := t.floats("queries")
	if err != nil {
		return nil, err
	}
	all, err := t.floats("trainQueries")
	if err != nil {
		return nil, err
	}
	var list []float64
	for i, s := range seconds {
		list = append(list, s*all[i]/measured[i]/fraction)
	}
	return list, nil
}
