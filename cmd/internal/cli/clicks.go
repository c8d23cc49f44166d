package cli

import (
	"cmp"
	"errors"
	"flag"
	"fmt"
	"io"
	"strings"

	"github.com/plrank/plrank/clicks"
	"github.com/plrank/plrank/datasets"
	"github.com/plrank/plrank/internal/command"
)

// ClickLogs are logs to learn from in place of labels.
type ClickLogs struct {
	Clicks    string `json:"clicks,omitempty"`    // files and folders, with commas between; "": none
	Bias      string `json:"bias,omitempty"`      // a file
	Estimator string `json:"estimator,omitempty"` // "": dr with a bias, else naive
}

// ClickFlags are the names of the flags.
var ClickFlags = []string{"clicks", "bias", "estimator"}

// DefineClicks defines the flags; their defaults are what c holds.
func (c *ClickLogs) DefineClicks(f *flag.FlagSet) {
	var known []string
	for _, e := range clicks.GainEstimators() {
		known = append(known, string(e))
	}
	f.StringVar(&c.Clicks, "clicks", c.Clicks, "`logs` of impressions and clicks to learn from: files or folders, with commas between. Features are those of the log, or, by the ids of query and document, those of the training split of -data, whose labels do not count")
	f.StringVar(&c.Bias, "bias", c.Bias, "a `file` with the bias of ranks, from plrank clicks bias")
	f.StringVar(&c.Estimator, "estimator", c.Estimator, "how clicks become gains (`name`): "+strings.Join(known, ", ")+", with a clip such as dr(0.01); without it, dr where there is a -bias, else naive")
}

// CheckClicks reports flags that make no sense, alone or together.
func (c *ClickLogs) CheckClicks() error {
	switch {
	case c.Clicks == "" && (c.Bias != "" || c.Estimator != ""):
		return errors.New("-bias and -estimator need -clicks")
	case c.Bias == "" && c.Estimator != "" && clicks.Estimator(c.Estimator).NeedsBias():
		return fmt.Errorf("-estimator %s needs -bias: plrank clicks bias estimates one", c.Estimator)
	}
	return nil
}

// Gains are those of the documents in the logs, with the features of data; nil: of the log.
func (c *ClickLogs) Gains(data *datasets.Dataset, stderr io.Writer) (*datasets.Dataset, error) {
	g, err := c.estimation()
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
	left, kept := 0, 0
	warnings, err := clicks.Scan(strings.Split(c.Clicks, ","), func(part *clicks.Log) error {
		left += join(part)
		kept += len(part.Impressions)
		return g.Add(part)
	})
	if err != nil {
		return nil, err
	}
	command.Warn(stderr, warnings...)
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

// WarnOfBias warns of a -bias beside an -estimator, or several with commas between, of which none needs it.
func WarnOfBias(stderr io.Writer, estimator string) {
	for name := range strings.SplitSeq(estimator, ",") {
		if estimator == "" || clicks.Estimator(strings.TrimSpace(name)).NeedsBias() {
			return
		}
	}
	command.Warn(stderr, "-bias has no effect beside -estimator "+estimator+": it is for others, such as dr")
}

// WarnOfLeftOut warns of impressions that clicks.Join has left out.
func WarnOfLeftOut(stderr io.Writer, left int, data string) {
	if left > 0 {
		command.Warn(stderr, fmt.Sprintf("%d impressions are left out: %s lacks their query, or a candidate, or has one twice", left, data))
	}
}

// estimation is that of the flags.
func (c *ClickLogs) estimation() (*clicks.GainEstimation, error) {
	estimator := clicks.Estimator(c.Estimator)
	if c.Bias == "" {
		return clicks.NewGainEstimation(clicks.Bias{}, cmp.Or(estimator, clicks.Naive))
	}
	bias, err := clicks.ReadBias(c.Bias)
	if err != nil {
		return nil, err
	}
	return clicks.NewGainEstimation(bias, cmp.Or(estimator, clicks.DR))
}
