package cli

import (
	"cmp"
	"fmt"
	"io"
	"strings"

	"github.com/plrank/plrank/clicks"
	"github.com/plrank/plrank/datasets"
	"github.com/plrank/plrank/internal/command"
)

// ClickLogs names logs to learn from in place of labels.
type ClickLogs struct {
	Clicks    string `json:"clicks,omitempty"`    // files and folders, with commas between; "": none
	Bias      string `json:"bias,omitempty"`      // a file
	Estimator string `json:"estimator,omitempty"` // "": dr with a bias, else naive
}

// ClickFlags returns the flags; their defaults are what c holds.
func (c *ClickLogs) ClickFlags() Flags {
	return Flags{
		{Name: "clicks", Value: &c.Clicks, Topic: "clicks", Resumable: true,
			Help: "`logs` of impressions and clicks to learn from: files or folders, with commas between. Features come from the log, or, by " +
				"the ids of query and document, from the training split of -data, whose labels do not count"},
		{Name: "bias", Value: &c.Bias, Topic: "clicks", Resumable: true, Help: "a `file` with the position bias, from plrank clicks bias"},
		{Name: "estimator", Value: &c.Estimator, Topic: "clicks", Help: "how clicks become gains (`name`): " +
			strings.ReplaceAll(strings.Trim(fmt.Sprint(clicks.GainEstimators()), "[]"), " ", ", ") + ", with a clip such as dr(0.01); " +
			"without it, dr where there is a -bias, else naive"},
	}
}

// CheckClicks returns an error for flags that make no sense, alone or together.
func (c *ClickLogs) CheckClicks() error {
	return cmp.Or(
		ErrorIf(c.Clicks == "" && (c.Bias != "" || c.Estimator != ""), "-bias and -estimator need -clicks"),
		ErrorIf(c.Bias == "" && c.Estimator != "" && clicks.Estimator(c.Estimator).NeedsBias(),
			"-estimator %s needs -bias: plrank clicks bias estimates one", c.Estimator),
	)
}

// Gains returns the documents of the logs with gains estimated from clicks. Their features come from data, or
// from the log if data is nil.
func (c *ClickLogs) Gains(data *datasets.Dataset, stderr io.Writer) (*datasets.Dataset, error) {
	bias, estimator := clicks.Bias{}, clicks.Naive
	if c.Bias != "" {
		var err error
		if bias, err = clicks.ReadBias(c.Bias); err != nil {
			return nil, err
		}
		estimator = clicks.DR
	}
	g, err := clicks.NewGainEstimation(bias, cmp.Or(clicks.Estimator(c.Estimator), estimator))
	if err != nil {
		return nil, err
	}
	if c.Bias != "" {
		WarnOfBias(stderr, c.Estimator)
	}
	join := func(*clicks.Log) int { return 0 }
	if data != nil {
		join = clicks.Join(data)
	}
	left, kept, wide := 0, 0, false
	warnings, err := clicks.Scan(strings.Split(c.Clicks, ","), func(part *clicks.Log) error {
		left, wide = left+join(part), wide || part.LeavesOutFeatures()
		kept += len(part.Impressions)
		return g.Add(part)
	})
	if err != nil {
		return nil, err
	}
	command.Warn(stderr, warnings...)
	WarnOfRegression(stderr, cmp.Or(c.Estimator, string(estimator)), wide)
	if data != nil {
		WarnOfLeftOut(stderr, left, data.Name)
	}
	if kept == 0 {
		return nil, fmt.Errorf("-clicks %s: no impressions to learn from", c.Clicks)
	}
	d, err := g.Dataset()
	if err != nil {
		return nil, err
	}
	if d.Width() == 0 {
		return nil, fmt.Errorf("-clicks %s: the log has no features of documents: -data names a file with them", c.Clicks)
	}
	d.Name = c.Clicks
	return d, nil
}

// WarnOfBias warns if there is a -bias but none of the -estimator names, with commas between, needs it.
func WarnOfBias(stderr io.Writer, estimator string) {
	for name := range strings.SplitSeq(estimator, ",") {
		if estimator == "" || clicks.Estimator(strings.TrimSpace(name)).NeedsBias() {
			return
		}
	}
	command.Warn(stderr, "-bias has no effect with -estimator "+estimator+": it is for others, such as dr")
}

// WarnOfRegression warns of methods, with commas between, whose regression leaves out the features of a log that is wide.
func WarnOfRegression(stderr io.Writer, methods string, wide bool) {
	for name := range strings.SplitSeq(methods, ",") {
		name, _, _ = strings.Cut(strings.TrimSpace(name), "(")
		if wide && (name == string(clicks.RegressionEM) || name == string(clicks.DR)) {
			command.Warn(stderr, name+": its regression leaves out the features of the log: they are sparse, or more than 1,000")
		}
	}
}

// WarnOfLeftOut warns of impressions that clicks.Join has left out.
func WarnOfLeftOut(stderr io.Writer, left int, data string) {
	if left > 0 {
		command.Warn(stderr, fmt.Sprintf("%d impressions are left out: %s lacks their query, or a candidate, or has one twice", left, data))
	}
}
