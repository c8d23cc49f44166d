package main

import (
	"context"
	"fmt"
	"math"
	"math/rand/v2"
	"runtime"
	"slices"
	"syscall"

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
	name:  "epochs",
	title: "Time of an epoch (Table 1 of the paper)",
	csv:   epochsFile,
	reading: "Seconds are processor seconds of the training steps of one epoch in each run, after one that compiles the graphs. Runs of all losses take turns; brackets are one standard deviation over them. " +
		"Where few queries are measured, they are drawn from all query sizes, others in each run, and the time of all is in proportion to their number.",
	tables: epochsTables,
	plots:  func(string) ([]figure, error) { return nil, nil },
}

// Graphs and what they hold may take so much memory, in bytes.
const memoryLimit = 2 << 30

// epochsOfRun are one that compiles the graphs and one that is measured.
const epochsOfRun = 2

// An epochTime is what was measured of a loss with a number of samples in a run.
type epochTime struct {
	Queries   int     `json:"queries"`
	Documents int     `json:"documents"`
	Seconds   float64 `json:"seconds"` // of the processor
}

// A timedLoss is measured in every run.
type timedLoss struct {
	loss    string
	samples int
	queries int // that are measured, 0 before that is known
	times   []epochTime
}

// runEpochs measures an epoch in every run, alone, on as many queries as fit.
func runEpochs(ctx context.Context, s *session) error {
	if err := s.open(ctx); err != nil {
		return err
	}
	var trials []*timedLoss
	for _, loss := range s.Losses {
		for i, n := range s.Samples {
			if isExact(loss) && i > 0 {
				break
			}
			if s.has(loss, n) {
				trials = append(trials, &timedLoss{loss: loss, samples: n})
			} else {
				s.leaveOut(loss, n)
			}
		}
	}
	if len(trials) == 0 {
		return command.Usage(errNoTrials)
	}
	relevant := relevantQueries(s.data.splits.Train)
	p := newProgress(s.stderr, epochsChapter.name, s.Runs*len(trials))
	defer p.finish()
	for run := range s.Runs { // first, so that what else the machine does is shared fairly
		for i, c := range trials {
			took, name, err := s.timeOf(ctx, c, relevant, run)
			if err != nil {
				return err
			}
			c.times = append(c.times, took)
			p.done(run*len(trials)+i, name)
		}
	}
	documents := s.data.splits.Train.Select(relevant).Rows()
	t := newTable("data", "loss", "samples", "run", "seconds", "queries", "documents", "trainQueries", "trainDocuments", "scale")
	for _, c := range trials {
		for run, took := range c.times {
			t.add(
				s.data.ID.Name,
				c.loss,
				samplesText(c.loss, c.samples),
				run+1,
				took.Seconds,
				took.Queries,
				took.Documents,
				len(relevant),
				documents,
				s.data.ID.Scale,
			)
		}
	}
	if err := t.write(s.file(epochsFile)); err != nil {
		return err
	}
	return s.publish(epochsChapter)
}

// timeOf is the time of a loss in a run, and the name of that trial. All runs together take TrialSeconds.
func (s *session) timeOf(ctx context.Context, c *timedLoss, relevant []int, run int) (epochTime, string, error) {
	settings := struct {
		Seconds float64      `json:"seconds"` // of the run
		Config  train.Config `json:"config"`
	}{s.TrialSeconds / float64(s.Runs), s.config(c.loss, train.SampleCount(c.samples), run)}
	name := trialFile(fmt.Sprintf("%s-%s-n%d-run%d", epochsChapter.name, c.loss, c.samples, run+1), settings)
	took, err := kept(s, name, settings, func() (took epochTime, err error) {
		if c.queries == 0 {
			if c.queries, err = s.fitting(ctx, settings.Config, relevant, settings.Seconds); err != nil {
				return took, err
			}
		}
		took, _, err = s.epochOver(ctx, settings.Config, relevant, c.queries)
		return took, err
	})
	return took, name, err
}

// fitting returns the number of queries whose run takes the given seconds, two or more; fewer where memory is short.
func (s *session) fitting(ctx context.Context, c train.Config, relevant []int, seconds float64) (int, error) {
	pilot := min(2, len(relevant))
	before := heap()
	took, keep, err := s.epochOver(ctx, c, relevant, pilot)
	if err != nil {
		return 0, err
	}
	perQuery := took.Seconds / float64(pilot)
	memory := (heap() - before) / float64(pilot)
	runtime.KeepAlive(keep)
	n := min(float64(len(relevant)), seconds/epochsOfRun/perQuery, memoryLimit/max(memory, 1))
	return max(pilot, int(n)), nil
}

// epochOver times the steps of an epoch over the given number of queries, drawn by the seed, after one that compiles the graphs.
func (s *session) epochOver(ctx context.Context, c train.Config, relevant []int, queries int) (epochTime, *train.Trainer, error) {
	c.Epochs, c.EvaluateTest = epochsOfRun, false
	some := s.data.splits.Train.Select(stratified(s.data.splits.Train, relevant, queries, c.Seed))
	// Little to evaluate: only training is timed.
	t, err := train.New(c, train.Custom{}, &datasets.Splits{Train: some, Vali: some.Select([]int{0})})
	if err != nil {
		return epochTime{}, nil, err
	}
	runtime.GC() // not while the next is timed
	var begin, end float64
	result, err := t.Run(ctx, train.Hooks{
		Step: func(train.Step) { end = processorSeconds() },
		Epoch: func(_ *train.Trainer, e train.Epoch) error {
			if e.Epoch == 1 {
				begin = processorSeconds()
			}
			return nil
		},
	})
	if err != nil {
		return epochTime{}, nil, err
	}
	if result.Interrupted {
		return epochTime{}, nil, ctx.Err()
	}
	return epochTime{Queries: some.Queries(), Documents: some.Rows(), Seconds: end - begin}, t, nil
}

// processorSeconds returns the processor time of this process so far, which other processes do not slow down.
func processorSeconds() float64 {
	var u syscall.Rusage
	if err := syscall.Getrusage(syscall.RUSAGE_SELF, &u); err != nil {
		panic(err) // of this process it is always known
	}
	return float64(u.Utime.Nano()+u.Stime.Nano()) / 1e9
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
// drawn estimates the mean of all without bias (except for queries on a border,
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
	t, err := readTable(
		dir+"/"+epochsFile,
		"loss",
		"samples",
		"run",
		"seconds",
		"queries",
		"documents",
		"trainQueries",
		"trainDocuments",
		"scale",
	)
	if err != nil {
		return nil, err
	}
	measured := viz.Table{Title: "what was measured", Columns: []string{"", "N", "queries", "of", "documents", "of", "runs", "seconds"}}
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

// epochsWhole returns the seconds of epochs over the whole collection, compared with the reference with the same N.
func epochsWhole(t *csvTable) (viz.Table, error) {
	than := reference
	if len(t.where("loss", than).rows) == 0 {
		than = fair(reference)
	}
	table := viz.Table{Columns: []string{""}}
	for _, n := range t.distinct("samples") {
		table.Columns = append(table.Columns, "N = "+n)
	}
	var all tests
	for i, loss := range t.distinct("loss") {
		row := viz.Row{methodOf(loss).label}
		for j, n := range t.distinct("samples") {
			text, p, err := t.where("samples", n).comparedWith(loss, than)
			if err != nil {
				return table, err
			}
			if row = append(row, text); !math.IsNaN(p) {
				all.add(p, func(adjusted float64) {
					if adjusted < pairLevel {
						table.Rows[i][1+j] = text + "*"
					}
				})
			}
		}
		table.Rows = append(table.Rows, row)
	}
	if err := all.correct(); err != nil {
		return table, err
	}
	var err error
	table.Title, err = epochsTitle(t, than)
	return table, err
}

func epochsTitle(t *csvTable, than string) (string, error) {
	scale, err := t.floats("scale")
	if err != nil {
		return "", err
	}
	queries := t.texts("trainQueries")[0]
	title := fmt.Sprintf("processor seconds per epoch over all %s training queries with a relevant document", queries)
	if scale[0] < 1 {
		title = fmt.Sprintf(
			"processor seconds per epoch over the whole collection, %s times the %s training queries with a relevant document that were made",
			short(1/scale[0]),
			queries,
		)
	}
	if len(t.where("loss", than).rows) > 0 {
		title += fmt.Sprintf(
			"; × how many times %s's, with * where p < %v by the paired t-test of %d runs, which took turns, and Holm's method over this table",
			methodOf(than).label,
			pairLevel,
			len(t.distinct("run")),
		)
	}
	return title, nil
}

// comparedWith returns the seconds of a loss, and their ratio to another loss's with the p-value of the paired t-test, NaN
// without one.
func (t *csvTable) comparedWith(loss, than string) (text string, p float64, err error) {
	seconds, err := t.where("loss", loss).wholeSeconds()
	if err != nil || len(seconds) == 0 {
		return "–", math.NaN(), err
	}
	text = bracketedShort(seconds)
	base, err := t.where("loss", than).wholeSeconds()
	if err != nil || len(base) == 0 || loss == than {
		return text, math.NaN(), err
	}
	text += " ×" + short(stat.Mean(seconds, nil)/stat.Mean(base, nil))
	if len(seconds) != len(base) || len(seconds) < 2 {
		return text, math.NaN(), nil
	}
	test, err := metrics.PairedT(seconds, base)
	return text, test.PValue, err
}

// wholeSeconds are the seconds of epochs over the whole collection, in proportion to the number of queries.
func (t *csvTable) wholeSeconds() ([]float64, error) {
	columns, err := t.numbers("seconds", "trainQueries", "queries", "scale")
	if err != nil {
		return nil, err
	}
	seconds := columns[0]
	floats.Mul(seconds, columns[1])
	floats.Div(seconds, columns[2])
	floats.Div(seconds, columns[3])
	return seconds, nil
}
