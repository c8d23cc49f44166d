package describe

import (
	"cmp"
	"encoding/json"
	"fmt"
	"io"
	"slices"
	"text/tabwriter"

	"gonum.org/v1/gonum/floats"

	"github.com/plrank/plrank/cmd/internal/cli"
	"github.com/plrank/plrank/internal/command"
	"github.com/plrank/plrank/ranker"
)

// A modelDescription is what -json prints of a model.
type modelDescription struct {
	Version   string `json:"version"`
	Plrank    string `json:"plrank,omitempty"`  // the version that wrote it
	Library   string `json:"library,omitempty"` // another one that wrote it
	Objective string `json:"objective,omitempty"`
	cli.ModelSize
	Settings   json.RawMessage `json:"settings,omitempty"`
	Parts      []modelPart     `json:"parts,omitempty"` // of a mixture
	Transform  string          `json:"transform"`
	Gain       string          `json:"gain"`
	BaseScores bool            `json:"baseScores"`
	Notes      []string        `json:"notes,omitempty"`
	Features   []modelFeature  `json:"features"`
}

type modelPart struct {
	Weight float64 `json:"weight"`
	cli.ModelSize
}

type modelFeature struct {
	ID         int     `json:"id"`
	Name       string  `json:"name,omitempty"`
	Categories int     `json:"categories,omitempty"` // texts
	Used       bool    `json:"used"`
	Gain       float64 `json:"gain,omitempty"`  // of the splits of trees
	Share      float64 `json:"share,omitempty"` // of all gains
	Splits     int     `json:"splits,omitempty"`
}

// describeModel prints what is in a model file.
func describeModel(m *ranker.Model, asJSON bool, stdout io.Writer) error {
	f := m.File()
	d := modelDescription{Version: m.Digest(), Plrank: f.Version, Settings: f.Settings, Transform: f.Transform.Spec, Gain: f.Gain,
		BaseScores: f.BaseScores}
	if foreign := m.Foreign(); foreign != nil {
		d.Library, d.Objective, d.Notes = foreign.Library, foreign.Objective, foreign.Notes()
	}
	d.ModelSize = cli.SizeOf(m)
	weights, parts, err := m.Parts()
	if err != nil {
		return err
	}
	for i, part := range parts {
		d.Parts = append(d.Parts, modelPart{weights[i], cli.SizeOf(part)})
	}
	if parts != nil {
		d.ModelSize, d.Settings = cli.ModelSize{Kind: f.Kind}, nil
	}
	used, gains, splits := m.UsedFeatures(), m.Gains(), m.Splits()
	all := floats.Sum(gains)
	for i, id := range f.FeatureIDs {
		feature := modelFeature{ID: id}
		_, feature.Used = slices.BinarySearch(used, id)
		if f.FeatureNames != nil {
			feature.Name = f.FeatureNames[i]
		}
		if f.Levels != nil {
			feature.Categories = len(f.Levels[i])
		}
		if gains != nil {
			feature.Gain, feature.Share = gains[i], gains[i]/all
		}
		if splits != nil {
			feature.Splits = splits[i]
		}
		d.Features = append(d.Features, feature)
	}
	if asJSON {
		return cli.PrintJSON(stdout, d)
	}
	d.print(stdout, len(used), splits != nil)
	return nil
}

func (d *modelDescription) print(stdout io.Writer, used int, forest bool) {
	w := tabwriter.NewWriter(stdout, 0, 8, 2, ' ', 0)
	fmt.Fprintf(w, "version\t%s\n", d.Version)
	switch {
	case d.Library != "":
		fmt.Fprintf(w, "written by\t%s\nobjective\t%s\n", d.Library, command.Printable(cmp.Or(d.Objective, "not known")))
	case d.Plrank != "":
		fmt.Fprintf(w, "written by\tplrank %s\n", command.Printable(d.Plrank))
	}
	fmt.Fprintf(w, "kind\t%s\n", command.Printable(d.Kind))
	for _, p := range d.Parts {
		fmt.Fprintf(w, "part\t%.4g × %s: %s\n", p.Weight, command.Printable(p.Kind), p.ModelSize)
	}
	if d.Parts == nil {
		fmt.Fprintf(w, "size\t%s\n", d.ModelSize)
	}
	if d.Weights > 0 {
		fmt.Fprintf(w, "settings\t%s\n", command.Printable(string(d.Settings)))
	}
	fmt.Fprintf(w, "transform\t%s\ngain\t%s\nbase scores\t%t\nfeatures\t%d, of which %d are used\n",
		command.Printable(d.Transform), command.Printable(d.Gain), d.BaseScores, len(d.Features), used)
	for _, note := range d.Notes {
		fmt.Fprintf(w, "note\t%s\n", command.Printable(note))
	}
	w.Flush()
	fmt.Fprintln(stdout)
	byGain := slices.SortedStableFunc(slices.Values(d.Features), func(a, b modelFeature) int {
		return cmp.Or(cmp.Compare(b.Gain, a.Gain), b.Splits-a.Splits)
	})
	known := byGain[0].Gain > 0
	fmt.Fprint(w, "id\tname\ttexts\tused")
	if forest {
		fmt.Fprint(w, "\tsplits")
	}
	if known {
		fmt.Fprint(w, "\tgain\tshare")
	}
	fmt.Fprintln(w)
	for _, f := range byGain {
		fmt.Fprintf(w, "%d\t%s\t%d\t%t", f.ID, command.Printable(cmp.Or(f.Name, "–")), f.Categories, f.Used)
		if forest {
			fmt.Fprintf(w, "\t%d", f.Splits)
		}
		if known {
			fmt.Fprintf(w, "\t%.4g\t%.1f %%", f.Gain, 100*f.Share)
		}
		fmt.Fprintln(w)
	}
	w.Flush()
}
