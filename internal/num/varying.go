package num

import "slices"

// Varying returns the columns of a matrix, rows × width, that take two values, or are present and missing, among all rows.
// Within says that they must do so within a query: the rows of query q are offsets[q]:offsets[q+1].
func Varying(values []float32, width int, offsets []int, within bool) []int {
	varies := make([]bool, width)
	for q := 0; q+1 < len(offsets) && slices.Contains(varies, false); q++ {
		first := values // the row that others are compared with
		if within {
			first = values[offsets[q]*width:]
		}
		for row := range slices.Chunk(values[offsets[q]*width:offsets[q+1]*width], max(1, width)) {
			for c, v := range row {
				if v != first[c] && (v == v || first[c] == first[c]) {
					varies[c] = true
				}
			}
		}
	}
	columns := make([]int, 0, width)
	for c, v := range varies {
		if v {
			columns = append(columns, c)
		}
	}
	return columns
}
