// Package report makes the page of one run, or of several side by side: HTML without scripts, with the pictures in it.
package report

import (
	"context"
	_ "embed"
	"encoding/base64"
	"fmt"
	"html/template"
	"io"
	"strings"

	"github.com/plrank/plrank/cmd/internal/cli"
	"github.com/plrank/plrank/internal/command"
	"github.com/plrank/plrank/ranker"
	"github.com/plrank/plrank/train"
	"github.com/plrank/plrank/viz"
)

// A Run is what the page shows of a run, or of a model file alone.
type Run struct {
	Name    string // where several runs are side by side
	Title   string // the data in a word
	Data    string // which data, in words
	Recipe  string // and its reason, in words; "": not known
	Config  train.Config
	Summary *cli.RunSummary // nil: there is no result
	History []train.Epoch
	Model   *ranker.Model
	Splits  []train.Split // the last one is looked at closely; none: see Missing
	Missing string        // why there are no Splits
}

//go:embed page.html
var source string

var pageTemplate = template.Must(template.New("page").Parse(source))

// A page is what the template shows: groups of sections of blocks.
type page struct {
	Title  string
	Groups []group
}

// A group is a run, or what several runs have in common.
type group struct {
	ID, Title string
	Sections  []section
}

type section struct {
	ID, Title string
	Blocks    []block
}

// A block has one of its fields.
type block struct {
	Text    string
	Table   *table
	Figures []figure
	Details *details
}

// A table may be wider than the screen: it has a place of its own that scrolls, with a name.
type table struct{ viz.Table }

// HTML is free of markup in the values, which viz escapes.
func (t table) HTML() template.HTML { return template.HTML(t.Table.HTML()) }

type figure struct {
	Caption string
	plot    viz.Plot
}

// Source is the picture itself. Browsers run nothing that is in a picture.
func (f figure) Source() template.URL {
	f.plot.Small = true
	return template.URL("data:image/svg+xml;base64," + base64.StdEncoding.EncodeToString([]byte(f.plot.SVG())))
}

// Alt describes the picture to those who do not see it.
func (f figure) Alt() string {
	names := []string{f.Caption + ": " + f.plot.String()}
	for _, s := range f.plot.Series {
		if s.Name != "" {
			names = append(names, s.Name)
		}
	}
	return strings.Join(names, "; ")
}

type details struct {
	Summary string
	Blocks  []block
}

// Write writes the page of runs. It measures the models on the last of their splits, until the context ends.
func Write(ctx context.Context, w io.Writer, runs ...*Run) error {
	var views []*view
	for i, r := range runs {
		v, err := newView(ctx, r)
		if err != nil {
			return fmt.Errorf("report: %s: %w", r.Name, err)
		}
		v.number, v.alone = i+1, len(runs) == 1
		views = append(views, v)
	}
	p := page{Title: "Ranking report: " + short(runs[0].Title)}
	for _, v := range views {
		g, err := v.group(ctx)
		if err != nil {
			return fmt.Errorf("report: %s: %w", v.Name, err)
		}
		p.Groups = append(p.Groups, g)
	}
	if len(runs) > 1 {
		p.Title = fmt.Sprintf("Ranking report: %d runs", len(runs))
		together, err := sideBySide(ctx, views)
		if err != nil {
			return fmt.Errorf("report: %w", err)
		}
		p.Groups = append([]group{together}, p.Groups...)
	}
	return pageTemplate.Execute(w, p)
}

// Numbers of characters of a name in a table or a title, and of a text, that the page shows.
const (
	mostName = 50
	mostText = 400
)

// short returns a name from a file as the page shows it: without what does not print, and not too long.
func short(name string) string { return cut(name, mostName) }

func cut(text string, most int) string {
	runes := []rune(command.Printable(text))
	if len(runes) > most {
		return string(runes[:most-1]) + "…"
	}
	return string(runes)
}

// texts returns a block of text.
func texts(format string, args ...any) block { return block{Text: fmt.Sprintf(format, args...)} }

func tableBlock(t viz.Table) block { return block{Table: &table{t}} }
