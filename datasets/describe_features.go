package datasets

import (
	"fmt"
	"math"
	"slices"
	"strconv"
	"strings"
	"text/tabwriter"
	"unicode/utf8"

	"github.com/plrank/plrank/internal/memory"
	"github.com/plrank/plrank/internal/sparse"
)

// FeatureDescription describes one feature, or a column of text that is none.
type FeatureDescription struct {
	ID       int     `json:"id"`
	Name     string  `json:"name"`
	Type     string  `json:"type"` // number or text
	Missing  int     `json:"missing"`
	Distinct int     `json:"distinct"` // values; 1001 stands for more than 1000
	Min      float64 `json:"min"`      // of numbers; 0 if all are missing
	Max      float64 `json:"max"`
	Use      string  `json:"use"` // feature, category, query feature, query category, constant: left out, or of a column of text left out

	levels []string
}

// mostDistinct is how many values of a feature are told apart.
const mostDistinct = 1000

// The uses of columns.
const (
	useFeature  = "feature"
	useCategory = "category"
	useQuery    = "query " // before these two: it is the same in all documents of each query
	useConstant = "constant: left out"
	useLeftOut  = "left out"
)

// describeColumns describes the features of datasets that have the same, and those left out.
func describeColumns(datasets []*Dataset) []FeatureDescription {
	if len(datasets) == 0 {
		return nil
	}
	first := datasets[0]
	list := make([]FeatureDescription, first.Width())
	varies := make([]bool, first.Width()) // within a query
	for _, d := range datasets {
		for _, c := range d.Varying(true) {
			varies[c] = true
		}
	}
	by := make([]*sparse.Columns, len(datasets))
	for i, d := range datasets {
		if d.IsSparse() {
			columns := d.Sparse.ByColumn(d.Width())
			by[i] = &columns
		}
	}
	memory.For(len(list), func(c int) {
		f := &list[c]
		f.ID, f.Name, f.Type, f.Use = first.FeatureIDs[c], first.FeatureName(c), "number", useFeature
		if first.Levels != nil && first.Levels[c] != nil {
			f.levels, f.Type, f.Use = first.Levels[c], "text", useCategory
		}
		if !varies[c] {
			f.Use = useQuery + f.Use
		}
		f.count(datasets, by, c)
	})
	for _, name := range first.LeftOut {
		list = append(list, FeatureDescription{Name: name, Type: "text", Use: useLeftOut})
	}
	return list
}

// count looks at the values of a column, of sparse datasets by columns.
func (f *FeatureDescription) count(datasets []*Dataset, by []*sparse.Columns, column int) {
	seen, rows := map[float32]bool{}, 0
	low, high, last := math.Inf(1), math.Inf(-1), math.NaN()
	for i, d := range datasets {
		rows += d.Rows()
		values, stride, at := d.Features, d.Width(), column
		if by[i] != nil {
			_, values = by[i].Column(column)
			if stride, at = 1, 0; len(values) < d.Rows() {
				values = append(values, 0) // for all that are not there
			}
		}
		for ; at < len(values); at += stride {
			x := values[at]
			if x != x {
				f.Missing++
				continue
			}
			v := max(-math.MaxFloat32, min(math.MaxFloat32, float64(x)))
			if v != last && len(seen) <= mostDistinct {
				seen[x] = true
			}
			low, high, last = min(low, v), max(high, v), v
		}
	}
	f.Distinct = len(seen)
	if f.Type == "number" && f.Missing < rows {
		f.Min, f.Max = low, high
	}
	if f.Distinct <= 1 && (f.Missing == 0 || f.Missing == rows) {
		f.Use = useConstant
	}
}

// values are the range of numbers, or the first texts.
func (f *FeatureDescription) values() string {
	const most = 3
	switch {
	case f.Use == useLeftOut:
		return "–"
	case len(f.levels) > most:
		return strings.Join(f.levels[:most], ", ") + ", …"
	case f.levels != nil:
		return strings.Join(f.levels, ", ")
	case f.Distinct == 0:
		return "–"
	}
	return fmt.Sprintf("%.6g to %.6g", f.Min, f.Max)
}

// mostFeatures is how many features the table has.
const mostFeatures = 40

// The longest names and values in the table, and the shortest that they are cut to.
const (
	longestCell   = 40
	shortestName  = 12
	shortestRange = 16
)

// FeatureTable returns a table of the features for people, the first ones of many. Long names and, if that is not enough,
// values are cut to make lines that are no longer than width; 0: only what is very long.
func (d *Description) FeatureTable(width int) (table string) {
	name, values := longestCell, longestCell
	for {
		table = d.featureTable(name, values)
		fits := true
		for line := range strings.Lines(table) {
			fits = fits && utf8.RuneCountInString(line)-1 <= width
		}
		switch {
		case fits || width == 0 || values == shortestRange:
			return table
		case name > shortestName:
			name--
		default:
			values--
		}
	}
}

// featureTable returns the table with names and values of that many characters at most.
func (d *Description) featureTable(name, values int) string {
	var b strings.Builder
	w := tabwriter.NewWriter(&b, 0, 0, 2, ' ', 0)
	fmt.Fprintln(w, "id\tname\ttype\tmissing\tdistinct\tvalues\tuse")
	leftOut := slices.IndexFunc(d.FeatureList, func(f FeatureDescription) bool { return f.Use == useLeftOut })
	if leftOut < 0 {
		leftOut = len(d.FeatureList)
	}
	shown := min(leftOut, mostFeatures)
	for _, f := range slices.Concat(d.FeatureList[:shown], d.FeatureList[leftOut:min(len(d.FeatureList), leftOut+mostFeatures)]) {
		id, missing, distinct := strconv.Itoa(f.ID), strconv.Itoa(f.Missing), strconv.Itoa(f.Distinct)
		if f.Distinct > mostDistinct {
			distinct = fmt.Sprintf("over %d", mostDistinct)
		}
		if f.Use == useLeftOut {
			id, missing, distinct = "–", "–", "–"
		}
		fmt.Fprintf(w, "%s\t%s\t%s\t%s\t%s\t%s\t%s\n", id, printable(f.Name, name), f.Type, missing, distinct, printable(f.values(), values),
			f.Use)
	}
	w.Flush()
	if more := leftOut - shown; more > 0 {
		fmt.Fprintf(&b, "… and %d more features: -json lists them all\n", more)
	}
	return b.String()
}

// printable returns a text for a cell of a table, with "…" in place of what is longer than most characters.
func printable(text string, most int) string {
	quoted := strconv.Quote(text)
	if r := []rune(text); len(r) > most {
		quoted = strconv.Quote(string(r[:most]) + "…")
	}
	return quoted[1 : len(quoted)-1]
}
