package clicks

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io"
	"slices"
	"strings"
	"time"

	"gonum.org/v1/gonum/floats"

	logs "github.com/plrank/plrank/clicks"
	"github.com/plrank/plrank/cmd/internal/cli"
	"github.com/plrank/plrank/internal/command"
	"github.com/plrank/plrank/metrics"
	"github.com/plrank/plrank/viz"
)

var checkPage = cli.Page{
	Command: "clicks check",
	Usage:   []string{"LOGS [-json]"},
	Text: "Reports what can be learned from a log. Warnings count what is odd, such as clicks without an impression. For each rank, the " +
		"table says how often it was shown and clicked, and how far it overlaps with the next rank: the share of documents that could have " +
		"been at either. If overlap and clicks do not connect two ranks, their position bias cannot be separated from the relevance of " +
		"their documents. The effective sample size of another policy is the number of its own impressions that would say as much about " +
		"it as this log does.",
	Examples: []string{"logs/2026-11.jsonl.zst"},
	Topics:   []string{"clicks"},
	Words:    true,
}

type checkOptions struct{ asJSON bool }

func (o *checkOptions) flags() cli.Flags { return cli.Flags{cli.JSONFlag(&o.asJSON)} }

func (o *checkOptions) check(line *cli.Line) error {
	if line.NArg() == 0 {
		return errNoLogs
	}
	return nil
}

func (o *checkOptions) run(ctx context.Context, line *cli.Line, stdout, stderr io.Writer) error {
	e := newExamination()
	warnings, err := scanLog(ctx, line.Args(), stderr, e.add)
	if err != nil {
		return err
	}
	r, err := e.findings(warnings)
	if err != nil {
		return err
	}
	if o.asJSON {
		return cli.PrintJSON(stdout, r)
	}
	r.print(stdout)
	return nil
}

// findings holds what check reports about a log.
type findings struct {
	Impressions int          `json:"impressions"`
	Queries     int          `json:"queries"`
	Clients     int          `json:"clients"`
	From        time.Time    `json:"from,omitzero"`
	To          time.Time    `json:"to,omitzero"`
	Policies    []policy     `json:"policies"`
	Scored      int          `json:"scored"` // impressions with scores
	Clicks      float64      `json:"clicks"` // per impression
	Ranks       []rank       `json:"ranks"`
	Connected   [][]int      `json:"connected,omitempty"` // see clicks.BiasReport
	AllPairs    [][]int      `json:"connectedByAllPairs,omitempty"`
	Other       []otherValue `json:"otherPolicies,omitempty"`
	Warnings    []string     `json:"warnings"`
}

type policy struct {
	Model       string `json:"model"`
	Version     string `json:"version"`
	Impressions int    `json:"impressions"`
}

type rank struct {
	Rank      int      `json:"rank"`
	Shown     int      `json:"shown"`
	ClickRate float64  `json:"clickRate"`
	Overlap   *float64 `json:"overlap,omitempty"` // with the next
}

// An otherValue says how much the log tells about another policy.
type otherValue struct {
	Policy        string  `json:"policy"`
	EffectiveSize float64 `json:"effectiveSize"`
	LargestWeight float64 `json:"largestWeight"`
}

// An examination adds up the parts of a log.
type examination struct {
	found            findings
	queries, clients map[string]bool

	// Only if all impressions have scores.
	bias   *logs.BiasEstimation
	others []*logs.Evaluation
}

var otherPolicies = []struct {
	name   string
	policy logs.PolicyFunc
}{{"every ranking equally likely", uniform}, {"half the temperature", halved}}

func newExamination() *examination {
	e := &examination{queries: map[string]bool{}, clients: map[string]bool{}}
	// Methods, policies and estimators are known ones: there are no errors.
	e.bias, _ = logs.NewBiasEstimation(logs.AllPairs)
	for _, other := range otherPolicies {
		evaluation, _ := logs.NewEvaluation(logs.Target{Policy: other.policy, Bootstrap: metrics.Bootstrap{Resamples: 1}}, logs.IIPS)
		e.others = append(e.others, evaluation)
	}
	return e
}

// add adds a part of the log.
func (e *examination) add(part *logs.Log) error {
	e.count(part)
	if e.found.Scored < e.found.Impressions {
		return nil
	}
	err := e.bias.Add(part)
	if slices.ContainsFunc(part.Impressions, func(im logs.Impression) bool { return im.Interleaving != nil }) {
		e.others = nil // other policies are likened to the scores of one model
	}
	for _, other := range e.others {
		err = cmp.Or(err, other.Add(part))
	}
	return err
}

// findings ends the examination.
func (e *examination) findings(warnings []string) (*findings, error) {
	r := &e.found
	if len(r.Ranks) == 0 {
		return nil, errors.New("the log has no impressions")
	}
	r.Queries, r.Clients, r.Warnings = len(e.queries), len(e.clients), append([]string{}, warnings...)
	r.Clicks /= float64(r.Impressions)
	for k := range r.Ranks {
		r.Ranks[k].ClickRate /= float64(r.Ranks[k].Shown)
	}
	if r.Scored < r.Impressions {
		return r, nil
	}
	_, report, _ := e.bias.Estimate() // an error is in the report, too
	r.Connected, r.AllPairs = report.Neighbours, report.Connected
	for k := range len(r.Ranks) - 1 {
		r.Ranks[k].Overlap = &report.Overlap[k][k+1]
	}
	for i, other := range e.others {
		v, err := other.Estimates()
		if err != nil {
			return nil, err
		}
		r.Other = append(r.Other, otherValue{otherPolicies[i].name, v[0].EffectiveSize, v[0].LargestWeight})
	}
	return r, nil
}

func uniform(im *logs.Impression) ([]float64, error) { return make([]float64, len(im.Documents)), nil }

func halved(im *logs.Impression) ([]float64, error) {
	scores, err := logs.Logged(im)
	if err != nil {
		return nil, err
	}
	return floats.ScaleTo(make([]float64, len(scores)), 2, scores), nil
}

// count counts impressions.
func (e *examination) count(part *logs.Log) {
	r := &e.found
	r.Impressions += len(part.Impressions)
	for i := range part.Impressions {
		im := &part.Impressions[i]
		e.queries[im.Query] = true
		if im.Client != "" {
			e.clients[im.Client] = true
		}
		if im.Scores != nil || im.Interleaving != nil {
			r.Scored++
		}
		if !im.Time.IsZero() && (r.From.IsZero() || im.Time.Before(r.From)) {
			r.From = im.Time
		}
		if im.Time.After(r.To) {
			r.To = im.Time
		}
		at := slices.IndexFunc(r.Policies, func(p policy) bool { return p.Model == im.Model && p.Version == im.Version })
		if at < 0 {
			at = len(r.Policies)
			r.Policies = append(r.Policies, policy{Model: im.Model, Version: im.Version})
		}
		r.Policies[at].Impressions++
		for k, c := range im.Clicks {
			if k == len(r.Ranks) {
				r.Ranks = append(r.Ranks, rank{Rank: k + 1})
			}
			r.Ranks[k].Shown++
			r.Ranks[k].ClickRate += c
			r.Clicks += c
		}
	}
}

// print prints the findings.
func (r *findings) print(w io.Writer) {
	counted := fmt.Sprintf("%d impressions of %d queries by %d clients, %.4f clicks each", r.Impressions, r.Queries, r.Clients, r.Clicks)
	if !r.From.IsZero() {
		counted += fmt.Sprintf(", %s to %s", r.From.Format(time.RFC3339), r.To.Format(time.RFC3339))
	}
	cli.PrintNote(w, counted)
	for _, p := range r.Policies {
		fmt.Fprintf(w, "model %s, version %s: %d impressions\n", cmp.Or(command.Printable(p.Model), "unknown"),
			cmp.Or(command.Printable(p.Version), "unknown"), p.Impressions)
	}
	table := viz.Table{Title: "\nby rank", Columns: []string{"rank", "shown", "clicks", "overlap with the next"}}
	for _, k := range r.Ranks {
		overlap := "–"
		if k.Overlap != nil {
			overlap = fmt.Sprintf("%.4f", *k.Overlap)
		}
		table.Rows = append(table.Rows, viz.Row{k.Rank, k.Shown, k.ClickRate, overlap})
	}
	fmt.Fprintln(w, table)
	if r.Scored < r.Impressions {
		cli.PrintNote(w, fmt.Sprintf("%d impressions have no scores, so the probabilities of their rankings are unknown. From such a log, "+
			"only method em can estimate position bias, and no policy can be evaluated.", r.Impressions-r.Scored))
		return
	}
	fmt.Fprintf(w, "ranks compared by neighbours (method harvest): %s\n", groups(r.Connected))
	fmt.Fprintf(w, "ranks compared by all pairs (method all-pairs): %s\n", groups(r.AllPairs))
	if r.Other == nil {
		return
	}
	table = viz.Table{Title: "\nhow much the log says about other policies", Columns: []string{"policy", "effective sample size",
		"largest weight"}, Digits: 1}
	for _, o := range r.Other {
		table.Rows = append(table.Rows, viz.Row{o.Policy, o.EffectiveSize, o.LargestWeight})
	}
	fmt.Fprint(w, table)
}

// groups returns the groups of connected ranks, in words.
func groups(connected [][]int) string {
	if len(connected) == 1 {
		return "all are connected"
	}
	var list []string
	for _, g := range connected {
		list = append(list, strings.Join(strings.Fields(strings.Trim(fmt.Sprint(g), "[]")), " "))
	}
	return "not connected: " + strings.Join(list, " | ")
}
