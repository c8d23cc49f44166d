package main

import (
	"cmp"
	"context"
	"flag"
	"fmt"
	"io"
	"maps"
	"math"
	"math/rand/v2"
	"os"
	"reflect"
	"slices"
	"strconv"
	"strings"

	"github.com/plrank/plrank/datasets"
	"github.com/plrank/plrank/internal/command"
	"github.com/plrank/plrank/metrics"
	"github.com/plrank/plrank/recipe"
	"github.com/plrank/plrank/train"
)

// heldOutParts is how many parts the queries are dealt to: each in turn measures a model, the next
// one picks its best epoch, and the others train it.
const heldOutParts = 5

// changeMetric is the metric whose value a query has.
const changeMetric = "ndcg@5"

// notTrained are the flags that say how a model is measured, not how it comes about; the seed, which is
// the run's; and patience, because all trainings last all their epochs.
var notTrained = []string{"seed", "report", "patience", "convention", "ties", "weighted-metrics",
	"evaluate-train", "evaluate-test", "drop-label-free-test"}

// runChanges trains the default recipe, and changes of it, on nested folds.
func runChanges(ctx context.Context, s *session) error {
	changes, err := readChanges(s.Changes)
	if err != nil {
		return err
	}
	if err := s.open(ctx); err != nil {
		return err
	}
	all, err := pooled(s.data.splits.Train, s.data.splits.Vali)
	if err != nil {
		return err
	}
	trials, err := s.changeTrials(changes, all)
	if err != nil {
		return err
	}
	names := make([]string, len(trials))
	for i, c := range trials {
		names[i] = c.name()
	}
	values, err := computeAll(
		ctx,
		s,
		changesChapter.name,
		names,
		sideBySide,
		func(ctx context.Context, i int, _ func(float64)) ([]queryValue, error) {
			return kept(s, names[i], trials[i].config, func() ([]queryValue, error) { return trials[i].measure(ctx, all) })
		},
	)
	if err != nil {
		return err
	}
	if err := changesTable(trials, values).write(s.file(changesFile)); err != nil {
		return err
	}
	return s.publish(changesChapter)
}

// readChanges reads changes of the recipe, a line of flags each; lines that begin with # are
// comments.
func readChanges(path string) ([]string, error) {
	text, err := os.ReadFile(path)
	if err != nil {
		return nil, fmt.Errorf("reproduce: %w", err)
	}
	var changes []string
	for line := range strings.Lines(string(text)) {
		line = strings.Join(strings.Fields(line), " ")
		switch {
		case line == "" || line[0] == '#':
		case slices.Contains(changes, line):
			return nil, fmt.Errorf("reproduce: %s: %s is repeated", path, line)
		default:
			changes = append(changes, line)
		}
	}
	if changes == nil {
		return nil, fmt.Errorf("reproduce: %s has no changes: want lines such as -members 5", path)
	}
	return changes, nil
}

// changed is a recipe with the flags of a change.
func changed(c train.Config, change string) (train.Config, error) {
	f := flag.NewFlagSet(change, flag.ContinueOnError)
	f.SetOutput(io.Discard)
	for _, s := range c.Settings() {
		command.Define(f, s.Flag, s.Value, s.Help)
	}
	err := command.Parse(f, strings.Fields(change))
	f.Visit(func(set *flag.Flag) {
		if slices.Contains(notTrained, set.Name) {
			err = fmt.Errorf("-%s does not change how a model comes about", set.Name)
		}
	})
	if err == nil {
		err = c.Check()
	}
	if err != nil {
		return c, command.Usage(fmt.Errorf("-changes: %s: %w", change, err))
	}
	return c, nil
}

// pooled is the queries of two splits.
func pooled(a, b *datasets.Dataset) (*datasets.Dataset, error) {
	if a.Weights != nil || b.Weights != nil || a.QueryWeights != nil || b.QueryWeights != nil {
		return nil, fmt.Errorf("reproduce: %s: changes are compared on data without weights", a.Name)
	}
	if len(a.Features) != a.Rows()*a.Width() || len(b.Features) != b.Rows()*b.Width() {
		return nil, fmt.Errorf("reproduce: %s: changes are compared on data that fit into memory", a.Name)
	}
	d := &datasets.Dataset{
		Name: a.Name, FeatureIDs: a.FeatureIDs, FeatureNames: a.FeatureNames,
		Features: slices.Concat(a.Features, b.Features), Labels: slices.Concat(a.Labels, b.Labels), Offsets: slices.Clone(a.Offsets),
	}
	for _, end := range b.Offsets[1:] {
		d.Offsets = append(d.Offsets, a.Rows()+end)
	}
	for q := range d.Queries() {
		d.QueryIDs = append(d.QueryIDs, strconv.Itoa(q+1)) // two splits may use one name
	}
	return d, nil
}

// A changeTrial trains one recipe on all but two of the parts of a run.
type changeTrial struct {
	change    string              // "": none
	run, part int                 // from 0
	queries   [heldOutParts][]int // the parts, first the one that measures, then the one that picks the epoch
	config    train.Config
}

func (c changeTrial) name() string {
	return trialFile(fmt.Sprintf("changes-%s-run%d-part%d", strings.TrimLeft(c.change, "-"), c.run+1, c.part+1), c.config)
}

// changeTrials are the trials of the recipe and all changes of it. Those that change nothing, as
// -cutoff 20 where that is the default, have none. Queries of the first run come first.
func (s *session) changeTrials(changes []string, all *datasets.Dataset) ([]changeTrial, error) {
	if all.Queries() < heldOutParts {
		return nil, fmt.Errorf(
			"reproduce: %s has %d training and validation queries: want %d or more",
			s.data.ID.Name,
			all.Queries(),
			heldOutParts,
		)
	}
	var trials []changeTrial
	for run := range s.Runs {
		seed := runSeed(s.Seed, run)
		order := rand.New(rand.NewPCG(seed, 0)).Perm(all.Queries())
		var parts [heldOutParts][]int
		for i, q := range order {
			parts[i%heldOutParts] = append(parts[i%heldOutParts], q)
		}
		for part := range heldOutParts {
			var queries [heldOutParts][]int
			for i := range queries {
				queries[i] = parts[(part+i)%heldOutParts]
			}
			training := joined(queries[2:])
			c := recipe.Single("mlp", &datasets.Splits{Train: all.Select(training)}).Models[0]
			c.Seed, c.Patience = seed, 0
			trials = append(trials, changeTrial{"", run, part, queries, c})
			for _, change := range changes {
				other, err := changed(c, change)
				if err != nil {
					return nil, err
				}
				if !reflect.DeepEqual(other, c) {
					trials = append(trials, changeTrial{change, run, part, queries, other})
				}
			}
		}
	}
	return trials, nil
}

// A queryValue is the value that a trial gives a query.
type queryValue struct {
	Query int     `json:"query"` // from 0
	Value float64 `json:"value"`
}

// joined is all queries of parts, in order.
func joined(parts [][]int) []int { return slices.Sorted(slices.Values(slices.Concat(parts...))) }

// measure trains, and measures the queries held out, except those without a relevant document, by the
// model of the best epoch.
func (c changeTrial) measure(ctx context.Context, all *datasets.Dataset) ([]queryValue, error) {
	measuring := joined(c.queries[:1])
	heldOut := all.Select(measuring)
	t, err := train.New(
		c.config,
		train.Custom{},
		&datasets.Splits{Train: all.Select(joined(c.queries[2:])), Vali: all.Select(joined(c.queries[1:2]))},
	)
	if err != nil {
		return nil, err
	}
	switch result, err := t.Run(ctx, train.Hooks{}); {
	case err != nil:
		return nil, fmt.Errorf("reproduce: %s, run %d: %w", c.change, c.run+1, err)
	case result.Interrupted:
		return nil, ctx.Err()
	}
	best, err := t.Best()
	if err != nil {
		return nil, err
	}
	scores, err := datasets.Score(best, heldOut)
	if err != nil {
		return nil, err
	}
	m, err := metrics.ParseMeasure(changeMetric)
	if err != nil {
		return nil, err
	}
	values, err := m.PerQuery(metrics.Queries{Scores: scores, Labels: heldOut.Labels, Offsets: heldOut.Offsets})
	if err != nil {
		return nil, err
	}
	var list []queryValue
	for q, v := range values {
		if !math.IsNaN(v) {
			list = append(list, queryValue{measuring[q], v})
		}
	}
	return list, nil
}

// changesTable has a row for each query and a column for each recipe, with the mean over the runs.
func changesTable(trials []changeTrial, values [][]queryValue) *csvTable {
	t := newTable("query", "runs")
	sums, runs := map[int]map[string]float64{}, map[int]map[string]int{}
	for i, c := range trials {
		name := cmp.Or(c.change, noChange)
		if !slices.Contains(t.columns, name) {
			t.columns = append(t.columns, name)
		}
		for _, v := range values[i] {
			if sums[v.Query] == nil {
				sums[v.Query], runs[v.Query] = map[string]float64{}, map[string]int{}
			}
			sums[v.Query][name] += v.Value
			runs[v.Query][name]++
		}
	}
	for _, query := range slices.Sorted(maps.Keys(sums)) {
		row := []any{query + 1, runs[query][noChange]}
		for _, name := range t.columns[2:] {
			mean := "" // where the change is the default
			if n := runs[query][name]; n > 0 {
				mean = strconv.FormatFloat(sums[query][name]/float64(n), 'f', 6, 64)
			}
			row = append(row, mean)
		}
		t.add(row...)
	}
	return t
}
