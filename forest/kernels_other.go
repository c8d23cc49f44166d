//go:build purego || !amd64

package forest

var wide, bytewise bool

func accumulate(h []uint64, bins []uint8, width, shift int, rows []uint32, pairs []uint64) {
	accumulatePlain(h, bins, width, shift, rows, pairs)
}

func countAVX512(bins *uint8, values *float32, n int, thresholds *float32, most int, first, nan uint32) {
}
func addTreesVBMI(scores *float64, planes *uint8, splits *uint64, depths *uint8, n int, tables *uint8) {
}
func addTreesMasked(scores *float64, planes *uint8, splits *uint64, depths *uint8, n int, tables *uint8) {
}
func addTreesAVX512(scores *float64, planes *uint8, splits *uint64, depths *uint8, n int, leaves *float64) {
}
func lookUpVBMI(bytes, codes, table *uint8) {
}
