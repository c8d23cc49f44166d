package datasets

import (
	"fmt"
	"math"

	"github.com/plrank/plrank/internal/memory"
	"github.com/plrank/plrank/internal/sparse"
	"github.com/plrank/plrank/internal/text"
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

// MostDistinct is how many values of a feature are told apart.
const MostDistinct = 1000

// The uses of columns, in FeatureDescription.Use.
const (
	useFeature  = "feature"
	useCategory = "category"
	useQuery    = "query " // before these two: it is the same in all documents of each query
	useConstant = "constant: left out"
	LeftOut     = "left out" // of a column of text
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
		list = append(list, FeatureDescription{Name: name, Type: "text", Use: LeftOut})
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
			if v != last && len(seen) <= MostDistinct {
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

// Values returns the range of numbers, or the first texts.
func (f *FeatureDescription) Values() string {
	const most = 3
	switch {
	case f.levels != nil:
		list := text.List(f.levels[:min(len(f.levels), most)])
		if len(f.levels) > most {
			list += ", …"
		}
		return list
	case f.Distinct == 0:
		return "–"
	}
	return fmt.Sprintf("%.6g to %.6g", f.Min, f.Max)
}
