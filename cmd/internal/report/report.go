// Package report makes an HTML page of one run, or of several side by side, without scripts and with its pictures inside.
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

// A Run holds what the page shows of a run, or of a model file alone.
type Run struct {
	Name    string // next to other runs
	Title   string // names the data
	Data    string // describes the data
	Recipe  string // with its reason; "": unknown
	Config  train.Config
	Models  []train.Config  // of a mixture, whose settings are the Config's otherwise
	Summary *cli.RunSummary // nil: no result
	History []train.Epoch
	Model   *ranker.Model
	Splits  []train.Split // the page examines the last; none: see Missing
	Missing string        // why there are no Splits
}

//go:embed page.html
var source string

var pageTemplate = template.Must(template.New("page").Parse(source))

// A page is the template's input: groups, which have sections, which have rows.
type page struct {
	Title  string
	Groups []group
}

// A group has the sections of a run, or of several runs together.
type group struct {
	ID, Title string
	Sections  []section
}

type section struct {
	ID, Title string
	Rows      rows
}

// A part of a page fills a section. A section without rows is left out.
type part struct {
	name, title string
	fill        func(context.Context, *rows) error
}

// newGroup returns the group of the parts.
func newGroup(ctx context.Context, id, title string, parts ...part) (group, error) {
	g := group{ID: id, Title: title}
	for _, p := range parts {
		s := section{ID: id + "-" + p.name, Title: p.title}
		if err := p.fill(ctx, &s.Rows); err != nil {
			return g, err
		}
		if s.Rows != nil {
			g.Sections = append(g.Sections, s)
		}
	}
	return g, nil
}

// rows are what a section shows, from the top.
type rows []row

// A row has one field set.
type row struct {
	Text    string
	Table   *table
	Figures []figure // side by side
	Details *details
}

func (r *rows) text(format string, args ...any) {
	*r = append(*r, row{Text: fmt.Sprintf(format, args...)})
}
func (r *rows) table(t viz.Table) { *r = append(*r, row{Table: &table{t}}) }
func (r *rows) details(summary string, inside rows) {
	*r = append(*r, row{Details: &details{summary, inside}})
}

// plot adds a picture, next to the one before it.
func (r *rows) plot(caption string, p viz.Plot) {
	if last := len(*r) - 1; last >= 0 && (*r)[last].Figures != nil {
		(*r)[last].Figures = append((*r)[last].Figures, figure{caption, p})
		return
	}
	*r = append(*r, row{Figures: []figure{{caption, p}}})
}

// A table may be wider than the screen: it scrolls in a named box.
type table struct{ viz.Table }

// HTML returns the table as HTML. viz escapes markup in values.
func (t table) HTML() template.HTML { return template.HTML(t.Table.HTML()) }

type figure struct {
	Caption string
	plot    viz.Plot
}

// Source returns the picture as a data URL. Browsers run no scripts in a picture.
func (f figure) Source() template.URL {
	f.plot.Small = true
	return template.URL("data:image/svg+xml;base64," + base64.StdEncoding.EncodeToString([]byte(f.plot.SVG())))
}

// Alt returns the alternative text of the picture.
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
	Rows    rows
}

// Write writes the page of runs. It measures each model on its run's last split, and stops when the context ends.
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

// The most characters that the page shows.
const (
	mostName = 50  // of a name in a table or a title
	mostText = 400 // of a text
)

// short returns a name from a file without unprintable characters, and shortened if it is long.
func short(name string) string { return cut(name, mostName) }

func cut(text string, most int) string {
	runes := []rune(command.Printable(text))
	if len(runes) > most {
		return string(runes[:most-1]) + "…"
	}
	return string(runes)
}
