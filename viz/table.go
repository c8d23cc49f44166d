package viz

import (
	"cmp"
	"fmt"
	"html"
	"math"
	"slices"
	"strings"
	"text/tabwriter"
)

// Table is shown as HTML in notebooks, and as text when printed.
type Table struct {
	Title   string
	Columns []string // headings
	Rows    []Row
	Digits  int // decimals of floating-point numbers; 0: 4
}

// Row holds the values of one row: numbers, which are right-aligned, or anything else, as
// fmt.Sprint writes it.
type Row []any

// HTML returns the table as an HTML element.
func (t Table) HTML() string {
	var b strings.Builder
	b.WriteString("<table>\n")
	if t.Title != "" {
		fmt.Fprintf(&b, "<caption>%s</caption>\n", html.EscapeString(t.Title))
	}
	if len(t.Columns) > 0 {
		b.WriteString("<thead>")
	} else {
		b.WriteString("<tbody>\n")
	}
	for i, line := range t.lines() {
		tag, end := "td", "</tr>\n"
		if i == 0 {
			if len(t.Columns) == 0 {
				continue
			}
			tag, end = "th", "</tr></thead>\n<tbody>\n"
		}
		b.WriteString("<tr>")
		for column, text := range line {
			align := "left"
			if t.numeric(column) {
				align = "right"
			}
			fmt.Fprintf(&b, `<%s style="text-align:%s">%s</%[1]s>`, tag, align, html.EscapeString(text))
		}
		b.WriteString(end)
	}
	b.WriteString("</tbody>\n</table>\n")
	return b.String()
}

// String returns the table as text for a terminal, with its columns aligned.
func (t Table) String() string {
	var b strings.Builder
	if t.Title != "" {
		b.WriteString(t.Title + "\n")
	}
	tw := tabwriter.NewWriter(&b, 0, 0, 2, ' ', tabwriter.AlignRight)
	if len(t.Columns) > 0 {
		fmt.Fprintln(tw, strings.Join(t.Columns, "\t")+"\t")
	}
	for _, row := range t.Rows {
		for _, v := range row {
			fmt.Fprint(tw, t.text(v), "\t")
		}
		fmt.Fprintln(tw)
	}
	tw.Flush()
	return b.String()
}

// Markdown returns the table in GitHub's Markdown, below its title.
func (t Table) Markdown() string {
	var b strings.Builder
	if t.Title != "" {
		fmt.Fprintf(&b, "%s\n\n", t.Title)
	}
	lines := t.lines()
	rule := make([]string, len(lines[0]))
	for column := range rule {
		rule[column] = "---"
		if t.numeric(column) {
			rule[column] = "---:"
		}
	}
	for _, line := range slices.Insert(lines, 1, rule) {
		for _, text := range line {
			fmt.Fprintf(&b, "| %s ", strings.ReplaceAll(text, "|", `\|`))
		}
		b.WriteString("|\n")
	}
	return b.String()
}

// lines returns the texts of the headings and of the rows, in lines of equal lengths.
func (t Table) lines() [][]string {
	lines, columns := [][]string{slices.Clone(t.Columns)}, len(t.Columns)
	for _, row := range t.Rows {
		var line []string
		for _, v := range row {
			line = append(line, t.text(v))
		}
		lines, columns = append(lines, line), max(columns, len(line))
	}
	for i, line := range lines {
		lines[i] = append(line, make([]string, columns-len(line))...)
	}
	return lines
}

// numeric reports whether column i has a number and is therefore right-aligned.
func (t Table) numeric(i int) bool {
	for _, row := range t.Rows {
		if i < len(row) {
			switch row[i].(type) {
			case float64, float32, int, int64, uint64:
				return true
			}
		}
	}
	return false
}

// text writes a value: NaN as a dash.
func (t Table) text(v any) string {
	if f, ok := v.(float32); ok {
		v = float64(f)
	}
	f, ok := v.(float64)
	switch {
	case !ok:
		return fmt.Sprint(v)
	case math.IsNaN(f):
		return "–"
	}
	return fmt.Sprintf("%.*f", cmp.Or(t.Digits, 4), f)
}
