package forest

import "errors"

// MaxBins is the largest number of bins of a column, the one of missing values included.
const MaxBins = 255

// Binned are features as numbers of bins, a byte each. They are not changed by growing, so that several growers may
// share them.
type Binned struct{ rows, width int }

// Bin sorts features, rows of that width one after another, into at most that many bins a column, 2 to [MaxBins], 0: 64.
// Bins of numbers hold about as many documents each; thresholds are halfway between neighbouring values. Missing
// values have a bin of their own. Columns in categories hold codes below that number; the most frequent have a bin
// each, and all others, also code 0, share one.
func Bin(rows []float32, width int, categories map[int]int, bins int) (*Binned, error) {
	return nil, errors.New("forest: not written yet")
}
