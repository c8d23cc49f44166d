package main

import (
	"context"
	"fmt"
	"math"
	"math/rand/v2"
	"runtime"
	"slices"

	"gonum.org/v1/gonum/floats"
	"gonum.org/v1/gonum/stat"

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
	t, err := readTable(dir+"/"+epochsFile, "loss", "samples", "epoch", "seconds", "queries", "documents", "trainQueries", "trainDocuments", "scale")
	if err != nil {
		return nil, err
	}
	measured := viz.Table{Title: "what was measured", Columns: []string{"", "N", "queries", "of", "documents", "of", "epochs", "seconds"}}
	for _, loss := range t.distinct("loss") {
		for _, n := range t.where("loss", loss).distinct("samples") {
			trial := t.where("loss", loss).where("samples", n)
			seconds, err := trial.floats("seconds")
			if err != nil {
				return nil, err
			}
			measured.Rows = append(measured.Rows, viz.Row{methodOf(loss).label, n, trial.texts("queries")[0], trial.texts("trainQueries")[0],
				trial.texts("documents")[0], trial.texts("trainDocuments")[0], len(seconds), bracketedShort(seconds)})
		}
	}
	whole, err := epochsWhole(t)
	return []viz.Table{whole, measured}, err
}

// epochsWhole has the seconds of epochs over the whole collection, beside those of the reference with the same N.
func epochsWhole(t *csvTable) (viz.Table, error) {
	than := reference
	if len(t.where("loss", than).rows) == 0 {
		than = fair(reference)
	}
	table := viz.Table{Columns: []string{""}}
	for _, n := range t.distinct("samples") {
		table.Columns = append(table.Columns, "N = "+n)
	}
	var values []float64 // of tests
	var tested [][2]int  // the row and the column of each
	for i, loss := range t.distinct("loss") {
		row := viz.Row{methodOf(loss).label}
		for j, n := range t.distinct("samples") {
			text, p, err := t.where("samples", n).beside(loss, than)
			if err != nil {
				return table, err
			}
			if row = append(row, text); !math.IsNaN(p) {
				values, tested = append(values, p), append(tested, [2]int{i, j + 1})
			}
		}
		table.Rows = append(table.Rows, row)
	}
	adjusted, err := metrics.Holm(values)
	if err != nil {
		return table, err
	}
	for i, p := range adjusted {
		if cell := &table.Rows[tested[i][0]][tested[i][1]]; p < pairLevel {
			*cell = fmt.Sprintf("%v*", *cell)
		}
	}
	table.Title, err = epochsTitle(t, than)
	return table, err
}

func epochsTitle(t *csvTable, than string) (string, error) {
	scale, err := t.floats("scale")
	if err != nil {
		return "", err
	}
	queries := t.texts("trainQueries")[0]
	title := fmt.Sprintf("seconds per epoch over all %s training queries with a relevant document", queries)
	if scale[0] < 1 {
		title = fmt.Sprintf("seconds per epoch over the whole collection, %s times the %s training queries with a relevant document that were made", short(1/scale[0]), queries)
	}
	if len(t.where("loss", than).rows) > 0 {
		title += fmt.Sprintf("; × how many times those of %s, with * where p < %v by Welch's test of the %d epochs that were timed of each and Holm's method over this table",
			methodOf(than).label, pairLevel, len(t.distinct("epoch")))
	}
	return title, nil
}

// beside is the seconds of a loss, and how many times those of another they are with the p-value of Welch's test, NaN without one.
func (t *csvTable) beside(loss, than string) (text string, p float64, err error) {
	seconds, err := t.where("loss", loss).wholeSeconds()
	if err != nil || len(seconds) == 0 {
		return "–", math.NaN(), err
	}
	text = bracketedShort(seconds)
	base, err := t.where("loss", than).wholeSeconds()
	if err != nil || len(base) == 0 || loss == than {
		return text, math.NaN(), err
	}
	return text + " ×" + short(stat.Mean(seconds, nil)/stat.Mean(base, nil)), welch(seconds, base), nil
}

// wholeSeconds are the seconds of epochs over the whole collection, in proportion to the number of queries.
func (t *csvTable) wholeSeconds() ([]float64, error) {
	var columns [4][]float64
	for i, name := range []string{"seconds", "trainQueries", "queries", "scale"} {
		var err error
		if columns[i], err = t.floats(name); err != nil {
			return nil, err
		}
	}
	seconds := columns[0]
	floats.Mul(seconds, columns[1])
	floats.Div(seconds, columns[2])
	floats.Div(seconds, columns[3])
	return seconds, nil
}
