package viz

import (
	"fmt"
	"html"
	"math"
	"strings"
	"text/tabwriter"
)

// A Table is shown as HTML in notebooks, and as text when printed.
type Table struct {
	Title   string
	Columns []string // headings
	Rows    []Row
	Digits  int // decimals of floating-point numbers; 0: 4
}

// A Row is the values of one row: numbers, which are right-aligned, or anything else, as
// fmt.Sprint writes it.
type Row []any

// HTML is the table as an HTML element.
func (t Table) HTML() string {
	var b strings.Builder
	b.WriteString("<table>\n")
	if t.Title != "" {
		fmt.Fprintf(&b, "<caption>%s</caption>\n", html.EscapeString(t.Title))
	}
	columns := t.width()
	b.WriteString("<thead><tr>")
	for i := range columns {
		heading := ""
		if i < len(t.Columns) {
			heading = t.Columns[i]
		}
		fmt.Fprintf(&b, "<th%s>%s</th>", t.align(i), html.EscapeString(heading))
	}
	b.WriteString("</tr></thead>\n<tbody>\n")
	for _, row := range t.Rows {
		b.WriteString("<tr>")
		for i := range columns {
			text := ""
			if i < len(row) {
				text = t.text(row[i])
			}
			fmt.Fprintf(&b, "<td%s>%s</td>", t.align(i), html.EscapeString(text))
		}
		b.WriteString("</tr>\n")
	}
	b.WriteString("</tbody>\n</table>\n")
	return b.String()
}

// String is the table as text for a terminal, with its columns aligned.
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

// Markdown is the table in GitHub's Markdown, below its title.
func (t Table) Markdown() string {
	var b strings.Builder
	if t.Title != "" {
		fmt.Fprintf(&b, "%s\n\n", t.Title)
	}
	line := func(column func(i int) string) {
		for i := range t.width() {
			fmt.Fprintf(&b, "| %s ", strings.ReplaceAll(column(i), "|", `\|`))
		}
		b.WriteString("|\n")
	}
	line(func(i int) string {
		if i < len(t.Columns) {
			return t.Columns[i]
		}
		return ""
	})
	line(func(i int) string {
		if t.numeric(i) {
			return "---:"
		}
		return "---"
	})
	for _, row := range t.Rows {
		line(func(i int) string {
			if i < len(row) {
				return t.text(row[i])
			}
			return ""
		})
	}
	return b.String()
}

// width is the number of columns.
func (t Table) width() int {
	n := len(t.Columns)
	for _, row := range t.Rows {
		n = max(n, len(row))
	}
	return n
}

// align is the attribute of the values in column i.
func (t Table) align(i int) string {
	if t.numeric(i) {
		return ` style="text-align:right"`
	}
	return ` style="text-align:left"`
}

// numeric tells whether column i has a number: then it is right-aligned.
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
	digits := t.Digits
	if digits == 0 {
		digits = 4
	}
	if f, ok := v.(float32); ok {
		v = float64(f)
	}
	if f, ok := v.(float64); ok {
		if math.IsNaN(f) {
			return "–"
		}
		return fmt.Sprintf("%.*f", digits, f)
	}
	return fmt.Sprint(v)
}
