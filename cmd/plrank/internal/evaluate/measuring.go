package evaluate

import (
	"cmp"
	"context"
	"fmt"
	"io"
	"slices"

	"github.com/plrank/plrank/cmd/internal/cli"
	"github.com/plrank/plrank/cmd/internal/judging"
	"github.com/plrank/plrank/datasets"
	"github.com/plrank/plrank/internal/command"
	"github.com/plrank/plrank/metrics"
	"github.com/plrank/plrank/ranker"
	"github.com/plrank/plrank/train"
)

// Measuring holds the flags for what is measured on which data, and how.
type Measuring struct {
	cli.Source
	Config train.Config // its settings of metrics
	Qrels  string       // file, or several by people, where there is a Judge
	Judge  string       // file

	LastSplit bool // measures that alone

	label string // the column of labels that the first of several was measured on; "": none has a name
}

// Flags returns the flags.
func (m *Measuring) Flags() cli.Flags {
	m.Config, _ = cli.Preset(cli.ByData)
	return slices.Concat(
		m.Source.Flags("").Without("weight-column"), // all queries count alike
		m.CacheFlag(),
		cli.Flags{{Name: "qrels", Value: &m.Qrels, Help: "a `file` of TREC judgements instead of -data, for TREC runs: lines of \"qid 0 " +
			"docid label\""},
			{Name: "judge", Value: &m.Judge, Needs: []string{"qrels"}, Help: "a `file` of TREC judgements by a judge, such as a language model; " +
				"-qrels are then by people, for a part"}},
		cli.MeasuringFlags(&m.Config))
}

// Check returns an error for flags that make no sense, alone or together.
func (m *Measuring) Check(line *cli.Line) error {
	if m.Qrels != "" && m.Data == "" {
		ofData := append(m.Source.Flags(""), m.CacheFlag()...)
		if err := line.Refuse("with -qrels, which is read in place of -data", ofData.Names()...); err != nil {
			return err
		}
	}
	if m.Judge != "" {
		err := line.Refuse("with -judge, which estimates -metric", "report", "per-query", "plot", "discounts", "evaluation-samples")
		if err != nil {
			return err
		}
	}
	return cmp.Or(
		cli.ErrorIf(slices.ContainsFunc(append(m.Config.Report, m.Config.Metric), cli.HasLoss),
			"-metric loss and -report loss are for training: a model file does not say its loss"),
		cli.ErrorIf(m.Qrels != "" && m.Data != "", "-data and -qrels exclude each other: labels are in one of the two"),
		m.Source.Check(), cli.Check(m.Config),
	)
}

// Judged estimates the values of TREC runs from the labels of a judge and of people, and prints them.
func (m *Measuring) Judged(line *cli.Line, asJSON bool, stdout, stderr io.Writer, paths ...string) error {
	if !line.Given("metric") {
		m.Config.Metric = judging.UsualMetric
	}
	labels, err := judging.Read(m.Judge, m.Qrels)
	if err != nil {
		return err
	}
	study, err := judging.Open(m.Config, labels, false, paths...)
	if err != nil {
		return err
	}
	command.Warn(stderr, labels.Warnings...)
	found, err := study.Find()
	if err != nil {
		return err
	}
	if asJSON {
		return cli.PrintJSON(stdout, found)
	}
	found.Print(stdout)
	return nil
}

// WarnIdle warns of flags without an effect on the measures of a model or of scores, for which some measures are left out. Drawn says
// whether something is drawn by -seed.
func (m *Measuring) WarnIdle(line *cli.Line, ofScores, drawn bool, stderr io.Writer) error {
	measures, err := m.Config.Measures()
	if err != nil {
		return err
	}
	if ofScores {
		measures = slices.DeleteFunc(measures, func(x metrics.Measure) bool {
			return x.OfPolicy() && !slices.Contains(m.Config.Report, x.String())
		})
	}
	if _, err := metrics.ParseDiscounts(m.Config.Discounts, m.Config.Cutoff.Cutoff()); err != nil {
		return err
	}
	line.WarnIdle(stderr, &train.Use{Config: m.Config, Measures: measures, Draws: drawn})
	return nil
}

// Measure measures a model in a file on the splits of the data, or, where the model is nil, a file of scores or a TREC run on the labels
// of the data or the judgements, which has a single split, with the documents measured.
func (m *Measuring) Measure(ctx context.Context, path string, model *ranker.Model, stderr io.Writer) (*train.Report, []train.Split, error) {
	if model == nil {
		return m.scores(ctx, path, stderr)
	}
	splits, err := m.Open(ctx, model, stderr)
	if err != nil {
		return nil, nil, err
	}
	if m.LastSplit {
		splits = splits[len(splits)-1:]
	}
	measured, err := train.Evaluate(m.Config, train.Custom{}, model, splits...)
	if err != nil {
		return nil, nil, err
	}
	fmt.Fprintf(stderr, "model %s, version %s\n", command.Printable(path), measured.Model)
	for i, s := range measured.Splits {
		cli.WarnOfSeenQueries(stderr, splits[i].Data.Name, path, s.TrainedOn, s.Queries)
	}
	if measured.HighestGrade != 0 && m.Config.HighestGrade == 0 && model.File().Grade == 0 {
		command.Warn(stderr, fmt.Sprintf("%s does not say the highest grade, like files of older versions: err and graded-rbp use the highest "+
			"of these data, %v; -highest-grade sets it", path, measured.HighestGrade))
	}
	return measured, splits, nil
}

// Open returns the splits of the data, with the features of a model; a single file is not split.
func (m *Measuring) Open(ctx context.Context, model *ranker.Model, stderr io.Writer) ([]train.Split, error) {
	read := cli.Without(datasets.OptionsFor(model), "weight")
	splits, err := m.Measured(ctx, datasets.Options{Read: read, Seed: m.Config.Seed, Unlabelled: "drop"}, stderr)
	if err != nil {
		return nil, err
	}
	if err := m.checkLabels(splits[0].Data); err != nil {
		return nil, err
	}
	for _, split := range splits {
		features := cli.NewUsedFeatures(model)
		features.Add(split.Data)
		command.Warn(stderr, features.Missing(split.Data.Name)...)
	}
	return splits, nil
}

// checkLabels returns an error if labels are from another column than the one that the first of several was measured on.
func (m *Measuring) checkLabels(d *datasets.Dataset) error {
	label := d.Roles["label"]
	if m.label != "" && label != "" && label != m.label {
		return fmt.Errorf("%s: the models were trained on different labels, %q and %q: -label-column must name the one to measure on", d.Name,
			m.label, label)
	}
	m.label = label
	return nil
}

func (m *Measuring) scores(ctx context.Context, path string, stderr io.Writer) (*train.Report, []train.Split, error) {
	judged, err := m.judged(ctx, stderr)
	if err != nil {
		return nil, nil, err
	}
	if err := m.checkLabels(judged); err != nil {
		return nil, nil, err
	}
	run, err := datasets.ReadRun(path, judged)
	if err != nil {
		return nil, nil, err
	}
	command.Warn(stderr, run.Warnings...)
	measured, err := train.EvaluateRun(m.Config, train.Custom{}, run)
	return measured, []train.Split{{Name: "data", Data: run.Dataset}}, err
}

// judged returns the documents of the data, labelled or not, or of the judgements.
func (m *Measuring) judged(ctx context.Context, stderr io.Writer) (*datasets.Dataset, error) {
	if m.Qrels != "" {
		return datasets.ReadQrels(m.Qrels)
	}
	if !m.SingleFile() {
		return nil, fmt.Errorf("-data %s: scores are of the documents of one file: name that file", m.Data)
	}
	d, err := m.ReadFile(ctx, datasets.ReadOptions{}, stderr)
	if err != nil {
		return nil, err
	}
	below1 := func(label float32) bool { return 0 <= label && label < 1 }
	if m.MinusOne == "" && slices.Contains(d.Labels, datasets.Unlabelled) && !slices.ContainsFunc(d.Labels, below1) {
		return nil, cli.WithFlags(fmt.Errorf("datasets: %s: %w", m.Data, datasets.ErrMinusOne))
	}
	return d, nil
}
