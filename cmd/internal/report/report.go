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
	Summary *cli.RunSummary // nil: no result
	History []train.Epoch
	Model   *ranker.Model
	Splits  []train.Split // the page examines the last; none: see Missing
	Missing string        // why there are no Splits
}

//go:embed page.html
var source string

var pageTemplate = template.Must(template.New("page").Parse(source))

// A page is the template's input: groups, which have sections, which have blocks.
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
	Blocks    []block
}

// A block has one field set.
type block struct {
	Text    string
	Table   *table
	Figures []figure
	Details *details
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
	Blocks  []block
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

// texts returns a block of text.
func texts(format string, args ...any) block { return block{Text: fmt.Sprintf(format, args...)} }

func tableBlock(t viz.Table) block { return block{Table: &table{t}} }
